/** Reading what clients send: schemas of bodies and queries, RAGFlow's conventions for lists and flags. */
import type { ParsedUrlQuery } from 'node:querystring';
import { z } from 'zod';
import { badArgument } from '../../hosting/refusals.js';
import type { Page, PageRequest, Query } from '../../records/repository.js';

/** The most items of one page. */
const MAX_PAGE_SIZE = 100;

/** Bytes that a page of a list may have; what does not fit is on a smaller page. */
export const PAGE_BYTES = 4 * 1024 ** 2;

/** Reads a value by a schema. @throws EngineError BAD_REQUEST with every mismatch and its path. */
export function readInput<T>(schema: z.ZodType<T>, value: unknown): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(({ path, message }) =>
    path.length === 0 ? message : `\`${path.map(String).join('.')}\`: ${message}`,
  );
  throw badArgument(`The request is not valid: ${problems.join('; ')}.`);
}

/**
 * Reads a query by a schema of texts. The last value counts where a parameter is repeated, and an empty one is absent.
 *
 * @throws EngineError BAD_REQUEST for a required parameter that is absent, and what transforms of the schema throw.
 */
export function readQuery<Q extends z.ZodObject>(schema: Q, query: ParsedUrlQuery): z.output<Q> {
  for (const _ in query) return readFilled(schema, query);
  // Most requests have none, and what a schema makes of that is the same each time.
  let empty = emptyQueries.get(schema);
  if (empty === undefined) {
    empty = Object.freeze(readFilled(schema, query));
    emptyQueries.set(schema, empty);
  }
  return empty as z.output<Q>;
}

const emptyQueries = new WeakMap<z.ZodObject, object>();

function readFilled<Q extends z.ZodObject>(schema: Q, query: ParsedUrlQuery): z.output<Q> {
  const texts = Object.entries(query).map(([name, value]) => [name, Array.isArray(value) ? value.at(-1) : value]);
  const parsed = schema.safeParse(Object.fromEntries(texts.filter(([, text]) => text !== '')));
  if (parsed.success) return parsed.data;
  throw badArgument(`\`${String(parsed.error.issues[0]?.path[0])}\` is required.`);
}

/** What a client sent, for the message of a refusal: as JSON, or "nothing". */
export function received(value: unknown): string {
  return value === undefined || value === null ? 'nothing' : JSON.stringify(value);
}

/** A flag as clients send it: true, "true", "1", 1; everything else is false, also the text "false". */
export function isTruthy(value: unknown): boolean {
  if (typeof value === 'string') return /^(?:true|1|yes)$/i.test(value.trim());
  return value === true || value === 1;
}

/** An object only of the properties that have a value; `exactOptionalPropertyTypes` distinguishes absent from undefined. */
export function given<T extends object>(values: T): { [K in keyof T]?: Exclude<T[K], undefined | null> } {
  const filled = Object.entries(values).filter(([, value]) => value !== undefined && value !== null);
  return Object.fromEntries(filled) as { [K in keyof T]?: Exclude<T[K], undefined | null> };
}

/** A parameter of a query. */
export const text = z.string().optional();

/** A text of a body, which may be absent or null. */
export const bodyText = z.string({ error: 'expected a text' }).nullish();

/** A text of a body with a bound for its length, in UTF-16 units; it may be absent or null. */
export function textUpTo(most: number) {
  return z
    .string({ error: 'expected a text' })
    .max(most, { error: `must have at most ${most} characters` })
    .nullish();
}

/** A comma-separated parameter; undefined when nothing is in it. */
export const textList = text
  .transform((value = '') => {
    const filled = value.split(',').flatMap((part) => (part.trim() === '' ? [] : [part.trim()]));
    return filled.length === 0 ? undefined : filled;
  })
  .describe('Comma-separated.');

/** A parameter that is a flag, by the rule of {@link isTruthy}. */
export const flag = text.transform(isTruthy);

/** A parameter of a query that `read` understands. @throws EngineError BAD_REQUEST from the transform where it gives undefined. */
export function checked<T>(name: string, rule: string, read: (text: string) => T | undefined) {
  return text.transform((given) => {
    const value = given === undefined ? undefined : read(given);
    if (given === undefined || value !== undefined) return value;
    throw badArgument(`\`${name}\` must be ${rule}; received ${JSON.stringify(given)}.`);
  });
}

/** `from_date` and `to_date`: milliseconds since 1970. @throws EngineError BAD_REQUEST from the transforms. */
export const periodQuery = z.object({
  from_date: checked('from_date', 'a date', (given) => readTime(given, '00:00:00')).describe(
    'A date or a time, UTC without a zone.',
  ),
  to_date: checked('to_date', 'a date', (given) => readTime(given, '23:59:59.999')).describe(
    'The same; a date means the whole day.',
  ),
});

/** Which part of a list, as RAGFlow reads it: what is no number counts as absent. */
export const pageQuery = z.object({
  page: text.transform((value) => positive(value, 1)).describe('From 1; default 1.'),
  page_size: text.transform((value) => positive(value, 30)).describe(`At most ${MAX_PAGE_SIZE}; default 30.`),
});

/** Which part of a list, and in which order. */
export const listQuery = pageQuery.extend({
  orderby: text.describe('Name of a column.'),
  desc: text.transform((value) => value?.toLowerCase() !== 'false').describe('"false": ascending; default descending.'),
});

/** Which document a turn or a session is for. */
export const versionQuery = z.object({
  version: text.describe('Id of a version, or "draft".'),
  release: flag.describe('"true": only what is published.'),
});

/** The page that a query asks for, within {@link PAGE_BYTES}. @throws EngineError BAD_REQUEST for more than {@link MAX_PAGE_SIZE} items. */
export function pageOf({ page, page_size: limit }: z.output<typeof pageQuery>): BoundedPage {
  if (limit > MAX_PAGE_SIZE) throw badArgument(`\`page_size\` must be at most ${MAX_PAGE_SIZE}; received ${limit}.`);
  return { offset: (page - 1) * limit, limit, maxBytes: PAGE_BYTES };
}

/** A part of a list whose bytes are bounded. */
export type BoundedPage = PageRequest & Required<Pick<Query, 'maxBytes'>>;

/** Lists what fits; when already the first item does not, that one alone. */
export async function listFitting<Q extends PageRequest & { readonly maxBytes?: number | undefined }, T>(
  query: Q,
  list: (query: Q) => Promise<Page<T>>,
): Promise<Page<T>> {
  const page = await list(query);
  if (page.items.length > 0 || query.offset >= page.total) return page;
  return list({ ...query, limit: 1, maxBytes: Number.MAX_SAFE_INTEGER });
}

/** The order that a query asks for, by the names in `columns`. @throws EngineError BAD_REQUEST for another one. */
export function orderOf<T>(
  { orderby, desc }: Pick<z.output<typeof listQuery>, 'orderby' | 'desc'>,
  columns: Readonly<Record<string, T>>,
  fallback: T,
): { readonly orderBy: T; readonly descending: boolean } {
  if (orderby === undefined) return { orderBy: fallback, descending: desc };
  if (Object.hasOwn(columns, orderby)) return { orderBy: columns[orderby] as T, descending: desc };
  throw badArgument(`\`orderby\` must be one of ${Object.keys(columns).join(', ')}; received ${received(orderby)}.`);
}

/** A date, which means its `clock`, a date with time, or ISO 8601; in UTC unless it names a zone. */
function readTime(given: string, clock: string): number | undefined {
  const iso = /^\d{4}-\d{2}-\d{2}$/.test(given) ? `${given}T${clock}` : given.replace(' ', 'T');
  const ms = Date.parse(/(?:Z|[+-]\d{2}:?\d{2})$/i.test(iso) ? iso : `${iso}Z`);
  return Number.isNaN(ms) ? undefined : ms;
}

function positive(given: string | undefined, fallback: number): number {
  const value = Number(given);
  return Number.isSafeInteger(value) && value >= 1 ? value : fallback;
}
