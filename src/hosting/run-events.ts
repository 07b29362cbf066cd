/** The events of one run on their way into its log and to its clients. */
import { setImmediate } from 'node:timers';
import { Subject } from 'rxjs';
import type { RagflowProjection } from '../canvas/ragflow-events.js';
import { EngineError, toEngineError } from '../errors.js';
import { isTerminal, type RunEvent, type TerminalEvent } from '../graph/events.js';
import type { EventLog } from '../graph/log.js';
import type { Checkpoint } from '../graph/state.js';
import type { CommitRun, RunCommit } from '../records/run-commit.js';
import { type LogBatch, pagesAfter, type RunLog } from '../records/run-log.js';
import { type EventFrame, EventFramer, storedFrame } from './event-frame.js';
import type { RunPast } from './run-past.js';
import { Transcript } from './transcript.js';

/** Events that a run holds in memory after they were published, and their bytes. */
const MAX_RECENT = 16;
const MAX_RECENT_BYTES = 8 * 1024;

export interface RunEventsOptions {
  readonly identity: { readonly tenant: string; readonly id: string };
  readonly log: RunLog;
  readonly commit: CommitRun;
  /** Of this process as the writer of the run. */
  readonly epoch: number;
  readonly maxLogBytes: number;
  /** Bytes of events that may wait to be stored; above it the run is paused. */
  readonly maxUnstoredBytes: number;
  readonly projection: RagflowProjection;
  readonly storesTrace: boolean;
  readonly past: RunPast | undefined;
  /** Called when an event cannot be stored. */
  readonly onFailed: (error: EngineError) => void;
  /** Called with each event that is published. */
  readonly onPublished: () => void;
}

/** The events of one run: numbers them, serialises each once, stores it in the log, then publishes it. */
export class RunEvents {
  readonly transcript: Transcript;
  /** What the run ends with, as far as the engine is concerned. */
  terminal: TerminalEvent | undefined = undefined;
  /** Number of the last event that was made. */
  lastMade: number;
  /** Number of the last event that was published. */
  lastSeq: number;
  readonly #options: RunEventsOptions;
  /** Events published from now on; completes after the last one. */
  readonly frames$ = new Subject<EventFrame>();
  readonly #framer: EventFramer;
  readonly #writer: LogWriter;
  #bytes: number;
  /** The newest events that were published, for clients that come a moment later. */
  #recent: EventFrame[] = [];
  #recentBytes = 0;
  #isMuted = false;

  constructor(options: RunEventsOptions) {
    const { identity, commit, epoch, maxUnstoredBytes, projection, storesTrace, past, onFailed } = options;
    const { tenant, id: run } = identity;
    this.#options = options;
    this.#framer = new EventFramer(projection);
    this.transcript = past?.transcript ?? new Transcript({ projection, storesTrace });
    this.lastSeq = past?.lastSeq ?? 0;
    this.lastMade = this.lastSeq;
    this.#bytes = past?.bytes ?? 0;
    this.#writer = new LogWriter({
      commit: (batches, extras) => commit({ tenant, run, epoch, batches, ...extras }),
      maxUnstoredBytes,
      onWritten: (frames) => {
        for (let at = 0; at < frames.length; at += 1) this.publish(frames[at] as EventFrame);
      },
      onFailed: (error) => onFailed(toEngineError(error, 'INTERNAL')),
    });
  }

  /** Where the engine writes the events and snapshots of the run. */
  get log(): EventLog {
    return {
      storesEndAtOnce: true,
      append: (event) => this.#take(event),
      snapshot: (checkpoint) => {
        if (!this.#isMuted) this.#writer.snapshot({ ...checkpoint, seq: this.lastMade });
      },
      flush: () => this.#writer.flush(),
      ready: () => this.#writer.ready(),
    };
  }

  /** Whether something could not be stored. */
  get hasFailed(): boolean {
    return this.#writer.hasFailed;
  }

  /** Takes an event of the engine; gives the bytes that are stored of it. */
  #take(event: RunEvent): number {
    if (isTerminal(event)) {
      // Published only when the conversation is stored: a client that answers it at once must find it.
      this.terminal = event;
    } else if (!this.#isMuted) {
      const frame = this.#frameOf(event);
      if (frame !== undefined && this.#write(frame)) {
        this.transcript.add(event);
        return frame.bytes;
      }
    }
    return 0;
  }

  /** Takes no more events but the last one. */
  mute(): void {
    this.#isMuted = true;
  }

  /** Stores nothing more: another process does. */
  stop(reason: unknown): void {
    this.mute();
    this.#writer.stop(reason);
  }

  /** Stores the start of the run with its first events. @throws what the store throws. */
  begin(extras: CommitExtras): Promise<void> {
    return this.#writer.begin(extras);
  }

  /** Resolves when nothing is being written. */
  idle(): Promise<void> {
    return this.#writer.idle();
  }

  /** Stores what waits, the last event and the end of the run in one step; all but the last event is published then. */
  end(last: EventFrame, extras: CommitExtras): Promise<void> {
    return this.#writer.end(last, extras);
  }

  /** Resolves when everything so far is stored, or cannot be. */
  flushed(): Promise<void> {
    return this.#writer.flushed();
  }

  /**
   * The last event, numbered after those that were published: what the log refused was not published either, so its numbers are free again.
   *
   * @param after number of the event before it. @default the last one that was published
   * @throws EngineError NODE_FAILED when it cannot be written down.
   */
  lastFrame(event: TerminalEvent, after: number = this.lastSeq): EventFrame {
    try {
      return this.#framer.frame({ ...event, seq: after + 1 });
    } catch (error) {
      throw unwritable(this.#options.identity.id, error);
    }
  }

  /** Publishes what is in the log after all: a write whose answer was lost may have been done. */
  async catchUp(): Promise<void> {
    const { log, identity, projection, epoch } = this.#options;
    // What is published now must not be taken back by the next write.
    await log.confirm?.(identity.tenant, identity.id, epoch);
    for await (const page of pagesAfter(log, identity.tenant, identity.id, this.lastSeq)) {
      for (const event of page) this.publish(storedFrame(event, projection));
    }
  }

  /** The events after one that were published; undefined when not all of them are in memory any more. */
  publishedAfter(seq: number): readonly EventFrame[] | undefined {
    const missed = this.lastSeq - seq;
    if (missed <= 0) return [];
    return missed <= this.#recent.length ? this.#recent.slice(-missed) : undefined;
  }

  publish(frame: EventFrame): void {
    this.lastSeq = frame.seq;
    this.#remember(frame);
    this.frames$.next(frame);
    this.#options.onPublished();
  }

  complete(): void {
    this.frames$.complete();
  }

  #remember(frame: EventFrame): void {
    if (this.#recent.length >= MAX_RECENT || this.#recentBytes + frame.bytes > MAX_RECENT_BYTES) {
      this.#recent = [];
      this.#recentBytes = 0;
    }
    if (frame.bytes > MAX_RECENT_BYTES) return;
    this.#recent.push(frame);
    this.#recentBytes += frame.bytes;
  }

  /** Undefined when the event cannot be written down: its values may be nested without end. */
  #frameOf(event: RunEvent): EventFrame | undefined {
    try {
      return this.#framer.frame(event);
    } catch (error) {
      this.#options.onFailed(unwritable(this.#options.identity.id, error));
      return undefined;
    }
  }

  /** Whether there was room in the log. */
  #write(frame: EventFrame): boolean {
    const { maxLogBytes, identity, onFailed } = this.#options;
    this.#bytes += frame.bytes;
    if (this.#bytes > maxLogBytes) {
      onFailed(logFull(identity.id, maxLogBytes));
      return false;
    }
    this.lastMade = frame.seq;
    this.#writer.write(frame);
    return true;
  }
}

/** Frames that are gathered while nothing is being written. */
const MAX_GROUP = 512;

/** Frames that are gathered for one write while another one is under way. */
const MAX_WAITING = 8_192;

/** What is stored with the events of a write: of the first one the start of the run, of the last one its end. */
export type CommitExtras = Omit<RunCommit, 'tenant' | 'run' | 'epoch' | 'batches'>;

/** Whose events a {@link LogWriter} writes. */
export interface LogWriterOptions {
  /** Stores batches, and what belongs to them. May be synchronous. */
  readonly commit: (batches: readonly LogBatch[], extras: CommitExtras) => Promise<void> | void;
  /** Bytes of frames that may wait to be stored before {@link LogWriter.ready} gives a promise. */
  readonly maxUnstoredBytes: number;
  /** Called with each group of frames, in order, once it is stored. */
  readonly onWritten: (frames: readonly EventFrame[]) => void;
  /** Called once when the log refuses; nothing is written afterwards. */
  readonly onFailed: (error: unknown) => void;
}

/** What is stored as one batch. */
interface Batch {
  readonly events: EventFrame[];
  /** The state behind the last of the events. */
  snapshot?: Checkpoint;
}

/** What is written in one step. */
interface Group {
  readonly batches: Batch[];
  /** Frames of all batches, and their bytes. */
  frames: number;
  bytes: number;
  extras: CommitExtras | undefined;
  readonly waiting: { readonly resolve: () => void; readonly reject: (error: unknown) => void }[];
}

/** Nothing but events. */
const EVENTS_ONLY: CommitExtras = {};

/**
 * Writes the events and snapshots of one run, in order, in groups, and one group at a time.
 *
 * A group is what the run reports in one turn of the event loop, and what comes while a write is in progress: a slow log gets larger groups,
 * not more writes. So the last node of a run and the end of the run are one group, and its start and what needs no more than that. What waits for a log is bounded by `maxUnstoredBytes` for a run that heeds
 * `ready`, and by the limit of the run's log for one that cannot.
 */
export class LogWriter {
  readonly #options: LogWriterOptions;
  /** In order; the last one is still open. */
  #groups: Group[] = [emptyGroup()];
  #writing: Promise<void> | undefined = undefined;
  #isScheduled = false;
  /** Of the frames that were taken and are not stored. */
  #unstoredBytes = 0;
  /** What `ready` gave, until there is room again. */
  #pressure: { readonly relieved: Promise<void>; readonly relieve: () => void } | undefined = undefined;
  #failure: { readonly error: unknown } | undefined = undefined;

  constructor(options: LogWriterOptions) {
    this.#options = options;
  }

  get hasFailed(): boolean {
    return this.#failure !== undefined;
  }

  write(frame: EventFrame): void {
    if (this.#failure !== undefined) return;
    const { frames } = this.#open();
    // A run that reports without a pause is written without waiting for its end.
    if (frames >= MAX_GROUP && this.#writing === undefined) this.#writeAll();
    else if (frames >= MAX_WAITING) this.#groups.push(emptyGroup());
    const group = this.#open();
    group.frames += 1;
    group.bytes += frame.bytes;
    this.#unstoredBytes += frame.bytes;
    let batch = group.batches.at(-1);
    if (batch === undefined || batch.snapshot !== undefined) {
      batch = { events: [] };
      group.batches.push(batch);
    }
    batch.events.push(frame);
    this.#schedule();
  }

  /** A promise while too much waits to be stored; it resolves when half of it is, or nothing is stored any more. */
  ready(): Promise<void> | undefined {
    if (this.#pressure === undefined && this.#unstoredBytes > this.#options.maxUnstoredBytes) {
      let relieve = (): void => {};
      const relieved = new Promise<void>((resolve) => {
        relieve = resolve;
      });
      this.#pressure = { relieved, relieve };
    }
    return this.#pressure?.relieved;
  }

  #relieve(): void {
    if (this.#pressure === undefined || this.#unstoredBytes * 2 > this.#options.maxUnstoredBytes) return;
    this.#pressure.relieve();
    this.#pressure = undefined;
  }

  /** Takes the state behind the last frame. */
  snapshot(checkpoint: Checkpoint): void {
    if (this.#failure !== undefined) return;
    const { batches } = this.#open();
    const batch = batches.at(-1);
    if (batch === undefined || batch.snapshot !== undefined) batches.push({ events: [], snapshot: checkpoint });
    else batch.snapshot = checkpoint;
    this.#schedule();
  }

  /** Stores `extras` with what is written next, also when that is nothing else. */
  begin(extras: CommitExtras): Promise<void> {
    this.#open().extras = extras;
    return this.flush();
  }

  flush(): Promise<void> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure.error);
    const { waiting } = this.#open();
    this.#schedule();
    return new Promise((resolve, reject) => waiting.push({ resolve, reject }));
  }

  /** Resolves when everything written so far is stored, or the log has failed. */
  async flushed(): Promise<void> {
    this.#writeAll();
    await this.#writing;
  }

  /**
   * Stores everything that waits, `last` and `extras` in one step, and reports what waited as written. When that is refused, what waited
   * waits again. Nothing else may be written meanwhile.
   *
   * @throws what the log throws.
   */
  async end(last: EventFrame, extras: CommitExtras): Promise<void> {
    const group = merged(this.#groups);
    this.#groups = [emptyGroup()];
    const batches = [...group.batches, { events: [last] }];
    const written = (async () => this.#options.commit(batches, extras))();
    // Nothing else is written meanwhile.
    this.#writing = written.catch(() => {});
    try {
      await written;
    } catch (error) {
      this.#groups = [group, emptyGroup()];
      throw error;
    } finally {
      this.#writing = undefined;
    }
    this.#done(group);
  }

  /** Resolves when nothing is being written; what waits may go out meanwhile. */
  async idle(): Promise<void> {
    await this.#writing;
  }

  #open(): Group {
    return this.#groups.at(-1) as Group;
  }

  #schedule(): void {
    if (this.#isScheduled || this.#writing !== undefined) return;
    this.#isScheduled = true;
    setImmediate(this.#writeScheduled);
  }

  readonly #writeScheduled = (): void => {
    this.#isScheduled = false;
    this.#writeAll();
  };

  #writeAll(): void {
    while (this.#writing === undefined) {
      const group = this.#take();
      if (group === undefined) return;
      try {
        const written = this.#write(group);
        if (written === undefined) this.#done(group);
        else this.#writing = this.#drain(written, group);
      } catch (error) {
        this.#failed(group, error);
      }
    }
  }

  async #drain(firstWrite: Promise<void>, firstGroup: Group): Promise<void> {
    let group: Group | undefined = firstGroup;
    try {
      await firstWrite;
      while (group !== undefined) {
        this.#done(group);
        group = this.#take();
        if (group !== undefined) await this.#write(group);
      }
    } catch (error) {
      this.#failed(group as Group, error);
    } finally {
      // At once, in the turn that found nothing pending: a frame that comes later starts a write of its own.
      this.#writing = undefined;
    }
  }

  /** The next group that there is anything in. */
  #take(): Group | undefined {
    const [first] = this.#groups;
    if (first === undefined || this.#failure !== undefined) return undefined;
    if (this.#groups.length > 1) this.#groups = this.#groups.slice(1);
    else if (isEmpty(first) && first.waiting.length === 0) return undefined;
    else this.#groups = [emptyGroup()];
    return first;
  }

  /** Undefined for a log that is synchronous. */
  #write(group: Group): Promise<void> | undefined {
    if (isEmpty(group)) return undefined;
    return this.#options.commit(group.batches, group.extras ?? EVENTS_ONLY) ?? undefined;
  }

  #done({ batches, bytes, waiting }: Group): void {
    if (this.#failure !== undefined) {
      for (const { reject } of waiting) reject(this.#failure.error);
      return;
    }
    this.#unstoredBytes -= bytes;
    for (const { events } of batches) if (events.length > 0) this.#options.onWritten(events);
    this.#relieve();
    for (const { resolve } of waiting) resolve();
  }

  #failed(group: Group, error: unknown): void {
    const isFirst = this.#failure === undefined;
    this.#groups.unshift(group);
    this.stop(error);
    if (isFirst) this.#options.onFailed(error);
  }

  /** Writes nothing more. */
  stop(reason: unknown): void {
    this.#failure ??= { error: reason };
    const groups = this.#groups;
    this.#groups = [emptyGroup()];
    this.#unstoredBytes = 0;
    this.#relieve();
    for (const { waiting } of groups) for (const { reject } of waiting) reject(this.#failure.error);
  }
}

function isEmpty({ batches, extras }: Group): boolean {
  return batches.length === 0 && extras === undefined;
}

function emptyGroup(): Group {
  return { batches: [], frames: 0, bytes: 0, extras: undefined, waiting: [] };
}

function merged(groups: readonly Group[]): Group {
  const whole = emptyGroup();
  for (const { batches, frames, bytes, waiting } of groups) {
    whole.batches.push(...batches);
    whole.frames += frames;
    whole.bytes += bytes;
    whole.waiting.push(...waiting);
  }
  return whole;
}

function logFull(run: string, maxBytes: number): EngineError {
  return new EngineError(
    'RUN_LOG_FULL',
    `Run "${run}" produced more than ${maxBytes} bytes of events and was stopped; let it say less, or raise RUNNEL_RUN_LOG_BYTES.`,
  );
}

function unwritable(run: string, cause: unknown): EngineError {
  const message = `Run "${run}" made a value that cannot be written down, such as one nested thousands of levels deep; it was stopped.`;
  return new EngineError('NODE_FAILED', message, { cause });
}
