/** One order and one canonical text over all JSON values. */
import { isJsonObject, type Json, type JsonObject } from '../json.js';

/** How a list is sorted. */
export interface SortOptions {
  /** Keys of objects to sort by, the first one first; without any the items themselves are compared. */
  readonly by?: readonly string[];
  /** Largest first; default false. Nulls stay last. */
  readonly isDescending?: boolean;
}

/**
 * Gives a sorted copy of a list; equal items keep their order.
 *
 * Numbers come before texts, texts before booleans, lists and objects, and nulls last in both directions. Texts compare
 * by code point, lists item by item, objects by their key/value pairs in the order of the keys. An item that has not
 * the key it is sorted by counts as null there.
 */
export function sortValues(items: readonly Json[], options: SortOptions = {}): Json[] {
  const { by = [], isDescending = false } = options;
  const keyed = items.map((item) => ({
    item,
    keys: by.length === 0 ? [sortKey(item)] : by.map((key) => keyOf(item, key)),
  }));
  keyed.sort((left, right) => compareAll(left.keys, right.keys, isDescending));
  return keyed.map(({ item }) => item);
}

/** Orders texts by code point, as Python and Postgres do; UTF-16 units would put some rare characters elsewhere. */
export function compareCodePoints(left: string, right: string): number {
  const length = Math.min(left.length, right.length);
  for (let at = 0; at < length; at += 1) {
    const one = left.charCodeAt(at);
    const other = right.charCodeAt(at);
    if (one !== other) return codePointWeight(one) - codePointWeight(other);
  }
  return left.length - right.length;
}

const RANK = { number: 0, string: 1, boolean: 2, list: 3, object: 4, null: 5 } as const;

/** A value prepared for comparing: `parts` are the items of a list, or keys and values of an object in turn. */
interface SortKey {
  readonly rank: number;
  readonly number: number;
  readonly text: string;
  readonly parts: readonly SortKey[];
}

const NULL_KEY: SortKey = { rank: RANK.null, number: 0, text: '', parts: [] };

function keyOf(item: Json, key: string): SortKey {
  return isJsonObject(item) && Object.hasOwn(item, key) ? sortKey(item[key] ?? null) : NULL_KEY;
}

function sortKey(value: Json): SortKey {
  switch (typeof value) {
    case 'number':
      return { rank: RANK.number, number: value, text: '', parts: [] };
    case 'string':
      return textKey(value);
    case 'boolean':
      return { rank: RANK.boolean, number: Number(value), text: '', parts: [] };
  }
  if (value === null) return NULL_KEY;
  if (!isJsonObject(value)) return { rank: RANK.list, number: 0, text: '', parts: value.map(sortKey) };
  const keys = Object.keys(value).sort(compareCodePoints);
  const parts = keys.flatMap((key) => [textKey(key), sortKey(value[key] ?? null)]);
  return { rank: RANK.object, number: 0, text: '', parts };
}

function textKey(text: string): SortKey {
  return { rank: RANK.string, number: 0, text, parts: [] };
}

function compareAll(left: readonly SortKey[], right: readonly SortKey[], isDescending: boolean): number {
  for (let at = 0; at < left.length; at += 1) {
    const one = left[at] as SortKey;
    const other = right[at] as SortKey;
    const difference = compareKeys(one, other);
    if (difference === 0) continue;
    const hasNull = one.rank === RANK.null || other.rank === RANK.null;
    return isDescending && !hasNull ? -difference : difference;
  }
  return 0;
}

function compareKeys(left: SortKey, right: SortKey): number {
  if (left.rank !== right.rank) return left.rank - right.rank;
  if (left.number !== right.number) return left.number - right.number;
  return compareCodePoints(left.text, right.text) || compareParts(left.parts, right.parts);
}

function compareParts(left: readonly SortKey[], right: readonly SortKey[]): number {
  const length = Math.min(left.length, right.length);
  for (let at = 0; at < length; at += 1) {
    const difference = compareKeys(left[at] as SortKey, right[at] as SortKey);
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}

/** Moves the units of characters beyond U+FFFF behind U+E000 to U+FFFF, where their code points are. */
function codePointWeight(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}

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
