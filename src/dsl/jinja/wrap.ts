/** Breaking texts into lines, and taking tags out of them. */
import { countCharacters } from './values.js';

/** Where lines may be broken besides blanks. */
export interface WrapOptions {
  readonly breakWords: boolean;
  readonly breakHyphens: boolean;
}

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

function wrapLine(line: string, width: number, options: WrapOptions): string[] {
  const lines: string[] = [];
  let current = '';
  let length = 0;
  for (const chunk of chunks(line, width, options)) {
    const size = countCharacters(chunk);
    if (length > 0 && length + size > width) {
      lines.push(current.trimEnd());
      current = '';
      length = 0;
    }
    if (length === 0 && lines.length > 0 && chunk.trim() === '') continue;
    current += chunk;
    length += size;
  }
  if (current.trim() !== '' || lines.length === 0) lines.push(current.trimEnd());
  return lines;
}

function chunks(line: string, width: number, { breakWords, breakHyphens }: WrapOptions): string[] {
  const words = line.split(/(\s+)/).filter((part) => part !== '');
  const parts = breakHyphens ? words.flatMap((word) => word.split(/(?<=\p{L}-)(?=\p{L})/u)) : words;
  return breakWords ? parts.flatMap((part) => cut(part, width)) : parts;
}

function cut(part: string, width: number): string[] {
  if (part.length <= width) return [part];
  const characters = Array.from(part);
  return Array.from({ length: Math.ceil(characters.length / width) }, (_, i) =>
    characters.slice(i * width, (i + 1) * width).join(''),
  );
}
