/** Python's text formatting: `str.format` and `%`. */
import { renderNumber } from '../../dsl/render-value.js';
import type { Budget } from '../template-budget.js';
import {
  type Arguments,
  countCharacters,
  type Dict,
  dict,
  isDict,
  isList,
  isNumeric,
  own,
  toText,
  typeName,
  type Value,
} from './values.js';

/** A doubled brace, a field, or a brace that is neither. */
const PIECE = /\{\{|\}\}|\{([^}]*)\}|[{}]/g;
const FIELD = /^([^[.!:]*)((?:\.[^[.!:]*|\[[^\]]*\])*)(?:!([rsa]))?(?::(.*))?$/s;
const SPEC = /^(?:(.)?([<>^=]))?([-+ ]?)(#?)(0?)(\d*)([,_]?)(?:\.(\d+))?([a-zA-Z%]?)$/su;

/** Widest field and longest fraction. */
export const MAX_WIDTH = 10_000;
export const MAX_FRACTION = 100;

/**
 * Fills a pattern as Python's `str.format` does: `{}`, `{0}`, `{name}`, `{0[key]}`, `{:>8.2f}`, with `{{` and `}}` for braces.
 *
 * Attributes (`{0.name}`) are refused: in Python they reach the program behind the template. So are fields within a format.
 */
export function formatText(pattern: string, args: Arguments, budget: Budget): string {
  const named = dict(args.keyword);
  let next = 0;
  let length = 0;
  const result = pattern.replace(PIECE, (written, inside?: string) => {
    if (written === '{{' || written === '}}') return written.charAt(0);
    if (written === '}') return budget.fail('the format has a "}" without a field; write "}}" for the brace itself');
    if (inside === undefined) {
      return budget.fail('the format has a "{" that is not closed; write "{{" for the brace itself');
    }
    const { root, path, spec } = readField(inside, budget);
    const value = root === '' ? args.positional[next++] : rootOf(root, args.positional, named);
    if (value === undefined) return budget.fail(`the format has no value for the field "${written}"`);
    const text = formatValue(valueAt(value, path, budget), spec, budget);
    length = budget.append(length, text);
    return text;
  });
  return budget.text(result);
}

interface Field {
  readonly root: string;
  readonly path: readonly string[];
  readonly spec: string;
}

function readField(text: string, budget: Budget): Field {
  const match = FIELD.exec(text);
  if (match === null || text.includes('{'))
    return budget.fail(`the format has the field "{${text}}", which cannot be read`);
  const [, root = '', path = '', , spec = ''] = match;
  if (path.startsWith('.') || path.includes('].')) {
    return budget.fail(`the format reads an attribute in "{${text}}"; only keys are read, as in {0[name]}`);
  }
  return { root, path: [...path.matchAll(/\[([^\]]*)\]/g)].map(([, key = '']) => key), spec };
}

function rootOf(name: string, positional: readonly Value[], named: Dict): Value {
  return /^\d+$/.test(name) ? positional[Number(name)] : own(named, name);
}

function valueAt(root: Value, path: readonly string[], budget: Budget): Value {
  let value = root;
  for (const key of path) {
    const inside: Value = isDict(value)
      ? own(value, key)
      : isList(value) && /^\d+$/.test(key)
        ? value[Number(key)]
        : undefined;
    if (inside === undefined)
      return budget.fail(`the format reads the key "${key}" of ${typeName(value)}, which it does not have`);
    value = inside;
  }
  return value;
}

/** What is wrong with a specification, as part of a sentence; undefined when it can be used. */
export function specProblem(spec: string): string | undefined {
  const match = SPEC.exec(spec);
  if (match === null) return 'cannot be read';
  const [, , , , , , width = '', , precision = '', type = ''] = match;
  if (type !== 's' && !NUMBER_TYPES.test(type)) return `has the unknown type "${type}"`;
  if (Number(width) > MAX_WIDTH) return `is wider than ${MAX_WIDTH}`;
  return Number(precision) > MAX_FRACTION && type !== 's' && type !== ''
    ? `has more than ${MAX_FRACTION} digits`
    : undefined;
}

/** Whether a specification is for numbers alone. */
export function needsNumber(spec: string): boolean {
  const [, , side, sign = '', alternate, , , group = '', , type = ''] = SPEC.exec(spec) ?? [];
  return type !== 's' && (type !== '' || group !== '' || sign !== '' || alternate === '#' || side === '=');
}

/**
 * A value by a specification of Python such as `>8.2f`.
 *
 * Errors: `TEMPLATE_FAILED` for a specification that cannot be read or does not fit the value.
 */
export function formatValue(value: Value, spec: string, budget: Budget): string {
  if (spec === '') return toText(value, budget);
  const match = SPEC.exec(spec);
  if (match === null) return budget.fail(`the format has the specification "${spec}", which cannot be read`);
  const [, fill, side, sign = '', alternate, zero, width = '', group = '', precision, type = ''] = match;
  const digits = precision === undefined ? undefined : Math.min(MAX_FRACTION, Number(precision));
  const isNumber = isNumeric(value) && type !== 's';
  const padding = {
    fill: fill ?? (zero === '' || fill !== undefined ? ' ' : '0'),
    width: Math.min(MAX_WIDTH, Number(width)),
  };
  if (!isNumber) {
    if (type !== '' && type !== 's')
      return budget.fail(`the format needs a number for "${spec}", but got ${typeName(value)}`);
    const text = toText(value, budget);
    return pad('', digits === undefined ? text : Array.from(text).slice(0, digits).join(''), {
      ...padding,
      side: side ?? '<',
    });
  }
  if (!NUMBER_TYPES.test(type)) return budget.fail(`the format has the unknown type "${type}"`);
  const amount = Number(value);
  const shown = numberText(Math.abs(amount), { type, digits, prefix: alternate === '#' }, budget);
  const grouped = group === '' ? shown : groupDigits(shown, group);
  const signed = amount < 0 || Object.is(amount, -0) ? '-' : sign === '-' ? '' : sign;
  return pad(signed, grouped, { ...padding, side: side ?? (zero === '' ? '>' : '=') });
}

interface NumberStyle {
  readonly type: string;
  readonly digits: number | undefined;
  readonly prefix: boolean;
}

/** Types that `str.format` has for numbers; those of whole numbers have a base. */
const NUMBER_TYPES = /^[bdnoxXeEfFgG%]?$/;
const BASES: Readonly<Record<string, number>> = { b: 2, o: 8, d: 10, n: 10, x: 16 };

function numberText(value: number, style: NumberStyle, budget: Budget): string {
  const { type } = style;
  const text = plainNumberText(value, { ...style, type: type.toLowerCase() }, budget);
  return type !== '' && type === type.toUpperCase() ? text.toUpperCase() : text;
}

function plainNumberText(value: number, { type, digits, prefix }: NumberStyle, budget: Budget): string {
  const base = BASES[type];
  if (base !== undefined) {
    if (!Number.isInteger(value)) return budget.fail(`the format needs a whole number for "${type}", but got ${value}`);
    return (prefix && base !== 10 ? `0${type}` : '') + BigInt(value).toString(base);
  }
  switch (type) {
    case 'f':
      return fixed(value, digits ?? 6);
    case '%':
      return `${fixed(value * 100, digits ?? 6)}%`;
    case 'e':
      return exponent(value.toExponential(digits ?? 6));
    case 'g':
      return general(value, digits ?? 6);
    default:
      return digits === undefined ? renderNumber(value) : general(value, digits);
  }
}

/** Commas or underscores between groups of three digits, left of the point. */
function groupDigits(text: string, separator: string): string {
  return text.replace(/^\d+/, (whole) => whole.replace(/\B(?=(?:\d{3})+$)/g, separator));
}

interface Padding {
  readonly fill: string;
  readonly width: number;
  /** Where the text stands; `=` puts the fill between sign and digits. */
  readonly side: string;
}

function pad(sign: string, text: string, { fill, width, side }: Padding): string {
  const missing = Math.max(0, width - countCharacters(sign + text));
  if (side === '=') return sign + fill.repeat(missing) + text;
  const before = side === '<' ? 0 : side === '>' ? missing : Math.floor(missing / 2);
  return fill.repeat(before) + sign + text + fill.repeat(missing - before);
}

/** A percent sign with its directive, or without one. */
const DIRECTIVE = /%(?:(?:\(([^()]*)\))?([-+ 0#]*)([1-9]\d*)?(?:\.(\d+))?([a-zA-Z%]))?/g;
/** From here on the language writes an exponent; such numbers are whole. */
const MAX_FIXED = 1e21;

/**
 * Fills a printf pattern as Python's `%` does: `%s %r %d %i %u %f %F %e %E %g %G %x %X %o %c %%`, with flags, width, precision
 * and `%(name)s`. No directive reads attributes of a value.
 */
export function formatPrintf(pattern: string, values: readonly Value[], named: Dict, budget: Budget): string {
  let next = 0;
  let length = 0;
  const result = pattern.replace(
    DIRECTIVE,
    (_, name?: string, flags = '', width?: string, precision?: string, type?: string, at = 0) => {
      if (type === undefined) {
        return budget.fail(
          `the format has a "%" without a directive at character ${at + 1}; write "%%" for a percent sign`,
        );
      }
      if (type === '%') return '%';
      if (name === undefined && next >= values.length)
        return budget.fail('the format needs more values than it was given');
      const value = name === undefined ? values[next++] : own(named, name);
      const bounds = {
        width: Math.min(MAX_WIDTH, Number(width ?? 0)),
        precision: precision === undefined ? undefined : Math.min(MAX_FRACTION, Number(precision)),
      };
      const text = field({ flags, type, ...bounds }, value, budget);
      length = budget.append(length, text);
      return text;
    },
  );
  return budget.text(result);
}

interface Directive {
  readonly flags: string;
  readonly type: string;
  readonly width: number;
  readonly precision: number | undefined;
}

function field({ flags, type, width, precision }: Directive, value: Value, budget: Budget): string {
  const side = flags.includes('-') ? '<' : '>';
  if (type === 's' || type === 'r' || type === 'c') {
    const text = toText(value, budget);
    return pad('', precision === undefined ? text : text.slice(0, precision), { fill: ' ', width, side });
  }
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (!isNumeric(number) || Number.isNaN(number))
    return budget.fail(`the format needs a number for "%${type}", but got ${typeName(value)}`);
  if (!/^[diuoxXeEfFgG]$/.test(type)) return budget.fail(`the format has the unknown directive "%${type}"`);
  const amount = 'diuoxX'.includes(type) ? Math.trunc(Number(number)) : Number(number);
  const style = { type: /[iu]/.test(type) ? 'd' : type, digits: precision, prefix: flags.includes('#') };
  const digits = numberText(Math.abs(amount), style, budget);
  const sign = amount < 0 ? '-' : flags.includes('+') ? '+' : flags.includes(' ') ? ' ' : '';
  if (flags.includes('0') && side === '>') return pad(sign, digits, { fill: '0', width, side: '=' });
  return pad(sign, digits, { fill: ' ', width, side });
}

/**
 * Writes a number that is not negative with `digits` behind the point. A half goes to the even digit, as in Python; only
 * what is half in binary is one.
 */
function fixed(value: number, digits: number): string {
  if (value >= MAX_FIXED) return `${BigInt(value)}${digits > 0 ? '.' : ''}${'0'.repeat(digits)}`;
  const text = value.toFixed(digits);
  const isHalf = Math.abs((value * 2 ** (digits + 1)) % 2) === 1;
  if (!isHalf || !/[13579]$/.test(text)) return text;
  return `${text.slice(0, -1)}${Number(text.at(-1)) - 1}`;
}

/** Writes a number that is not negative with so many digits in all, with an exponent when it is very large or small. */
function general(value: number, precision: number): string {
  const digits = Math.max(1, precision);
  const scale = value === 0 ? 0 : Math.floor(Math.log10(value));
  if (scale < -4 || scale >= digits) return exponent(value.toExponential(digits - 1).replace(/\.?0+e/, 'e'));
  return renderNumber(Number(value.toPrecision(digits)));
}

/** Gives a number with an exponent as Python writes it, with at least two digits of the exponent. */
function exponent(text: string): string {
  return text.replace(/e([+-])(\d)$/, 'e$10$2');
}
