import { randomUUID } from 'node:crypto';
import type { AppendResult, EntryBatch, SessionEntries, SessionHead } from '../../records/session-entries.js';
import type { Database, Fragment, Sql, Statements } from './database.js';

/** The entries of agents' sessions in a database. */
export function createPostgresSessionEntries(database: Database): SessionEntries {
  return {
    append(tenant, session, { after, entries, time }) {
      const batch = randomUUID();
      const given = JSON.stringify(entries);
      return database.repeat(async (sql): Promise<AppendResult> => {
        const stored = await sql`
          with head as (${headOf(sql, tenant, session, { after, entries, time })})
          insert into runnel.agent_session_entries (tenant, session, at, batch, entry)
          select ${tenant}::text, ${session}::text, ${after}::bigint + given.place, ${batch}::uuid, given.entry
          from head, json_array_elements_text(${given}::json) with ordinality as given (entry, place)`;
        if (stored.count > 0) return { isStored: true, newest: after + entries.length };
        return outcomeOf(sql, tenant, session, after, batch);
      });
    },
    async read(tenant, session, { after, maxEntries, maxBytes }) {
      const rows = await database.repeat(
        (sql) => sql<{ entry: string }[]>`
          select entry from (
            select at, entry, sum(octet_length(entry)) over (order by at) as bytes
            from (
              select at, entry from runnel.agent_session_entries
              where tenant = ${tenant} and session = ${session} and at > ${after}::bigint order by at limit ${maxEntries}
            ) few
          ) sized
          where bytes <= ${maxBytes} or at = ${after + 1}::bigint order by at`,
      );
      return rows.map(({ entry }) => JSON.parse(entry));
    },
    async delete(tenant, session) {
      await database.repeat(
        (sql) => sql`delete from runnel.agent_sessions where tenant = ${tenant} and session = ${session}`,
      );
    },
    async list(tenant, { limit, after }) {
      const rows = await database.repeat((sql) => {
        const behind = after === undefined ? sql`` : sql`and change < ${wholeOf(after)}::bigint`;
        return sql<SessionHead[]>`
          select session, newest::float8 as newest, started_at as "startedAt", changed_at as "changedAt", change::text as cursor
          from runnel.agent_sessions where tenant = ${tenant} ${behind} order by change desc limit ${limit}`;
      });
      return rows.map((row) => ({ ...row }));
    },
    async prune(tenant, { before = null, keep = null }, limit) {
      // A session that changes meanwhile has another number of its change.
      const { count } = await database.repeat(
        (sql) => sql`
          delete from runnel.agent_sessions where tenant = ${tenant} and (session, change) in (
            select session, change from (
              select session, change, changed_at, row_number() over (order by change desc) as place
              from runnel.agent_sessions where tenant = ${tenant}
            ) placed
            where changed_at < ${before}::float8 or place > ${keep}::bigint limit ${limit}
          )`,
      );
      return count;
    },
  };
}

/** Numbers the entries of a batch; gives a row if they follow. */
function headOf(sql: Sql, tenant: string, session: string, { after, entries, time }: EntryBatch): Fragment {
  if (after > 0) {
    return sql`
      update runnel.agent_sessions set
        newest = newest + ${entries.length}::bigint,
        change = nextval('runnel.agent_session_changes'),
        changed_at = ${time}::float8
      where tenant = ${tenant} and session = ${session} and newest = ${after}::bigint returning newest`;
  }
  return sql`
    insert into runnel.agent_sessions (tenant, session, newest, change, started_at, changed_at)
    values (
      ${tenant}, ${session}, ${entries.length}, nextval('runnel.agent_session_changes'), ${time}::float8, ${time}::float8
    )
    on conflict (tenant, session) do nothing returning newest`;
}

/** What became of a batch of which nothing was stored now: an attempt before, whose answer was lost, may have stored it. */
async function outcomeOf(
  sql: Statements,
  tenant: string,
  session: string,
  after: number,
  batch: string,
): Promise<AppendResult> {
  const [row] = await sql<{ newest: number; mine: boolean }[]>`
    select newest::float8 as newest, exists (
      select from runnel.agent_session_entries
      where tenant = ${tenant} and session = ${session} and at = ${after + 1}::bigint and batch = ${batch}::uuid
    ) as mine
    from runnel.agent_sessions where tenant = ${tenant} and session = ${session}`;
  return { isStored: row?.mine ?? false, newest: row?.newest ?? 0 };
}

/** A cursor that is none asks for nothing. */
function wholeOf(cursor: string): number {
  const change = Number(cursor);
  return Number.isSafeInteger(change) ? change : 0;
}
