/** What runs store in one step, in Redis: many runs in one script. */
import { EngineError } from '../../errors.js';
import type { Checkpoint } from '../../graph/state.js';
import { ownedKey } from '../../records/repository.js';
import { type CommitRun, isStart, type RunCommit, sessionTaken } from '../../records/run-commit.js';
import { FIRST_EPOCH, type LogBatch, type LoggedEvent } from '../../records/run-log.js';
import { shorten } from '../event-lines.js';
import { GroupWriter } from '../group-writer.js';
import { type Argument, type Call, mayHaveBeenDone } from './commands.js';
import { COMMIT_RUNS, type STEPS } from './commit-script.js';
import { eventsKey, logKeys, runKey } from './keys.js';
import { pack } from './pack.js';
import type { Redis } from './redis.js';
import { acquireStep, releaseStep } from './redis-leases.js';
import { foreignRun, type SaveStep } from './redis-runs.js';
import { DECIDE_EVENTS } from './run-log-scripts.js';
import { type RunWriter, RunWriters } from './run-writers.js';

/** Version of what lies in the keys of a log; a reader refuses what is newer. */
export const LOG_FORMAT = 2;

/** One step of a commit. */
interface Step extends Call {
  readonly name: keyof typeof STEPS;
}

/** Steps that are carried out together, or up to the first that is refused. */
interface Steps {
  readonly run: string;
  readonly key: string;
  readonly steps: readonly Step[];
  readonly bytes: number;
  readonly isStart: boolean;
  replies: readonly unknown[];
}

/** Stores what runs did, each run's commits in their order. */
export interface Committer {
  /** All but the session. @throws EngineError as {@link CommitRun} */
  commit(commit: RunCommit): Promise<void>;
  /** See {@link RunLog.confirm}. */
  confirm(tenant: string, run: string, epoch: number): Promise<void>;
  /** Does `work` after everything that was asked for this run before; the writer of the run is forgotten afterwards. */
  last<T>(tenant: string, run: string, work: () => Promise<T>): Promise<T>;
}

/** Makes the committer of a process. @param maxBytes of one snapshot as JSON text */
export function createCommitter({ commands, runKeptMs }: Redis, saveStep: SaveStep, maxBytes: number): Committer {
  const writers = new RunWriters();
  const group = new GroupWriter<Steps>({
    async write(items) {
      const args: Argument[] = [];
      for (let at = 0; at < items.length; at += 1) addSteps(args, (items[at] as Steps).steps);
      const replies = (await commands.run(COMMIT_RUNS, [], args)) as readonly (readonly unknown[])[];
      for (let at = 0; at < items.length; at += 1) (items[at] as Steps).replies = replies[at] ?? [];
      return [];
    },
    bytesOf: ({ bytes }) => bytes,
    keyOf: ({ key }) => key,
    isUrgent: (item) => item.isStart,
  });

  /** The arguments that every write of a log has. */
  const numbered = (tenant: string, writer: RunWriter): readonly Argument[] => {
    writer.number += 1;
    const { id, number, done, epoch } = writer;
    return [tenant, id, number, done, LOG_FORMAT, runKeptMs, epoch];
  };
  /**
   * Keeps a write that failed without an answer from being done later, and takes back what may be stored of it, or leaves
   * that there. To its caller it has failed, so its events were not delivered, and when they are taken back their numbers are free again.
   */
  const decide = async (tenant: string, run: string, writer: RunWriter, isWithdrawn: boolean): Promise<void> => {
    const { doubt } = writer;
    if (doubt === undefined) return;
    const keys = [logKeys(run)[0], eventsKey(tenant, run)];
    const args = [...numbered(tenant, writer), doubt.number, doubt.first, doubt.count, isWithdrawn ? 1 : 0];
    const { number } = writer;
    const reply = await commands.run(DECIDE_EVENTS, keys, args);
    if (reply !== 'ok') throw refusal(run, String(reply));
    writer.done = number;
    writer.doubt = undefined;
  };
  /** Carries out steps, of which those of the log are writes up to the number that the writer has now. */
  const carryOut = async (
    given: Pick<Steps, 'run' | 'key' | 'steps' | 'isStart'>,
    writer: RunWriter,
  ): Promise<void> => {
    const { number } = writer;
    const { run, steps } = given;
    const item: Steps = { ...given, bytes: bytesOf(steps), replies: [] };
    await group.add(item);
    const { replies } = item;
    for (let at = 0; at < replies.length; at += 1) check(run, steps[at] as Step, replies[at]);
    writer.done = number;
  };

  return {
    async commit(commit) {
      const { tenant, run, epoch = FIRST_EPOCH, acquire, record, batches, isLast = false, release } = commit;
      const starts = isStart(commit);
      const key = ownedKey(tenant, run);
      const [hash, newest, first] = logKeys(run);
      const list = eventsKey(tenant, run);
      const chunks = chunksOf(run, batches);
      await writers.inTurn(tenant, run, epoch, async (writer) => {
        await decide(tenant, run, writer, true);
        for (const [at, { events, snapshot }] of chunks.entries()) {
          const isEnd = at === chunks.length - 1;
          const steps: Step[] = [];
          if (at === 0 && acquire !== undefined) steps.push({ name: 'acquire', ...acquireStep(tenant, acquire) });
          if (at === 0 && !isLast && record !== undefined) {
            const { keys, args } = saveStep(tenant, record.after, record.before);
            // Known with the record, for it is stored in the same step.
            const isTaken = snapshot !== undefined && record.before === undefined;
            steps.push({ name: 'save', keys, args: isTaken ? [...args, 'checkpoint_id', run] : args });
          }
          const [head] = events;
          if (head !== undefined || snapshot !== undefined) {
            const packed = snapshot && (await pack(whatOf(run), JSON.stringify(snapshot), maxBytes));
            const args = [...numbered(tenant, writer), head?.seq ?? '', packed ?? '', snapshot?.seq ?? '', run];
            for (const event of events) args.push(entryOf(run, event));
            const keys = snapshot === undefined ? [hash, list] : [hash, list, newest, first, runKey(run)];
            steps.push({ name: 'write', keys, args });
          }
          if (isEnd && isLast) {
            if (record !== undefined) steps.push({ name: 'save', ...saveStep(tenant, record.after, record.before) });
            steps.push({ name: 'end', keys: [hash, list], args: [epoch, runKeptMs] });
          }
          if (isEnd && release !== undefined) steps.push({ name: 'release', ...releaseStep(tenant, release) });
          const { number } = writer;
          try {
            await carryOut({ run, key, steps, isStart: starts && at === 0 }, writer);
          } catch (error) {
            if (head !== undefined && mayHaveBeenDone(error)) {
              writer.doubt = { number, first: head.seq, count: events.length };
            }
            // The events came before the claim of another process, so that one has read them; its own snapshots follow.
            const isLate =
              at > 0 && head === undefined && !isLast && EngineError.is(error) && error.code === 'CONFLICT';
            if (!isLate) throw error;
          }
        }
      });
      if (isLast) writers.forget(tenant, run);
    },
    confirm: (tenant, run, epoch) => writers.inTurn(tenant, run, epoch, (writer) => decide(tenant, run, writer, false)),
    async last(tenant, run, work) {
      try {
        return await writers.inTurn(tenant, run, FIRST_EPOCH, work);
      } finally {
        writers.forget(tenant, run);
      }
    },
  };
}

/** Commits sessions by `commitSession`, then the rest in Redis: what is lost in between is a session without a run, or a run that is recovered. */
export function createRedisCommit(committer: Committer, commitSession: CommitRun): CommitRun {
  return async (commit) => {
    const { tenant, run, session, isLast = false } = commit;
    if (session !== undefined) await commitSession({ tenant, run, session, batches: [], isLast });
    await committer.commit(commit);
  };
}

/** What is stored together: a snapshot, if there is one, and the events behind it. */
interface Chunk {
  readonly snapshot: Checkpoint | undefined;
  readonly events: LoggedEvent[];
}

/**
 * Batches as chunks, at least one. A snapshot of events goes with those that follow it: should its answer be lost, it would be unknown
 * otherwise whether the events before it can be withdrawn.
 *
 * @throws EngineError CONFLICT when there is a gap between two events.
 */
function chunksOf(run: string, batches: readonly LogBatch[]): readonly Chunk[] {
  let chunk: Chunk = { snapshot: undefined, events: [] };
  const chunks: Chunk[] = [chunk];
  let last: number | undefined;
  for (const { events, snapshot } of batches) {
    for (const event of events) {
      if (event.seq < 1 || (last !== undefined && event.seq !== last + 1)) throw outOfOrder(run, event.seq, last ?? 0);
      last = event.seq;
      chunk.events.push(event);
    }
    if (snapshot === undefined) continue;
    if (chunk.events.length === 0 && chunks.length === 1 && chunk.snapshot === undefined) {
      chunk = { snapshot, events: [] };
      chunks[0] = chunk;
    } else {
      chunk = { snapshot, events: [] };
      chunks.push(chunk);
    }
  }
  return chunks;
}

/** Version, name and shortened JSON text, one line each; a name or a JSON text has no line end. */
function entryOf(run: string, event: LoggedEvent): string {
  return `2\n${event.event}\n${shorten(run, event)}`;
}

/** One by one, and by their numbers: a group has thousands of them, and each turn of an iterator is an object. */
function addSteps(all: Argument[], steps: readonly Step[]): void {
  all.push(steps.length);
  for (let at = 0; at < steps.length; at += 1) {
    const { name, keys, args } = steps[at] as Step;
    all.push(name, keys.length, args.length);
    // The keys of a record without what the indexes of an agent have in common, which would be a fifth of what a run sends.
    const common = name === 'save' ? (keys[1] as string).length : 0;
    for (let key = 0; key < keys.length; key += 1) {
      const whole = keys[key] as string;
      all.push(common > 0 && key > 1 ? whole.slice(common) : whole);
    }
    for (let argument = 0; argument < args.length; argument += 1) all.push(args[argument] as Argument);
  }
}

function bytesOf(steps: readonly Step[]): number {
  let bytes = 0;
  for (let at = 0; at < steps.length; at += 1) {
    const { args } = steps[at] as Step;
    for (let argument = 0; argument < args.length; argument += 1) bytes += sizeOf(args[argument] as Argument);
  }
  return bytes;
}

function sizeOf(argument: Argument): number {
  return typeof argument === 'number' ? 8 : argument.length;
}

/** @throws EngineError what the reply of a step says. */
function check(run: string, { name, args }: Step, reply: unknown): void {
  if (name === 'acquire') {
    if (Array.isArray(reply) && reply[0] === 0) throw sessionTaken();
    return;
  }
  if (name === 'release' || reply === 'ok') return;
  if (name === 'save') {
    if (reply === 'foreign') throw foreignRun(run);
    // Another epoch has replaced it; the log decides.
    return;
  }
  // What the script is given: a snapshot would be followed by the next event.
  if (typeof reply === 'number') {
    throw outOfOrder(run, args[7] === '' ? Number(args[9]) + 1 : Number(args[7]), reply);
  }
  throw refusal(run, String(reply));
}

export function whatOf(run: string): string {
  return `The log of run "${run}"`;
}

function outOfOrder(run: string, seq: number, last: number): EngineError {
  return new EngineError(
    'CONFLICT',
    `Event ${seq} of run "${run}" does not follow event ${last}; events were lost, or another process works on this run.`,
  );
}

/** Why a log is not for the caller, by the result of a script. */
export function refusal(run: string, reason: string): EngineError {
  switch (reason) {
    case 'foreign':
      return new EngineError('CONFLICT', `Run "${run}" has a log already, of another tenant; take another id.`);
    case 'superseded':
      return new EngineError('CONFLICT', `Run "${run}" was claimed by another process; this one must stop it.`);
    case 'newer':
      return new EngineError(
        'CHECKPOINT_INVALID',
        `The log of run "${run}" was written by a newer version of Runnel; let that one continue the run.`,
      );
    default:
      return new EngineError(
        'JOURNAL_FAILED',
        `Redis has lost earlier events of run "${run}"; start Redis with --appendonly yes, so that it keeps them when it is restarted.`,
      );
  }
}
