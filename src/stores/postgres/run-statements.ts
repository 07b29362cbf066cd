import { FIRST_EPOCH, type LoggedEvent } from '../../records/run-log.js';
import type { Statements } from './database.js';

/** A snapshot as it is stored. */
export interface SnapshotText {
  readonly seq: number;
  readonly checkpoint: string;
}

/** What several batches of one run come to. */
export interface RunChange {
  readonly tenant: string;
  readonly run: string;
  /** Of the writer. */
  readonly epoch: number;
  /** Which of the batches. */
  readonly entries: number[];
  readonly events: LoggedEvent[];
  /** Whether the numbers of the events rise by one, and every snapshot is one of the last event before it. */
  isOrdered: boolean;
  /** Stored when the log begins with this change. */
  first: SnapshotText | undefined;
  newest: SnapshotText | undefined;
}

/** What became of a change. */
export interface Outcome {
  /** Which one. */
  readonly at: number;
  readonly isDone: boolean;
  readonly hasRun: boolean;
  /** Number of the last event that was there before; null without a log. */
  readonly last: number | null;
  /** The newest epoch of the log; null without one. */
  readonly epoch: number | null;
}

/**
 * Makes changes to many runs in one statement.
 *
 * A change is made when its run is there, its epoch is that of the log, and its first event follows the log's last one, whose number moves
 * in the same statement: so the numbers of a run have no gaps, and of two writers one is refused. A snapshot without events must be one of the log's last event.
 * Of the snapshots of a run the first and the newest stay.
 */
export function writeChanges(sql: Statements, changes: readonly RunChange[]): Promise<readonly Outcome[]> {
  return sql<Outcome[]>`
    with changes as (
      select c.*, r.id is not null as has_run
      from json_to_recordset(${listOf(changes)}::json) as c(
        at int, tenant text, run text, epoch int, first int, last int, "beginsAt" int, begins text, "newestAt" int, newest text
      )
      left join runnel.runs r on r.tenant = c.tenant and r.id = c.run
    ), moved as (
      update runnel.logs l set last_seq = c.last from changes c
      where l.tenant = c.tenant and l.run = c.run and l.last_seq = c.first - 1 and l.epoch = c.epoch
      -- A log that was claimed before its first event is there already, and has nothing yet.
      returning l.id, c.at, case when c.first = 1 then not exists (
        select from runnel.snapshots s where s.log = l.id
      ) else false end as is_new
    ), made as (
      insert into runnel.logs (tenant, run, last_seq)
      select tenant, run, last from changes where has_run and first = 1 and epoch = ${FIRST_EPOCH}
      on conflict (tenant, run) do nothing
      returning id, tenant, run
    ), opened as (
      select id, at, is_new from moved
      union all
      select m.id, c.at, true from made m join changes c using (tenant, run) where c.epoch = ${FIRST_EPOCH}
    ), added_events as (
      insert into runnel.events (log, seq, name, body)
      select o.id, e.seq, e.name, e.body::json
      from json_to_recordset(${eventsOf(changes)}::json) as e(at int, seq int, name text, body text)
      join opened o on o.at = e.at
    ), dropped_snapshots as (
      delete from runnel.snapshots s using opened o join changes c on c.at = o.at
      where s.log = o.id and c.newest is not null and s.seq < c."newestAt"
        and s.seq > (select min(seq) from runnel.snapshots f where f.log = o.id)
    ), taken as (
      insert into runnel.snapshots (log, seq, checkpoint)
      select o.id, c."newestAt", c.newest::json from opened o join changes c on c.at = o.at where c.newest is not null
      union all
      select o.id, c."beginsAt", c.begins::json from opened o join changes c on c.at = o.at
      where o.is_new and c.begins is not null
      on conflict (log, seq) do update set checkpoint = excluded.checkpoint
    )
    select c.at, o.at is not null as "isDone", c.has_run as "hasRun", l.last_seq as last, l.epoch
    from changes c
    left join opened o on o.at = c.at
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
 *
 * A snapshot without events moves the number of the last event to where it is: the log has to be there already, or begins with it.
 */
function listOf(changes: readonly RunChange[]): string {
  return JSON.stringify(
    changes.map(({ tenant, run, epoch, events, isOrdered, first, newest }, at) => {
      const next = events[0]?.seq ?? (newest?.seq ?? 0) + 1;
      return {
        at,
        tenant,
        run,
        epoch,
        // No log is that short: what is out of order in itself is refused like what does not follow.
        first: isOrdered ? next : -1,
        last: events.at(-1)?.seq ?? next - 1,
        beginsAt: first?.seq,
        begins: first?.checkpoint,
        newestAt: newest?.seq,
        newest: newest?.checkpoint,
      };
    }),
  );
}

function eventsOf(changes: readonly RunChange[]): string {
  return JSON.stringify(
    changes.flatMap(({ events }, at) => events.map(({ seq, event, json }) => ({ at, seq, name: event, body: json }))),
  );
}
