import { z } from 'zod';
import { evaluateLiterals } from '../dsl/python-literal.js';
import { parseReference, type Reference } from '../dsl/reference.js';
import { renderValue } from '../dsl/render-value.js';
import { foundValue, resolveParam, type ValueSource } from '../dsl/resolve.js';
import { settled } from '../graph/node-events.js';
import { addTo } from '../group-by.js';
import { isJsonObject, type Json, type JsonObject } from '../json.js';
import { nodeParams, nullishText, nullishTexts, optionalJson } from './base-params.js';
import { defineComponent } from './component.js';
import { TEXT_OPERATORS, textTest } from './values/comparison.js';
import { readingTexts, type TextReader } from './values/text-reader.js';

const OPERATIONS = [
  'select_keys',
  'literal_eval',
  'combine',
  'filter_values',
  'append_or_update',
  'remove_keys',
  'rename_keys',
] as const;

const keyNames = z.array(z.union([z.string(), z.looseObject({ name: z.string() })])).nullish();

const params = nodeParams({
  query: nullishTexts.describe(
    'References of the objects and lists of objects to work on, a list or one text with commas. Default: none.',
  ),
  operations: z.enum(OPERATIONS).default('literal_eval').describe('What to do. Default: literal_eval.'),
  select_keys: keyNames.describe('select_keys: names of the keys to keep, as texts or `{ name }`. Default: none.'),
  remove_keys: keyNames.describe('remove_keys: names of the keys to leave out, as texts or `{ name }`. Default: none.'),
  filter_values: z
    .array(
      z.looseObject({
        key: nullishText.describe('Key to compare; an object without it is left out.'),
        operator: nullishText.describe(`One of ${TEXT_OPERATORS.join(', ')}. Default: =.`),
        value: optionalJson.describe('What the value is compared with, as text; references are replaced.'),
      }),
    )
    .nullish()
    .describe('filter_values: rules that an object must all pass. Default: none, which all pass.'),
  updates: z
    .array(
      z.looseObject({
        key: nullishText.describe('Key to set; blanks around it do not count.'),
        value: optionalJson.describe('Its value; a reference alone keeps its type, others are replaced by text.'),
      }),
    )
    .nullish()
    .describe('append_or_update: keys to set in every object. Default: none.'),
  rename_keys: z
    .array(
      z.looseObject({
        old_key: nullishText.describe('Key to rename; blanks around it do not count.'),
        new_key: nullishText.describe('Its new name; blanks around it do not count.'),
      }),
    )
    .nullish()
    .describe('rename_keys: pairs of an old and a new name. Default: none.'),
});

type Params = z.infer<typeof params>;

/** What one operation makes of the objects it is given. */
type Operate = (objects: readonly JsonObject[], source: ValueSource, reader: TextReader) => Json;

/**
 * DataOperations: works on lists of objects; picks, renames, sets and drops keys, filters, combines, reads literals.
 *
 * Of everything that `query` names, objects and the objects in lists are taken, the rest is passed over. The result is a
 * list, only `combine` gives one object. A reference that has no value counts as nothing and is reported as a warning when
 * it never could have one.
 *
 * Errors: REFERENCE_UNRESOLVED for an output of a node that does not exist.
 */
export const dataOperations = defineComponent<Params>({
  type: 'DataOperations',
  group: 'data',
  summary:
    'Works on objects and lists of objects: select, filter, combine, rename, set and remove keys, read literals.',
  thoughts: 'Working on objects.',
  params,
  outputs: { result: { type: 'array', description: 'The resulting objects; one object for combine.' } },
  create(given) {
    const references = parseQuery(given.query);
    const operate = operationOf(given);
    return readingTexts((reader, { source }) =>
      settled({ result: operate(gatherObjects(references, reader), source, reader) }),
    );
  },
});

function parseQuery(query: Params['query']): Reference[] {
  const texts = typeof query === 'string' ? query.split(',') : (query ?? []);
  return texts.map(parseReference).filter((reference) => reference !== undefined);
}

function gatherObjects(references: readonly Reference[], reader: TextReader): JsonObject[] {
  return references.flatMap((reference) => {
    const value = foundValue(reader.lookup(reference));
    return (Array.isArray(value) ? value : [value]).filter(isJsonObject);
  });
}

function operationOf(given: Params): Operate {
  switch (given.operations) {
    case 'select_keys':
    case 'remove_keys': {
      const isSelected = given.operations === 'select_keys';
      const keys = nameSet(isSelected ? given.select_keys : given.remove_keys);
      const isKept = ([key]: [string, Json]): boolean => keys.has(key) === isSelected;
      return (objects) => objects.map((object) => Object.fromEntries(Object.entries(object).filter(isKept)));
    }
    case 'rename_keys': {
      const pairs = (given.rename_keys ?? [])
        .map((pair): [string, string] => [trimmed(pair.old_key), trimmed(pair.new_key)])
        .filter(([oldKey, newKey]) => oldKey !== '' && newKey !== '' && oldKey !== newKey);
      return (objects) => objects.map((object) => renameKeys(object, pairs));
    }
    case 'append_or_update': {
      const updates = (given.updates ?? []).filter(({ key }) => trimmed(key) !== '');
      return (objects, source, { unresolved }) => {
        const values = updates.map(({ key, value }): [string, Json] => [
          trimmed(key),
          resolveParam(value ?? null, source, { onUnresolved: unresolved }),
        ]);
        return objects.map((object) => ({ ...object, ...Object.fromEntries(values) }));
      };
    }
    case 'filter_values':
      return (objects, _source, reader) => filterObjects(objects, given.filter_values ?? [], reader);
    case 'combine':
      return combineObjects;
    case 'literal_eval':
      return (objects) => evaluateLiterals(objects);
  }
}

function nameSet(names: Params['select_keys']): ReadonlySet<string> {
  return new Set((names ?? []).map((name) => (typeof name === 'string' ? name : name.name)));
}

function trimmed(key: string | null | undefined): string {
  return key?.trim() ?? '';
}

/** Renames keys one pair after the other; a renamed key moves to the end, or takes the place of the key it replaces. */
function renameKeys(object: JsonObject, pairs: readonly (readonly [string, string])[]): JsonObject {
  const entries = new Map(Object.entries(object));
  for (const [oldKey, newKey] of pairs) {
    const value = entries.get(oldKey);
    if (value === undefined) continue;
    entries.delete(oldKey);
    entries.set(newKey, value);
  }
  return Object.fromEntries(entries);
}

/** Keeps the objects that have the key of every rule and pass its test; values are compared as texts. */
function filterObjects(
  objects: readonly JsonObject[],
  written: NonNullable<Params['filter_values']>,
  reader: TextReader,
): readonly JsonObject[] {
  const rules = written.map(({ key, operator, value = null }) => ({
    key: key ?? '',
    test: textTest(operator),
    wanted: reader.textFor(value),
  }));
  return objects.filter((object) =>
    rules.every(({ key, test, wanted }) => Object.hasOwn(object, key) && test(renderValue(object[key]), wanted)),
  );
}

/** Merges objects key by key; a key that several of them have gets a list of its values, lists among them taken apart. */
function combineObjects(objects: readonly JsonObject[]): JsonObject {
  const values = new Map<string, Json[]>();
  for (const [key, value] of objects.flatMap((object) => Object.entries(object))) addTo(values, key, value);
  return Object.fromEntries([...values].map(([key, all]) => [key, all.length === 1 ? (all[0] ?? null) : all.flat()]));
}
