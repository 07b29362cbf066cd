/** The events of one run on their way into its log and to its clients. */
import { type Observable, Subject } from 'rxjs';
import type { RagflowProjection } from '../canvas/ragflow-events.js';
import { EngineError, toEngineError } from '../errors.js';
import { isTerminal, type RunEvent, type TerminalEvent } from '../graph/events.js';
import type { EventLog } from '../graph/log.js';
import type { Checkpoint } from '../graph/state.js';
import { pagesAfter, type RunLog } from '../records/run-log.js';
import { type EventFrame, EventFramer, storedFrame } from './event-frame.js';
import type { RunPast } from './run-past.js';
import { Transcript } from './transcript.js';

export interface RunEventsOptions {
  readonly identity: { readonly tenant: string; readonly id: string };
  readonly log: RunLog;
  /** Of this process as the writer of the run. */
  readonly epoch: number;
  readonly maxLogBytes: number;
  /** Bytes of events that may wait to be stored; above it the run is paused. */
  readonly maxUnstoredBytes: number;
  readonly projection: RagflowProjection;
  readonly keepsTrace: boolean;
  readonly past: RunPast | undefined;
  /** Called when an event cannot be stored. */
  readonly onFailed: (error: EngineError) => void;
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
  readonly #frames = new Subject<EventFrame>();
  readonly #framer: EventFramer;
  readonly #writer: LogWriter;
  #bytes: number;
  #isMuted = false;

  constructor(options: RunEventsOptions) {
    const { identity, log, epoch, maxUnstoredBytes, projection, keepsTrace, past, onFailed } = options;
    this.#options = options;
    this.#framer = new EventFramer(projection);
    this.transcript = past?.transcript ?? new Transcript({ projection, keepsTrace });
    this.lastSeq = past?.lastSeq ?? 0;
    this.lastMade = this.lastSeq;
    this.#bytes = past?.bytes ?? 0;
    this.#writer = new LogWriter({
      log,
      tenant: identity.tenant,
      run: identity.id,
      epoch,
      maxUnstoredBytes,
      onWritten: (frames) => {
        for (let at = 0; at < frames.length; at += 1) this.publish(frames[at] as EventFrame);
      },
      onFailed: (error) => onFailed(toEngineError(error, 'INTERNAL')),
    });
  }

  /** Events published from now on; completes after the last one. */
  get frames$(): Observable<EventFrame> {
    return this.#frames;
  }

  /** Where the engine writes the events and snapshots of the run. */
  get log(): EventLog {
    return {
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

  /** Resolves when everything so far is stored, or cannot be. */
  flushed(): Promise<void> {
    return this.#writer.flushed();
  }

  /**
   * The last event, numbered after those that were published: what the log refused was not published either, so its numbers are free again.
   *
   * @throws EngineError NODE_FAILED when it cannot be written down.
   */
  lastFrame(event: TerminalEvent): EventFrame {
    try {
      return this.#framer.frame({ ...event, seq: this.lastSeq + 1 });
    } catch (error) {
      throw unwritable(this.#options.identity.id, error);
    }
  }

  /** Publishes what is in the log after all: a write whose answer was lost may have been done. */
  async catchUp(): Promise<void> {
    const { log, identity, projection } = this.#options;
    for await (const page of pagesAfter(log, identity.tenant, identity.id, this.lastSeq)) {
      for (const event of page) this.publish(storedFrame(event, projection));
    }
  }

  publish(frame: EventFrame): void {
    this.lastSeq = frame.seq;
    this.#frames.next(frame);
  }

  complete(): void {
    this.#frames.complete();
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

/** Whose events a {@link LogWriter} writes. */
export interface LogWriterOptions {
  readonly log: RunLog;
  readonly tenant: string;
  readonly run: string;
  /** Of this process as the writer of the run. */
  readonly epoch: number;
  /** Bytes of frames that may wait to be stored before {@link LogWriter.ready} gives a promise. */
  readonly maxUnstoredBytes: number;
  /** Called with each group of frames, in order, once it is stored. */
  readonly onWritten: (frames: readonly EventFrame[]) => void;
  /** Called once when the log refuses; nothing is written afterwards. */
  readonly onFailed: (error: unknown) => void;
}

/** What is written in one step. */
interface Group {
  readonly frames: EventFrame[];
  /** Of the frames. */
  bytes: number;
  /** The state behind the last of the frames. */
  snapshot: Checkpoint | undefined;
  readonly waiting: { readonly resolve: () => void; readonly reject: (error: unknown) => void }[];
}

/**
 * Writes the events and snapshots of one run, in order, in groups, and one group at a time.
 *
 * A group is what the run reports in one go, before anything else of the process gets its turn, and what comes while a write is in
 * progress: a slow log gets larger groups, not more writes. What waits for a log is bounded by `maxUnstoredBytes` for a run that heeds
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
    const { length } = this.#open().frames;
    // A run that reports without a pause is written without waiting for its end.
    if (length >= MAX_GROUP && this.#writing === undefined) this.#writeAll();
    else if (length >= MAX_WAITING) this.#groups.push(emptyGroup());
    const group = this.#open();
    group.frames.push(frame);
    group.bytes += frame.bytes;
    this.#unstoredBytes += frame.bytes;
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
    this.#open().snapshot = checkpoint;
    this.#groups.push(emptyGroup());
    this.#schedule();
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

  /** Writes nothing more. */
  stop(reason: unknown): void {
    this.#fail(reason);
  }

  #open(): Group {
    return this.#groups.at(-1) as Group;
  }

  #schedule(): void {
    if (this.#isScheduled || this.#writing !== undefined) return;
    this.#isScheduled = true;
    queueMicrotask(() => {
      this.#isScheduled = false;
      this.#writeAll();
    });
  }

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
  #write({ frames, snapshot }: Group): Promise<void> | undefined {
    const { log, tenant, run, epoch } = this.#options;
    if (frames.length === 0 && snapshot === undefined) return undefined;
    return log.append(tenant, run, { epoch, events: frames, ...(snapshot && { snapshot }) }) ?? undefined;
  }

  #done({ frames, bytes, waiting }: Group): void {
    if (this.#failure !== undefined) {
      for (const { reject } of waiting) reject(this.#failure.error);
      return;
    }
    this.#unstoredBytes -= bytes;
    if (frames.length > 0) this.#options.onWritten(frames);
    this.#relieve();
    for (const { resolve } of waiting) resolve();
  }

  #failed(group: Group, error: unknown): void {
    const isFirst = this.#failure === undefined;
    this.#groups.unshift(group);
    this.#fail(error);
    if (isFirst) this.#options.onFailed(error);
  }

  #fail(error: unknown): void {
    this.#failure ??= { error };
    const groups = this.#groups;
    this.#groups = [emptyGroup()];
    this.#unstoredBytes = 0;
    this.#relieve();
    for (const { waiting } of groups) for (const { reject } of waiting) reject(this.#failure.error);
  }
}

function isEmpty({ frames, snapshot }: Group): boolean {
  return frames.length === 0 && snapshot === undefined;
}

function emptyGroup(): Group {
  return { frames: [], bytes: 0, snapshot: undefined, waiting: [] };
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
