import { z } from 'zod';
import { canonicalJson, sortValues } from '../dsl/json-order.js';
import { parseReference } from '../dsl/reference.js';
import { renderValue } from '../dsl/render-value.js';
import { foundValue } from '../dsl/resolve.js';
import { EngineError } from '../errors.js';
import type { Activation } from '../graph/node.js';
import { settled } from '../graph/node-events.js';
import type { Json } from '../json.js';
import { nodeParams, nullishText, nullishTexts, optionalJson } from './base-params.js';
import { defineComponent } from './component.js';
import { jsonKind, TEXT_OPERATORS, textTest } from './values/comparison.js';
import { readingTexts, type TextReader } from './values/text-reader.js';

const OPERATIONS = ['nth', 'head', 'tail', 'filter', 'sort', 'drop_duplicates'] as const;
type Operation = (typeof OPERATIONS)[number];

const TRUE_WORDS: ReadonlySet<string> = new Set(['1', 'true', 'yes', 'on']);
const INTEGER = /^[+-]?\d{1,15}$/;

const params = nodeParams({
  query: z
    .string()
    .refine((query) => query.trim() !== '', 'name the list to work on')
    .describe('Reference of the list; required.'),
  operations: z
    .preprocess(normaliseOperation, z.enum(OPERATIONS))
    .describe(`What to do: ${OPERATIONS.join(', ')}; "topN" means head. Default: nth.`),
  n: z
    .preprocess(toInteger, z.number())
    .describe(
      'nth: position from 1, negative ones from the end. head, tail: how many items. Default: 0, which gives none.',
    ),
  strict: z
    .preprocess(toFlag, z.boolean())
    .describe('nth, head, tail: whether an n that the list does not have is an error. Default: false.'),
  sort_method: nullishText.describe('sort: "asc" or "desc". Default: asc.'),
  sort_by: nullishTexts.describe(
    'sort: keys of objects to sort by, a list or one text with commas. Default: none, the whole object counts.',
  ),
  filter: z
    .looseObject({
      operator: nullishText.describe(`One of ${TEXT_OPERATORS.join(', ')}. Default: =.`),
      value: optionalJson.describe('What items are compared with, as text; references are replaced. Default: "".'),
    })
    .nullish()
    .describe('filter: what an item must be like to stay. Default: the empty text.'),
});

type Params = z.infer<typeof params>;

/** What one operation makes of the list it is given. */
type Operate = (items: readonly Json[], reader: TextReader) => readonly Json[];

/**
 * ListOperations: takes items of a list, filters and sorts it, drops what comes twice.
 *
 * Errors: NODE_FAILED when the input is no list or, in strict mode, when it does not have `n` items;
 * REFERENCE_UNRESOLVED for an output of a node that does not exist.
 */
export const listOperations = defineComponent<Params>({
  type: 'ListOperations',
  group: 'data',
  summary: 'Works on a list: one item by position, the first or last few, filter, sort, drop duplicates.',
  thoughts: 'Working on a list.',
  params,
  outputs: {
    result: { type: 'array', description: 'The resulting list.' },
    first: { type: 'any', description: 'Its first item, null when it is empty.' },
    last: { type: 'any', description: 'Its last item, null when it is empty.' },
  },
  create(given) {
    const operate = operationOf(given);
    return readingTexts((reader, activation) => {
      const result = operate(readList(given.query, activation, reader), reader);
      return settled({ result, first: result[0] ?? null, last: result.at(-1) ?? null });
    });
  },
});

function readList(query: string, { node }: Activation, reader: TextReader): readonly Json[] {
  const reference = parseReference(query);
  const value = foundValue(reference && reader.lookup(reference));
  if (Array.isArray(value)) return value;
  const found = value === null ? 'without a value' : `of the kind ${jsonKind(value)}`;
  throw new EngineError(
    'NODE_FAILED',
    `List operations need a list, but "${query}" is ${found}. Name an output or a variable that holds a list.`,
    { node },
  );
}

function operationOf(given: Params): Operate {
  switch (given.operations) {
    case 'nth':
    case 'head':
    case 'tail':
      return (items) => takeItems(items, given);
    case 'filter': {
      const test = textTest(given.filter?.operator);
      return (items, reader) => {
        const wanted = reader.textFor(given.filter?.value ?? '');
        return items.filter((item) => test(renderValue(item), wanted));
      };
    }
    case 'sort': {
      const by = sortFields(given.sort_by);
      const isDescending = given.sort_method?.trim().toLowerCase() === 'desc';
      // Fields left over in the editor mean nothing for a list without objects.
      return (items) => sortValues(items, { by: items.some(isObject) ? by : [], isDescending });
    }
    case 'drop_duplicates':
      return dropDuplicates;
  }
}

function takeItems(items: readonly Json[], { operations: operation, n, strict: isStrict }: Params): readonly Json[] {
  const position = operation === 'nth' && n < 0 ? n + items.length + 1 : n;
  const isInside = position >= 1 && position <= items.length;
  if (isStrict && !isInside) {
    throw new EngineError(
      'NODE_FAILED',
      `"${operation}" is strict and the list has ${items.length} items, but n is ${n}. Use an n that the list has.`,
    );
  }
  if (position < 1) return [];
  if (operation === 'nth') return items.slice(position - 1, position);
  return operation === 'head' ? items.slice(0, position) : items.slice(-position);
}

function dropDuplicates(items: readonly Json[]): readonly Json[] {
  const seen = new Set<string>();
  return items.filter((item) => {
    const before = seen.size;
    return seen.add(canonicalJson(item)).size > before;
  });
}

function isObject(item: Json): boolean {
  return jsonKind(item) === 'object';
}

function sortFields(given: Params['sort_by']): string[] {
  const fields = typeof given === 'string' ? given.split(',') : (given ?? []);
  return fields.map((field) => field.trim()).filter((field) => field !== '');
}

function normaliseOperation(given: unknown): unknown {
  if (typeof given !== 'string') return given ?? ('nth' satisfies Operation);
  const name = given.trim();
  if (name.toLowerCase() === 'topn') return 'head' satisfies Operation;
  return name || ('nth' satisfies Operation);
}

function toInteger(given: unknown): number {
  if (typeof given === 'number') return Number.isFinite(given) ? Math.trunc(given) : 0;
  if (typeof given === 'boolean') return given ? 1 : 0;
  return typeof given === 'string' && INTEGER.test(given.trim()) ? Number(given) : 0;
}

function toFlag(given: unknown): boolean {
  return typeof given === 'string' ? TRUE_WORDS.has(given.trim().toLowerCase()) : Boolean(given);
}
