/** Python literals, read without evaluating anything. */
import { isJsonObject, JSON_LIMITS, type Json, jsonExcess, parseJson } from '../json.js';

/** Deepest nesting that is read, in brackets and signs. */
const MAX_DEPTH = 200;
const CANDIDATE = /^[{[('"]/;
const DIGITS = /^\d+(?:\.\d*)*$|^(?:\.\d+)+$/;
const WORDS = new Set(['true', 'false', 'none']);
/**
 * Turns texts that look like literals into the values they stand for, also inside lists and objects.
 *
 * Without the blanks around it, a text counts when it begins with a bracket or a quote, is `true`, `false` or `none` in any
 * case, or has only digits and dots. It is read as JSON, else as a Python literal; what is neither stays text.
 */
export function evaluateLiterals(value: Json): Json {
  if (typeof value === 'string') {
    const text = value.trim();
    if (!CANDIDATE.test(text) && !DIGITS.test(text) && !WORDS.has(text.toLowerCase())) return value;
    const literal = readLiteral(text);
    return literal === undefined ? value : literal;
  }
  if (Array.isArray(value)) return value.map(evaluateLiterals);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, evaluateLiterals(item)]));
}

/** Reads a text as JSON, else as a Python literal; undefined when it is neither. */
export function readLiteral(text: string): Json | undefined {
  const value = parseJson(text);
  if (value !== undefined) return value;
  // What is beyond the bounds of JSON is not read in another way.
  return jsonExcess(text) === undefined ? readPythonLiteral(text) : undefined;
}

/**
 * Reads a Python literal without evaluating anything: quoted texts, numbers, `True`, `False`, `None`, lists, tuples and
 * sets (as lists) and dicts, whose keys become text. Gives undefined for anything else, beyond 200 levels, and beyond the {@link JSON_LIMITS} of values and names.
 */
export function readPythonLiteral(text: string): Json | undefined {
  const reader = new LiteralReader(text);
  try {
    return reader.readWhole();
  } catch (thrown) {
    if (thrown instanceof NotALiteral) return undefined;
    throw thrown;
  }
}

class NotALiteral extends Error {}

const OPENING = /\s*([[({+-])/y;
const WORD = /\s*(True|False|None)(?!\w)/y;
/** Python refuses letters behind a number. */
const NUMBER =
  /\s*(0[xX](?:_?[0-9a-fA-F])+|0[oO](?:_?[0-7])+|0[bB](?:_?[01])+|(?:\d+(?:_\d+)*)?\.\d+(?:_\d+)*(?:[eE][+-]?\d+)?|\d+(?:_\d+)*\.?(?:[eE][+-]?\d+)?)(?![\w.])/y;
/** The prefix of a text, and what lies between its quotes: three of either kind, or one. */
const TEXT =
  /\s*([rRuU]?)(?:'''([^'\\]*(?:(?:\\[\s\S]|'(?!''))[^'\\]*)*)'''|"""([^"\\]*(?:(?:\\[\s\S]|"(?!""))[^"\\]*)*)"""|'(?!'')([^'\\\n]*(?:\\[\s\S][^'\\\n]*)*)'|"(?!"")([^"\\\n]*(?:\\[\s\S][^"\\\n]*)*)")/y;
const MARK = { ',': /\s*,/y, ':': /\s*:/y, ']': /\s*\]/y, ')': /\s*\)/y, '}': /\s*\}/y, end: /\s*$/y } as const;
const ESCAPE = /\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{1,3})|([\s\S]))/g;
const WORD_VALUES = new Map([
  ['True', true],
  ['False', false],
  ['None', null],
]);

/** A cursor over one text. */
class LiteralReader {
  readonly #text: string;
  #at = 0;
  #depth = 0;
  #values = 0;

  constructor(text: string) {
    this.#text = text;
  }

  readWhole(): Json {
    const value = this.#readValue();
    if (!this.#take('end')) throw new NotALiteral();
    return value;
  }

  #readValue(): Json {
    if (++this.#depth > MAX_DEPTH || ++this.#values > JSON_LIMITS.parts) throw new NotALiteral();
    const value = this.#readBare();
    this.#depth--;
    return value;
  }

  #readBare(): Json {
    const opening = this.#match(OPENING)?.[1];
    switch (opening) {
      case '[':
        return this.#readItems(']', () => this.#readValue()).items;
      case '(': {
        const { items, commas } = this.#readItems(')', () => this.#readValue());
        return items.length === 1 && commas === 0 ? (items[0] as Json) : items;
      }
      case '{':
        return this.#readBraces();
      case undefined:
        return this.#readScalar();
    }
    const value = this.#readValue();
    if (typeof value !== 'number') throw new NotALiteral();
    return opening === '-' ? -value : value;
  }

  #readItems<T>(close: keyof typeof MARK, readItem: () => T): { items: T[]; commas: number } {
    const items: T[] = [];
    let commas = 0;
    while (!this.#take(close)) {
      if (items.length > commas) throw new NotALiteral();
      items.push(readItem());
      if (this.#take(',')) commas++;
    }
    return { items, commas };
  }

  /** A dict, or a set when no item has a value. */
  #readBraces(): Json {
    const { items } = this.#readItems('}', () => {
      const key = this.#readValue();
      return { key, value: this.#take(':') ? this.#readValue() : undefined };
    });
    const isSet = items.length > 0 && items.every(({ value }) => value === undefined);
    if (isSet) return items.map(({ key }) => key);
    if (items.length > JSON_LIMITS.names) throw new NotALiteral();
    return Object.fromEntries(
      items.map(({ key, value }) => {
        if (value === undefined) throw new NotALiteral();
        return [keyText(key), value];
      }),
    );
  }

  #readScalar(): Json {
    const word = this.#match(WORD)?.[1];
    if (word !== undefined) return WORD_VALUES.get(word) as Json;
    const digits = this.#match(NUMBER)?.[1];
    return digits === undefined ? this.#readTexts() : numberOf(digits);
  }

  /** Texts next to each other are one text. */
  #readTexts(): string {
    const texts: string[] = [];
    for (let part = this.#match(TEXT); part !== null; part = this.#match(TEXT)) {
      const [, prefix = '', ...bodies] = part;
      const body = bodies.find((one) => one !== undefined) ?? '';
      texts.push(/r/i.test(prefix) ? body : body.replace(ESCAPE, decoded));
    }
    if (texts.length === 0) throw new NotALiteral();
    return texts.join('');
  }

  #take(mark: keyof typeof MARK): boolean {
    return this.#match(MARK[mark]) !== null;
  }

  #match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.#text);
    if (match !== null) this.#at = pattern.lastIndex;
    return match;
  }
}

function numberOf(digits: string): number {
  const value = Number(digits.replaceAll('_', ''));
  // Python refuses a leading zero in whole numbers.
  const hasLeadingZero = /^0[\d_]+$/.test(digits) && /[1-9]/.test(digits);
  if (hasLeadingZero || !Number.isFinite(value)) throw new NotALiteral();
  return value;
}

/** What an escape stands for. Python keeps unknown ones as they are, but refuses broken hexadecimal ones. */
function decoded(whole: string, x?: string, u?: string, long?: string, octal?: string, character = ''): string {
  const hex = x ?? u ?? long;
  if (hex === undefined && octal === undefined) {
    if (/[xuUN]/.test(character)) throw new NotALiteral();
    return Object.hasOwn(SIMPLE_ESCAPES, character) ? (SIMPLE_ESCAPES[character] as string) : whole;
  }
  const point = hex === undefined ? Number.parseInt(octal ?? '', 8) : Number.parseInt(hex, 16);
  if (point > 0x10ffff) throw new NotALiteral();
  return String.fromCodePoint(point);
}

function keyText(key: Json): string {
  if (typeof key === 'object' && key !== null) throw new NotALiteral();
  return typeof key === 'string' ? key : JSON.stringify(key);
}

/** What a character behind a backslash stands for in a text of Python, and so of Jinja; a line end stands for nothing. */
export const SIMPLE_ESCAPES: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  a: '\x07',
  b: '\b',
  f: '\f',
  v: '\v',
  '\\': '\\',
  "'": "'",
  '"': '"',
  '\n': '',
};
