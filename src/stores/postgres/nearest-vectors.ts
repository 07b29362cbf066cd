/** Vectors of search indexes in tables with HNSW indexes, where a Postgres server has the extension `vector`. */
import { createHash } from 'node:crypto';
import { type IndexRow, type IndexScope, type NearestVectors, VECTOR_ROWS } from '../../records/index-storage.js';
import type { Database, Sql, Statements } from './database.js';
import { codeOf } from './failures.js';

/** Most numbers of a vector of 16-bit numbers that the extension can index. */
const MAX_DIMENSIONS = 4_000;
/** Candidates that a search of the graph keeps: with 200 hardly one of the 100 nearest is missed. */
const SEARCHED = 200;
/** So that the graph of some hundred thousand vectors is built in memory. */
const BUILD_MEMORY = '256MB';

/** What keeps the tables in step with the rows that they are made of. */
export interface VectorTables extends NearestVectors {
  /** Adds rows to the table of their segment, if it has one. */
  put(scope: IndexScope, segment: string, rows: readonly IndexRow[]): Promise<void>;
  /** Deletes rows by their keys. */
  erase(scope: IndexScope, segment: string, keys: readonly string[]): Promise<void>;
  /** Deletes the table of a segment, or of all segments. */
  drop(scope: IndexScope, segment?: string): Promise<void>;
}

/**
 * A table for each segment with many vectors, made when it is first asked for: so searches need no filter beside the graph, which would leave too
 * few, and no migration needs the extension. Rows stay the truth; what a table has too much or too little costs a candidate.
 *
 * Needs version 0.7 of the extension, and the right to create it where it is not created yet; without them nothing is built.
 */
export function createVectorTables(database: Database): VectorTables {
  const isThere = async (table: string): Promise<boolean> => {
    const [found] = await database.repeat(
      (sql) => sql<{ isThere: boolean }[]>`select to_regclass(${`runnel.${table}`}) is not null as "isThere"`,
    );
    return found?.isThere === true;
  };
  return {
    async build(scope, segment) {
      const type = await halfvecOf(database);
      if (type === undefined) return false;
      const table = tableOf(scope, segment);
      const isBuilt = await database.repeat((sql) => build(sql, { table, type, scope, segment }));
      // What was written while the graph was built, by processes that did not see the table yet.
      if (isBuilt) await database.repeat((sql) => fill(sql, { table, type, scope, segment }));
      return isBuilt;
    },
    async nearest(scope, segment, { vector, limit }) {
      const table = tableOf(scope, segment);
      if (!(await isThere(table))) return undefined;
      const type = await halfvecOf(database);
      if (type === undefined) return undefined;
      const rows = await database.repeat(
        (sql) =>
          sql.begin(async (transaction) => {
            await transaction`select set_config('hnsw.ef_search', ${String(Math.max(SEARCHED, limit))}, true)`;
            return transaction<{ key: string }[]>`
              select key from runnel.${transaction(table)}
              order by vector operator(${transaction(type.schema)}.<=>) ${textOf(vector)}::${halfvec(transaction, type)} limit ${limit}`;
          }) as Promise<readonly { readonly key: string }[]>,
      );
      return rows.map(({ key }) => key);
    },
    async put(scope, segment, rows) {
      const table = tableOf(scope, segment);
      if (!(await isThere(table))) return;
      const values = rows.map(({ key, bytes }) => ({ key, vector: textOf(new Int8Array(bytes)) }));
      await unlessGone(
        database.repeat(
          (sql) => sql`
            insert into runnel.${sql(table)} ${sql(values)} on conflict (key) do update set vector = excluded.vector`,
        ),
      );
    },
    async erase(scope, segment, keys) {
      const table = tableOf(scope, segment);
      if (keys.length === 0 || !(await isThere(table))) return;
      await unlessGone(database.repeat((sql) => sql`delete from runnel.${sql(table)} where key in ${sql([...keys])}`));
    },
    async drop(scope, segment) {
      const prefix = segment === undefined ? tablesOf(scope) : tableOf(scope, segment);
      const tables = await database.repeat(
        (sql) => sql<{ name: string }[]>`
          select c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
          where n.nspname = 'runnel' and c.relkind = 'r' and starts_with(c.relname, ${prefix})`,
      );
      for (const { name } of tables) await database.repeat((sql) => sql`drop table if exists runnel.${sql(name)}`);
    },
  };
}

/** Where the extension is. */
interface Halfvec {
  readonly schema: string;
}

interface Built {
  readonly table: string;
  readonly type: Halfvec;
  readonly scope: IndexScope;
  readonly segment: string;
}

/** The type of vectors of 16-bit numbers; makes the extension where the server has it and lets us. */
async function halfvecOf(database: Database): Promise<Halfvec | undefined> {
  const find = () =>
    database.repeat(
      (sql) => sql<{ schema: string; hasType: boolean }[]>`
        select n.nspname as schema, to_regtype(format('%I.halfvec', n.nspname)) is not null as "hasType"
        from pg_extension e join pg_namespace n on n.oid = e.extnamespace where e.extname = 'vector'`,
    );
  const [known] = await find();
  if (known !== undefined) return known.hasType ? known : undefined;
  const [available] = await database.repeat((sql) => sql`select from pg_available_extensions where name = 'vector'`);
  if (available === undefined) return undefined;
  try {
    await database.repeat((sql) => sql`create extension if not exists vector`);
  } catch (error) {
    // No right to make it, or another process just did.
    if (!['42501', '23505', '42710'].includes(codeOf(causeOf(error)))) throw error;
  }
  const [made] = await find();
  return made?.hasType === true ? made : undefined;
}

/** Makes and fills the table and its graph, all or nothing; another process that is at it goes first. */
function build(pool: Sql, built: Built): Promise<boolean> {
  const { table, type, scope, segment } = built;
  return pool.begin(async (sql) => {
    const [lock] = await sql<{ isOurs: boolean }[]>`
      select pg_try_advisory_xact_lock(hashtextextended(${table}, 0)) as "isOurs"`;
    if (lock?.isOurs !== true) return false;
    const [there] = await sql<{ isThere: boolean }[]>`
      select to_regclass(${`runnel.${table}`}) is not null as "isThere"`;
    if (there?.isThere === true) return true;
    const [first] = await sql<{ size: number }[]>`
      select octet_length(bytes) as size from runnel.search_rows
      where tenant = ${scope.tenant} and dataset = ${scope.dataset} and segment = ${segment} and kind = ${VECTOR_ROWS} limit 1`;
    const size = first?.size ?? 0;
    if (size === 0 || size > MAX_DIMENSIONS) return false;
    await sql`
      create table runnel.${sql(table)} (
        key text collate "C" primary key,
        vector ${halfvec(sql, type)}(${sql.unsafe(String(size))}) not null
      )`;
    await fill(sql, built);
    await sql`select set_config('maintenance_work_mem', ${BUILD_MEMORY}, true)`;
    const operators = sql`${sql(type.schema)}.halfvec_cosine_ops`;
    await sql`create index on runnel.${sql(table)} using hnsw (vector ${operators})`;
    return true;
  }) as Promise<boolean>;
}

/** Adds the rows that the table does not have, as the server reads them: bytes above 127 are below 0. */
async function fill(sql: Statements, { table, type, scope, segment }: Built): Promise<void> {
  await sql`
    insert into runnel.${sql(table)} (key, vector)
    select r.key, (
      select '[' || string_agg(((get_byte(r.bytes, place) + 128) % 256 - 128)::text, ',' order by place) || ']'
      from generate_series(0, octet_length(r.bytes) - 1) as place
    )::${halfvec(sql, type)}
    from runnel.search_rows r
    where r.tenant = ${scope.tenant} and r.dataset = ${scope.dataset} and r.segment = ${segment} and r.kind = ${VECTOR_ROWS}
      and not exists (select from runnel.${sql(table)} t where t.key = r.key)
    on conflict (key) do nothing`;
}

function halfvec(sql: Statements, { schema }: Halfvec) {
  return sql`${sql(schema)}.halfvec`;
}

function textOf(vector: ArrayLike<number>): string {
  return `[${Array.from(vector).join(',')}]`;
}

/** A table that was dropped meanwhile needs no rows. */
async function unlessGone(work: Promise<unknown>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (codeOf(causeOf(error)) !== '42P01') throw error;
  }
}

function causeOf(error: unknown): unknown {
  return error instanceof Error && error.cause !== undefined ? error.cause : error;
}

/** What the names of all tables of an index begin with. */
function tablesOf({ tenant, dataset }: IndexScope): string {
  return `vectors_${hashOf(JSON.stringify([tenant, dataset]))}_`;
}

function tableOf(scope: IndexScope, segment: string): string {
  return tablesOf(scope) + hashOf(segment);
}

/** Half of the 63 letters that a name may have. */
function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 24);
}
