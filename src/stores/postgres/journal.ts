import { randomUUID } from 'node:crypto';
import { EngineError } from '../../errors.js';
import type { JournalContents, RunJournal } from '../../graph/durable-ports.js';
import type { Checkpoint } from '../../graph/state.js';
import type { JsonObject } from '../../json.js';
import type { Database } from './database.js';
import { GroupWriter } from './group-writer.js';

/** Something that is done to the journal of one run. */
type Entry = { readonly tenant: string; readonly run: string; readonly bytes: number } & (
  | { readonly type: 'append'; readonly records: string }
  | { readonly type: 'snapshot'; readonly checkpoint: string }
  | { readonly type: 'delete' }
);

/** What several entries of one run come to. */
interface Change {
  readonly tenant: string;
  readonly run: string;
  /** Whether what was there before goes. */
  isReset: boolean;
  checkpoint: string | undefined;
  /** Inner parts of JSON arrays. */
  records: string[];
}

/**
 * Journals of runs in Postgres. What is asked for is done in that order, in groups that hold entries of many runs; a group is one
 * statement. The run must have been saved before.
 */
export function createPostgresJournal(database: Database): RunJournal {
  const writer = new GroupWriter<Entry>({
    write: (entries) => writeGroup(database, entries),
    bytesOf: ({ bytes }) => bytes,
  });
  return {
    async append(tenant, run, records) {
      if (records.length === 0) return;
      const text = JSON.stringify(records).slice(1, -1);
      await writer.add({ type: 'append', tenant, run, records: text, bytes: text.length });
    },
    async snapshot(tenant, run, checkpoint) {
      const text = JSON.stringify(checkpoint);
      await writer.add({ type: 'snapshot', tenant, run, checkpoint: text, bytes: text.length });
    },
    async load(tenant, run) {
      // One statement, so that a snapshot taken meanwhile is either seen whole or not at all.
      const rows = await database.repeat(
        (sql) => sql<{ checkpoint: Checkpoint | null; records: readonly JsonObject[] | null }[]>`
          select checkpoint, null::json as records, -1 as position
          from runnel.snapshots where tenant = ${tenant} and run = ${run}
          union all
          select null, records, position from runnel.batches where tenant = ${tenant} and run = ${run}
          order by position`,
      );
      return rows.length === 0 ? undefined : contentsOf(rows);
    },
    delete: (tenant, run) => writer.add({ type: 'delete', tenant, run, bytes: 0 }),
  };
}

function contentsOf(
  rows: readonly { readonly checkpoint: Checkpoint | null; readonly records: readonly JsonObject[] | null }[],
): JournalContents {
  const checkpoint = rows[0]?.checkpoint ?? undefined;
  return {
    ...(checkpoint === undefined ? {} : { checkpoint }),
    records: rows.flatMap(({ records }) => records ?? []),
  };
}

async function writeGroup(database: Database, entries: readonly Entry[]): Promise<readonly (EngineError | undefined)[]> {
  const changes = sumUp(entries);
  const batch = randomUUID();
  // Contents are JSON already and go into the list as they are.
  const list = changes.map(({ tenant, run, isReset, checkpoint, records }) => {
    const key = JSON.stringify({ tenant, run, reset: isReset }).slice(1, -1);
    return `{${key},"checkpoint":${checkpoint ?? 'null'},"records":${records.length === 0 ? 'null' : `[${records.join(',')}]`}}`;
  });
  const rows = await database.repeat(
    (sql) => sql<{ tenant: string; run: string }[]>`
      with changes as (
        select c.*, r.id is not null as has_run
        from json_to_recordset(${`[${list.join(',')}]`}::json)
          as c(tenant text, run text, reset boolean, checkpoint json, records json)
        left join runnel.runs r on r.tenant = c.tenant and r.id = c.run
      ), dropped_batches as (
        delete from runnel.batches b using changes c
        where c.reset and b.tenant = c.tenant and b.run = c.run and b.id <> ${batch}
      ), dropped_snapshots as (
        delete from runnel.snapshots s using changes c
        where c.reset and c.checkpoint is null and s.tenant = c.tenant and s.run = c.run
      ), taken as (
        insert into runnel.snapshots (tenant, run, checkpoint)
        select tenant, run, checkpoint from changes where has_run and checkpoint is not null
        on conflict (tenant, run) do update set checkpoint = excluded.checkpoint
      ), added as (
        insert into runnel.batches (tenant, run, id, records)
        select tenant, run, ${batch}, records from changes where has_run and records is not null
        on conflict do nothing
      )
      select tenant, run from changes where not has_run`,
  );
  const unknown = new Set(rows.map(({ tenant, run }) => keyOf(tenant, run)));
  return entries.map(({ type, tenant, run }) =>
    type !== 'delete' && unknown.has(keyOf(tenant, run))
      ? new EngineError('NOT_FOUND', `There is no run "${run}" to keep a journal of.`)
      : undefined,
  );
}

/** A snapshot or a deletion undoes what came before it, whether it was written already or not. */
function sumUp(entries: readonly Entry[]): readonly Change[] {
  const changes = new Map<string, Change>();
  for (const entry of entries) {
    const { tenant, run } = entry;
    const key = keyOf(tenant, run);
    const change = changes.get(key) ?? { tenant, run, isReset: false, checkpoint: undefined, records: [] };
    changes.set(key, change);
    if (entry.type === 'append') {
      change.records.push(entry.records);
    } else {
      change.isReset = true;
      change.checkpoint = entry.type === 'snapshot' ? entry.checkpoint : undefined;
      change.records = [];
    }
  }
  return [...changes.values()];
}

/** The length keeps tenant and run apart, whatever characters they have. */
function keyOf(tenant: string, run: string): string {
  return `${tenant.length}:${tenant}${run}`;
}
