import type { Budget } from '../template-budget.js';
import { textArgument, wholeNumber } from './arguments.js';
import { type FilterRow, openRow, row } from './filter-table.js';
import { formatPrintf } from './printf.js';
import type { Runtime } from './runtime.js';
import * as text from './text.js';
import { dict, isDict, isList, isTrue, toItems, toText, type Value } from './values.js';
import { decodeEntities, removeTags, wrapLines } from './wrap.js';

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
    text.strip(value, chars == null ? undefined : toText(chars, budget), 'both'),
  ),
  textRow('escape', [], escapeHtml),
  textRow('e', [], escapeHtml),
  textRow('forceescape', [], escapeHtml),
  textRow('striptags', [], (value) => decodeEntities(removeTags(value).replace(/\s+/g, ' ').trim())),
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

const HTML: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&#34;', "'": '&#39;' };

function escapeHtml(value: string): string {
  return value.replace(/[&<>"']/g, (char) => HTML[char] as string);
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
  return text.join(wrapLines(text.splitLines(value), most, options), textArgument(wrapString, '\n', budget), budget);
}

function urlEncode(value: Value, _args: readonly Value[], run: Runtime): string {
  const { budget } = run;
  const part = (each: Value): string => percentEncode(budget.text(toText(each, budget)), '').replaceAll('%20', '+');
  if (!isDict(value) && !isList(value)) return budget.text(percentEncode(toText(value, budget), '/'));
  const pairs = isDict(value) ? Object.entries(value) : toItems(value, budget).map((pair) => toItems(pair, budget));
  return text.join(
    pairs.map(([key, item]) => `${part(key)}=${part(item)}`),
    '&',
    budget,
  );
}

/** Leaves what RFC 3986 calls unreserved, and `safe`. */
function percentEncode(value: string, safe: string): string {
  return value.replace(/[^A-Za-z0-9_.~-]+/g, (run) =>
    Array.from(Buffer.from(run), (byte) => {
      const char = String.fromCharCode(byte);
      return safe.includes(char) ? char : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
    }).join(''),
  );
}

function xmlAttributes(value: Value, [autoSpace]: readonly Value[], run: Runtime): string {
  const { budget } = run;
  if (!isDict(value)) return budget.fail('"xmlattr" needs an object');
  const parts = Object.entries(value).flatMap(([key, item]) => {
    if (item === undefined || item === null) return [];
    if (/[\s/>=]/.test(key)) budget.fail(`"xmlattr" cannot write the name ${JSON.stringify(key)}`);
    return [`${escapeHtml(key)}="${escapeHtml(toText(item, budget))}"`];
  });
  const result = text.join(parts, ' ', budget);
  return result !== '' && (autoSpace === undefined || isTrue(autoSpace)) ? ` ${result}` : result;
}
