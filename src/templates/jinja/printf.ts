import { renderNumber } from '../../dsl/render-value.js';
import type { Budget } from '../template-budget.js';
import { countCharacters, type Dict, isNumeric, own, toText, typeName, type Value } from './values.js';

const DIRECTIVE = /%(?:\(([^()]*)\))?([-+ 0#]*)([1-9]\d*)?(?:\.(\d+))?([a-zA-Z%])/y;

/** Widest field and longest fraction. */
const MAX_WIDTH = 10_000;
const MAX_FRACTION = 100;
/** From here on the language writes an exponent; such numbers are whole. */
const MAX_FIXED = 1e21;

/**
 * Fills a printf pattern as Python's `%` does: `%s %r %d %i %u %f %F %e %E %g %G %x %X %o %c %%`, with flags, width, precision
 * and `%(name)s`. No directive reads attributes of a value.
 */
export function formatPrintf(pattern: string, values: readonly Value[], named: Dict, budget: Budget): string {
  let result = '';
  let next = 0;
  let from = 0;
  for (let at = pattern.indexOf('%'); at !== -1; at = pattern.indexOf('%', from)) {
    DIRECTIVE.lastIndex = at;
    const match = DIRECTIVE.exec(pattern);
    if (match === null)
      return budget.fail(
        `the format has a "%" without a directive at character ${at + 1}; write "%%" for a percent sign`,
      );
    result += pattern.slice(from, at);
    from = at + match[0].length;
    const [, name, flags = '', width, precision, type = ''] = match;
    if (type === '%') {
      result += '%';
      continue;
    }
    if (name === undefined && next >= values.length)
      return budget.fail('the format needs more values than it was given');
    const value = name === undefined ? values[next++] : own(named, name);
    result += field(
      {
        flags,
        type,
        width: bounded(width, MAX_WIDTH),
        precision: precision === undefined ? undefined : bounded(precision, MAX_FRACTION),
      },
      value,
      budget,
    );
    budget.reserve(result.length);
  }
  return budget.text(result + pattern.slice(from));
}

interface Directive {
  readonly flags: string;
  readonly type: string;
  readonly width: number;
  readonly precision: number | undefined;
}

function field(directive: Directive, value: Value, budget: Budget): string {
  const { flags, type, width, precision } = directive;
  if (type === 's' || type === 'r' || type === 'c') {
    const text = toText(value, budget);
    return pad(precision === undefined ? text : text.slice(0, precision), flags.replace('0', ''), width);
  }
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (!isNumeric(number) || Number.isNaN(number))
    return budget.fail(`the format needs a number for "%${type}", but got ${typeName(value)}`);
  const amount = 'diu'.includes(type) ? Math.trunc(Number(number)) : Number(number);
  const digits = numberText(directive, Math.abs(amount), budget);
  const sign = amount < 0 ? '-' : flags.includes('+') ? '+' : flags.includes(' ') ? ' ' : '';
  if (flags.includes('0') && !flags.includes('-')) return sign + digits.padStart(width - sign.length, '0');
  return pad(sign + digits, flags, width);
}

function numberText({ type, precision, flags }: Directive, value: number, budget: Budget): string {
  const whole = Math.trunc(value);
  switch (type) {
    case 'd':
    case 'i':
    case 'u':
      return fixed(whole, 0);
    case 'f':
    case 'F':
      return fixed(value, precision ?? 6);
    case 'e':
    case 'E':
      return withCase(exponent(value.toExponential(precision ?? 6)), type);
    case 'g':
    case 'G':
      return withCase(general(value, precision ?? 6), type);
    case 'x':
    case 'X':
      return withCase((flags.includes('#') ? '0x' : '') + whole.toString(16), type);
    case 'o':
      return (flags.includes('#') ? '0o' : '') + whole.toString(8);
    default:
      return budget.fail(`the format has the unknown directive "%${type}"`);
  }
}

/** Writes a number that is not negative with `digits` behind the point. A half goes to the even digit, as in Python; only what is half in binary is one. */
export function fixed(value: number, digits: number): string {
  if (value >= MAX_FIXED) return `${BigInt(value)}${digits > 0 ? '.' : ''}${'0'.repeat(digits)}`;
  const text = value.toFixed(digits);
  const isHalf = Math.abs((value * 2 ** (digits + 1)) % 2) === 1;
  if (!isHalf || !/[13579]$/.test(text)) return text;
  return `${text.slice(0, -1)}${Number(text.at(-1)) - 1}`;
}

/** Writes a number that is not negative with so many digits in all, with an exponent when it is very large or small. */
export function general(value: number, precision: number): string {
  const digits = Math.max(1, precision);
  const scale = value === 0 ? 0 : Math.floor(Math.log10(value));
  if (scale < -4 || scale >= digits) return exponent(value.toExponential(digits - 1).replace(/\.?0+e/, 'e'));
  return renderNumber(Number(value.toPrecision(digits)));
}

/** Gives a number with an exponent as Python writes it, with at least two digits of the exponent. */
export function exponent(text: string): string {
  return text.replace(/e([+-])(\d)$/, 'e$10$2');
}

function withCase(text: string, type: string): string {
  return type === type.toUpperCase() ? text.toUpperCase() : text;
}

function pad(text: string, flags: string, width: number): string {
  const blanks = ' '.repeat(Math.max(0, width - countCharacters(text)));
  return flags.includes('-') ? text + blanks : blanks + text;
}

function bounded(digits: string | undefined, most: number): number {
  return Math.min(most, Number(digits ?? 0));
}
