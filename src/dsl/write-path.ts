import { EngineError } from '../errors.js';
import { isJsonObject, type Json, type JsonObject } from '../json.js';

const REFUSED_KEYS = new Set(['__proto__', 'constructor', 'prototype']);
const INTEGER = /^-?\d{1,9}$/;

/**
 * Gives a copy of `root` in which the value at `path` is `value`; everything beside the path is shared, nothing is mutated.
 *
 * Whatever on the way is neither an object nor a list is replaced by an empty object. A list takes an integer segment:
 * negative ones count from the end, the list's own length appends. An empty path gives `value` itself.
 *
 * @throws EngineError `REFERENCE_READ_ONLY` for the keys `__proto__`, `constructor` and `prototype`,
 * `REFERENCE_UNRESOLVED` for a list position that does not exist.
 */
export function writePath(root: Json | undefined, path: readonly string[], value: Json): Json {
  const refused = path.find((segment) => REFUSED_KEYS.has(segment));
  if (refused !== undefined) {
    throw new EngineError(
      'REFERENCE_READ_ONLY',
      `The path "${path.join('.')}" has the key "${refused}", which cannot be written. Use another name.`,
    );
  }
  return writeFrom(root, path, 0, value);
}

function writeFrom(current: Json | undefined, path: readonly string[], depth: number, value: Json): Json {
  const segment = path[depth];
  if (segment === undefined) return value;
  if (Array.isArray(current)) return writeItem(current, path, depth, value);
  const object: JsonObject = isJsonObject(current) ? current : {};
  const child = Object.hasOwn(object, segment) ? object[segment] : undefined;
  return { ...object, [segment]: writeFrom(child, path, depth + 1, value) };
}

function writeItem(list: readonly Json[], path: readonly string[], depth: number, value: Json): Json {
  const segment = path[depth] as string;
  const position = INTEGER.test(segment) ? Number(segment) : Number.NaN;
  const index = position < 0 ? position + list.length : position;
  if (!(index >= 0 && index <= list.length)) {
    throw new EngineError(
      'REFERENCE_UNRESOLVED',
      `The path "${path.join('.')}" leads to a list of ${list.length} items, where "${segment}" is no position. Use 0 to ${list.length}.`,
    );
  }
  const copy = list.slice();
  copy[index] = writeFrom(list[index], path, depth + 1, value);
  return copy;
}
