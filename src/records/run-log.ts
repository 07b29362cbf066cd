/**
 * The log of a run: its events in order, and snapshots of its state.
 *
 * The contract of writers. A run has one writer at a time, the process with the newest epoch of its log. The process that starts a run has
 * {@link FIRST_EPOCH} without asking: the id of the run is new. A process that recovers it calls `claim` before it reads anything, which
 * raises the epoch. Every write carries the epoch of its writer and is refused with CONFLICT unless that is the newest one, checked in the
 * same step that stores the write. So what the successor reads is all that its predecessor has written or will ever have written. The record
 * of the run and the record of its session carry the epoch, too, and their stores refuse what an earlier writer saves (`replace`).
 *
 * Whatever starts a run in one statement or script inserts the lease, the session, the record and the log with {@link FIRST_EPOCH}; whatever
 * ends one checks the epoch of the log where it moves the number of the last event. The row or key that has the epoch is the one that every
 * append locks: an epoch in a row of its own would let an append pass a claim unseen.
 */
import { EngineError } from '../errors.js';
import type { Checkpoint } from '../graph/state.js';

/** An event of a run as clients get it: serialised once, whatever the number of readers. */
export interface LoggedEvent {
  /** 1, 2, 3 … within the run. */
  readonly seq: number;
  /** Name of the event. */
  readonly event: string;
  /** The whole event as JSON text, without line ends. */
  readonly json: string;
  /** Size of `json` in UTF-8, where it is known. */
  readonly bytes?: number;
}

/** The epoch of the process that starts a run. */
export const FIRST_EPOCH = 1;

/** What a run did since the last batch. */
export interface LogBatch {
  /** Epoch of the writer. @default {@link FIRST_EPOCH} */
  readonly epoch?: number;
  /** Follow the stored events without a gap. */
  readonly events: readonly LoggedEvent[];
  /** The state of the run; its `seq` is the number of the last event, of this batch or of an earlier one. */
  readonly snapshot?: Checkpoint;
}

/** Bounds of one reading. */
export interface LogBounds {
  readonly maxEvents: number;
  readonly maxBytes: number;
}

/**
 * The events of runs, in order, and snapshots of their states: the first and the newest one of each run, so that the state behind any
 * event can be folded. Writes of one run are carried out in the order of the calls, awaited or not.
 */
export interface RunLog {
  /** Gone with the process: when that stops, runs end rather than wait for another one. @default false */
  readonly isVolatile?: boolean;
  /**
   * Makes the caller the writer of a run: raises its epoch, and gives the new one. Claiming twice because an answer was lost does no harm.
   *
   * @throws EngineError NOT_FOUND when there is no such run, where the store knows that.
   */
  claim(tenant: string, run: string): Promise<number>;
  /**
   * Stores a batch as a whole or not at all; durable when the promise resolves. May be synchronous.
   *
   * @throws EngineError CONFLICT when its epoch is not the newest one, the events do not follow the stored ones, or the snapshot is not one
   * of the last event: another process has claimed the run or written meanwhile. LIMIT_REACHED when the store is full.
   */
  append(tenant: string, run: string, batch: LogBatch): Promise<void> | void;
  /**
   * Decides, for the process that writes the run, what becomes of a batch whose `append` failed without an answer: what is stored of it stays,
   * because a client may have read it, and what is not stored never will be. Without it that is never open.
   *
   * @param epoch default: {@link FIRST_EPOCH}
   * @throws EngineError CONFLICT when the epoch is not the newest one.
   */
  confirm?(tenant: string, run: string, epoch?: number): Promise<void>;
  /**
   * Events after the one numbered `after`, as many as `bounds` allow, at least one if there is any; undefined when nothing of that run
   * is stored.
   */
  read(tenant: string, run: string, after: number, bounds: LogBounds): Promise<readonly LoggedEvent[] | undefined>;
  /** The newest stored snapshot whose `seq` is at most `atMost`; undefined when there is none. @param atMost default: no bound */
  snapshot(tenant: string, run: string, atMost?: number): Promise<Checkpoint | undefined>;
  /**
   * Ends the log: no more events follow, so that the log may be dropped when room is needed.
   *
   * @param epoch default: {@link FIRST_EPOCH}
   * @throws EngineError CONFLICT when the epoch is not the newest one.
   */
  end(tenant: string, run: string, epoch?: number): Promise<void>;
  delete(tenant: string, run: string): Promise<void>;
}

/** Bounds of one reading of {@link pagesAfter}. */
const PAGE: LogBounds = { maxEvents: 2_000, maxBytes: 4 * 1024 * 1024 };

/** The events of a run after the one numbered `after`, a page at a time; none when nothing of the run is stored. */
export async function* pagesAfter(
  log: RunLog,
  tenant: string,
  run: string,
  after: number,
): AsyncGenerator<readonly LoggedEvent[]> {
  for (let last = after; ; ) {
    const page = await log.read(tenant, run, last, PAGE);
    const newest = page?.at(-1);
    if (page === undefined || newest === undefined) return;
    yield page;
    last = newest.seq;
  }
}

/** The error of an event or a snapshot that comes after a gap, or twice. */
export function outOfOrder(run: string, seq: number, last: number): EngineError {
  return new EngineError(
    'CONFLICT',
    `Event ${seq} of run "${run}" does not follow event ${last}; events were lost, or another process works on this run.`,
  );
}

/** The error of a write whose epoch is not the newest one. */
export function superseded(run: string, epoch: number, newest: number): EngineError {
  const message = `Run "${run}" was claimed by another process: its epoch is ${newest}, and this write has epoch ${epoch}.`;
  return new EngineError('CONFLICT', message);
}
