import { randomUUID } from 'node:crypto';
import { EngineError } from '../../errors.js';
import type { Database } from './database.js';
import { GroupWriter } from './group-writer.js';
import { type RunChange, type RunEntry, sumUp } from './run-changes.js';
import { isWritten, type Outcome, writeChanges } from './run-statements.js';

/** Writes logs and journals of all runs. */
export type RunWriter = Pick<GroupWriter<RunEntry>, 'add' | 'flushed'>;

/**
 * Writes logs and journals in groups that hold entries of many runs, one statement per group, each run's entries in their order.
 */
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
  // The name of what is added here: written again after a lost connection, it adds nothing.
  const batch = randomUUID();
  let attempt = 0;
  const outcomes = await database.repeat(async (sql) => {
    attempt += 1;
    const found = await writeChanges(sql, changes, batch);
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
    const { run, entries: members, events, mark = 0 } = changes[outcome.at] as RunChange;
    if (outcome.isDone) continue;
    if (members.length === 1) {
      const at = members[0] as number;
      if (entries[at]?.type !== 'forget') problems[at] = problemOf(run, events[0]?.seq ?? mark + 1, outcome);
      continue;
    }
    // Which of them it was shows when each is written by itself.
    for (const at of members) problems[at] = (await writeGroup(database, [entries[at] as RunEntry]))[0];
  }
  return problems;
}

function problemOf(run: string, first: number, { hasRun, last }: Outcome): EngineError {
  if (!hasRun) return new EngineError('NOT_FOUND', `There is no run "${run}" to keep a log or a journal of.`);
  return new EngineError('CONFLICT', `Event ${first} of run "${run}" does not follow event ${last ?? 0}.`);
}
