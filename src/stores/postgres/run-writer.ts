import { EngineError } from '../../errors.js';
import { ownedKey } from '../../records/repository.js';
import { FIRST_EPOCH, type LoggedEvent, outOfOrder, superseded } from '../../records/run-log.js';
import type { Database } from './database.js';
import { GroupWriter } from './group-writer.js';
import { isWritten, type Outcome, type RunChange, type SnapshotText, writeChanges } from './run-statements.js';

/** A batch of one run, stored as a whole or not at all. */
export interface RunEntry {
  readonly tenant: string;
  readonly run: string;
  readonly epoch: number;
  readonly bytes: number;
  readonly events: readonly LoggedEvent[];
  readonly snapshot: SnapshotText | undefined;
}

/** Writes the logs of all runs. */
export type RunWriter = Pick<GroupWriter<RunEntry>, 'add' | 'flushed'>;

/** Writes logs in groups that hold batches of many runs, one statement per group, each run's batches in their order. */
export function createRunWriter(database: Database): RunWriter {
  return new GroupWriter<RunEntry>({
    write: (entries) => writeGroup(database, entries),
    bytesOf: ({ bytes }) => bytes,
  });
}

async function writeGroup(
  database: Database,
  entries: readonly RunEntry[],
): Promise<readonly (EngineError | undefined)[]> {
  const changes = sumUp(entries);
  let attempt = 0;
  const outcomes = await database.repeat(async (sql) => {
    attempt += 1;
    const found = await writeChanges(sql, changes);
    if (attempt === 1) return found;
    // What does not follow now may be what the attempt before has written.
    return Promise.all(
      found.map(async (outcome) => {
        const change = changes[outcome.at] as RunChange;
        return { ...outcome, isDone: outcome.isDone || (await isWritten(sql, change)) };
      }),
    );
  });
  const problems: (EngineError | undefined)[] = entries.map(() => undefined);
  for (const outcome of outcomes) {
    const change = changes[outcome.at] as RunChange;
    const { entries: members } = change;
    if (outcome.isDone) continue;
    if (members.length === 1) {
      problems[members[0] as number] = problemOf(change, outcome);
      continue;
    }
    // Which of them it was shows when each is written by itself.
    for (const at of members) problems[at] = (await writeGroup(database, [entries[at] as RunEntry]))[0];
  }
  return problems;
}

/** One change per run and writer. */
function sumUp(entries: readonly RunEntry[]): readonly RunChange[] {
  const changes = new Map<string, RunChange>();
  for (const [at, { tenant, run, epoch, events, snapshot }] of entries.entries()) {
    const key = `${epoch}:${ownedKey(tenant, run)}`;
    const change: RunChange = changes.get(key) ?? {
      tenant,
      run,
      epoch,
      entries: [],
      events: [],
      isOrdered: true,
      first: undefined,
      newest: undefined,
    };
    changes.set(key, change);
    change.entries.push(at);
    for (const event of events) {
      const last = change.events.at(-1)?.seq ?? change.newest?.seq;
      if (last !== undefined && event.seq !== last + 1) change.isOrdered = false;
      change.events.push(event);
    }
    if (snapshot === undefined) continue;
    const last = change.events.at(-1)?.seq ?? change.newest?.seq ?? snapshot.seq;
    if (snapshot.seq !== last) change.isOrdered = false;
    change.first ??= snapshot;
    change.newest = snapshot;
  }
  // The only snapshot of a change is stored once.
  for (const change of changes.values()) if (change.first?.seq === change.newest?.seq) change.first = undefined;
  return [...changes.values()];
}

function problemOf({ run, epoch, events, newest }: RunChange, outcome: Outcome): EngineError {
  const { hasRun, last, epoch: newestEpoch } = outcome;
  const first = events[0]?.seq ?? (newest?.seq ?? 0) + 1;
  if (!hasRun) return new EngineError('NOT_FOUND', `There is no run "${run}" to keep a log of.`);
  if (epoch !== (newestEpoch ?? FIRST_EPOCH)) return superseded(run, epoch, newestEpoch ?? FIRST_EPOCH);
  return outOfOrder(run, first, last ?? 0);
}
