import type { Checkpoint } from '../graph/state.js';
import type { RunLog } from '../records/run-log.js';
import type { EventFrame } from './event-frame.js';

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
  /** Called with each group of frames, in order, once it is stored. */
  readonly onWritten: (frames: readonly EventFrame[]) => void;
  /** Called once when the log refuses; nothing is written afterwards. */
  readonly onFailed: (error: unknown) => void;
}

/** What is written in one step. */
interface Group {
  readonly frames: EventFrame[];
  /** The state behind the last of the frames. */
  snapshot: Checkpoint | undefined;
  readonly waiting: { readonly resolve: () => void; readonly reject: (error: unknown) => void }[];
}

/**
 * Writes the events and snapshots of one run, in order, in groups, and one group at a time.
 *
 * A group is what the run reports in one go, before anything else of the process gets its turn, and what comes while a write is in
 * progress: a slow log gets larger groups, not more writes. What waits for a log is bounded by the limit of the run's log.
 */
export class LogWriter {
  readonly #options: LogWriterOptions;
  /** In order; the last one is still open. */
  #groups: Group[] = [emptyGroup()];
  #writing: Promise<void> | undefined = undefined;
  #isScheduled = false;
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
    this.#open().frames.push(frame);
    this.#schedule();
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

  #done({ frames, waiting }: Group): void {
    if (this.#failure !== undefined) {
      for (const { reject } of waiting) reject(this.#failure.error);
      return;
    }
    if (frames.length > 0) this.#options.onWritten(frames);
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
    for (const { waiting } of groups) for (const { reject } of waiting) reject(this.#failure.error);
  }
}

function isEmpty({ frames, snapshot }: Group): boolean {
  return frames.length === 0 && snapshot === undefined;
}

function emptyGroup(): Group {
  return { frames: [], snapshot: undefined, waiting: [] };
}
