import {
  type IndexRow,
  type IndexScope,
  type IndexStorage,
  type SegmentEntry,
  VECTOR_ROWS,
} from '../../records/index-storage.js';
import type { Database, Sql } from './database.js';
import { createVectorTables } from './nearest-vectors.js';

/** Keys of one statement that reads or deletes rows: a few milliseconds of the embedded database. */
const KEYS_A_STEP = 100;
/** Rows that are copied in one step: a few milliseconds of the embedded database. */
const COPIED_A_STEP = 16;
/** Rows that are deleted in one step: a few milliseconds of the embedded database. */
const DELETED_A_STEP = 100;

interface ByteRow {
  readonly key: string;
  readonly bytes: Uint8Array;
}

/** Search indexes in Postgres, embedded or on a server. */
export function createPostgresIndexStorage(database: Database): IndexStorage {
  const generation = async ({ tenant, dataset }: IndexScope): Promise<number> => {
    const [row] = await database.repeat(
      (sql) => sql<{ generation: number }[]>`
        select generation::float8 as generation from runnel.search_indexes where tenant = ${tenant} and dataset = ${dataset}`,
    );
    return row?.generation ?? 0;
  };
  // The embedded database answers nothing while it builds a graph.
  const vectors = database.kind === 'server' ? createVectorTables(database) : undefined;
  return {
    generation,
    ...(vectors && { nearestVectors: vectors }),
    state: (scope) => database.repeat((sql) => readState(sql, scope)),
    async write({ tenant, dataset }, segment, rows) {
      if (rows.length === 0) return;
      const values = rows.map(({ kind, key, bytes }) => ({ tenant, dataset, segment, kind, key, bytes }));
      await database.repeatBehind(
        (sql) => sql`insert into runnel.search_rows ${sql(values)}
          on conflict (tenant, dataset, segment, kind, key) do update set bytes = excluded.bytes`,
      );
      const added = rows.filter(({ kind }) => kind === VECTOR_ROWS);
      if (added.length > 0) await vectors?.put({ tenant, dataset }, segment, added);
    },
    async read({ tenant, dataset }, segment, kind, keys) {
      const found = new Map<string, Uint8Array>();
      for (let from = 0; from < keys.length; from += KEYS_A_STEP) {
        const part = keys.slice(from, from + KEYS_A_STEP);
        const rows = await database.repeat(
          (sql) => sql<ByteRow[]>`
            select key, bytes from runnel.search_rows
            where tenant = ${tenant} and dataset = ${dataset} and segment = ${segment} and kind = ${kind} and key in ${sql(part)}`,
        );
        for (const { key, bytes } of rows) found.set(key, bytes);
      }
      return found;
    },
    async list({ tenant, dataset }, segment, kind, { after, limit }) {
      const rows = await database.repeat(
        (sql) => sql<ByteRow[]>`
          select key, bytes from runnel.search_rows
          where tenant = ${tenant} and dataset = ${dataset} and segment = ${segment} and kind = ${kind}
            ${after === undefined ? sql`` : sql`and key > ${after}`}
          order by key limit ${limit}`,
      );
      return rows.map(({ key, bytes }): IndexRow => ({ kind, key, bytes }));
    },
    async copy(scope, segments, kind, keys) {
      const all = [...keys];
      for (let from = 0; from < all.length; from += COPIED_A_STEP) {
        await copyRows(database, scope, segments, kind, all.slice(from, from + COPIED_A_STEP));
      }
    },
    async commit(scope, expected, change) {
      const isDone = await database.repeat((sql) => commit(sql, scope, expected, change));
      if (isDone) for (const segment of change.drop ?? []) await eraseSegment(database, scope, segment);
      return isDone;
    },
    async erase(scope, segment, rows) {
      if (rows === undefined) {
        await eraseSegment(database, scope, segment);
        await vectors?.drop(scope, segment);
        return;
      }
      const { tenant, dataset } = scope;
      for (let from = 0; from < rows.keys.length; from += KEYS_A_STEP) {
        const part = rows.keys.slice(from, from + KEYS_A_STEP);
        await database.repeat(
          (sql) => sql`
            delete from runnel.search_rows
            where tenant = ${tenant} and dataset = ${dataset} and segment = ${segment} and kind = ${rows.kind} and key in ${sql(part)}`,
        );
        if (rows.kind === VECTOR_ROWS) await vectors?.erase(scope, segment, part);
      }
    },
    async sweep({ tenant, dataset }, before) {
      await deleteInSteps(
        database,
        (sql) => sql`
          select ctid from runnel.search_rows r
          where tenant = ${tenant} and dataset = ${dataset} and segment < ${before} and not exists (
            select 1 from runnel.search_segments s
            where s.tenant = r.tenant and s.dataset = r.dataset and s.segment = r.segment
          ) limit ${DELETED_A_STEP}`,
      );
    },
    async clear(scope) {
      const { tenant, dataset } = scope;
      // The number stays, and goes on: another process must not take the next index for the one that it knows.
      await database.repeat((sql) =>
        sql.begin(async (transaction) => {
          await transaction`
            update runnel.search_indexes set generation = generation + 1 where tenant = ${tenant} and dataset = ${dataset}`;
          await transaction`delete from runnel.search_segments where tenant = ${tenant} and dataset = ${dataset}`;
        }),
      );
      await deleteInSteps(
        database,
        (sql) => sql`
          select ctid from runnel.search_rows
          where tenant = ${tenant} and dataset = ${dataset} limit ${DELETED_A_STEP}`,
      );
      await vectors?.drop(scope);
    },
  };
}

/** Number and segments as of one moment: a commit between two statements would be half seen. */
async function readState(sql: Sql, { tenant, dataset }: IndexScope) {
  const rows = await sql<{ generation: number; segment: string | null; flags: Uint8Array | null }[]>`
    select i.generation::float8 as generation, s.segment, s.flags
    from runnel.search_indexes i
    left join runnel.search_segments s on s.tenant = i.tenant and s.dataset = i.dataset
    where i.tenant = ${tenant} and i.dataset = ${dataset} order by s.position`;
  const segments = rows.flatMap(({ segment, flags }): SegmentEntry[] =>
    segment === null || flags === null ? [] : [{ id: segment, flags }],
  );
  return { generation: rows[0]?.generation ?? 0, segments };
}

function commit(
  pool: Sql,
  { tenant, dataset }: IndexScope,
  expected: number,
  { add = [], drop = [], flags = [] }: Parameters<IndexStorage['commit']>[2],
): Promise<boolean> {
  // Statements that wait for nothing are sent together: the embedded database serves no other connection in between.
  return pool.begin(async (sql) => {
    const [, { count }] = await Promise.all([
      sql`
        insert into runnel.search_indexes (tenant, dataset, generation) values (${tenant}, ${dataset}, 0)
        on conflict (tenant, dataset) do nothing`,
      sql`
        update runnel.search_indexes set generation = generation + 1
        where tenant = ${tenant} and dataset = ${dataset} and generation = ${expected}`,
    ]);
    if (count === 0) return false;
    const changed = flags.map(
      ({ id, flags: bytes }) => sql`
        update runnel.search_segments set flags = ${bytes}
        where tenant = ${tenant} and dataset = ${dataset} and segment = ${id}`,
    );
    const added = add.map(
      ({ id: segment, flags: bytes }) =>
        sql`insert into runnel.search_segments ${sql({ tenant, dataset, segment, flags: bytes })}`,
    );
    const dropped =
      drop.length === 0
        ? []
        : [
            sql`
              delete from runnel.search_segments
              where tenant = ${tenant} and dataset = ${dataset} and segment in ${sql(drop)}`,
          ];
    await Promise.all([...changed, ...added, ...dropped]);
    return true;
  }) as Promise<boolean>;
}

/**
 * The rows do not leave the database: they are most of what is merged. First and last key bound what is read: where a table was never analysed, as in
 * the embedded database, the planner takes a segment for one row and reads all of it to find some keys (20,000 rows: 8 ms, joined with a list 140 ms).
 */
async function copyRows(
  database: Database,
  { tenant, dataset }: IndexScope,
  { from, to }: { readonly from: string; readonly to: string },
  kind: string,
  keys: readonly (readonly [key: string, newKey: string])[],
): Promise<void> {
  const wanted = keys.map(([key]) => key).sort((left, right) => Buffer.compare(Buffer.from(left), Buffer.from(right)));
  const [first = '', last = ''] = [wanted[0], wanted.at(-1)];
  await database.repeatBehind(
    (sql) => sql`
      insert into runnel.search_rows (tenant, dataset, segment, kind, key, bytes)
      select tenant, dataset, ${to}, kind, ${JSON.stringify(Object.fromEntries(keys))}::json ->> key, bytes
      from runnel.search_rows
      where tenant = ${tenant} and dataset = ${dataset} and segment = ${from} and kind = ${kind}
        and key >= ${first} and key <= ${last} and key in ${sql(wanted)}
      on conflict (tenant, dataset, segment, kind, key) do update set bytes = excluded.bytes`,
  );
}

function eraseSegment(database: Database, { tenant, dataset }: IndexScope, segment: string): Promise<void> {
  return deleteInSteps(
    database,
    (sql) => sql`
      select ctid from runnel.search_rows
      where tenant = ${tenant} and dataset = ${dataset} and segment = ${segment} limit ${DELETED_A_STEP}`,
  );
}

/** Deletes what a query names, a few rows at a time, so that others have their turn. */
async function deleteInSteps(database: Database, rows: (sql: Sql) => ReturnType<Sql>): Promise<void> {
  for (;;) {
    const { count } = await database.repeatBehind(
      (sql) => sql`delete from runnel.search_rows where ctid = any(array(${rows(sql)}))`,
    );
    if (count < DELETED_A_STEP) return;
  }
}
