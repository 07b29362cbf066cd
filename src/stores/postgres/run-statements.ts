import type { LoggedEvent } from '../../records/stores.js';
import type { Statements } from './database.js';
import type { RunChange } from './run-changes.js';

/** What became of a change. */
export interface Outcome {
  /** Which one. */
  readonly at: number;
  readonly isDone: boolean;
  readonly hasRun: boolean;
  /** Number of the last event that was there before; null without a log. */
  readonly last: number | null;
}

/**
 * Makes changes to many runs in one statement.
 *
 * A change is made when its run is there and its first event follows the log's last one, whose number moves in the same statement:
 * so the numbers of a run have no gaps, and of two writers one is refused. A checkpoint without events must be of the log as it is.
 */
export function writeChanges(
  sql: Statements,
  changes: readonly RunChange[],
  batch: string,
): Promise<readonly Outcome[]> {
  return sql<Outcome[]>`
    with changes as (
      select c.*, r.id is not null as has_run
      from json_to_recordset(${listOf(changes)}::json) as c(
        at int, tenant text, run text, first int, last int, mark int, reset boolean, checkpoint text, records text
      )
      left join runnel.runs r on r.tenant = c.tenant and r.id = c.run
    ), moved as (
      update runnel.logs l set last_seq = c.last from changes c
      where l.tenant = c.tenant and l.run = c.run and l.last_seq = c.first - 1
      returning l.id, c.at
    ), made as (
      insert into runnel.logs (tenant, run, last_seq)
      select tenant, run, last from changes where has_run and first = 1
      on conflict (tenant, run) do nothing
      returning id, tenant, run
    ), opened as (
      select id, at from moved
      union all
      select m.id, c.at from made m join changes c using (tenant, run)
    ), added_events as (
      insert into runnel.events (log, seq, name, body)
      select o.id, e.seq, e.name, e.body::json
      from json_to_recordset(${eventsOf(changes)}::json) as e(at int, seq int, name text, body text)
      join opened o on o.at = e.at
    ), accepted as (
      select c.*, true as is_done from changes c
      left join runnel.logs l on l.tenant = c.tenant and l.run = c.run
      where c.has_run and case
        when c.first is not null then exists (select from opened o where o.at = c.at)
        else c.mark is null or c.mark = coalesce(l.last_seq, 0)
      end
    ), dropped_batches as (
      delete from runnel.batches b using accepted a
      where a.reset and b.tenant = a.tenant and b.run = a.run and b.id <> ${batch}
    ), dropped_snapshots as (
      delete from runnel.snapshots s using accepted a
      where a.reset and a.checkpoint is null and s.tenant = a.tenant and s.run = a.run
    ), taken as (
      insert into runnel.snapshots (tenant, run, checkpoint)
      select tenant, run, checkpoint::json from accepted where checkpoint is not null
      on conflict (tenant, run) do update set checkpoint = excluded.checkpoint
    ), added_records as (
      insert into runnel.batches (tenant, run, id, records)
      select tenant, run, ${batch}, records::json from accepted where records is not null
      on conflict do nothing
    )
    select c.at, a.is_done is not null as "isDone", c.has_run as "hasRun", l.last_seq as last
    from changes c
    left join accepted a on a.at = c.at
    left join runnel.logs l on l.tenant = c.tenant and l.run = c.run`;
}

/** Whether the log holds the events of a change. */
export async function isWritten(sql: Statements, { tenant, run, events }: RunChange): Promise<boolean> {
  const first = events[0]?.seq;
  if (first === undefined) return false;
  const rows = await sql<Pick<LoggedEvent, 'json'>[]>`
    select e.body::text as json from runnel.logs l join runnel.events e on e.log = l.id
    where l.tenant = ${tenant} and l.run = ${run} and e.seq between ${first} and ${first + events.length - 1}
    order by e.seq`;
  return rows.length === events.length && rows.every(({ json }, at) => json === events[at]?.json);
}

/**
 * The changes without their events, as JSON. What is JSON itself travels as a text: as a value, Postgres would read the characters in it
 * that it cannot keep as a text of its own.
 */
function listOf(changes: readonly RunChange[]): string {
  return JSON.stringify(
    changes.map(({ tenant, run, events, isOrdered, isReset, checkpoint, mark, records }, at) => ({
      at,
      tenant,
      run,
      // No log is that short: what is out of order in itself is refused like what does not follow.
      first: isOrdered ? events[0]?.seq : -1,
      last: events.at(-1)?.seq,
      mark,
      reset: isReset,
      checkpoint,
      records: records.length === 0 ? undefined : `[${records.join(',')}]`,
    })),
  );
}

function eventsOf(changes: readonly RunChange[]): string {
  return JSON.stringify(
    changes.flatMap(({ events }, at) => events.map(({ seq, event, json }) => ({ at, seq, name: event, body: json }))),
  );
}
