/** Texts of parameters, wherever they stand. */
import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import { ownObject } from '../json-copy.js';

/** What becomes of a text; `key` is the name that it stands under, in lists that of the list. */
export type ChangeText = (text: string, key: string) => string;

/** A value with other texts; parts in which nothing changes are the same objects. */
export function mapTexts(value: Json, change: ChangeText, key = ''): Json {
  if (typeof value === 'string') return change(value, key);
  if (Array.isArray(value)) {
    const list = value as readonly Json[];
    const changed = list.map((item) => mapTexts(item, change, key));
    return changed.every((item, index) => item === list[index]) ? value : changed;
  }
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).map(([name, item]): [string, Json] => [name, mapTexts(item, change, name)]);
  return entries.every(([name, item]) => item === value[name]) ? value : Object.fromEntries(entries);
}

/** A node of a layout whose form has other texts. */
export function mapFormTexts(node: JsonObject, change: ChangeText): JsonObject {
  const data = ownObject(node, 'data');
  const form = ownObject(data, 'form');
  if (data === undefined || form === undefined) return node;
  const next = mapTexts(form, change);
  return next === form ? node : { ...node, data: { ...data, form: next } };
}
