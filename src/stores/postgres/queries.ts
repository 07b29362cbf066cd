import type postgres from 'postgres';
import type { Page, PageRequest } from '../../records/stores.js';
import type { Statements } from './database.js';

/** A piece of a statement. */
export type Fragment = postgres.Fragment;

/** Keeps joined texts apart. */
const SEPARATOR = '\u0001';

/** A text as it is compared without regard to case: by the rules of JavaScript, whatever the locale of the database. */
export function foldCase(text: string): string {
  return text.toLowerCase();
}

/** Texts to search in, as one. */
export function joinTexts(parts: readonly string[]): string {
  // Postgres keeps no character 0 in a text.
  return foldCase(parts.join(SEPARATOR)).replaceAll('\0', '');
}

/** A list of texts as a subquery in brackets, for `in`. */
export function texts(sql: Statements, list: readonly string[]): Fragment {
  return sql`(select json_array_elements_text(${JSON.stringify(list)}::json))`;
}

export interface PageQuery {
  /** The columns. */
  readonly select: Fragment;
  /** `from … where …` */
  readonly from: Fragment;
  /** What to order by, so that no two rows are equal. */
  readonly order: Fragment;
}

/** A page of rows, and how many rows there are. */
export async function pageOf<T extends object>(
  sql: Statements,
  { offset, limit }: PageRequest,
  { select, from, order }: PageQuery,
): Promise<Page<T>> {
  const [items, [all]] = await Promise.all([
    sql<T[]>`select ${select} ${from} order by ${order} offset ${offset} limit ${limit}`,
    sql<{ count: number }[]>`select count(*)::int as count ${from}`,
  ]);
  return { items: [...items], total: all?.count ?? 0 };
}

/** A page of the column `record`. */
export async function recordsOf<T>(
  sql: Statements,
  page: PageRequest,
  query: Omit<PageQuery, 'select'>,
): Promise<Page<T>> {
  const { items, total } = await pageOf<{ record: T }>(sql, page, { ...query, select: sql`record` });
  return { items: items.map(({ record }) => record), total };
}
