/** The fonts of a PDF: measured and drawn text, with a fast layout for Chinese and repeated words. */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type PDFDocument from 'pdfkit';
import { isWide } from '../characters.js';
import type { FontName, TextPiece, TextStyle } from './lines.js';

/** The bytes of the fonts that ship with this package; they cover Latin, Greek, Cyrillic, Chinese and Japanese. */
export interface FontFiles {
  readonly regular: Uint8Array;
  readonly bold: Uint8Array;
}

/** Where the fonts come from: of the nine weights in this package, 92 MB, the build puts the two that are used beside this file. */
const FAMILY = '@expo-google-fonts/noto-sans-sc';
/** Fonts that every reader of PDF has, and what takes over for characters outside of {@link LATIN}. */
const BUILT_IN: Readonly<Partial<Record<FontName, { readonly name: string; readonly other: FontName }>>> = {
  italic: { name: 'Helvetica-Oblique', other: 'regular' },
  'bold-italic': { name: 'Helvetica-BoldOblique', other: 'bold' },
  mono: { name: 'Courier', other: 'regular' },
  'mono-bold': { name: 'Courier-Bold', other: 'bold' },
};
/** Stretches of what the built-in fonts have, their encoding being that of old Windows, and stretches of all else. */
const LATIN = '\\u0020-\\u007e\\u00a0-\\u00ac\\u00ae-\\u00ff€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ';
const LATIN_OR_OTHER = new RegExp(`([${LATIN}]+)|[^${LATIN}]+`, 'gu');
/** Stands for characters that the fonts do not have. */
const MISSING = '□';
/** Characters of the fonts, and those that models often use and they stand for. */
const LOOKALIKES = Object.entries({ '□': '☐', '✓': '☑✅✔', '×': '☒❌❎✖✗✘' });
/** Invisible: joiners, selectors of variants, marks of direction. */
const INVISIBLE = /[\p{Cf}\p{Variation_Selector}]/u;

/** Reads the fonts. */
export async function readFonts(): Promise<FontFiles> {
  const [regular, bold] = await Promise.all([readFont('400Regular'), readFont('700Bold')]);
  return { regular, bold };
}

async function readFont(weight: string): Promise<Uint8Array> {
  const name = `NotoSansSC_${weight}.ttf`;
  const isSource = import.meta.url.endsWith('.ts');
  if (isSource) return readFile(createRequire(import.meta.url).resolve(`${FAMILY}/${weight}/${name}`));
  return promisify(gunzip)(await readFile(new URL(`./fonts/${name}.gz`, import.meta.url)));
}

/** Measures and draws text of one document. */
export class Typeface {
  readonly #widths = new Map<string, number>();
  readonly #characters = new Map<string, string>();
  readonly #hasGlyph: (codePoint: number) => boolean;

  constructor(
    private readonly pdf: Pdf,
    files: FontFiles,
  ) {
    pdf.registerFont('regular', Buffer.from(files.regular.buffer, files.regular.byteOffset, files.regular.length));
    pdf.registerFont('bold', Buffer.from(files.bold.buffer, files.bold.byteOffset, files.bold.length));
    quickenFont(pdf.font('bold'));
    const font = quickenFont(pdf.font('regular'));
    this.#hasGlyph = (codePoint) => font.hasGlyphForCodePoint(codePoint);
  }

  /** Pieces of a text, measured; more than one where a font lacks characters that another has. */
  pieces(text: string, style: TextStyle): TextPiece[] {
    const builtIn = BUILT_IN[style.font];
    if (builtIn === undefined) return this.#piece(this.#drawable(text), style);
    const other: TextStyle = { ...style, font: builtIn.other };
    return [...text.matchAll(LATIN_OR_OTHER)].flatMap(([part, latin]) =>
      latin === undefined ? this.#piece(this.#drawable(part), other) : this.#piece(latin, style),
    );
  }

  /** Width of a text of {@link pieces}, in points. */
  readonly measure = (text: string, { font, size }: TextStyle): number => {
    const key = `${font} ${text}`;
    let width = this.#widths.get(key);
    if (width === undefined) {
      this.pdf.font(fontName(font)).fontSize(1);
      width = this.pdf.widthOfString(text);
      this.#widths.set(key, width);
    }
    return width * size;
  };

  /** Draws a text with its baseline at `y`. */
  draw({ text, style, width }: TextPiece, x: number, y: number): void {
    const { font, size, colour, isStruck = false, href, jump, anchor } = style;
    const { pdf } = this;
    if (anchor !== undefined) return void pdf.addNamedDestination(anchor, 'XYZ', x, y - size, 0);
    pdf.font(fontName(font)).fontSize(size).fillColor(colour);
    pdf.text(text, x, y, { lineBreak: false, baseline: 'alphabetic' });
    if (isStruck) this.#rule(x, y - size * 0.3, width, colour);
    if (href === undefined && jump === undefined) return;
    this.#rule(x, y + size * 0.12, width, colour);
    if (href !== undefined) pdf.link(x, y - size, width, size * 1.2, href);
    else if (jump !== undefined) pdf.goTo(x, y - size, width, size * 1.2, jump);
  }

  /** The longest beginning of a text that is at most `width` wide, with an ellipsis when that is not all of it. */
  fit(text: string, style: TextStyle, width: number): TextPiece | undefined {
    const drawable = this.#drawable(text);
    let length = drawable.length;
    let shown = drawable;
    while (length > 0 && this.measure(shown, style) > width) {
      length = Math.floor(length * 0.9);
      shown = `${drawable.slice(0, length).replace(/[\ud800-\udbff]$/, '')}…`;
    }
    return length === 0 ? undefined : { kind: 'text', text: shown, style, width: this.measure(shown, style) };
  }

  #piece(text: string, style: TextStyle): TextPiece[] {
    return text === '' ? [] : [{ kind: 'text', text, style, width: this.measure(text, style) }];
  }

  #drawable(text: string): string {
    let drawable = '';
    // Composed, so that few accents need a glyph of their own.
    for (const character of text.normalize('NFC')) {
      let shown = this.#characters.get(character);
      if (shown === undefined) {
        shown = this.#choose(character);
        this.#characters.set(character, shown);
      }
      drawable += shown;
    }
    return drawable;
  }

  #choose(character: string): string {
    if (character === '\t') return '    ';
    if (INVISIBLE.test(character)) return '';
    if (this.#hasGlyph(character.codePointAt(0) ?? 0)) return character;
    return LOOKALIKES.find(([, others]) => others.includes(character))?.[0] ?? MISSING;
  }

  #rule(x: number, y: number, width: number, colour: string): void {
    this.pdf
      .moveTo(x, y)
      .lineTo(x + width, y)
      .lineWidth(0.6)
      .strokeColor(colour)
      .stroke();
  }
}

function fontName(font: FontName): string {
  return BUILT_IN[font]?.name ?? font;
}

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

/** The part of fontkit's font that is used; pdfkit does not expose it. */
interface Font {
  hasGlyphForCodePoint(codePoint: number): boolean;
  glyphForCodePoint(codePoint: number): Glyph;
  layout(text: string, features?: unknown): GlyphRun;
}

/** Most words whose shape is stored; texts repeat theirs. */
const MAX_WORDS = 20_000;

/**
 * Gives the current font of a document, with a faster layout.
 *
 * fontkit shapes every run anew, reading the tables of the font from its bytes: 55 us a character, a minute for a book. Chinese
 * and Japanese need no shaping, so each character is looked up once; the shapes of other words are stored.
 */
function quickenFont(pdf: Pdf): Font {
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

/** A document that is being written. */
export type Pdf = InstanceType<typeof PDFDocument>;
