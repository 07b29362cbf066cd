import { isWide } from '../characters.js';
import type { Pdf } from './pdf.js';

interface Glyph {
  readonly id: number;
  readonly advanceWidth: number;
  readonly codePoints: readonly number[];
}

type Position = Record<'xAdvance' | 'yAdvance' | 'xOffset' | 'yOffset', number>;

/** Glyphs in a row; pdfkit scales the positions in place and then asks for the width. */
class GlyphRun {
  constructor(
    readonly glyphs: readonly Glyph[],
    readonly positions: readonly Position[],
  ) {}

  get advanceWidth(): number {
    return this.positions.reduce((width, { xAdvance }) => width + xAdvance, 0);
  }
}

/** The part of fontkit's font that is used; pdfkit keeps it to itself. */
interface Font {
  hasGlyphForCodePoint(codePoint: number): boolean;
  glyphForCodePoint(codePoint: number): Glyph;
  layout(text: string, features?: unknown): GlyphRun;
}

/** Most words whose shape is kept; texts repeat theirs. */
const MAX_WORDS = 20_000;

/**
 * Gives the current font of a document, with a quicker way of choosing glyphs.
 *
 * fontkit shapes every run anew, reading the tables of the font from its bytes: 55 us a character, a minute for a book. Chinese
 * and Japanese need no shaping, so each character is looked up once; the shapes of other words are kept.
 */
export function quickenFont(pdf: Pdf): Font {
  const { font } = (pdf as unknown as { _font: { font: Font } })._font;
  const shape = font.layout.bind(font);
  const glyphs = new Map<number, Glyph>();
  const words = new Map<string, GlyphRun>();
  font.layout = (text) => {
    if (isWide(text)) return lookUp(text, glyphs, font);
    let run = words.get(text);
    if (run === undefined) {
      run = shape(text);
      if (words.size < MAX_WORDS) words.set(text, run);
    }
    const positions = run.positions.map(({ xAdvance, yAdvance, xOffset, yOffset }) => ({
      xAdvance,
      yAdvance,
      xOffset,
      yOffset,
    }));
    return new GlyphRun(run.glyphs, positions);
  };
  return font;
}

function lookUp(text: string, known: Map<number, Glyph>, font: Font): GlyphRun {
  const glyphs: Glyph[] = [];
  const positions: Position[] = [];
  for (const character of text) {
    const codePoint = character.codePointAt(0) ?? 0;
    let glyph = known.get(codePoint);
    if (glyph === undefined) {
      glyph = font.glyphForCodePoint(codePoint);
      known.set(codePoint, glyph);
    }
    glyphs.push(glyph);
    positions.push({ xAdvance: glyph.advanceWidth, yAdvance: 0, xOffset: 0, yOffset: 0 });
  }
  return new GlyphRun(glyphs, positions);
}
