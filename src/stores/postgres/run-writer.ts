import { EngineError } from '../../errors.js';
import { ownedKey } from '../../records/repository.js';
import { RESOURCES } from '../../records/resources.js';
import { isStart, type RunCommit, sessionTaken } from '../../records/run-commit.js';
import { FIRST_EPOCH, outOfOrder, superseded } from '../../records/run-log.js';
import { lineOf } from '../event-lines.js';
import { GroupWriter } from '../group-writer.js';
import type { Database } from './database.js';
import type { Documents } from './documents.js';
import { brokenConstraint } from './failures.js';
import { createRecordText } from './record-text.js';
import { refusal, tooLarge } from './repository.js';
import { isWritten, type Outcome, type RunEntry, type SnapshotText, writeEntries } from './run-statements.js';

const SESSIONS = createRecordText(RESOURCES.sessions);
const RUNS = createRecordText(RESOURCES.runs);

/** Stores what runs did. */
export interface RunWriter {
  readonly commit: (commit: RunCommit) => Promise<void>;
  /** Resolves when nothing waits. */
  flushed(): Promise<void>;
}

/** Stores what all runs of the process did in groups, one statement per group, each run's commits in their order. */
export function createRunWriter(database: Database, documents: Documents): RunWriter {
  const analyze = createAnalyzer(database);
  const group = new GroupWriter<RunEntry>({
    async write(entries) {
      const problems = await writeGroup(database, entries);
      analyze(entries.length);
      return problems;
    },
    bytesOf: ({ bytes }) => bytes,
    keyOf: ({ commit }) => ownedKey(commit.tenant, commit.run),
    isUrgent: ({ commit }) => isStart(commit),
  });
  const attempt = async (commit: RunCommit): Promise<void> => {
    const dsl = commit.session?.after.dsl;
    const document = dsl === undefined ? undefined : documents.known(commit.tenant, dsl);
    const stored = dsl === undefined ? undefined : (document ?? (await documents.store(commit.tenant, dsl)));
    await group.add(entryOf(commit, stored));
  };
  const commit = async (commit: RunCommit): Promise<void> => {
    const { tenant, session, record } = commit;
    try {
      await attempt(commit).catch((error: unknown) => {
        if (session === undefined || brokenConstraint(error) !== 'sessions_document_fkey') throw error;
        // No record had it any more, so it was pruned.
        documents.forget(tenant, session.after.dsl);
        return attempt(commit);
      });
    } catch (error) {
      const refused = session === undefined ? error : refusal(RESOURCES.sessions, session.after, error);
      throw record === undefined ? refused : refusal(RESOURCES.runs, record.after, refused);
    }
  };
  return { commit, flushed: () => group.flushed() };
}

/** Entries after which the tables are analysed for the first time, and what each further span is longer by. */
const FIRST_SPAN = 100;
const SPAN_GROWTH = 4;

/**
 * Counts entries, and has Postgres count rows whenever there are several times as many: the plan of the group statement was made when the
 * tables were small, which then are read as a whole for every group. The embedded database has no process that would do it.
 */
function createAnalyzer(database: Database): (entries: number) => void {
  let written = 0;
  let due = FIRST_SPAN;
  return (entries) => {
    written += entries;
    if (written < due) return;
    due = written * SPAN_GROWTH;
    const tables = ['sessions', 'runs', 'logs', 'snapshots', 'leases'].map((name) => `runnel.${name}`).join(', ');
    // Only a matter of speed: the next span tries again.
    database.repeat((sql) => sql.unsafe(`analyze ${tables}`)).catch(() => {});
  };
}

/** Keys of what a start inserts. */
const OWN_KEYS = ['sessions_pkey', 'runs_pkey', 'logs_key'];

async function writeGroup(
  database: Database,
  entries: readonly RunEntry[],
): Promise<readonly (EngineError | undefined)[]> {
  let attempt = 0;
  const outcomes = await database.repeatAlone(async (sql) => {
    attempt += 1;
    const found = await writeEntries(sql, entries).catch((error: unknown) => {
      if (!OWN_KEYS.includes(brokenConstraint(error) ?? '')) throw error;
      // The attempt before, whose answer was lost, was still under way.
      attempt += 1;
      return writeEntries(sql, entries);
    });
    if (attempt === 1) return found;
    // What does not follow now may be what the attempt before has written.
    return Promise.all(
      found.map(async (outcome) => {
        const entry = entries[outcome.at] as RunEntry;
        return { ...outcome, isDone: outcome.isDone || (await isWritten(sql, entry)) };
      }),
    );
  });
  const problems: (EngineError | undefined)[] = entries.map(() => undefined);
  for (const outcome of outcomes) {
    if (!outcome.isDone) problems[outcome.at] = problemOf(entries[outcome.at] as RunEntry, outcome);
  }
  return problems;
}

/** @throws EngineError LIMIT_REACHED when the session is too large. */
function entryOf(commit: RunCommit, document: string | undefined): RunEntry {
  const { session, record, batches } = commit;
  const lines: string[] = [];
  let first: number | undefined;
  let last: number | undefined;
  let isOrdered = true;
  let begins: SnapshotText | undefined;
  let newest: SnapshotText | undefined;
  let bytes = 0;
  for (const { events, snapshot } of batches) {
    for (const { seq, event, json } of events) {
      if (last !== undefined && seq !== last + 1) isOrdered = false;
      first ??= seq;
      last = seq;
      lines.push(lineOf(commit.run, { seq, event, json }));
      bytes += json.length;
    }
    if (snapshot === undefined) continue;
    if (snapshot.seq !== (last ?? snapshot.seq)) isOrdered = false;
    first ??= snapshot.seq + 1;
    last = snapshot.seq;
    const taken = { seq: snapshot.seq, text: JSON.stringify(snapshot) };
    if (newest !== undefined) begins ??= newest;
    newest = taken;
    bytes += taken.text.length;
  }
  const sessionText = session && SESSIONS.write(session.after);
  const recordText = record && RUNS.write(record.after);
  const { maxRecordBytes = Number.POSITIVE_INFINITY } = RESOURCES.sessions;
  if (sessionText !== undefined && sessionText.length > maxRecordBytes) {
    throw tooLarge(`Session "${session?.after.id}"`, sessionText.length, maxRecordBytes);
  }
  return {
    commit,
    document,
    session: sessionText,
    record: recordText,
    lines,
    first: first ?? 0,
    isOrdered,
    begins,
    newest,
    bytes: bytes + (sessionText?.length ?? 0) + (recordText?.length ?? 0),
  };
}

function problemOf({ commit, first }: RunEntry, outcome: Outcome): EngineError {
  const { isAllowed, hasRun, last } = outcome;
  const { run, epoch = FIRST_EPOCH } = commit;
  const newest = outcome.epoch ?? FIRST_EPOCH;
  if (!isAllowed) return sessionTaken();
  if (!hasRun) return new EngineError('NOT_FOUND', `There is no run "${run}" to keep a log of.`);
  if (epoch !== newest) return superseded(run, epoch, newest);
  return outOfOrder(run, first, last ?? 0);
}
