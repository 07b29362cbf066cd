import type { Repositories } from '../../records/resources.js';
import type { DiskFiles } from '../files-on-disk.js';
import type { Database, Work } from './database.js';

/** What to delete: everything that is older. Times are milliseconds since 1970; what has no time stays. */
export interface PruneOptions {
  readonly olderThan: {
    /** Runs that have ended before, with their logs. */
    readonly runs?: number;
    /** Events and snapshots of runs that have ended before; the records of the runs stay. */
    readonly events?: number;
    /** Sessions that nothing happened in since, those of agents in code as well. */
    readonly sessions?: number;
    /** Files that were made before; those that have expired go in any case. */
    readonly files?: number;
  };
  /** Milliseconds since 1970. */
  readonly now: number;
  /**
   * Writes the tables anew, which gives all their space back but locks them meanwhile; without it Postgres gives back the end of a table
   * and uses the rest again. @default true for the embedded database, which no other process uses, when anything was deleted
   */
  readonly rewrite?: boolean;
}

/** How much was deleted. */
export interface PruneResult {
  readonly runs: number;
  readonly logs: number;
  readonly sessions: number;
  readonly files: number;
  /** By how much the database shrank on disk. */
  readonly freedBytes: number;
}

/** Rows per statement: a statement holds its locks until its end. */
const BATCH = 500;
/** Bytes without an entry may belong to a file that is being saved. */
const ORPHAN_AGE_MS = 3_600_000;

/** Deletes what is older than asked for and gives the space back. Agents, versions and what still runs are never deleted. */
export async function prune(
  database: Database,
  { runs, sessions }: Pick<Repositories, 'runs' | 'sessions'>,
  files: DiskFiles,
  options: PruneOptions,
): Promise<PruneResult> {
  const { olderThan, now } = options;
  const before = await bytesOnDisk(database);
  const deleted = {
    runs: await deleteAll(olderThan.runs, (time) => runs.prune(time, BATCH)),
    logs: await deleteAll(olderThan.events, (time) => database.repeat(deleteEvents(time))),
    sessions:
      (await deleteAll(olderThan.sessions, (time) => sessions.prune(time, BATCH))) +
      (await deleteAll(olderThan.sessions, (time) => database.repeat(deleteAgentSessions(time)))),
    files: await deleteAll(olderThan.files ?? 0, async (time) => {
      const paths = await database.repeat(deleteFiles(time, now));
      await files.remove(paths);
      return paths.length;
    }),
  };
  await files.sweep(now - ORPHAN_AGE_MS);
  for (const leftover of LEFTOVERS) await database.repeat((sql) => sql.unsafe(leftover));
  const hasDeleted = Object.values(deleted).some((count) => count > 0);
  const { rewrite = database.kind === 'embedded' && hasDeleted } = options;
  await database.repeat((sql) => sql.unsafe(rewrite ? 'vacuum (full, analyze)' : 'vacuum (analyze)'));
  return { ...deleted, freedBytes: Math.max(0, before - (await bytesOnDisk(database))) };
}

/** What nothing refers to any more, and what has expired. */
const LEFTOVERS = [
  `delete from runnel.documents d
   where not exists (select from runnel.sessions s where s.tenant = d.tenant and s.document = d.hash)`,
  // Of a chat that was answered while its session was deleted.
  `delete from runnel.chat_threads t
   where not exists (select from runnel.sessions s where s.tenant = t.tenant and s.id = t.session)`,
  // Of a turn whose process was lost when it was over, and of a session that is gone.
  `delete from runnel.agent_turn_logs l
   where l.expires_at < clock_timestamp() - interval '24 hours'
     and not exists (select from runnel.agent_sessions s where s.tenant = l.tenant and s.session = l.session)`,
  `delete from runnel.cancels where requested_at < clock_timestamp() - interval '24 hours'`,
  `delete from runnel.leases where expires_at < clock_timestamp() - interval '24 hours'`,
];

/**
 * Deletes batch by batch; gives how many rows were deleted. A statement names its condition twice: a row that another process changed
 * meanwhile is judged once more by the outer one alone.
 */
async function deleteAll(time: number | undefined, deleteBatch: (time: number) => Promise<number>): Promise<number> {
  if (time === undefined) return 0;
  let total = 0;
  for (;;) {
    const count = await deleteBatch(time);
    total += count;
    if (count < BATCH) return total;
  }
}

function deleteEvents(time: number): Work<number> {
  return async (sql) => {
    const { count } = await sql`
      with old as (
        select r.tenant, r.id from runnel.runs r join runnel.logs l on l.tenant = r.tenant and l.run = r.id
        where r.finished_at < ${time} and r.status <> 'running' limit ${BATCH}
      )
      delete from runnel.logs l using old where l.tenant = old.tenant and l.run = old.id`;
    return count;
  };
}

/** Sessions of agents in code; their rows know when they changed. */
function deleteAgentSessions(time: number): Work<number> {
  return async (sql) => {
    const { count } = await sql`
      delete from runnel.agent_sessions where changed_at < ${time} and (tenant, session) in (
        select tenant, session from runnel.agent_sessions where changed_at < ${time} limit ${BATCH}
      )`;
    return count;
  };
}

/** Files that are too old, and those that were to be kept only for a while. */
function deleteFiles(time: number, now: number): Work<readonly string[]> {
  return async (sql) => {
    const rows = await sql<{ path: string }[]>`
      delete from runnel.files
      where (created_at < ${time} or expires_at <= ${now}) and not is_kept and (tenant, id) in (
        select tenant, id from runnel.files
        where (created_at < ${time} or expires_at <= ${now}) and not is_kept limit ${BATCH}
      ) returning path`;
    return rows.map(({ path }) => path);
  };
}

async function bytesOnDisk(database: Database): Promise<number> {
  const [row] = await database.repeat(
    (sql) => sql<{ bytes: number }[]>`
      select coalesce(sum(pg_total_relation_size(c.oid)), 0)::float8 as bytes
      from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where n.nspname = 'runnel' and c.relkind = 'r'`,
  );
  return row?.bytes ?? 0;
}
