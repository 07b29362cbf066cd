/** Operations on texts as Python has them; those that can grow a text take the budget. */
import type { Budget } from '../template-budget.js';
import { countCharacters, toText, type Value } from './values.js';

/** Makes the first character upper case and the others lower case. */
export function capitalize(text: string): string {
  const [first = ''] = text;
  return first.toUpperCase() + text.slice(first.length).toLowerCase();
}

/** Capitalizes every word, where a blank, a dash or an opening bracket ends the word before. */
export function title(text: string): string {
  return text
    .split(/([-\s({[<]+)/)
    .map((part, i) => (i % 2 === 0 ? capitalize(part) : part))
    .join('');
}

/** Makes the first of neighbouring letters upper case and the others lower case, whatever stands between them. */
export function titleLetters(text: string): string {
  return text.toLowerCase().replace(/\p{Cased}+/gu, capitalize);
}

export function swapCase(text: string): string {
  return Array.from(text, (char) => (char === char.toUpperCase() ? char.toLowerCase() : char.toUpperCase())).join('');
}

/** Strips blanks, or any of `chars`, from one side or both. */
export function strip(text: string, chars: string | undefined, side: 'start' | 'end' | 'both'): string {
  const strips = chars === undefined ? undefined : new Set(chars);
  const gone = (at: number): boolean =>
    strips === undefined ? /\s/.test(text[at] as string) : strips.has(text[at] as string);
  let start = 0;
  let end = text.length;
  if (side !== 'end') while (start < end && gone(start)) start++;
  if (side !== 'start') while (end > start && gone(end - 1)) end--;
  return text.slice(start, end);
}

/** Splits at a separator, or at runs of blanks when there is none; the rest behind `most` cuts stays whole. */
export function split(text: string, separator: string | undefined, most: number, fromEnd: boolean): string[] {
  const parts = separator === undefined ? splitBlanks(text) : splitAt(text, separator);
  if (parts.length - 1 <= most) return parts.map((part) => part.text);
  const cut = fromEnd ? parts.length - 1 - most : most;
  const edge = (fromEnd ? parts[cut] : parts[most]) as Piece;
  if (fromEnd) return [text.slice(parts[0]?.start, edge.end), ...parts.slice(cut + 1).map((part) => part.text)];
  return [...parts.slice(0, cut).map((part) => part.text), text.slice(edge.start)];
}

export function splitLines(text: string): string[] {
  const lines = text.split(/\r\n|[\n\r\v\f\x85\u2028\u2029]/);
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

/** Replaces `from` by `to`, at most `most` times when that is not negative; an empty `from` is between all characters. */
export function replace(text: string, from: string, to: string, most: number, budget: Budget): string {
  const parts = from === '' ? ['', ...Array.from(text), ''] : text.split(from);
  const count = most < 0 ? parts.length - 1 : Math.min(most, parts.length - 1);
  budget.reserve(text.length + count * (to.length - from.length));
  const changed = parts.slice(0, count).map((part) => part + to);
  return changed.join('') + parts.slice(count).join(from);
}

/** Joins the texts of items, checking the size as it grows. */
export function join(items: readonly Value[], separator: string, budget: Budget): string {
  const parts: string[] = [];
  let length = 0;
  for (const item of items) {
    const part = toText(item, budget);
    length = budget.append(length + separator.length, part);
    parts.push(part);
  }
  return parts.join(separator);
}

/** Fills a text up to a width with `fill`. */
export function pad(text: string, width: number, fill: string, side: 'start' | 'end' | 'both', budget: Budget): string {
  const missing = width - countCharacters(text);
  if (missing <= 0) return text;
  if (countCharacters(fill) !== 1) return budget.fail('the fill must be one character');
  budget.reserve(text.length + missing * fill.length);
  // Python puts the odd blank on the left when both the gap and the width are odd.
  const before = side === 'start' ? missing : side === 'end' ? 0 : Math.floor(missing / 2) + (missing & width & 1);
  return fill.repeat(before) + text + fill.repeat(missing - before);
}

export function removePrefix(text: string, prefix: string): string {
  return text.startsWith(prefix) ? text.slice(prefix.length) : text;
}

export function removeSuffix(text: string, suffix: string): string {
  return suffix !== '' && text.endsWith(suffix) ? text.slice(0, -suffix.length) : text;
}

/** Gives the position of a part in characters, or -1. */
export function find(text: string, part: string, last: boolean): number {
  const at = last ? text.lastIndexOf(part) : text.indexOf(part);
  return at <= 0 ? at : countCharacters(text.slice(0, at));
}

/** Counts a part without overlap. */
export function countOccurrences(text: string, part: string): number {
  return part === '' ? countCharacters(text) + 1 : text.split(part).length - 1;
}

/** Gives what is before, the separator and what is behind it. */
export function partition(text: string, separator: string, last: boolean): string[] {
  const at = last ? text.lastIndexOf(separator) : text.indexOf(separator);
  if (at === -1) return last ? ['', '', text] : [text, '', ''];
  return [text.slice(0, at), separator, text.slice(at + separator.length)];
}

interface Piece {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

function splitAt(text: string, separator: string): Piece[] {
  let start = 0;
  return text.split(separator).map((part) => {
    const piece = { text: part, start, end: start + part.length };
    start = piece.end + separator.length;
    return piece;
  });
}

function splitBlanks(text: string): Piece[] {
  return Array.from(text.matchAll(/\S+/g), ({ 0: part, index }) => ({
    text: part,
    start: index,
    end: index + part.length,
  }));
}
