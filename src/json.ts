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
