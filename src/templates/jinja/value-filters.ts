import { sortKeys } from '../../dsl/json-copy.js';
import { renderJson } from '../../dsl/render-value.js';
import type { Budget } from '../template-budget.js';
import { getPath } from './members.js';
import { type FilterRow, type Runtime, row, textArgument, wholeNumber } from './runtime.js';
import { entriesOf, isDict, isNumeric, isTrue, sizeOf, toJson, toText, typeName, type Value } from './values.js';

/** Filters on single values: fallbacks, numbers, JSON. */
export const VALUE_FILTERS: readonly FilterRow[] = [
  row('default', ['default_value', 'boolean'], fallback),
  row('d', ['default_value', 'boolean'], fallback),
  row('string', [], (value, _args, run) => toText(value, run.budget)),
  row('safe', [], (value, _args, run) => toText(value, run.budget)),
  row('int', ['default', 'base'], toInteger),
  row('float', ['default'], (value, [other = 0], run) => toFloat(value, run) ?? other),
  row('abs', [], (value, _args, run) => Math.abs(numberOf(value, 'abs', run))),
  row('round', ['precision', 'method'], round),
  row('length', [], (value, _args, run) => sizeOf(value, run.budget)),
  row('count', [], (value, _args, run) => sizeOf(value, run.budget)),
  row('tojson', ['indent'], toJsonText),
  row('attr', ['name'], (value, [name], run) => getPath(value, name, run)),
  row('items', [], items),
  row('filesizeformat', ['binary'], fileSize),
];

/** Longest prefix of a text that is read as a number. */
const MAX_NUMBER_TEXT = 400;
const INTEGER_TEXT = /^[-+]?[0-9a-z]+$/i;
const FLOAT_TEXT = /^[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?$/i;
/** What JSON text of Jinja's `tojson` holds only as escapes. */
const UNSAFE = /[<>&'\u007f-\uffff]/g;
const BASE_PREFIXES: Readonly<Record<number, RegExp>> = { 2: /^([-+]?)0b/i, 8: /^([-+]?)0o/i, 16: /^([-+]?)0x/i };
const ROUNDINGS = new Set(['common', 'ceil', 'floor']);

function fallback(value: Value, [other = '', whenFalse = false]: readonly Value[]): Value {
  return value === undefined || (isTrue(whenFalse) && !isTrue(value)) ? other : value;
}

function toInteger(value: Value, [other = 0, base]: readonly Value[], run: Runtime): Value {
  const radix = wholeNumber(base, 10, 'base', run.budget);
  if (typeof value === 'string' && radix !== 10) return parseBase(value.trim(), radix, run.budget) ?? other;
  const number = toFloat(value, run);
  return number === undefined ? other : Math.trunc(number);
}

function parseBase(text: string, radix: number, budget: Budget): number | undefined {
  if (radix < 2 || radix > 36) return budget.fail(`a base must be 2 to 36, but is ${radix}`);
  const prefix = BASE_PREFIXES[radix];
  const digits = (prefix === undefined ? text : text.replace(prefix, '$1')).toLowerCase();
  if (digits.length > MAX_NUMBER_TEXT || !INTEGER_TEXT.test(digits)) return undefined;
  const known = Array.from(digits.replace(/^[-+]/, '')).every((digit) => Number.parseInt(digit, 36) < radix);
  return known ? finite(Number.parseInt(digits, radix)) : undefined;
}

function toFloat(value: Value, run: Runtime): number | undefined {
  if (isNumeric(value)) return Number(value);
  if (typeof value !== 'string') return undefined;
  const text = run.budget.text(value).trim().replaceAll('_', '');
  return text.length <= MAX_NUMBER_TEXT && FLOAT_TEXT.test(text) ? finite(Number(text)) : undefined;
}

function finite(number: number): number | undefined {
  return Number.isFinite(number) ? number : undefined;
}

function numberOf(value: Value, filter: string, run: Runtime): number {
  return isNumeric(value)
    ? Number(value)
    : run.budget.fail(`"${filter}" needs a number, but got ${typeName(value)}; convert it with "| float"`);
}

function round(value: Value, [precision, method = 'common']: readonly Value[], run: Runtime): number {
  const number = numberOf(value, 'round', run);
  const digits = wholeNumber(precision, 0, 'precision', run.budget);
  if (typeof method !== 'string' || !ROUNDINGS.has(method))
    return run.budget.fail('the method of "round" is common, ceil or floor');
  if (Math.abs(digits) > 100 || Math.abs(number) >= 1e21) return number;
  const scale = 10 ** Math.abs(digits);
  const scaled = digits < 0 ? number / scale : number * scale;
  const unscale = (whole: number): number => (digits < 0 ? whole * scale : whole / scale);
  if (method !== 'common') return unscale(method === 'ceil' ? Math.ceil(scaled) : Math.floor(scaled));
  // Ties go to the even neighbour, but only real ones: 2.675 is a little less than it looks.
  const isTie = Math.abs(scaled % 1) === 0.5 && (digits < 0 || Number.isInteger(number * 2 ** (digits + 1)));
  if (isTie) return unscale(2 * Math.round(scaled / 2));
  return digits < 0 ? unscale(Math.round(scaled)) : Number(number.toFixed(digits));
}

/** JSON as Jinja writes it: keys in order, and only characters that neither HTML nor an encoding could misread. */
function toJsonText(value: Value, [indent]: readonly Value[], run: Runtime): string {
  const json = sortKeys(toJson(value, run.budget));
  const width = wholeNumber(indent, 0, 'indent', run.budget);
  const written = width > 0 ? JSON.stringify(json, null, Math.min(width, 10)) : renderJson(json);
  return run.budget.text(written.replace(UNSAFE, escapeUnit));
}

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

function items(value: Value, _args: readonly Value[], run: Runtime): Value {
  if (value === undefined) return [];
  if (!isDict(value)) return run.budget.fail(`"items" needs an object, but got ${typeName(value)}`);
  return entriesOf(value, run.budget);
}

function fileSize(value: Value, [binary]: readonly Value[], run: Runtime): string {
  const bytes = toFloat(value, run) ?? numberOf(value, 'filesizeformat', run);
  const base = isTrue(binary) ? 1024 : 1000;
  const units = isTrue(binary) ? ['KiB', 'MiB', 'GiB', 'TiB', 'PiB'] : ['kB', 'MB', 'GB', 'TB', 'PB'];
  if (bytes === 1) return '1 Byte';
  if (bytes < base) return `${textArgument(Math.trunc(bytes), '', run.budget)} Bytes`;
  const power = Math.min(units.length, Math.floor(Math.log(bytes) / Math.log(base)));
  return `${(bytes / base ** power).toFixed(1)} ${units[power - 1]}`;
}
