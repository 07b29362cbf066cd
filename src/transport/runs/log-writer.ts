import type { RunLog } from '../../graph/service-ports.js';
import type { EventFrame } from './event-frame.js';

/** Frames of one group, at most. */
const MAX_GROUP = 512;

/** Whose events a {@link LogWriter} writes. */
export interface LogWriterOptions {
  readonly log: RunLog;
  readonly tenant: string;
  readonly run: string;
  /** Called with each group of frames, in order, once it is kept. */
  readonly onWritten: (frames: readonly EventFrame[]) => void;
  /** Called once when the log refuses; nothing is written afterwards. */
  readonly onFailed: (error: unknown) => void;
}

/**
 * Writes the events of one run to its log, in order, in groups, and one group at a time.
 *
 * A group is what the run says in one go, before anything else of the process gets its turn, and what comes while a write is
 * under way: a slow log gets larger groups, not more writes. The bound of what waits for a log is the limit of the run's log.
 */
export class LogWriter {
  readonly #options: LogWriterOptions;
  #pending: EventFrame[] = [];
  #writing: Promise<void> | undefined = undefined;
  #isScheduled = false;
  #hasFailed = false;

  constructor(options: LogWriterOptions) {
    this.#options = options;
  }

  write(frame: EventFrame): void {
    if (this.#hasFailed) return;
    this.#pending.push(frame);
    if (this.#isScheduled) {
      // A run that goes on and on without a pause is not waited for.
      if (this.#pending.length >= MAX_GROUP) this.#flush();
    } else if (this.#writing === undefined) {
      this.#isScheduled = true;
      queueMicrotask(this.#flush);
    }
  }

  /** Resolves when everything written so far is kept, or the log has failed. */
  async flushed(): Promise<void> {
    this.#flush();
    await this.#writing;
  }

  readonly #flush = (): void => {
    this.#isScheduled = false;
    if (this.#pending.length === 0 || this.#writing !== undefined) return;
    const { log, tenant, run } = this.#options;
    const frames = this.#take();
    try {
      const written = log.append(tenant, run, frames);
      if (written === undefined) this.#options.onWritten(frames);
      else this.#writing = this.#drain(written, frames);
    } catch (error) {
      this.#failed(error);
    }
  };

  async #drain(firstWrite: Promise<void>, firstFrames: readonly EventFrame[]): Promise<void> {
    const { log, tenant, run, onWritten } = this.#options;
    let frames = firstFrames;
    try {
      await firstWrite;
      onWritten(frames);
      while (this.#pending.length > 0) {
        frames = this.#take();
        await log.append(tenant, run, frames);
        onWritten(frames);
      }
    } catch (error) {
      this.#failed(error);
    } finally {
      // At once, in the turn that found nothing pending: a frame that comes later starts a write of its own.
      this.#writing = undefined;
    }
  }

  #take(): readonly EventFrame[] {
    const frames = this.#pending;
    this.#pending = [];
    return frames;
  }

  #failed(error: unknown): void {
    this.#hasFailed = true;
    this.#pending = [];
    this.#options.onFailed(error);
  }
}
