import { isJsonObject, type Json } from '../../../json.js';

/** A value as text: nothing for null, a text as it is, lists and objects as JSON with sorted keys, two spaces a level. */
export function canonicalText(value: Json): string {
  if (value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(sorted(value), null, 2);
}

function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isJsonObject(value)) return value;
  const keys = Object.keys(value).sort();
  return Object.fromEntries(keys.map((key) => [key, sorted(value[key] ?? null)]));
}
