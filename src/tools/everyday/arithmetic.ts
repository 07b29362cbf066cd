/** Arithmetic in one line of text: read by a parser of our own, so nothing of it is ever run as code. */
import { toolFailed } from '../../adapters/failures.js';
import { EngineError } from '../../errors.js';

/** Characters of an expression. */
const MAX_LENGTH = 100_000;
/** Brackets, signs and powers inside each other. */
const MAX_DEPTH = 200;
/** Significant digits of a result: what lies behind them is how the machine stores fractions. */
const DIGITS = 15;

/** Signs that mean the same as one of ours. */
const SAME: Readonly<Record<string, string>> = {
  '×': '*',
  '✕': '*',
  '⋅': '*',
  '·': '*',
  '∙': '*',
  '÷': '/',
  '∕': '/',
  '⁄': '/',
  '−': '-',
  '–': '-',
  '—': '-',
  '【': '(',
  '】': ')',
  '[': '(',
  ']': ')',
  '{': '(',
  '}': ')',
  '，': ',',
  '、': ',',
  π: 'pi',
  '√': 'sqrt ',
};

const CONSTANTS: ReadonlyMap<string, number> = new Map([
  ['pi', Math.PI],
  ['e', Math.E],
]);

interface Known {
  /** How many arguments it takes. */
  readonly least: number;
  readonly most: number;
  readonly of: (...values: number[]) => number;
}

const one = (of: (value: number) => number): Known => ({ least: 1, most: 1, of });

const FUNCTIONS: ReadonlyMap<string, Known> = new Map<string, Known>([
  ['sqrt', one(Math.sqrt)],
  ['sin', one(Math.sin)],
  ['cos', one(Math.cos)],
  ['tan', one(Math.tan)],
  ['log', { least: 1, most: 2, of: (value, base = 10) => logarithm(value, base) }],
  ['ln', one(Math.log)],
  ['exp', one(Math.exp)],
  ['pow', { least: 2, most: 2, of: (base, power) => base ** power }],
  ['abs', one(Math.abs)],
  ['round', { least: 1, most: 2, of: (value, places = 0) => rounded(value, places) }],
  ['floor', one(Math.floor)],
  ['ceil', one(Math.ceil)],
  ['min', { least: 1, most: 1_000, of: (...values) => Math.min(...values) }],
  ['max', { least: 1, most: 1_000, of: (...values) => Math.max(...values) }],
]);

/** What is wrong with expressions that are well written. */
const BY_ZERO = 'a division by zero has no result';
const NOT_REAL = 'the result is not a real number, such as the root of a negative one';
const TOO_LARGE = 'a value is too large: numbers go up to about 1.8 * 10^308';
const VALUELESS: readonly string[] = [BY_ZERO, NOT_REAL, TOO_LARGE];

/** What an expression may hold, for people and for models. */
export const ARITHMETIC_HELP = `numbers, + - * / % ^, brackets, ${[...FUNCTIONS.keys()].join(' ')}, pi and e`;

/**
 * The value of an expression: `+ - * / % ^`, brackets, functions, `pi` and `e`; `log` is that of base 10 (or of a second argument), angles are
 * in radians. `%` behind a value is a percentage unless another value follows: then it is the remainder. Digits and signs of
 * full width count as the usual ones, and groups of three digits may have commas between them.
 *
 * @throws EngineError TOOL_FAILED for what is no expression, for names that are not known, for a division by zero, for values that are not
 * real or too large for a number, for more than 100,000 characters or 200 levels of brackets.
 */
export function evaluate(expression: string): number {
  if (expression.length > MAX_LENGTH) {
    throw toolFailed(`the expression has ${expression.length} characters; at most ${MAX_LENGTH} are calculated`);
  }
  const parser = new Parser(tokensOf(plainSigns(expression)));
  return tidy(parser.read());
}

/** Whether a text is an expression, with a value or without one such as 1/0. */
export function isArithmetic(expression: string): boolean {
  try {
    evaluate(expression);
    return true;
  } catch (error) {
    return VALUELESS.some((message) => error instanceof EngineError && error.message === message);
  }
}

/** An expression in our signs: `３×（４＋５）` is `3*(4+5)`; blanks and separators of thousands stay. */
export function plainSigns(expression: string): string {
  const plain = [...expression.normalize('NFKC')].map((sign) => (Object.hasOwn(SAME, sign) ? SAME[sign] : sign));
  return plain.join('').replaceAll('**', '^').toLowerCase();
}

/** A value as text: whole numbers in full, others with up to 15 significant digits. */
export function formatNumber(value: number): string {
  return Number.isInteger(value) && Math.abs(value) < 1e21 ? BigInt(value).toString() : String(value);
}

/** A result without the noise of binary fractions: 0.1 + 0.2 is 0.3. */
function tidy(value: number): number {
  if (Number.isInteger(value)) return value === 0 ? 0 : value;
  return Number(value.toPrecision(DIGITS));
}

function logarithm(value: number, base: number): number {
  if (base === 10) return Math.log10(value);
  return base === 2 ? Math.log2(value) : Math.log(value) / Math.log(base);
}

function rounded(value: number, places: number): number {
  if (!Number.isInteger(places) || places < 0 || places > DIGITS) {
    throw toolFailed(`round() takes 0 to ${DIGITS} places; received ${places}`);
  }
  const sign = value < 0 ? -1 : 1;
  const shifted = Number((Math.abs(value) * 10 ** places).toPrecision(DIGITS));
  return (sign * Math.round(shifted)) / 10 ** places;
}

type Token =
  | { readonly type: 'number'; readonly value: number; readonly at: number }
  | { readonly type: 'name' | 'sign'; readonly text: string; readonly at: number };

const SIGNS = new Set('+-*/%^(),=');

/** Splits a text into numbers, names and signs, in one pass. */
function tokensOf(text: string): readonly Token[] {
  const tokens: Token[] = [];
  /** For each open bracket, whether it belongs to a function: a comma stands between arguments only there. */
  const calls: boolean[] = [];
  let at = 0;
  while (at < text.length) {
    const sign = text[at] as string;
    if (/\s/.test(sign)) at += 1;
    else if (isDigit(sign) || (sign === '.' && isDigit(text[at + 1] ?? ''))) {
      const end = endOfNumber(text, at, calls.at(-1) !== true);
      tokens.push({ type: 'number', value: Number(text.slice(at, end).replaceAll(',', '')), at });
      at = end;
    } else if (/[a-z_]/.test(sign)) {
      const end = endOfName(text, at);
      tokens.push({ type: 'name', text: text.slice(at, end), at });
      at = end;
    } else {
      if (!SIGNS.has(sign)) throw unexpected(sign, at);
      if (sign === '(') calls.push(tokens.at(-1)?.type === 'name');
      if (sign === ')') calls.pop();
      tokens.push({ type: 'sign', text: sign, at });
      at += 1;
    }
  }
  // "3 + 4 =" asks for the same as "3 + 4".
  const last = tokens.at(-1);
  return last?.type === 'sign' && last.text === '=' ? tokens.slice(0, -1) : tokens;
}

function isDigit(sign: string): boolean {
  return sign >= '0' && sign <= '9' && sign.length === 1;
}

function endOfName(text: string, start: number): number {
  let at = start;
  while (at < text.length && /[a-z_0-9]/.test(text[at] as string)) at += 1;
  return at;
}

/** Behind the digits, a fraction and an exponent; with `hasGroups` commas before groups of three digits are inside. */
function endOfNumber(text: string, start: number, hasGroups: boolean): number {
  const digits = (from: number): number => {
    let at = from;
    while (isDigit(text[at] ?? '')) at += 1;
    return at;
  };
  let at = digits(start);
  while (hasGroups && text[at] === ',' && digits(at + 1) === at + 4) at += 4;
  if (text[at] === '.') at = digits(at + 1);
  if (text[at] === 'e') {
    const sign = text[at + 1] === '+' || text[at + 1] === '-' ? 1 : 0;
    const end = digits(at + 1 + sign);
    if (end > at + 1 + sign) at = end;
  }
  return at;
}

function unexpected(text: string, at: number): EngineError {
  return toolFailed(
    `${JSON.stringify(text.slice(0, 40))} at character ${at + 1} is not part of arithmetic; an expression has ${ARITHMETIC_HELP}`,
  );
}

/** Reads by the levels of operators: sums, products, signs, powers, percentages, values. */
class Parser {
  #at = 0;
  #depth = 0;

  constructor(private readonly tokens: readonly Token[]) {}

  read(): number {
    if (this.tokens.length === 0) throw toolFailed(`there is no expression; write one of ${ARITHMETIC_HELP}`);
    const value = this.#sum();
    const rest = this.tokens[this.#at];
    if (rest === undefined) return value;
    throw rest.type === 'sign' && rest.text === ')'
      ? toolFailed(`the bracket ")" at character ${rest.at + 1} closes nothing`)
      : unexpected(wordsOf(rest), rest.at);
  }

  #sum(): number {
    let value = this.#product();
    for (let sign = this.#take('+', '-'); sign !== undefined; sign = this.#take('+', '-')) {
      const right = this.#product();
      value = finite(sign === '+' ? value + right : value - right);
    }
    return value;
  }

  #product(): number {
    let value = this.#signed();
    for (let sign = this.#take('*', '/', '%'); sign !== undefined; sign = this.#take('*', '/', '%')) {
      const right = this.#signed();
      if (sign !== '*' && right === 0) throw toolFailed(BY_ZERO);
      value = finite(sign === '*' ? value * right : sign === '/' ? value / right : value % right);
    }
    return value;
  }

  #signed(): number {
    return this.#deeper(() => {
      const sign = this.#take('+', '-');
      if (sign === undefined) return this.#power();
      const value = this.#signed();
      return sign === '-' ? -value : value;
    });
  }

  /** Binds to the right, and tighter than a sign before it: -2^2 is -4, 2^-1 is 0.5. */
  #power(): number {
    const base = this.#percentage();
    if (this.#take('^') === undefined) return base;
    const power = this.#signed();
    if (base === 0 && power < 0) throw toolFailed(BY_ZERO);
    return finite(base ** power);
  }

  #percentage(): number {
    let value = this.#value();
    while (this.#peek() === '%' && !this.#isValue(this.#at + 1)) {
      this.#at += 1;
      value /= 100;
    }
    return value;
  }

  #value(): number {
    const token = this.tokens[this.#at];
    if (token === undefined) throw toolFailed('the expression ends too early; a value is missing at its end');
    this.#at += 1;
    if (token.type === 'number') {
      // A bracket or a name behind a number is multiplied with it: 2(3+4), 2pi.
      const value = finite(token.value);
      return this.#opens(this.#at) ? finite(value * this.#power()) : value;
    }
    if (token.type === 'name') return this.#named(token.text, token.at);
    if (token.text !== '(') throw unexpected(token.text, token.at);
    const value = this.#deeper(() => this.#sum());
    this.#close(token.at);
    return value;
  }

  #named(name: string, at: number): number {
    const constant = CONSTANTS.get(name);
    if (constant !== undefined) return constant;
    const known = FUNCTIONS.get(name);
    if (known === undefined) {
      throw toolFailed(
        `${JSON.stringify(name.slice(0, 40))} at character ${at + 1} is not known; an expression has ${ARITHMETIC_HELP}`,
      );
    }
    const values = this.#arguments(name);
    if (values.length < known.least || values.length > known.most) {
      const wanted = known.least === known.most ? `${known.least}` : `${known.least} to ${known.most}`;
      throw toolFailed(`${name}() takes ${wanted} values; received ${values.length}`);
    }
    return finite(known.of(...values));
  }

  /** In brackets; a root may stand before its number alone: √9. */
  #arguments(name: string): readonly number[] {
    const open = this.tokens[this.#at];
    if (open?.type === 'number' && name === 'sqrt') return [this.#deeper(() => this.#value())];
    if (open?.type !== 'sign' || open.text !== '(') {
      throw toolFailed(`${name} needs its values in brackets behind it, such as ${name}(2)`);
    }
    this.#at += 1;
    return this.#deeper(() => {
      const values = [this.#sum()];
      while (this.#take(',') !== undefined) values.push(this.#sum());
      this.#close(open.at);
      return values;
    });
  }

  #close(openedAt: number): void {
    if (this.#take(')') === undefined) {
      const found = this.tokens[this.#at];
      if (found !== undefined) throw unexpected(wordsOf(found), found.at);
      throw toolFailed(`the bracket "(" at character ${openedAt + 1} is never closed`);
    }
  }

  #deeper<T>(read: () => T): T {
    this.#depth += 1;
    if (this.#depth > 2 * MAX_DEPTH) throw toolFailed(`brackets lie more than ${MAX_DEPTH} levels inside each other`);
    const value = read();
    this.#depth -= 1;
    return value;
  }

  #peek(): string | undefined {
    const token = this.tokens[this.#at];
    return token?.type === 'sign' ? token.text : undefined;
  }

  #take(...signs: readonly string[]): string | undefined {
    const sign = this.#peek();
    if (sign === undefined || !signs.includes(sign)) return undefined;
    this.#at += 1;
    return sign;
  }

  #opens(at: number): boolean {
    const token = this.tokens[at];
    return token?.type === 'name' || (token?.type === 'sign' && token.text === '(');
  }

  #isValue(at: number): boolean {
    return this.tokens[at]?.type === 'number' || this.#opens(at);
  }
}

function wordsOf(token: Token): string {
  return token.type === 'number' ? String(token.value) : token.text;
}

/** @throws EngineError TOOL_FAILED for what is no real number, or larger than a number can be. */
function finite(value: number): number {
  if (Number.isNaN(value)) throw toolFailed(NOT_REAL);
  if (!Number.isFinite(value)) throw toolFailed(TOO_LARGE);
  return value;
}
