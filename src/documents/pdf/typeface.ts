import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { FontName, TextPiece, TextStyle } from './atoms.js';
import { quickenFont } from './fast-layout.js';
import type { Pdf } from './pdf.js';

/** The bytes of the fonts that ship with this package; they cover Latin, Greek, Cyrillic, Chinese and Japanese. */
export interface FontFiles {
  readonly regular: Uint8Array;
  readonly bold: Uint8Array;
}

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
/** Characters that answers of models are full of, and what the fonts have in their place. */
const LOOKALIKES: Readonly<Record<string, string>> = {
  '☐': '□',
  '☑': '✓',
  '☒': '×',
  '✅': '✓',
  '✔': '✓',
  '❌': '×',
  '❎': '×',
  '✖': '×',
  '✗': '×',
  '✘': '×',
};
/** Invisible: joiners, selectors of variants, marks of direction. */
const INVISIBLE = /[\p{Cf}\p{Variation_Selector}]/u;

/** Reads the fonts. */
export async function readFonts(): Promise<FontFiles> {
  const { resolve } = createRequire(import.meta.url);
  const [regular, bold] = await Promise.all([
    readFile(resolve(`${FAMILY}/400Regular/NotoSansSC_400Regular.ttf`)),
    readFile(resolve(`${FAMILY}/700Bold/NotoSansSC_700Bold.ttf`)),
  ]);
  return { regular, bold };
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
    const { font, size, colour, isStruck = false, href } = style;
    const { pdf } = this;
    pdf.font(fontName(font)).fontSize(size).fillColor(colour);
    pdf.text(text, x, y, { lineBreak: false, baseline: 'alphabetic' });
    if (isStruck) this.#rule(x, y - size * 0.3, width, colour);
    if (href !== undefined) {
      this.#rule(x, y + size * 0.12, width, colour);
      pdf.link(x, y - size, width, size * 1.2, href);
    }
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
    return LOOKALIKES[character] ?? MISSING;
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
