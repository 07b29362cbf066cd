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
