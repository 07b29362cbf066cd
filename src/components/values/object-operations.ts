/** Operations on lists of objects. All keep the order of keys and give new objects where something changes. */
import { renderValue } from '../../dsl/render-value.js';
import type { Json, JsonObject } from '../../json.js';
import type { TextTest } from './text-test.js';

/** What a key of an object is compared with. */
export interface FilterRule {
  readonly key: string;
  readonly test: TextTest;
  readonly wanted: string;
}

/** Keeps only the named keys. */
export function selectKeys(objects: readonly JsonObject[], keys: ReadonlySet<string>): JsonObject[] {
  return objects.map((object) => keepEntries(object, (key) => keys.has(key)));
}

/** Leaves the named keys out. */
export function removeKeys(objects: readonly JsonObject[], keys: ReadonlySet<string>): JsonObject[] {
  return objects.map((object) => keepEntries(object, (key) => !keys.has(key)));
}

/** Renames keys one pair after the other; a renamed key moves to the end, or takes the place of the key it replaces. */
export function renameKeys(
  objects: readonly JsonObject[],
  pairs: readonly (readonly [string, string])[],
): JsonObject[] {
  return objects.map((object) => {
    const entries = new Map(Object.entries(object));
    for (const [oldKey, newKey] of pairs) {
      const value = entries.get(oldKey);
      if (value === undefined) continue;
      entries.delete(oldKey);
      entries.set(newKey, value);
    }
    return Object.fromEntries(entries);
  });
}

/** Sets keys, the same ones in every object. */
export function updateKeys(
  objects: readonly JsonObject[],
  updates: readonly (readonly [string, Json])[],
): JsonObject[] {
  return objects.map((object) => Object.fromEntries([...Object.entries(object), ...updates]));
}

/** Keeps the objects that have the key of every rule and pass its test; values are compared as texts. */
export function filterObjects(objects: readonly JsonObject[], rules: readonly FilterRule[]): readonly JsonObject[] {
  return objects.filter((object) =>
    rules.every(({ key, test, wanted }) => Object.hasOwn(object, key) && test(renderValue(object[key]), wanted)),
  );
}

/** Merges objects key by key; a key that several of them have gets a list of its values, lists among them taken apart. */
export function combineObjects(objects: readonly JsonObject[]): JsonObject {
  const values = new Map<string, Json[]>();
  const combined = new Map<string, Json>();
  for (const [key, value] of objects.flatMap((object) => Object.entries(object))) {
    const known = values.get(key);
    const items: readonly Json[] = Array.isArray(value) ? value : [value];
    if (known === undefined) {
      values.set(key, [...items]);
      combined.set(key, value);
    } else {
      for (const item of items) known.push(item);
      combined.set(key, known);
    }
  }
  return Object.fromEntries(combined);
}

function keepEntries(object: JsonObject, keep: (key: string) => boolean): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([key]) => keep(key)));
}
