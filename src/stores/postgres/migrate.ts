import { readdir, readFile } from 'node:fs/promises';
import { EngineError } from '../../errors.js';
import type { Database, Statements } from './database.js';

/** A numbered file of statements; once it was released it is never changed. */
interface Migration {
  readonly number: number;
  readonly name: string;
}

const FOLDER = new URL('./migrations/', import.meta.url);
const NAME = /^(\d{4})-([a-z0-9-]+)\.sql$/;
/** Any number will do, as long as it stays the same: two servers that start at once take turns. */
const LOCK = 7_310_842;

/**
 * Brings the tables to what this version wants: applies the migrations that are missing, in order, all of them or none.
 *
 * @throws EngineError CONFIG_INVALID when the database has migrations that this version does not know.
 */
export async function migrate(database: Pick<Database, 'repeat'>): Promise<void> {
  const migrations = await listMigrations();
  const newest = migrations.at(-1)?.number ?? 0;
  // Nearly always there is nothing to do, which needs neither a lock nor the right to make tables.
  if ((await database.repeat(lastApplied)) === newest) return;
  await database.repeat((sql) =>
    sql.begin(async (transaction) => {
      await transaction`select pg_advisory_xact_lock(${LOCK})`;
      const last = await lastApplied(transaction);
      if (last > newest) throw fromTheFuture(last, newest);
      for (const { number, name } of migrations) {
        if (number <= last) continue;
        await transaction.unsafe(await readFile(new URL(name, FOLDER), 'utf8'));
        await transaction`insert into runnel.migrations (number, name) values (${number}, ${name})`;
      }
    }),
  );
}

/** Asks the catalogue by a query: a look-up by name may still see what it saw before the lock was taken. */
async function lastApplied(sql: Statements): Promise<number> {
  const [found] = await sql`
    select from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = 'runnel' and c.relname = 'migrations'`;
  if (found === undefined) return 0;
  const [row] = await sql<{ last: number }[]>`select coalesce(max(number), 0)::int as last from runnel.migrations`;
  return row?.last ?? 0;
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
