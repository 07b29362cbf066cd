import type { LoggedEvent, RunLog } from '../../records/stores.js';
import type { Database } from './database.js';
import type { RunWriter } from './run-writer.js';

/** Events of runs in Postgres. A run must have been saved before its first event is. */
export function createPostgresRunLog(database: Database, writer: RunWriter): RunLog {
  return {
    async append(tenant, run, events) {
      if (events.length === 0) return;
      const bytes = events.reduce((sum, { json }) => sum + json.length, 0);
      await writer.add({ type: 'append', tenant, run, events, records: [], bytes });
    },
    async read(tenant, run, after, { maxEvents, maxBytes }) {
      const rows = await database.repeat(
        (sql) => sql<(LoggedEvent | { readonly seq: null })[]>`
          select e.seq, e.name as event, e.body as json
          from runnel.logs l
          left join lateral (
            select * from (
              select seq, name, body, sum(octet_length(body)) over (order by seq) as bytes
              from (
                select seq, name, body::text as body from runnel.events
                where log = l.id and seq > ${after} order by seq limit ${maxEvents}
              ) few
            ) sized
            where bytes <= ${maxBytes} or seq = greatest(${after}, 0) + 1
          ) e on true
          where l.tenant = ${tenant} and l.run = ${run}
          order by e.seq`,
      );
      if (rows.length === 0) return undefined;
      // A log without events that are asked for is one row of nothing.
      return rows.flatMap((row) => (row.seq === null ? [] : [{ seq: row.seq, event: row.event, json: row.json }]));
    },
    async end(tenant, run) {
      await database.repeat(
        (sql) => sql`update runnel.logs set has_ended = true where tenant = ${tenant} and run = ${run}`,
      );
    },
    async delete(tenant, run) {
      await database.repeat((sql) => sql`delete from runnel.logs where tenant = ${tenant} and run = ${run}`);
    },
  };
}
