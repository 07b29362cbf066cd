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
export function mayBreak(before: Piece, after: Piece): boolean {
  if (before.kind === 'picture' || after.kind === 'picture') return true;
  if (isBlank(after)) return false;
  if (isBlank(before)) return true;
  const last = lastCharacter(before.text);
  const first = String.fromCodePoint(after.text.codePointAt(0) ?? 32);
  if (isWide(last) || isWide(first)) return !NO_START.has(first) && !NO_END.has(last);
  return false;
}

/** Whether a piece is only space, which a line does not need at its end. */
export function isBlank(piece: Piece): boolean {
  return piece.kind === 'text' && isSpace(piece.text[0] ?? '');
}

/** Cuts a piece into such that are at most `width` wide, between what readers see as characters; each has one at least. */
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
  if (text !== '') chopped.push({ ...piece, text, width: taken });
  return chopped;
}

function isSpace(character: string): boolean {
  return character === ' ' || character === '\t';
}

function lastCharacter(text: string): string {
  const last = text.at(-1) ?? '';
  return /[\udc00-\udfff]/.test(last) ? text.slice(-2) : last;
}
