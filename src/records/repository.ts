/**
 * Stores of plain records: the port that they all have, and the declaration that their implementations are driven by.
 *
 * A new kind of record is one declaration, one line in `resources.ts`, and its row in the shared suites of tests.
 */
import type { z } from 'zod';
import { EngineError } from '../errors.js';
import type { QuotaName } from './quotas.js';

/** A part of a list, and how long the whole is. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly total: number;
}

/** Which part of a list. */
export interface PageRequest {
  /** Items to leave out at the beginning. */
  readonly offset: number;
  /** Items at most. */
  readonly limit: number;
}

/** Which records, in which order. The other fields of a query are the filters that its resource declares. */
export interface Query extends PageRequest {
  /** One of the declared orders. @default the first of them */
  readonly orderBy?: string;
  /** @default true */
  readonly descending?: boolean;
  /**
   * Bytes that the records of a page, or the columns of `select`, may have together as JSON: fewer are given then, none when already the
   * first is larger. @default no bound
   */
  readonly maxBytes?: number;
  /** Does not read the shared documents of records: each is an empty object. @default false */
  readonly omitsShared?: boolean;
}

/** Columns of a record, and its id. */
export type SelectedColumns = Readonly<Record<string, unknown>> & { readonly id: string };

/** A value of a column, and how many records have it. */
export interface Tally {
  readonly value: string;
  readonly count: number;
}

/** The most values that are counted of one column. */
export const MAX_TALLIES = 10_000;

/** A record and its tenant. */
export interface Owned<T> {
  readonly tenant: string;
  readonly record: T;
}

/**
 * Records of one kind. The tenant is a parameter of every call, so that no caller can forget it; what another tenant owns does not
 * exist. Records are immutable values: an implementation may return the very object that it was given.
 */
export interface Repository<T, Q extends Query = Query> {
  /**
   * @throws EngineError CONFLICT when the id or a unique field is taken, NOT_FOUND when the owner is gone, QUOTA_EXCEEDED when the tenant
   * or the owner has as many as it may, LIMIT_REACHED when the store is full or the record too large.
   */
  insert(tenant: string, record: T): Promise<void>;
  /** Inserts or replaces. @throws EngineError as `insert`, but for a taken id. */
  save(tenant: string, record: T): Promise<void>;
  /**
   * Replaces `before` when the stored record still has its writer, or has that of `after` already. False when another writer has replaced it
   * meanwhile, or there is none any more. Only for resources that declare a `writer`. @throws EngineError as `insert`
   */
  replace(tenant: string, before: T, after: T): Promise<boolean>;
  /** Undefined when there is none. @param owner the record must belong to it */
  find(tenant: string, id: string, owner?: string): Promise<T | undefined>;
  /** Those of the given tenants that have a record with this id, two of them at most; no record is read. */
  ownersOf(id: string, among: readonly string[]): Promise<readonly string[]>;
  /**
   * The record as changed; undefined when there is none. The id stays.
   *
   * @param expected values, none of them an object, that fields of the stored record must have. @throws EngineError as `insert`; CONFLICT when a
   * field has another value
   */
  update(tenant: string, id: string, change: Partial<T>, expected?: Partial<T>): Promise<T | undefined>;
  /** Whether there was one. @param owner the record must belong to it */
  delete(tenant: string, id: string, owner?: string): Promise<boolean>;
  /** Deletes all that belong to an owner; ids of what was deleted. */
  deleteOf(tenant: string, owner: string): Promise<readonly string[]>;
  list(tenant: string, query: Q): Promise<Page<T>>;
  /** Columns of records as {@link Resource} declares them, without reading the records. */
  select(tenant: string, query: Q, columns: readonly string[]): Promise<Page<SelectedColumns>>;
  /**
   * How many records have each value of a column, the most frequent first, {@link MAX_TALLIES} at most; of a list column how many have it in
   * their list. The part of the list that the query asks for does not matter.
   */
  tally(tenant: string, query: Q, column: string): Promise<readonly Tally[]>;
  /** The record of any tenant with this value in a column that is unique across tenants. */
  findByKey(column: string, value: string): Promise<Owned<T> | undefined>;
  /** Deletes at most `limit` records of any tenants that the resource's rule allows to prune and whose time is before `time`; how many. */
  prune(time: number, limit: number): Promise<number>;
}

/**
 * What a record is searched and sorted by, computed from it.
 *
 * `text`: compared by code units · `number` · `list`: texts, of which a filter finds whole ones · `search`: texts, in which a filter finds a
 * part without regard to case · `json`: what lists give of the record, which no filter looks at.
 *
 * `field`: the field of the record whose value the column has, null where it has none; a database stores such a value once. In a declaration
 * with such columns the id is the field `id`.
 */
export type Column<T> =
  | { readonly type: 'text'; readonly of: (record: T) => string | null; readonly field?: keyof T & string }
  | { readonly type: 'number'; readonly of: (record: T) => number | null; readonly field?: keyof T & string }
  | { readonly type: 'list' | 'search'; readonly of: (record: T) => readonly string[] }
  | { readonly type: 'json'; readonly of: (record: T) => object };

/**
 * How a field of a query selects records by a column: `is` its value, `not` any but its value, `in` a list of values, `has` one of the values in a list column,
 * `contains` its text in a search column, `from` and `to` bounds, inclusive. Of two columns of numbers the bounds are those of the first
 * less the second; where one of them is null, no bound holds.
 */
export type Filter =
  | readonly [kind: 'is' | 'not' | 'in' | 'has' | 'contains', column: string]
  | readonly [kind: 'from' | 'to', column: string, less?: string];

/** A filter with the value of its field. */
export interface Condition {
  readonly kind: Filter[0];
  readonly column: string;
  /** The column whose number is taken off first. */
  readonly less?: string | undefined;
  readonly wanted: unknown;
}

/** Columns that no two records of a tenant may have in common. */
export interface Unique<T> {
  readonly columns: readonly string[];
  /** No two records of any tenants. @default false */
  readonly acrossTenants?: boolean;
  /** The error of a record whose values are taken. */
  readonly conflict: (record: T) => string;
}

/** A kind of plain record. Names of columns and of the resource are lower case with underscores. */
export interface Resource<T, Q extends Query = Query> {
  /** In the plural: the name of the table, and the one in error messages. */
  readonly name: string;
  /** In the singular, for error messages. */
  readonly singular: string;
  /** The form of a stored record; what is read is validated by it. */
  readonly schema: z.ZodType<T>;
  /** Unique per tenant. It is the column `id`. */
  readonly id: (record: T) => string;
  readonly columns: Readonly<Record<string, Column<T>>>;
  /** The record of another resource that this one belongs to: without it there is none, and it is deleted with it. */
  readonly owner?: { readonly resource: string; readonly column: string };
  readonly unique?: readonly Unique<T>[];
  /** A column of type `text` that says whose the record is: see `replace`. @default records have no writers */
  readonly writer?: string;
  /** Fields of a query; every one that is given must hold. */
  readonly filters: Readonly<Record<Exclude<keyof Q, keyof Query>, Filter>>;
  /** Column by name of the order; of equal ones, the record that was inserted last is the last, or when descending the first. */
  readonly orders: Readonly<Record<string, string>>;
  /** Columns of indexes, beside those of ids and unique columns. `tenant` and `position` (the order of inserting) may be among them. */
  readonly indexes?: readonly (readonly string[])[];
  /** A field with a document that many records have in common: a database stores it once. */
  readonly shared?: keyof T & string;
  /**
   * What pruning deletes: records whose time is over, unless a column has a value. `since` is a column with an index, whose value
   * never changes and whose order is nearly that of `time`: they are looked for in its order.
   */
  readonly prune?: {
    readonly time: string;
    readonly since?: string;
    readonly unless?: readonly [column: string, value: string];
  };
  /** Which quota bounds the records that a tenant, or an owner, may have; `insert` holds it. @default none */
  readonly quota?: { readonly name: QuotaName; readonly per: 'tenant' | 'owner' };
  /** Of one record as JSON, without its shared field. @default no bound of its own */
  readonly maxRecordBytes?: number;
  readonly memory: MemoryBounds<T>;
}

/** Bounds of a resource in memory, over all tenants. */
export interface MemoryBounds<T = never> {
  readonly maxCount: number;
  /** All records as JSON, without their shared fields. @default no bound */
  readonly maxBytes?: number;
  /** Whether a record may be dropped, the oldest first, to make room. @default none may: a full store refuses more */
  readonly canDrop?: (record: T) => boolean;
}

/** The repository of a resource. */
export type RepositoryOf<R> = R extends Resource<infer T, infer Q> ? Repository<T, Q> : never;

const NAME = /^[a-z][a-z_]*$/;

/** Declares a resource. @throws EngineError INTERNAL when a name cannot be one of a table or a column */
export function resource<T, Q extends Query = Query>(declaration: Resource<T, Q>): Resource<T, Q> {
  for (const name of [declaration.name, ...Object.keys(declaration.columns)]) {
    if (!NAME.test(name)) throw new EngineError('INTERNAL', `"${name}" is no name of a table or a column: ${NAME}`);
  }
  return declaration;
}

/** The column that a query is ordered by, `position` being the order of inserting. */
export function orderOf(resource: Pick<Resource<never>, 'orders'>, { orderBy, descending = true }: Query) {
  const { orders } = resource;
  const named = orderBy !== undefined && Object.hasOwn(orders, orderBy) ? orders[orderBy] : undefined;
  return { column: named ?? Object.values(orders)[0] ?? 'position', descending };
}

/** What a query asks of the columns: every filter whose field is given, with its value. */
export function conditionsOf({ filters }: Pick<Resource<never>, 'filters'>, query: object): readonly Condition[] {
  return Object.entries<Filter>(filters).flatMap(([field, [kind, column, less]]) => {
    const wanted: unknown = query[field as keyof typeof query];
    return wanted === undefined ? [] : [{ kind, column, less, wanted }];
  });
}

/** A text as it is compared without regard to case: by the rules of JavaScript, whatever the locale of a database. */
export function foldCase(text: string): string {
  return text.toLowerCase();
}

/** Texts of a search column as one, folded and apart by character 1. Postgres stores no character 0 in a text. */
export function joinTexts(parts: readonly string[]): string {
  return foldCase(parts.join('\u0001')).replaceAll('\0', '');
}

/** A key of what is distinguished by tenant and id. The length separates them, whatever characters they have. */
export function ownedKey(tenant: string, id: string): string {
  return `${tenant.length}:${tenant}${id}`;
}

/** @throws EngineError CONFLICT when a field has another value than expected. */
export function requireExpected<T>(
  resource: Pick<Resource<T>, 'singular'>,
  record: T,
  expected: Partial<T> = {},
): void {
  for (const field of Object.keys(expected) as (keyof T & string)[]) {
    if (record[field] === expected[field]) continue;
    const message = `${resource.singular} has been changed meanwhile: its ${field} is ${String(record[field])}, not ${String(expected[field])}. Read it again.`;
    throw new EngineError('CONFLICT', message, { details: { field, stored: record[field] } });
  }
}
