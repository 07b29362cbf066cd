/** What a run stores in one step: its start, what it did since, or its end. */
import { EngineError } from '../errors.js';
import type { Lease, LeaseStore } from './coordination.js';
import { FIRST_EPOCH, type LogBatch, type RunLog } from './run-log.js';
import type { RunRecord, RunStore } from './runs.js';
import type { SessionRecord, SessionStore } from './sessions.js';

/** A record that is new, or takes the place of the one that it was made from. */
export interface RecordChange<T> {
  /** @default the record is new */
  readonly before?: T;
  readonly after: T;
}

/** A lease to acquire. */
export type LeaseAcquisition = Omit<Lease, 'expiresAt'> & { readonly ttlMs: number };

/** What a run stores in one step, all of it or nothing. */
export interface RunCommit {
  readonly tenant: string;
  readonly run: string;
  /** Of the writer. @default {@link FIRST_EPOCH} */
  readonly epoch?: number;
  /** Acquired first; when another owner holds it, nothing is stored. @default nothing is acquired */
  readonly acquire?: LeaseAcquisition;
  /** One that another writer has changed meanwhile, or that is gone, refuses a start and is left out of an end. */
  readonly session?: RecordChange<SessionRecord>;
  /** One that another writer has changed meanwhile is left out. */
  readonly record?: RecordChange<RunRecord>;
  /** In order; see {@link RunLog.append}. Their epoch is that of the commit. */
  readonly batches: readonly LogBatch[];
  /** It is the end: no more events follow. @default false */
  readonly isLast?: boolean;
  /** Released when everything else is stored. @default nothing is released */
  readonly release?: Pick<Lease, 'name' | 'owner'>;
}

/** Whether a commit begins a run: its client waits for the first event. */
export function isStart({ session, record, isLast = false }: RunCommit): boolean {
  return !isLast && (session ?? record) !== undefined;
}

/**
 * Stores what a run did in one step; durable when the promise resolves. May be synchronous. Doing the same commit again does no harm.
 *
 * @throws EngineError SESSION_BUSY when the lease is another owner's or the session has another writer, CONFLICT when the epoch is not the
 * newest one or the events do not follow the stored ones, NOT_FOUND when the agent is gone, LIMIT_REACHED.
 */
export type CommitRun = (commit: RunCommit) => Promise<void> | void;

/** Stores that take a commit one part after another. */
export interface CommitParts {
  readonly sessions: SessionStore;
  readonly runs: RunStore;
  readonly log: RunLog;
  readonly leases: LeaseStore;
}

/** Commits one part after another, for stores that know no better way; what a lost process has left half done is found by its lease. */
export function commitInSteps(parts: CommitParts): CommitRun {
  return (commit) => {
    const { tenant, run, epoch = FIRST_EPOCH, acquire, session, record, batches, isLast, release } = commit;
    const [batch] = batches;
    const hasMore = acquire ?? session ?? record ?? release ?? isLast;
    // Without a promise, for a log that is synchronous.
    if (hasMore === undefined && batches.length === 1 && batch)
      return parts.log.append(tenant, run, { ...batch, epoch });
    return inSteps(parts, commit);
  };
}

async function inSteps({ sessions, runs, log, leases }: CommitParts, commit: RunCommit): Promise<void> {
  const { tenant, run, epoch = FIRST_EPOCH, acquire, session, record, batches, isLast = false, release } = commit;
  if (acquire !== undefined) {
    const { ttlMs, ...lease } = acquire;
    if (!(await leases.acquire(tenant, lease, ttlMs)).isMine) throw sessionTaken();
  }
  if (session !== undefined) {
    const { before, after } = session;
    if (before === undefined) await sessions.save(tenant, after);
    else if (!(await sessions.replace(tenant, before, after)) && !isLast) throw sessionTaken();
  }
  // A run is known before its events are; its end is known after them.
  const saveRecord = async (): Promise<void> => {
    if (record === undefined) return;
    if (record.before === undefined) await runs.save(tenant, record.after);
    else await runs.replace(tenant, record.before, record.after);
  };
  if (!isLast) await saveRecord();
  for (const batch of batches) await log.append(tenant, run, { ...batch, epoch });
  if (isLast) {
    await log.end(tenant, run, epoch);
    await saveRecord();
  }
  if (release !== undefined) await leases.release(tenant, release.name, release.owner);
}

/** The refusal of a run whose session another run has, in the words that RAGFlow's clients match on. */
export function sessionTaken(): EngineError {
  return new EngineError('SESSION_BUSY', 'This agent session is already running.');
}
