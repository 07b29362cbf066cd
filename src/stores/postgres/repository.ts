import { isDeepStrictEqual } from 'node:util';
import { EngineError } from '../../errors.js';
import { parseOwnJson } from '../../json.js';
import { type Quotas, requireRoom } from '../../records/quotas.js';
import {
  type Column,
  type Condition,
  conditionsOf,
  foldCase,
  MAX_TALLIES,
  orderOf,
  type Query,
  type Repository,
  type Resource,
  requireExpected,
  type SelectedColumns,
  type Tally,
} from '../../records/repository.js';
import { writerColumn } from '../memory-repository.js';
import { anyOf } from './any-of.js';
import type { Database, Fragment, Statements } from './database.js';
import type { Documents } from './documents.js';
import { brokenConstraint } from './failures.js';
import { createRecordText, type RecordRow, storedValue } from './record-text.js';

/** Records of a resource in Postgres, in the table that `migrate` makes of its declaration. Values are parameters, names are declared. */
export function createPostgresRepository<T, Q extends Query>(
  database: Database,
  resource: Resource<T, Q>,
  documents: Documents,
  quotas: Quotas,
): Repository<T, Q> {
  const { name, singular, owner, shared, prune: rule, quota, maxRecordBytes } = resource;
  const columns = Object.entries(resource.columns);
  const texts = createRecordText(resource);
  const { selected } = texts;
  const replaced = [...columns.map(([column]) => column), 'record', ...(shared === undefined ? [] : ['document'])]
    .map((column) => `${column} = excluded.${column}`)
    .join(', ');

  const table = (sql: Statements) => sql(`runnel.${name}`);
  const matching = (sql: Statements, tenant: string, id: string, owned: string | undefined): Fragment => {
    if (owned === undefined) return sql`where tenant = ${tenant} and id = ${id}`;
    if (owner === undefined) return sql`where false`;
    return sql`where tenant = ${tenant} and id = ${id} and ${sql(owner.column)} = ${owned}`;
  };

  const rowOf = (tenant: string, record: T, document?: string): Record<string, string | number | null> => {
    const id = resource.id(record);
    const text = texts.write(record);
    if (maxRecordBytes !== undefined && text.length > maxRecordBytes) {
      throw tooLarge(`${singular} "${id}"`, text.length, maxRecordBytes);
    }
    const values = columns.map(([column, of]) => [column, storedValue(of, record)]);
    return { tenant, id, ...Object.fromEntries(values), ...(shared !== undefined && { document }), record: text };
  };
  /** Stores the document of a record, then calls `write` with its row. */
  const writeRow = async (
    tenant: string,
    record: T,
    write: (row: ReturnType<typeof rowOf>) => Promise<void>,
  ): Promise<void> => {
    const dsl = shared === undefined ? undefined : (record[shared] as object);
    const attempt = async (): Promise<void> => {
      const document = dsl === undefined ? undefined : await documents.store(tenant, dsl);
      await write(rowOf(tenant, record, document));
    };
    try {
      await attempt().catch((error: unknown) => {
        if (dsl === undefined || brokenConstraint(error) !== `${name}_document_fkey`) throw error;
        // No record had it any more, so it was pruned.
        documents.forget(tenant, dsl);
        return attempt();
      });
    } catch (error) {
      throw refusal(resource, record, error);
    }
  };
  /** Inserts a row unless its id is taken or the quota is used up, which is counted with a lock in the same statement. */
  const insertCounted = async (sql: Statements, tenant: string, record: T, row: ReturnType<typeof rowOf>) => {
    if (quota === undefined || quotas[quota.name] === 0) {
      const made = await sql`insert into ${table(sql)} ${sql(row)} on conflict (tenant, id) do nothing returning id`;
      return { isMade: made.length > 0, used: 0 };
    }
    const owned = quota.per === 'owner' && owner !== undefined ? resource.columns[owner.column]?.of(record) : '';
    const names = Object.keys(row);
    const values = names.map((column, at) => `$${at + 4}::${typeOf(column)}`);
    const [done] = await sql.unsafe<{ used: number; isMade: boolean }[]>(
      `with counted as (
        insert into runnel.usage as u (tenant, name, owner, count) values ($1, '${quota.name}', $2, 0)
        on conflict (tenant, name, owner) do update set count = u.count returning count
      ), made as (
        insert into runnel.${name} (${names.join(', ')}) select ${values.join(', ')} from counted where count < $3::bigint
        on conflict (tenant, id) do nothing returning id
      ) select counted.count::float8 as used, exists (select from made) as "isMade" from counted`,
      [tenant, owned as string, quotas[quota.name], ...names.map((column) => row[column] as string)],
      { prepare: true },
    );
    return done ?? { isMade: false, used: 0 };
  };
  const typeOf = (column: string): string =>
    column === 'record' ? 'json' : SQL_TYPES[resource.columns[column]?.type ?? 'text'];
  const readRow = async (tenant: string, row: RecordRow): Promise<T> => {
    const record = texts.read(row);
    const value =
      shared === undefined ? record : { ...record, [shared]: await documents.find(tenant, row.document as string) };
    return checked(value);
  };
  const checked = (value: object): T => {
    const { error } = resource.schema.safeParse(value);
    if (error === undefined) return value as T;
    throw new EngineError('INTERNAL', `${singular} in the database cannot be read: ${error.message}`);
  };
  const matchingAll = (sql: Statements, tenant: string, query: Q): Fragment =>
    sql`where tenant = ${tenant} ${[sql``, ...conditionsOf(resource, query).map((one) => fragmentOf(sql, one))]}`;
  /** Rows of a page with the expression `bytes` for what one takes, and how many there are without paging. */
  const readPage = async <R extends object>(tenant: string, query: Q, given: string, bytes: string) => {
    const { offset, limit, maxBytes } = query;
    const order = orderOf(resource, query);
    const [rows, [all]] = await database.repeat((sql) => {
      const where = matchingAll(sql, tenant, query);
      const direction = order.descending ? sql`desc` : sql`asc`;
      const within = (columns: string): Fragment => sql`
        select ${sql.unsafe(columns)} from ${table(sql)} one ${where}
        order by ${sql(order.column)} ${direction}, position ${direction} offset ${offset} limit ${limit}`;
      const page =
        maxBytes === undefined
          ? sql<R[]>`${within(given)}`
          : // What is beyond the bound is counted by its stored size and never read.
            sql<R[]>`
              select ${sql.unsafe(given)} from (
                select *, sum(page_bytes) over (order by page_order) as page_used
                from (select *, row_number() over () as page_order from (${within(`*, ${bytes} as page_bytes`)}) as page) as ordered
              ) as counted where page_used <= ${maxBytes} order by page_order`;
      return Promise.all([
        page,
        sql<{ count: number }[]>`select count(*)::int as count from ${table(sql)} one ${where}`,
      ]);
    });
    return { rows, total: all?.count ?? 0 };
  };
  /** Columns as declared; none when the row was deleted meanwhile. One that is older than a column gets it now, from its record. */
  const completed = async (
    tenant: string,
    row: SelectedColumns,
    names: readonly string[],
  ): Promise<SelectedColumns | undefined> => {
    const values: Record<string, unknown> = {};
    for (const column of names) {
      const of = resource.columns[column] as Column<T>;
      values[column] = row[column];
      if (of.type === 'number' && row[column] !== null) values[column] = Number(row[column]);
      if (of.type !== 'json' || row[column] !== null) continue;
      const { id } = row;
      const [found] = await database.repeat(
        (sql) =>
          sql<RecordRow[]>`select ${sql.unsafe(selected)} from ${table(sql)} ${matching(sql, tenant, id, undefined)}`,
      );
      if (found === undefined) return undefined;
      const text = storedValue(of, await readRow(tenant, found)) as string;
      values[column] = parseOwnJson(text);
      await database.repeat(
        (sql) => sql`
          update ${table(sql)} set ${sql({ [column]: text })} ${matching(sql, tenant, id, undefined)}
          and ${sql(column)} is null`,
      );
    }
    return { ...values, id: row.id };
  };

  return {
    async insert(tenant, record) {
      await writeRow(tenant, record, async (row) => {
        let attempts = 0;
        const { isMade, used } = await database.repeat((sql) => {
          attempts += 1;
          return insertCounted(sql, tenant, record, row);
        });
        if (isMade) return;
        const id = resource.id(record);
        const [found] = await database.repeat(
          (sql) => sql<RecordRow[]>`
            select ${sql.unsafe(selected)} from ${table(sql)} ${matching(sql, tenant, id, undefined)}`,
        );
        // An attempt before, whose answer was lost, may have inserted it.
        if (attempts > 1 && found !== undefined) {
          const stored = rowOf(tenant, await readRow(tenant, found), found.document);
          if (isDeepStrictEqual(stored, row)) return;
        }
        if (found === undefined && quota !== undefined) requireRoom(quotas, quota.name, used, 1);
        throw new EngineError('CONFLICT', `${singular} "${id}" already exists.`);
      });
    },
    async save(tenant, record) {
      await writeRow(tenant, record, async (row) => {
        await database.repeat(
          (sql) => sql`
            insert into ${table(sql)} ${sql(row)}
            on conflict (tenant, id) do update set ${sql.unsafe(replaced)}`,
        );
      });
    },
    async replace(tenant, before, after) {
      const writer = writerColumn(resource);
      const writers = [before, after].map((record) => resource.columns[writer]?.of(record) as string);
      let isDone = false;
      await writeRow(tenant, after, async (row) => {
        const { count } = await database.repeat(
          (sql) => sql`
            update ${table(sql)} set ${sql(row)} ${matching(sql, tenant, resource.id(after), undefined)}
            and ${sql(writer)} in ${sql(writers)}`,
        );
        isDone = count > 0;
      });
      return isDone;
    },
    async find(tenant, id, owned) {
      const [row] = await database.repeat(
        (sql) => sql<RecordRow[]>`
          select ${sql.unsafe(selected)} from ${table(sql)} ${matching(sql, tenant, id, owned)}`,
      );
      return row === undefined ? undefined : readRow(tenant, row);
    },
    async ownersOf(id, among) {
      if (among.length === 0) return [];
      // Answered by the index of the primary key alone.
      const rows = await database.repeat(
        (sql) => sql<{ tenant: string }[]>`
          select tenant from ${table(sql)} where tenant in ${sql([...among])} and id = ${id} limit 2`,
      );
      return rows.map(({ tenant }) => tenant);
    },
    async update(tenant, id, change, expected) {
      const dsl = shared === undefined ? undefined : (change[shared] as object | undefined);
      const document = dsl === undefined ? undefined : await documents.store(tenant, dsl);
      let changed: RecordRow | undefined;
      await database.repeat((sql) =>
        sql.begin(async (transaction) => {
          const where = matching(transaction, tenant, id, undefined);
          const [before] = await transaction<RecordRow[]>`
            select ${transaction.unsafe(selected)} from ${table(transaction)} ${where} for update`;
          changed = undefined;
          if (before === undefined) return;
          const record = texts.read(before);
          requireExpected(resource, record as T, expected);
          changed = { record: changedBy(record, change), document: document ?? before.document };
          const after = changed.record as T;
          const row = rowOf(tenant, after, changed.document);
          await transaction`update ${table(transaction)} set ${transaction(row)} ${where}`.catch((error: unknown) => {
            throw refusal(resource, after, error);
          });
        }),
      );
      return changed && readRow(tenant, changed);
    },
    async delete(tenant, id, owned) {
      const { count } = await database.once(
        (sql) => sql`delete from ${table(sql)} ${matching(sql, tenant, id, owned)}`,
      );
      return count > 0;
    },
    async deleteOf(tenant, owned) {
      if (owner === undefined) return [];
      const rows = await database.once(
        (sql) => sql<{ id: string }[]>`
          delete from ${table(sql)} where tenant = ${tenant} and ${sql(owner.column)} = ${owned} returning id`,
      );
      return rows.map(({ id }) => id);
    },
    async list(tenant, query) {
      const isShared = shared !== undefined && query.omitsShared !== true;
      const bytes = isShared
        ? 'bytes + coalesce((select d.bytes from runnel.documents d where d.tenant = one.tenant and d.hash = one.document), 0)'
        : 'bytes';
      const { rows, total } = await readPage<RecordRow>(tenant, query, selected, bytes);
      const read = rows.map((row) =>
        shared === undefined || isShared ? readRow(tenant, row) : checked({ ...texts.read(row), [shared]: {} }),
      );
      return { items: await Promise.all(read), total };
    },
    async select(tenant, query, names) {
      const sizes = names.map((column) => `coalesce(octet_length(${column}::text), 0)`);
      const { rows, total } = await readPage<SelectedColumns>(
        tenant,
        query,
        ['id', ...names].join(', '),
        ['0', ...sizes].join(' + '),
      );
      const items: SelectedColumns[] = [];
      for (const row of rows) {
        const item = await completed(tenant, row, names);
        if (item !== undefined) items.push(item);
      }
      return { items, total };
    },
    async tally(tenant, query, column) {
      const isList = resource.columns[column]?.type === 'list';
      return database.repeat((sql) => {
        const from = sql`from ${table(sql)} one ${isList ? sql`, json_array_elements_text(${sql(column)}) as entry(value)` : sql``}`;
        const value = isList ? sql`entry.value` : sql(column);
        return sql<Tally[]>`
          select ${value} as value, count(distinct id)::int as count ${from} ${matchingAll(sql, tenant, query)}
          group by 1 order by 2 desc, 1 limit ${MAX_TALLIES}`;
      });
    },
    async findByKey(column, value) {
      const [row] = await database.repeat(
        (sql) => sql<(RecordRow & { readonly tenant: string })[]>`
          select tenant, ${sql.unsafe(selected)} from ${table(sql)} where ${sql(column)} = ${value}`,
      );
      return row === undefined ? undefined : { tenant: row.tenant, record: await readRow(row.tenant, row) };
    },
    async prune(time, limit) {
      if (rule === undefined) return 0;
      const { count } = await database.repeat((sql) => {
        const [column, value] = rule.unless ?? [];
        const oldest = rule.since === undefined ? sql`` : sql`order by ${sql(rule.since)}`;
        const unless = column === undefined ? sql`` : sql`and ${sql(column)} is distinct from ${value as string}`;
        const isOver = sql`${sql(rule.time)} < ${time} ${unless}`;
        // The condition stands twice: a row that another process changed meanwhile is judged once more by the outer one alone.
        return sql`
          delete from ${table(sql)} where ${isOver} and (tenant, id) in (
            select tenant, id from ${table(sql)} where ${isOver} ${oldest} limit ${limit}
          )`;
      });
      return count;
    },
  };
}

/** Types of columns, in statements and tables; texts of tables are compared by code units. */
export const SQL_TYPES: Readonly<Record<Column<unknown>['type'], string>> = {
  text: 'text',
  number: 'bigint',
  list: 'json',
  search: 'text',
  json: 'json',
};

/** A property that a change sets to undefined is gone from the record, as JSON has it. */
function changedBy(record: object, change: object): object {
  return Object.fromEntries(Object.entries({ ...record, ...change }).filter(([, value]) => value !== undefined));
}

function fragmentOf(sql: Statements, { kind, column: name, less, wanted }: Condition): Fragment {
  const column = less === undefined ? sql(name) : sql`(${sql(name)} - ${sql(less)})`;
  const text = wanted as string;
  switch (kind) {
    case 'is':
      return sql`and ${column} = ${text}`;
    case 'not':
      return sql`and ${column} is distinct from ${text}`;
    case 'in':
      return sql`and ${column} = ${anyOf(sql, wanted as readonly string[])}`;
    case 'has':
      return sql`
        and exists (select from json_array_elements_text(${column}) as given(one)
          where one = ${anyOf(sql, wanted as readonly string[])})`;
    case 'contains':
      return sql`and strpos(${column}, ${foldCase(text)}) > 0`;
    case 'from':
      return sql`and ${column} >= ${text}`;
    case 'to':
      return sql`and ${column} <= ${text}`;
  }
}

/** The error of a record that breaks a constraint of its table. */
export function refusal<T, Q extends Query>(
  { name, columns, owner, unique }: Resource<T, Q>,
  record: T,
  error: unknown,
): unknown {
  const broken = brokenConstraint(error);
  if (broken === undefined) return error;
  if (owner !== undefined && broken === `${name}_owner_fkey`) {
    return new EngineError('NOT_FOUND', `There is no ${owner.column} "${columns[owner.column]?.of(record)}".`);
  }
  const taken = unique?.find((one) => broken === uniqueName(name, one.columns));
  return taken === undefined ? error : new EngineError('CONFLICT', taken.conflict(record), { cause: error });
}

/** Name of the constraint that keeps columns unique. */
export function uniqueName(name: string, columns: readonly string[]): string {
  return `${name}_${columns.join('_')}_key`;
}

/** The error of a record that is too large. */
export function tooLarge(what: string, bytes: number, most: number): EngineError {
  return new EngineError('LIMIT_REACHED', `${what} takes ${bytes} bytes, of at most ${most}: begin another one.`);
}
