/** Filters of Jinja on texts, with breaking of lines and removal of tags. */
import { escapeHtml, unescapeHtml } from '../escape-html.js';
import type { Budget } from '../template-budget.js';
import { formatPrintf } from './format.js';
import { type FilterRow, openRow, type Runtime, row, textArgument, wholeNumber } from './runtime.js';
import * as text from './text.js';
import { countCharacters, dict, isDict, isList, isTrue, toItems, toText, type Value } from './values.js';

/** Builds a row of a filter that turns the text of a value into another text. */
function textRow(
  name: string,
  names: readonly string[],
  apply: (value: string, args: readonly Value[], budget: Budget) => string | number,
): FilterRow {
  return row(name, names, (value, args, { budget }) => {
    const result = apply(budget.text(toText(value, budget)), args, budget);
    return typeof result === 'string' ? budget.text(result) : result;
  });
}

/** Filters on texts; other values are made text first. */
export const TEXT_FILTERS: readonly FilterRow[] = [
  textRow('upper', [], (value) => value.toUpperCase()),
  textRow('lower', [], (value) => value.toLowerCase()),
  textRow('title', [], text.title),
  textRow('capitalize', [], text.capitalize),
  textRow('trim', ['chars'], (value, [chars], budget) =>
    text.strip(value, textArgument(chars, undefined, budget), 'both'),
  ),
  textRow('escape', [], escaped),
  textRow('e', [], escaped),
  textRow('forceescape', [], escaped),
  textRow('striptags', [], (value) => unescapeHtml(removeTags(value).replace(/\s+/g, ' ').trim())),
  textRow('wordcount', [], (value) => value.match(/[\p{L}\p{M}\p{N}_]+/gu)?.length ?? 0),
  textRow('replace', ['old', 'new', 'count'], replace),
  textRow('center', ['width'], (value, [width], budget) =>
    text.pad(value, wholeNumber(width, 80, 'width', budget), ' ', 'both', budget),
  ),
  textRow('indent', ['width', 'first', 'blank'], indent),
  textRow('truncate', ['length', 'killwords', 'end', 'leeway'], truncate),
  textRow('wordwrap', ['width', 'break_long_words', 'wrapstring', 'break_on_hyphens'], wordWrap),
  row('urlencode', [], urlEncode),
  openRow('format', (value, { positional, keyword }, { budget }) =>
    formatPrintf(toText(value, budget), positional, dict(keyword), budget),
  ),
  row('xmlattr', ['autospace'], xmlAttributes),
];

/** As Jinja does it, which writes quotes by their number. */
function escaped(value: string): string {
  return escapeHtml(value).replaceAll('&quot;', '&#34;');
}

function replace(value: string, [from, to, count]: readonly Value[], budget: Budget): string {
  const most = wholeNumber(count, -1, 'count', budget);
  return text.replace(value, textArgument(from, '', budget), textArgument(to, '', budget), most, budget);
}

function indent(value: string, [width, first, blank]: readonly Value[], budget: Budget): string {
  const size = typeof width === 'string' ? 0 : wholeNumber(width, 4, 'width', budget);
  budget.reserve(size);
  const by = typeof width === 'string' ? width : ' '.repeat(Math.max(0, size));
  const lines = value.split('\n');
  budget.reserve(value.length + lines.length * by.length);
  return lines
    .map((line, i) => {
      const indents = i === 0 ? isTrue(first) : line !== '' || isTrue(blank);
      return indents ? by + line : line;
    })
    .join('\n');
}

function truncate(value: string, [length, killWords, end, leeway]: readonly Value[], budget: Budget): string {
  const most = wholeNumber(length, 255, 'length', budget);
  const ending = textArgument(end, '...', budget);
  const characters = Array.from(value);
  const room = most - Array.from(ending).length;
  if (room < 0) return budget.fail(`"truncate" to ${most} leaves no room for its end ${JSON.stringify(ending)}`);
  if (characters.length <= most + wholeNumber(leeway, 5, 'leeway', budget)) return value;
  const kept = characters.slice(0, room).join('');
  const lastBlank = kept.lastIndexOf(' ');
  return (isTrue(killWords) || lastBlank === -1 ? kept : kept.slice(0, lastBlank)) + ending;
}

function wordWrap(
  value: string,
  [width, breakWords, wrapString, breakHyphens]: readonly Value[],
  budget: Budget,
): string {
  const most = wholeNumber(width, 79, 'width', budget);
  budget.visit(value.length);
  if (most < 1) return budget.fail('the width of "wordwrap" must be at least 1');
  const options = {
    breakWords: breakWords === undefined || isTrue(breakWords),
    breakHyphens: breakHyphens === undefined || isTrue(breakHyphens),
  };
  const lines = text.splitLines(value).flatMap((line) => wrapLine(line, most, options));
  return text.join(lines, textArgument(wrapString, '\n', budget), budget);
}

function urlEncode(value: Value, _args: readonly Value[], run: Runtime): string {
  const { budget } = run;
  const part = (each: Value): string => percentEncode(budget.text(toText(each, budget))).replaceAll('%20', '+');
  if (!isDict(value) && !isList(value)) return budget.text(percentEncode(toText(value, budget)).replaceAll('%2F', '/'));
  const pairs = isDict(value) ? Object.entries(value) : toItems(value, budget).map((pair) => toItems(pair, budget));
  return text.join(
    pairs.map(([key, item]) => `${part(key)}=${part(item)}`),
    '&',
    budget,
  );
}

/** Leaves what RFC 3986 calls unreserved. */
function percentEncode(value: string): string {
  const encoded = encodeURIComponent(value.replace(/\p{Surrogate}/gu, '\ufffd'));
  return encoded.replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
}

function xmlAttributes(value: Value, [autoSpace]: readonly Value[], run: Runtime): string {
  const { budget } = run;
  if (!isDict(value)) return budget.fail('"xmlattr" needs an object');
  const parts = Object.entries(value).flatMap(([key, item]) => {
    if (item === undefined || item === null) return [];
    if (/[\s/>=]/.test(key)) budget.fail(`"xmlattr" cannot write the name ${JSON.stringify(key)}`);
    return [`${escaped(key)}="${escaped(toText(item, budget))}"`];
  });
  const result = text.join(parts, ' ', budget);
  return result !== '' && (autoSpace === undefined || isTrue(autoSpace)) ? ` ${result}` : result;
}

// Breaking texts into lines, and taking tags out of them.

/** Where lines may be broken besides blanks. */
export interface WrapOptions {
  readonly breakWords: boolean;
  readonly breakHyphens: boolean;
}

/** Behind a hyphen between parts of a word, as Python sees them: `x-y` is none. */
const HYPHEN = /(?<=(?:\p{L}{2}|\p{L}-\p{L})-)(?=\p{L}-?\p{L})/u;
const NOT_SOUGHT = -2;

/** Takes out comments and tags; an opening mark without an end stays. */
function removeTags(text: string): string {
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

/** Breaks a line at blanks so that none is longer than `width`, as far as words allow it. */
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
