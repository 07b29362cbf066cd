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

/** The value of a JSON text; undefined when it is none. */
export function parseJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
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
  if (parseJson(text) !== undefined) return undefined;
  const before = text.slice(0, brokenAt(text)).split('\n');
  return `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`;
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
