import { readdir, readFile } from 'node:fs/promises';
import { EngineError } from '../../errors.js';
import type { Column, Resource } from '../../records/repository.js';
import { RESOURCES } from '../../records/resources.js';
import type { Database, Statements } from './database.js';
import { uniqueName } from './repository.js';

/**
 * A numbered file of statements; once it was released it is never changed. One that changes the table of a resource must do nothing where
 * the table has that form already, because it was made of the declaration of today.
 */
interface Migration {
  readonly number: number;
  readonly name: string;
}

const FOLDER = new URL('./migrations/', import.meta.url);
const NAME = /^(\d{4})-([a-z0-9-]+)\.sql$/;
/** Any number will do, as long as it stays the same: two servers that start at once take turns. */
const LOCK = 7_310_842;

/** A column with the bytes of another one as text, so that lists have a bound without reading it. */
function bytesOf(column: string): string {
  return `bytes int generated always as (octet_length(${column}::text)) stored`;
}

/** What all tables need. Documents are shared by records, so each is stored once, by its hash. */
const FOUNDATION = `
  create schema runnel;
  create table runnel.migrations (
    number int primary key,
    name text not null,
    applied_at timestamptz not null default now()
  );
  create table runnel.documents (
    tenant text not null,
    hash text collate "C" not null,
    dsl json not null,
    ${bytesOf('dsl')},
    constraint documents_pkey primary key (tenant, hash)
  )`;

/**
 * Brings the tables to what this version needs: makes those of resources and applies the migrations that are missing, all or none.
 *
 * @throws EngineError CONFIG_INVALID when the database has migrations that this version does not know.
 */
export async function migrate(database: Pick<Database, 'repeat'>): Promise<void> {
  const migrations = await listMigrations();
  const resources = Object.values(RESOURCES) as unknown as readonly Resource<unknown>[];
  const newest = migrations.at(-1)?.number ?? 0;
  const missing = (tables: ReadonlySet<string>) => resources.filter(({ name }) => !tables.has(name));
  // Nearly always there is nothing to do, which needs neither a lock nor the right to make tables.
  const now = await database.repeat(stateOf);
  if (now.last === newest && missing(now.tables).length === 0) return;
  await database.repeat((sql) =>
    sql.begin(async (transaction) => {
      await transaction`select pg_advisory_xact_lock(${LOCK})`;
      const { last, tables } = await stateOf(transaction);
      if (last > newest) throw fromTheFuture(last, newest);
      if (!tables.has('migrations')) await transaction.unsafe(FOUNDATION);
      for (const resource of missing(tables)) await transaction.unsafe(tableOf(resource));
      for (const { number, name } of migrations) {
        if (number <= last) continue;
        await transaction.unsafe(await readFile(new URL(name, FOLDER), 'utf8'));
        await transaction`insert into runnel.migrations (number, name) values (${number}, ${name})`;
      }
    }),
  );
}

/** Which tables there are, and the last migration. Queries the catalogue: a look-up by name may still see what it saw before the lock. */
async function stateOf(sql: Statements): Promise<{ readonly last: number; readonly tables: ReadonlySet<string> }> {
  const found = await sql<{ name: string }[]>`
    select c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = 'runnel' and c.relkind = 'r'`;
  const tables = new Set(found.map(({ name }) => name));
  if (!tables.has('migrations')) return { last: 0, tables };
  const [row] = await sql<{ last: number }[]>`select coalesce(max(number), 0)::int as last from runnel.migrations`;
  return { last: row?.last ?? 0, tables };
}

const SQL_TYPE: Readonly<Record<Column<unknown>['type'], string>> = {
  text: 'text collate "C"',
  number: 'bigint',
  list: 'json',
  search: 'text',
  json: 'json',
};

/**
 * The statements that make the table of a resource: the record as the JSON that it was given, and columns that repeat what is searched
 * and sorted by.
 */
function tableOf({ name, columns, unique = [], owner, shared, indexes = [] }: Resource<unknown>): string {
  const list = (names: readonly string[]): string => names.join(', ');
  const parts = [
    'tenant text not null',
    'id text not null',
    'position bigint generated always as identity',
    ...Object.entries(columns).map(([column, { type }]) => `${column} ${SQL_TYPE[type]}`),
    'record json not null',
    bytesOf('record'),
    `constraint ${name}_pkey primary key (tenant, id)`,
    ...unique.map(
      (one) =>
        `constraint ${uniqueName(name, one.columns)} unique (${list([...(one.acrossTenants ? [] : ['tenant']), ...one.columns])})`,
    ),
  ];
  if (owner !== undefined) {
    const reference = `references runnel.${owner.resource} on delete cascade`;
    parts.push(`constraint ${name}_owner_fkey foreign key (tenant, ${owner.column}) ${reference}`);
  }
  const made = indexes.map((one) => `create index on runnel.${name} (${list(one)});`);
  if (shared !== undefined) {
    parts.push('document text collate "C" not null');
    parts.push(`constraint ${name}_document_fkey foreign key (tenant, document) references runnel.documents`);
    made.push(`create index on runnel.${name} (tenant, document);`);
  }
  return [`create table runnel.${name} (${list(parts)});`, ...made].join('\n');
}

async function listMigrations(): Promise<readonly Migration[]> {
  const names = (await readdir(FOLDER)).filter((name) => NAME.test(name)).sort();
  return names.map((name) => ({ number: Number(name.slice(0, 4)), name }));
}

function fromTheFuture(last: number, newest: number): EngineError {
  return new EngineError(
    'CONFIG_INVALID',
    `The database was written by a newer Runnel: it has migration ${last}, this version knows up to ${newest}. Install the newer version, or use another database.`,
  );
}
