import { EngineError } from '../../errors.js';
import type { Checkpoint } from '../../graph/state.js';
import { FIRST_EPOCH, type LoggedEvent, type RunLog, superseded } from '../../records/run-log.js';
import { eventOf } from '../event-lines.js';
import type { Database } from './database.js';
import type { RunWriter } from './run-writer.js';

/** Logs of runs in Postgres. A run must have been saved before its first event is. */
export function createPostgresRunLog(database: Database, writer: RunWriter): RunLog {
  return {
    async claim(tenant, run) {
      const [row] = await database.repeat(
        (sql) => sql<{ epoch: number }[]>`
          insert into runnel.logs (tenant, run, last_seq, epoch)
          select tenant, id, 0, ${FIRST_EPOCH + 1} from runnel.runs where tenant = ${tenant} and id = ${run} for key share
          on conflict (tenant, run) do update set epoch = runnel.logs.epoch + 1
          returning epoch`,
      );
      if (row !== undefined) return row.epoch;
      throw new EngineError('NOT_FOUND', `There is no run "${run}" to claim.`);
    },
    append: (tenant, run, batch) =>
      writer.commit({ tenant, run, ...(batch.epoch && { epoch: batch.epoch }), batches: [batch] }),
    async read(tenant, run, after, { maxEvents, maxBytes }) {
      const rows = await database.repeat(
        (sql) => sql<{ readonly first: number | null; readonly body: string }[]>`
          select e.first, e.body
          from runnel.logs l
          left join lateral (
            select first, body from (
              select first, body, sum(octet_length(body)) over (order by first) - octet_length(body) as before
              from (
                select first, body from runnel.events
                where log = l.id and last > ${after} order by first limit ${maxEvents}
              ) few
            ) sized
            where before <= ${maxBytes}
          ) e on true
          where l.tenant = ${tenant} and l.run = ${run}
            and (l.last_seq > 0 or l.begins is not null)
          order by e.first`,
      );
      if (rows.length === 0) return undefined;
      const found: LoggedEvent[] = [];
      let left = maxBytes;
      for (const { first, body } of rows) {
        // A log without events that are asked for is one row of nothing.
        if (first === null) break;
        for (const [at, line] of body.split('\n').entries()) {
          const seq = first + at;
          if (seq <= after) continue;
          const event = eventOf(run, seq, line);
          left -= Buffer.byteLength(event.json);
          if (found.length === maxEvents || (left < 0 && found.length > 0)) return found;
          found.push(event);
        }
      }
      return found;
    },
    async snapshot(tenant, run, atMost = Number.MAX_SAFE_INTEGER) {
      const [row] = await database.repeat(
        (sql) => sql<{ checkpoint: Checkpoint }[]>`
          select coalesce(s.checkpoint, l.beginning) as checkpoint
          from runnel.logs l left join lateral (
            select checkpoint from runnel.snapshots where log = l.id and seq <= ${atMost}::bigint order by seq desc limit 1
          ) s on true
          where l.tenant = ${tenant} and l.run = ${run} and l.begins <= ${atMost}::bigint`,
      );
      return row?.checkpoint;
    },
    async end(tenant, run, epoch = FIRST_EPOCH) {
      const [log] = await database.repeat(
        (sql) => sql<{ epoch: number }[]>`
          update runnel.logs set has_ended = has_ended or epoch = ${epoch} where tenant = ${tenant} and run = ${run}
          returning epoch`,
      );
      if (log !== undefined && log.epoch !== epoch) throw superseded(run, epoch, log.epoch);
    },
    async delete(tenant, run) {
      await database.repeat((sql) => sql`delete from runnel.logs where tenant = ${tenant} and run = ${run}`);
    },
  };
}
