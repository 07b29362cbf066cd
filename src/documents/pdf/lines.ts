/** Lines of text for a PDF: pieces that stay whole, and where lines break between them. */
import { isWide } from '../characters.js';

/** The fonts of a document. Only the first two have more than Latin letters. */
export type FontName = 'regular' | 'bold' | 'italic' | 'bold-italic' | 'mono' | 'mono-bold';

/** How a piece of text is drawn. */
export interface TextStyle {
  readonly font: FontName;
  /** In points. */
  readonly size: number;
  readonly colour: string;
  readonly isStruck?: boolean;
  /** Address that a click opens. */
  readonly href?: string;
  /** Name of the place that a click goes to. */
  readonly jump?: string;
  /** Name of the place that the text, which is empty, stands for. */
  readonly anchor?: string;
}

/** A stretch of text in one style, measured in points. */
export interface TextPiece {
  readonly kind: 'text';
  readonly text: string;
  readonly style: TextStyle;
  readonly width: number;
}

/** A picture at the size at which it is drawn. */
export interface PicturePiece {
  readonly kind: 'picture';
  /** Index among the pictures of the file. */
  readonly picture: number;
  readonly width: number;
  readonly height: number;
}

/** What stands in a line. */
export type Piece = TextPiece | PicturePiece;

/** What lines are made of: pieces that stay whole where they can, and ends of lines. */
export type Atom = Piece | { readonly kind: 'break' };

/** Measures a text, in points. */
export type Measure = (text: string, style: TextStyle) => number;

/** Must not begin a line, by the rules of Chinese and Japanese typesetting. */
const NO_START = new Set(
  '、。，．：；？！）〕］｝〉》」』】〙〗’”％℃‰·・ー々…‥～—ぁぃぅぇぉっゃゅょァィゥェォッャュョ)]},.:;?!%',
);
/** Must not end a line. */
const NO_END = new Set('（〔［｛〈《「『【〘〖‘“￥＄([{$#');

/** Longest piece of a word, in UTF-16 units; what is longer is measured in parts. */
const MAX_WORD = 100;

const GRAPHEMES = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Cuts a text into what can stand in different lines at all: runs of spaces, words, and wide characters one by one. */
export function wordsOf(text: string): string[] {
  const words: string[] = [];
  let word = '';
  const close = (): void => {
    if (word !== '') words.push(word);
    word = '';
  };
  for (const character of text) {
    if (isWide(character)) {
      close();
      words.push(character);
    } else {
      if (word.length >= MAX_WORD || isSpace(character) !== isSpace(word.at(-1) ?? character)) close();
      word += character;
    }
  }
  close();
  return words;
}

/** Whether a line may end between two pieces. */
function mayBreak(before: Piece, after: Piece): boolean {
  if (before.kind === 'picture' || after.kind === 'picture') return true;
  if (isBlank(after)) return false;
  if (isBlank(before)) return true;
  const last = lastCharacter(before.text);
  const first = String.fromCodePoint(after.text.codePointAt(0) ?? 32);
  if (isWide(last) || isWide(first)) return !NO_START.has(first) && !NO_END.has(last);
  return false;
}

/** Whether a piece is only space, which a line does not need at its end. */
function isBlank(piece: Piece): boolean {
  return piece.kind === 'text' && isSpace(piece.text[0] ?? '');
}

/** Cuts a piece into pieces of at most `width`, between grapheme clusters; each has at least one. */
export function chop(piece: TextPiece, width: number, measure: Measure): TextPiece[] {
  const { style } = piece;
  const chopped: TextPiece[] = [];
  let text = '';
  let taken = 0;
  for (const { segment } of GRAPHEMES.segment(piece.text)) {
    const wide = measure(segment, style);
    if (text !== '' && taken + wide > width) {
      chopped.push({ ...piece, text, width: taken });
      text = '';
      taken = 0;
    }
    text += segment;
    taken += wide;
  }
  // A place has no text.
  if (text !== '' || piece.text === '') chopped.push({ ...piece, text, width: taken });
  return chopped;
}

function isSpace(character: string): boolean {
  return character === ' ' || character === '\t';
}

function lastCharacter(text: string): string {
  const last = text.at(-1) ?? '';
  return /[\udc00-\udfff]/.test(last) ? text.slice(-2) : last;
}

/** Height of a line of text over the size of its letters. */
export const LEADING = 1.2;
/** Where the letters stand in a line: distance of the baseline from the top over their size. */
const BASELINE = 0.98;

/** One line of text and pictures, set; in points. */
export interface Line {
  readonly pieces: readonly Piece[];
  readonly width: number;
  readonly height: number;
  /** Distance of the baseline from the top. */
  readonly baseline: number;
}

/**
 * Breaks pieces into lines of at most `width` points: at spaces, between wide characters where typesetting allows it, and
 * within a word only when it is wider than a line. There is always one line; an empty one is `size` high.
 */
export function breakLines(atoms: readonly Atom[], width: number, size: number, measure: Measure): Line[] {
  const setter = new LineSetter(width, size, measure);
  for (const atom of atoms) setter.add(atom);
  return setter.finish();
}

class LineSetter {
  readonly #lines: Line[] = [];
  #line: Piece[] = [];
  #lineWidth = 0;
  /** Pieces that stay together, not yet in a line. */
  #word: Piece[] = [];
  #wordWidth = 0;

  constructor(
    private readonly width: number,
    private readonly size: number,
    private readonly measure: Measure,
  ) {}

  add(atom: Atom): void {
    if (atom.kind === 'break') {
      this.#placeWord();
      this.#endLine();
      return;
    }
    const last = this.#word.at(-1);
    if (last !== undefined && mayBreak(last, atom)) this.#placeWord();
    this.#word.push(atom);
    this.#wordWidth += atom.width;
  }

  finish(): Line[] {
    this.#placeWord();
    if (this.#line.length > 0 || this.#lines.length === 0) this.#endLine();
    return this.#lines;
  }

  #placeWord(): void {
    const word = this.#word;
    const visible = word.reduce((sum, piece) => (isBlank(piece) ? sum : sum + piece.width), 0);
    if (this.#line.length > 0 && this.#lineWidth + visible > this.width) this.#endLine();
    if (visible > this.width) this.#placeChopped(word);
    else if (this.#line.length > 0 || !word.every(isBlank)) this.#append(word, this.#wordWidth);
    this.#word = [];
    this.#wordWidth = 0;
  }

  #placeChopped(word: readonly Piece[]): void {
    for (const piece of word) {
      const parts = piece.kind === 'text' && !isBlank(piece) ? chop(piece, this.width, this.measure) : [piece];
      for (const part of parts) {
        if (this.#line.length > 0 && !isBlank(part) && this.#lineWidth + part.width > this.width) this.#endLine();
        this.#append([part], part.width);
      }
    }
  }

  #append(pieces: readonly Piece[], width: number): void {
    for (const piece of pieces) this.#line.push(piece);
    this.#lineWidth += width;
  }

  #endLine(): void {
    const pieces = this.#line;
    let { length } = pieces;
    while (length > 0 && isBlank(pieces[length - 1] as Piece)) length -= 1;
    this.#lines.push(setLine(pieces.slice(0, length), this.size));
    this.#line = [];
    this.#lineWidth = 0;
  }
}

/** Joins pieces of the same style, so that text extracted from the file is whole, and measures the line. */
export function setLine(pieces: readonly Piece[], size: number): Line {
  const joined: Piece[] = [];
  let baseline = size * BASELINE;
  let below = size * (LEADING - BASELINE);
  let width = 0;
  for (const piece of pieces) {
    width += piece.width;
    if (piece.kind === 'picture') {
      baseline = Math.max(baseline, piece.height);
    } else {
      baseline = Math.max(baseline, piece.style.size * BASELINE);
      below = Math.max(below, piece.style.size * (LEADING - BASELINE));
    }
    const last = joined.at(-1);
    if (last?.kind === 'text' && piece.kind === 'text' && last.style === piece.style) {
      joined[joined.length - 1] = { ...last, text: last.text + piece.text, width: last.width + piece.width };
    } else {
      joined.push(piece);
    }
  }
  return { pieces: joined, width, height: baseline + below, baseline };
}
