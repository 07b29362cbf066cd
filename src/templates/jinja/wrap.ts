/** Breaking texts into lines, and taking tags out of them. */
import { countCharacters } from './values.js';

/** Where lines may be broken besides blanks. */
export interface WrapOptions {
  readonly breakWords: boolean;
  readonly breakHyphens: boolean;
}

/** Behind a hyphen between parts of a word, as Python sees them: `x-y` is none. */
const HYPHEN = /(?<=(?:\p{L}{2}|\p{L}-\p{L})-)(?=\p{L}-?\p{L})/u;
const ENTITY = /&(?:#[xX]([0-9a-fA-F]{1,6})|#(\d{1,7})|(amp|lt|gt|quot|apos|nbsp));/g;
const NAMED: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: '\u00a0' };
const NOT_SOUGHT = -2;

/** Breaks every line at blanks so that none is longer than `width`, as far as words allow it. */
export function wrapLines(lines: readonly string[], width: number, options: WrapOptions): string[] {
  return lines.flatMap((line) => wrapLine(line, width, options));
}

/** Takes out comments and tags; an opening mark without an end stays. */
export function removeTags(text: string): string {
  let result = '';
  let from = 0;
  // Once there is no end further on, none need be looked for again; that keeps the search linear.
  const ends = { '-->': NOT_SOUGHT, '>': NOT_SOUGHT };
  for (let open = text.indexOf('<'); open !== -1; open = text.indexOf('<', open + 1)) {
    const mark = text.startsWith('<!--', open) ? '-->' : '>';
    if (ends[mark] !== -1 && ends[mark] < open) ends[mark] = text.indexOf(mark, open);
    if (ends[mark] === -1) continue;
    result += text.slice(from, open);
    from = ends[mark] + mark.length;
    open = from - 1;
  }
  return result + text.slice(from);
}

/** Replaces character references, by number or by one of the names that escaping writes. */
export function decodeEntities(text: string): string {
  return text.replace(ENTITY, (entity, hex?: string, decimal?: string, name?: string) => {
    if (name !== undefined) return NAMED[name] ?? entity;
    const point = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
    return point > 0 && point <= 0x10ffff ? String.fromCodePoint(point) : entity;
  });
}

function wrapLine(line: string, width: number, options: WrapOptions): string[] {
  const lines: string[] = [];
  let current = '';
  let length = 0;
  const finish = (): void => {
    // A line of blanks alone is none.
    if (current.trim() !== '') lines.push(current.trimEnd());
    current = '';
    length = 0;
  };
  const add = (text: string, size: number): void => {
    current += text;
    length += size;
  };
  for (const chunk of chunks(line, options)) {
    const size = countCharacters(chunk);
    const isLong = size > width && options.breakWords;
    if (length > 0 && length + size > width && !isLong) finish();
    if (length === 0 && lines.length > 0 && chunk.trim() === '') continue;
    if (!isLong) {
      add(chunk, size);
      continue;
    }
    // As Python does it, a long word begins in what is left of the line.
    const characters = Array.from(chunk);
    for (let at = 0; at < size; ) {
      if (length >= width) finish();
      const piece = firstPiece(characters, at, width - length, options);
      add(piece.join(''), piece.length);
      at += piece.length;
    }
  }
  finish();
  return lines.length === 0 ? [''] : lines;
}

/** What fits, up to its last hyphen if that may end a line. */
function firstPiece(characters: readonly string[], at: number, room: number, { breakHyphens }: WrapOptions): string[] {
  const piece = characters.slice(at, at + room);
  const hyphen = breakHyphens && at + room < characters.length ? piece.lastIndexOf('-') : -1;
  return piece.slice(0, hyphen).some((character) => character !== '-') && hyphen > 0
    ? piece.slice(0, hyphen + 1)
    : piece;
}

function chunks(line: string, { breakHyphens }: WrapOptions): string[] {
  const words = line.split(/(\s+)/).filter((part) => part !== '');
  return breakHyphens ? words.flatMap((word) => word.split(HYPHEN)) : words;
}
