import type { Json, JsonObject } from '../json.js';
import { compareCodePoints } from './json-order.js';

/**
 * Gives a text that two values share exactly when they are equal: keys of objects count in any order, `1` and `true`,
 * `1` and `"1"` differ. Linear in the size of the value, beside sorting its keys.
 */
export function canonicalJson(value: Json): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  const object = value as JsonObject;
  const keys = Object.keys(object).sort(compareCodePoints);
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonicalJson(object[key] ?? null)}`).join(',')}}`;
}
