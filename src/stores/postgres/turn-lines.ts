import type { TurnKey, TurnLine, TurnLines } from '../../records/turn-lines.js';
import type { Database, Fragment, Sql } from './database.js';

/** The logs of agents' turns in a database. Leases are by its clock, so that it does not matter when those of the processes differ. */
export function createPostgresTurnLines(database: Database): TurnLines {
  return {
    async claim(key, leaseMs) {
      const { tenant, session, turn } = key;
      // A claim whose answer was lost is made again: the number of the first one stays unused.
      const [row] = await database.repeat(
        (sql) => sql<{ epoch: number }[]>`
          insert into runnel.agent_turn_logs as l (tenant, session, turn, epoch, expires_at)
          values (${tenant}, ${session}, ${turn}, 1, ${expiry(sql, leaseMs)})
          on conflict (tenant, session, turn) do update set epoch = l.epoch + 1, expires_at = excluded.expires_at
          returning epoch::float8 as epoch`,
      );
      // The writer before stores nothing more from here on.
      const lines = await database.repeat(
        (sql) => sql<TurnLine[]>`
          select is_snapshot as "isSnapshot", line as text from runnel.agent_turn_lines
          where ${ofTurn(sql, key)} and epoch = (
            select max(epoch) from runnel.agent_turn_lines where ${ofTurn(sql, key)} and is_snapshot
          ) order by at`,
      );
      return { epoch: row?.epoch ?? 1, lines: lines.map((line) => ({ ...line })) };
    },
    async store(key, { epoch, from, lines, leaseMs }) {
      const { tenant, session, turn } = key;
      const given = JSON.stringify(lines);
      const before = lines[0]?.isSnapshot === true ? from : 0;
      const rows = await database.repeat(
        (sql) => sql`
          with head as (
            update runnel.agent_turn_logs set expires_at = ${expiry(sql, leaseMs)}
            where ${ofTurn(sql, key)} and epoch = ${epoch}::bigint returning epoch
          ), stored as (
            insert into runnel.agent_turn_lines (tenant, session, turn, epoch, at, is_snapshot, line)
            select ${tenant}::text, ${session}::text, ${turn}::text, head.epoch, ${from}::bigint + given.place - 1,
              (given.line ->> 'isSnapshot')::boolean, given.line ->> 'text'
            from head, json_array_elements(${given}::json) with ordinality as given (line, place)
            on conflict do nothing
          ), gone as (
            delete from runnel.agent_turn_lines where ${ofTurn(sql, key)} and ${before}::bigint > 0
              and (epoch, at) < (${epoch}::bigint, ${before}::bigint) and exists (select from head)
          )
          select epoch from head`,
      );
      return rows.length > 0;
    },
    async heldFor(key) {
      const [row] = await database.repeat(
        (sql) => sql<{ ms: number }[]>`
          select greatest(0, ceil(extract(epoch from expires_at - clock_timestamp()) * 1000))::float8 as ms
          from runnel.agent_turn_logs where ${ofTurn(sql, key)}`,
      );
      return row?.ms ?? 0;
    },
    async release(key, epoch) {
      await database.repeat(
        (sql) => sql`
          update runnel.agent_turn_logs set expires_at = clock_timestamp()
          where ${ofTurn(sql, key)} and epoch = ${epoch}::bigint`,
      );
    },
    async delete(key) {
      await database.repeat((sql) => sql`delete from runnel.agent_turn_logs where ${ofTurn(sql, key)}`);
    },
    async prune(tenant, before, limit) {
      // The condition stands twice: a log that is claimed meanwhile is judged once more by the outer one alone.
      const { count } = await database.repeat((sql) => {
        const ended = sql`expires_at < to_timestamp(${before / 1_000}::float8) and expires_at < clock_timestamp()`;
        return sql`
          delete from runnel.agent_turn_logs where tenant = ${tenant} and ${ended} and (session, turn) in (
            select session, turn from runnel.agent_turn_logs where tenant = ${tenant} and ${ended} limit ${limit}
          )`;
      });
      return count;
    },
  };
}

function ofTurn(sql: Sql, { tenant, session, turn }: TurnKey): Fragment {
  return sql`tenant = ${tenant} and session = ${session} and turn = ${turn}`;
}

function expiry(sql: Sql, leaseMs: number): Fragment {
  return sql`clock_timestamp() + ${leaseMs}::float8 * interval '1 millisecond'`;
}
