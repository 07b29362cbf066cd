/** Reading what clients send: bodies, queries, list conventions. */
import type { ParsedUrlQuery } from 'node:querystring';
import type { z } from 'zod';
import { badArgument } from '../hosting/refusals.js';
import type { PageRequest } from '../records/stores.js';

/** The most items of one page. */
const MAX_PAGE_SIZE = 100;

/** Reads a value by a schema. @throws EngineError BAD_REQUEST with every mismatch and its path. */
export function readInput<T>(schema: z.ZodType<T>, value: unknown): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(({ path, message }) =>
    path.length === 0 ? message : `\`${path.map(String).join('.')}\`: ${message}`,
  );
  throw badArgument(`The request is not valid: ${problems.join('; ')}.`);
}

/** What a client sent, for the message of a refusal: as JSON, or "nothing". */
export function received(value: unknown): string {
  return value === undefined || value === null ? 'nothing' : JSON.stringify(value);
}

/** A query parameter that is given once and is not empty; the last one counts when it is repeated. */
export function queryText(query: ParsedUrlQuery, name: string): string | undefined {
  const value = query[name];
  const text = Array.isArray(value) ? value.at(-1) : value;
  return text === undefined || text === '' ? undefined : text;
}

/** A comma-separated query parameter; undefined when nothing is in it. */
export function queryList(query: ParsedUrlQuery, name: string): readonly string[] | undefined {
  const parts = (queryText(query, name) ?? '').split(',').map((part) => part.trim());
  const filled = parts.filter((part) => part !== '');
  return filled.length === 0 ? undefined : filled;
}

/**
 * `page` (default 1) and `page_size` (default 30, at most 100) as RAGFlow reads them: what is no number counts as absent.
 *
 * @throws EngineError BAD_REQUEST for a larger page.
 */
export function readPage(query: ParsedUrlQuery): PageRequest {
  const page = positive(queryText(query, 'page'), 1);
  const limit = positive(queryText(query, 'page_size'), 30);
  if (limit > MAX_PAGE_SIZE) throw badArgument(`\`page_size\` must be at most ${MAX_PAGE_SIZE}; received ${limit}.`);
  return { offset: (page - 1) * limit, limit };
}

/** `desc`, default true: anything but `false` in any case. */
export function readDescending(query: ParsedUrlQuery): boolean {
  return queryText(query, 'desc')?.toLowerCase() !== 'false';
}

/** `orderby` by the names in `columns`. @throws EngineError BAD_REQUEST for another one. */
export function readOrder<T>(query: ParsedUrlQuery, columns: Readonly<Record<string, T>>, fallback: T): T {
  const name = queryText(query, 'orderby');
  if (name === undefined) return fallback;
  if (Object.hasOwn(columns, name)) return columns[name] as T;
  throw badArgument(`\`orderby\` must be one of ${Object.keys(columns).join(', ')}; received ${JSON.stringify(name)}.`);
}

/** A date, a date with time, or ISO 8601; without a zone it is UTC. A date alone as an end means the whole day. @throws EngineError BAD_REQUEST. */
export function readTime(query: ParsedUrlQuery, name: 'from_date' | 'to_date'): number | undefined {
  const given = queryText(query, name);
  if (given === undefined) return undefined;
  const isDay = /^\d{4}-\d{2}-\d{2}$/.test(given);
  const iso = isDay ? `${given}T${name === 'to_date' ? '23:59:59.999' : '00:00:00'}` : given.replace(' ', 'T');
  const ms = Date.parse(/(?:Z|[+-]\d{2}:?\d{2})$/i.test(iso) ? iso : `${iso}Z`);
  if (Number.isNaN(ms)) throw badArgument(`\`${name}\` must be a date; received ${JSON.stringify(given)}.`);
  return ms;
}

function positive(text: string | undefined, fallback: number): number {
  const value = Number(text);
  return Number.isSafeInteger(value) && value >= 1 ? value : fallback;
}
