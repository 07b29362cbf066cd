import { type Atom, chop, isBlank, type Measure, mayBreak, type Piece } from './atoms.js';

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

/** Joins what is set alike, so that readers of the file find whole texts, and measures the line. */
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
