import type { Checkpoint } from '../../graph/state.js';
import type { RunJournal } from '../../records/durable-stores.js';
import type { Database } from './database.js';
import type { RunWriter } from './run-writer.js';

/**
 * Journals of runs in Postgres; what is asked for is done in that order, whether the promise before is awaited or not. A run must have
 * been saved before its journal begins.
 */
export function createPostgresJournal(database: Database, writer: RunWriter): RunJournal {
  return {
    async append(tenant, run, { events, records }) {
      if (events.length === 0 && records.length === 0) return;
      const ofEvents = events.reduce((sum, { json }) => sum + json.length, 0);
      const bytes = records.reduce((sum, record) => sum + record.length, ofEvents);
      await writer.add({ type: 'append', tenant, run, events, records, bytes });
    },
    async snapshot(tenant, run, checkpoint) {
      const text = JSON.stringify(checkpoint);
      const { mark } = checkpoint;
      await writer.add({ type: 'snapshot', tenant, run, checkpoint: text, mark, bytes: text.length });
    },
    async load(tenant, run) {
      // One statement, so that a snapshot taken meanwhile is either seen whole or not at all.
      const rows = await database.repeat(
        (sql) => sql<{ checkpoint: Checkpoint | null; record: string | null }[]>`
          select checkpoint, null as record, -1 as position, 0 as place
          from runnel.snapshots where tenant = ${tenant} and run = ${run}
          union all
          select null, r.value::text, b.position, r.place
          from runnel.batches b cross join lateral json_array_elements(b.records) with ordinality as r(value, place)
          where b.tenant = ${tenant} and b.run = ${run}
          order by position, place`,
      );
      if (rows.length === 0) return undefined;
      const checkpoint = rows[0]?.checkpoint ?? undefined;
      return {
        ...(checkpoint === undefined ? {} : { checkpoint }),
        records: rows.flatMap(({ record }) => (record === null ? [] : [record])),
      };
    },
    delete: (tenant, run) => writer.add({ type: 'forget', tenant, run, bytes: 0 }),
  };
}
