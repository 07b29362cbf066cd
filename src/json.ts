/** JSON values as TypeScript sees them; everything that crosses a boundary of the engine is one of these. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;

/** A JSON object. */
export interface JsonObject {
  readonly [key: string]: Json;
}

/** Whether `value` is a plain JSON object (not null, not an array). */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Levels of lists and objects that input from outside may have; serialising much deeper values overflows the stack. */
export const MAX_JSON_DEPTH = 200;

/** Whether `value` has more levels of lists and objects than {@link MAX_JSON_DEPTH}; never overflows itself. */
export function isTooDeep(value: unknown): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    const inside = level.filter((one) => typeof one === 'object' && one !== null);
    if (inside.length > 0 && depth >= MAX_JSON_DEPTH) return true;
    level = inside.flatMap((one) => Object.values(one as object));
  }
  return false;
}

/** Above it, JSON's own loop is faster than ours. */
const LONG_TEXT = 128;

/** A text as JSON writes it, without the quotes around; most short texts are written as they are. */
export function escapeJson(text: string): string {
  return isPlain(text) ? text : JSON.stringify(text).slice(1, -1);
}

/** Bytes of a text in UTF-8. */
export function utf8Length(text: string): number {
  let { length: bytes } = text;
  if (bytes > LONG_TEXT) return Buffer.byteLength(text);
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code < 0x80) continue;
    if (code < 0x800) bytes += 1;
    else if (code < 0xd800 || code > 0xdfff) bytes += 2;
    // A pair of units, of which one may be missing.
    else return Buffer.byteLength(text);
  }
  return bytes;
}

/** Whether JSON writes a text as it is; false also for one that is too long to be looked at here. */
function isPlain(text: string): boolean {
  const { length } = text;
  if (length > LONG_TEXT) return false;
  for (let at = 0; at < length; at += 1) {
    const code = text.charCodeAt(at);
    // Control characters, a quote, a backslash; half of a pair may stand alone, and is escaped then.
    if (code < 0x20 || code === 0x22 || code === 0x5c || (code >= 0xd800 && code <= 0xdfff)) return false;
  }
  return true;
}

/** What a JSON text may have. All are optional. */
export interface JsonBounds {
  /** Bytes in UTF-8. @default no bound: the text was bounded where it was read */
  readonly maxBytes?: number;
  /** Values of any type. @default {@link JSON_LIMITS} */
  readonly maxValues?: number;
  /** Takes any number of levels and the name `__proto__`, for readers that report where they stand. @default false */
  readonly isChecked?: boolean;
}

/** What every JSON text from outside may have at most; more takes a process longer than others can wait for. */
export const JSON_LIMITS = {
  /** Of one object: larger ones are stored as hash tables, which are slow to build and to copy. */
  names: 10_000,
  /** Of all objects whose names are unlike those of the objects before: each such name costs about 2 microseconds. */
  unlikeNames: 100_000,
  /** Texts, lists and objects in all. */
  parts: 500_000,
  /** Values of any type in all. */
  values: 2_000_000,
} as const;

/**
 * The value of a JSON text; undefined when it is none, or beyond the bounds: {@link JSON_LIMITS}, {@link MAX_JSON_DEPTH} levels, and no
 * name `__proto__`. {@link whyNotJson} gives the reason.
 *
 * This is the way in for all text that Runnel did not write itself. The bounds are checked before anything is built from the text, in one
 * pass over it.
 */
export function parseJson(text: string, bounds: JsonBounds = {}): Json | undefined {
  return jsonExcess(text, bounds) === undefined ? parseOwnJson(text) : undefined;
}

/** The value of a JSON text that Runnel wrote itself, such as a stored record, without bounds; undefined when it is none. */
export function parseOwnJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/** Why {@link parseJson} gives nothing for a text, to be put behind its name: `is not valid JSON (line 1, column 9)`. */
export function whyNotJson(text: string, bounds: JsonBounds = {}): string {
  return jsonExcess(text, bounds) ?? `is not valid JSON (${jsonErrorPlace(text) ?? 'at its end'})`;
}

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/** A text as short as this can only have too much by a name. */
const SHORT_TEXT = 2 * MAX_JSON_DEPTH;

const PROTOTYPE = '__proto__';

/** A letter of that name, escaped. */
const ESCAPED_LETTER = /\\u00(5f|6f|7[024])/i;

/** A factor of hashes, random, so that no text can be made whose objects have equal hashes. */
const FACTOR = Math.floor(Math.random() * 2 ** 30) * 4 + 3;

/**
 * What a text has that keeps {@link parseJson} from reading it even if it is JSON, as in {@link whyNotJson}; undefined when its value may be
 * built. What is no JSON is judged as far as it looks like it.
 */
export function jsonExcess(text: string, bounds: JsonBounds = {}): string | undefined {
  const { maxBytes, maxValues = JSON_LIMITS.values, isChecked = false } = bounds;
  if (maxBytes !== undefined && (text.length > maxBytes || utf8Length(text) > maxBytes)) {
    return `has more than ${maxBytes} bytes`;
  }
  const mayHaveName = !isChecked && (text.includes(PROTOTYPE) || ESCAPED_LETTER.test(text));
  return text.length <= SHORT_TEXT && !mayHaveName
    ? undefined
    : scan(text, mayHaveName, isChecked ? Number.POSITIVE_INFINITY : MAX_JSON_DEPTH, maxValues);
}

function scan(text: string, refusesPrototype: boolean, maxDepth: number, maxValues: number): string | undefined {
  /** Of each open list or object: how many names it has, and a hash of them. */
  const names: number[] = [0];
  const hashes: number[] = [0];
  const shapes = new Set<number>();
  let [depth, parts, values, unlikeNames] = [0, 0, 1, 0];
  /** Where the last text began and ended. */
  let [from, to] = [0, 0];
  for (let at = 0; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        from = at + 1;
        to = closingQuote(text, from);
        at = to;
        parts += 1;
        break;
      case COLON: {
        // The text before was a name.
        parts -= 1;
        const count = (names[depth] ?? 0) + 1;
        names[depth] = count;
        if (count > JSON_LIMITS.names) return `has an object with more than ${JSON_LIMITS.names} names`;
        hashes[depth] = hashOf(text, from, to, hashes[depth] ?? 0);
        if (refusesPrototype && isPrototype(text, from, to))
          return 'has the name "__proto__", which objects may not have';
        break;
      }
      case COMMA:
        values += 1;
        break;
      case OPEN_LIST:
      case OPEN_OBJECT:
        depth += 1;
        parts += 1;
        values += 1;
        if (depth > maxDepth) return `has more than ${maxDepth} levels of lists and objects`;
        names[depth] = 0;
        hashes[depth] = 0;
        break;
      case CLOSE_LIST:
      case CLOSE_OBJECT: {
        const count = names[depth] ?? 0;
        const hash = hashes[depth] ?? 0;
        if (count > 0 && !shapes.has(hash)) {
          shapes.add(hash);
          unlikeNames += count;
        }
        if (depth > 0) depth -= 1;
        break;
      }
      default:
        break;
    }
    if (parts > JSON_LIMITS.parts) return `has more than ${JSON_LIMITS.parts} texts, lists and objects`;
    if (values > maxValues) return `has more than ${maxValues} values`;
    if (unlikeNames > JSON_LIMITS.unlikeNames) {
      return `has objects that are all unlike, with more than ${JSON_LIMITS.unlikeNames} names`;
    }
  }
  return undefined;
}

/** Position of the quote that ends a text; the end of all where there is none. */
function closingQuote(text: string, from: number): number {
  for (let at = text.indexOf('"', from); at !== -1; at = text.indexOf('"', at + 1)) {
    let backslashes = 0;
    while (at - backslashes > from && text.charCodeAt(at - backslashes - 1) === BACKSLASH) backslashes += 1;
    if (backslashes % 2 === 0) return at;
  }
  return text.length;
}

function hashOf(text: string, from: number, to: number, before: number): number {
  let hash = before + 1;
  for (let at = from; at < to; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), FACTOR) + (hash >>> 15);
  return hash | 0;
}

/** Whether a name between quotes is that of the prototype, with escapes as well. */
function isPrototype(text: string, from: number, to: number): boolean {
  const length = to - from;
  if (length < PROTOTYPE.length || length > 6 * PROTOTYPE.length) return false;
  const name = text.slice(from, to);
  const letters = new RegExp(ESCAPED_LETTER, 'gi');
  return name.replace(letters, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16))) === PROTOTYPE;
}

/** The value of a JSON text; the text itself when it is none. */
export function jsonOrText(text: string): Json {
  const value = parseJson(text);
  return value === undefined ? text : value;
}

/**
 * Where a text stops being JSON, such as `line 3, column 14`; undefined when it is JSON.
 *
 * The parser of Node names no place for some mistakes, and its messages quote the text, which may hold secrets.
 */
export function jsonErrorPlace(text: string): string | undefined {
  if (parseOwnJson(text) !== undefined) return undefined;
  const before = text.slice(0, brokenAt(text)).split('\n');
  return `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`;
}

/** What Node's parser says about a text that is no JSON. It may quote the text. */
export function jsonErrorMessage(text: string): string {
  try {
    JSON.parse(text);
    return '';
  } catch (thrown) {
    return thrown instanceof Error ? thrown.message : String(thrown);
  }
}

/** A token of JSON other than a text. */
const TOKEN = /[{}[\],:]|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;

/** Position of the first token that may not stand where it stands. */
function brokenAt(text: string): number {
  const open: string[] = [];
  let expected: 'value' | 'name' | ':' | 'next' = 'value';
  /** Whether the list or object that was just opened may end. */
  let isFresh = false;
  for (let at = skipBlank(text, 0); at < text.length; at = skipBlank(text, at)) {
    TOKEN.lastIndex = at;
    const token = text[at] === '"' ? '"' : (TOKEN.exec(text)?.[0] ?? '');
    const end = token === '"' ? endOfText(text, at) : at + token.length;
    if (end <= at) return token === '"' ? -end : at;
    const isEnd = token === '}' || token === ']';
    if (isEnd) {
      if (!(expected === 'next' || isFresh) || open.pop() !== token) return at;
      expected = 'next';
    } else if (expected === 'next') {
      if (token !== ',' || open.length === 0) return at;
      expected = open.at(-1) === '}' ? 'name' : 'value';
    } else if (expected === ':') {
      if (token !== ':') return at;
      expected = 'value';
    } else if (expected === 'name') {
      if (token !== '"') return at;
      expected = ':';
    } else if (token === ',' || token === ':') {
      return at;
    } else {
      expected = token === '{' ? 'name' : token === '[' ? 'value' : 'next';
      if (token === '{' || token === '[') open.push(token === '{' ? '}' : ']');
    }
    isFresh = token === '{' || token === '[';
    at = end;
  }
  return text.length;
}

function skipBlank(text: string, from: number): number {
  let at = from;
  while (at < text.length && ' \t\n\r'.includes(text[at] as string)) at += 1;
  return at;
}

/** The end of the text that begins at `from`; where it cannot continue, that position as a negative number. */
function endOfText(text: string, from: number): number {
  for (let at = from + 1; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 0x22) return at + 1;
    if (code < 0x20) return -at;
    if (code !== 0x5c) continue;
    if (!/^(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/.test(text.slice(at + 1, at + 6))) return -at;
    at += 1;
  }
  return -text.length;
}
