/** Python literals, read without evaluating anything. */
import { isJsonObject, type Json, parseJson } from '../json.js';

/** Deepest nesting that is read, in brackets and signs. */
const MAX_DEPTH = 200;
const CANDIDATE = /^[{[('"]/;
const DIGITS = /^\d+(?:\.\d*)*$|^(?:\.\d+)+$/;
const WORDS = new Set(['true', 'false', 'none']);
const NUMBER =
  /0[xX](?:_?[0-9a-fA-F])+|0[oO](?:_?[0-7])+|0[bB](?:_?[01])+|(?:\d+(?:_\d+)*)?\.\d+(?:_\d+)*(?:[eE][+-]?\d+)?|\d+(?:_\d+)*\.?(?:[eE][+-]?\d+)?/y;

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
  return value === undefined ? readPythonLiteral(text) : value;
}

/**
 * Reads a Python literal without evaluating anything: quoted texts, numbers, `True`, `False`, `None`, lists, tuples and
 * sets (as lists) and dicts, whose keys become text. Gives undefined for anything else, and beyond 200 levels.
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

/** A cursor over one text. */
class LiteralReader {
  private at = 0;
  private depth = 0;
  constructor(private readonly text: string) {}

  readWhole(): Json {
    const value = this.readValue();
    this.skipBlanks();
    if (this.at < this.text.length) throw new NotALiteral();
    return value;
  }

  private readValue(): Json {
    if (++this.depth > MAX_DEPTH) throw new NotALiteral();
    this.skipBlanks();
    const value = this.readBare();
    this.depth--;
    return value;
  }

  private readBare(): Json {
    const char = this.text[this.at];
    switch (char) {
      case '[':
        return this.readItems(']').items;
      case '(': {
        const { items, commas } = this.readItems(')');
        return items.length === 1 && commas === 0 ? (items[0] as Json) : items;
      }
      case '{':
        return this.readBraces();
      case '+':
      case '-':
        return this.readSigned(char);
      default:
        return this.readScalar();
    }
  }

  /** Not a chain of `??`: the word None reads as null, which is a value. */
  private readScalar(): Json {
    const word = this.readWord();
    if (word !== undefined) return word;
    return this.readNumber() ?? this.readTexts();
  }

  private readItems(close: string): { items: Json[]; commas: number } {
    this.at++;
    const items: Json[] = [];
    let commas = 0;
    while (!this.take(close)) {
      if (items.length > commas) throw new NotALiteral();
      items.push(this.readValue());
      if (this.take(',')) commas++;
    }
    return { items, commas };
  }

  private readBraces(): Json {
    this.at++;
    if (this.take('}')) return {};
    const first = this.readValue();
    if (!this.take(':')) return this.readSet(first);
    const entries: [string, Json][] = [[keyText(first), this.readValue()]];
    while (this.take(',') && !this.peek('}')) {
      const key = this.readValue();
      this.expect(':');
      entries.push([keyText(key), this.readValue()]);
    }
    this.expect('}');
    return Object.fromEntries(entries);
  }

  private readSet(first: Json): Json {
    const items = [first];
    while (this.take(',') && !this.peek('}')) items.push(this.readValue());
    this.expect('}');
    return items;
  }

  private readSigned(sign: '+' | '-'): number {
    this.at++;
    const value = this.readValue();
    if (typeof value !== 'number') throw new NotALiteral();
    return sign === '-' ? -value : value;
  }

  private readWord(): Json | undefined {
    for (const [word, value] of [
      ['True', true],
      ['False', false],
      ['None', null],
    ] as const) {
      if (!this.text.startsWith(word, this.at)) continue;
      this.at += word.length;
      if (/\w/.test(this.text[this.at] ?? '')) throw new NotALiteral();
      return value;
    }
    return undefined;
  }

  private readNumber(): number | undefined {
    NUMBER.lastIndex = this.at;
    const digits = NUMBER.exec(this.text)?.[0];
    if (digits === undefined) return undefined;
    this.at += digits.length;
    // Python refuses a leading zero in whole numbers, and letters behind a number.
    const leadingZero = /^0[\d_]+$/.test(digits) && /[1-9]/.test(digits);
    if (leadingZero || /[\w.]/.test(this.text[this.at] ?? '')) throw new NotALiteral();
    const value = Number(digits.replaceAll('_', ''));
    if (!Number.isFinite(value)) throw new NotALiteral();
    return value;
  }

  /** Texts next to each other are one text. */
  private readTexts(): string {
    let result = this.readQuoted();
    this.skipBlanks();
    while (/^['"]/.test(this.text[this.at] ?? '')) {
      result += this.readQuoted();
      this.skipBlanks();
    }
    return result;
  }

  private readQuoted(): string {
    const prefix = /[rRuU]?(?=['"])/y;
    prefix.lastIndex = this.at;
    const mark = prefix.exec(this.text)?.[0];
    if (mark === undefined) throw new NotALiteral();
    this.at += mark.length;
    const quote = this.text[this.at] as string;
    const close = this.text.startsWith(quote.repeat(3), this.at) ? quote.repeat(3) : quote;
    this.at += close.length;
    let result = '';
    for (;;) {
      const char = this.text[this.at];
      if (char === undefined || (char === '\n' && close.length === 1)) throw new NotALiteral();
      if (this.text.startsWith(close, this.at)) break;
      if (char === '\\') result += this.readEscape(mark.toLowerCase() === 'r');
      else {
        result += char;
        this.at++;
      }
    }
    this.at += close.length;
    return result;
  }

  private readEscape(raw: boolean): string {
    const next = this.text[this.at + 1];
    if (next === undefined) throw new NotALiteral();
    const start = this.at;
    this.at += 2;
    if (raw) return this.text.slice(start, this.at);
    const simple = Object.hasOwn(SIMPLE_ESCAPES, next) ? SIMPLE_ESCAPES[next] : undefined;
    if (simple !== undefined) return simple;
    const code = /\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{1,3}))/y;
    code.lastIndex = start;
    const match = code.exec(this.text);
    if (match === null) {
      // Python keeps unknown escapes as they are, but refuses broken hexadecimal ones.
      if (/[xuUN]/.test(next)) throw new NotALiteral();
      return `\\${next}`;
    }
    this.at = start + match[0].length;
    const point =
      match[4] === undefined
        ? Number.parseInt(match[1] ?? match[2] ?? match[3] ?? '', 16)
        : Number.parseInt(match[4], 8);
    if (point > 0x10ffff) throw new NotALiteral();
    return String.fromCodePoint(point);
  }

  private skipBlanks(): void {
    while (/^\s/.test(this.text[this.at] ?? '')) this.at++;
  }

  private peek(token: string): boolean {
    this.skipBlanks();
    return this.text[this.at] === token;
  }

  private take(token: string): boolean {
    const taken = this.peek(token);
    if (taken) this.at++;
    return taken;
  }

  private expect(token: string): void {
    if (!this.take(token)) throw new NotALiteral();
  }
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
