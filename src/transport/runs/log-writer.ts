import type { RunLog } from '../../graph/service-ports.js';
import type { EventFrame } from './event-frame.js';

/** Whose events a {@link LogWriter} writes. */
export interface LogWriterOptions {
  readonly log: RunLog;
  readonly tenant: string;
  readonly run: string;
  /** Called for each frame, in order, once it is kept. */
  readonly onWritten: (frame: EventFrame) => void;
  /** Called once when the log refuses; nothing is written afterwards. */
  readonly onFailed: (error: unknown) => void;
}

/**
 * Writes the events of one run to its log, in order and one write at a time.
 *
 * What comes while a write is under way goes together with the next one, so that a slow log gets larger groups, not more
 * writes. A synchronous log costs no promise at all.
 */
export class LogWriter {
  readonly #options: LogWriterOptions;
  #pending: EventFrame[] = [];
  #writing: Promise<void> | undefined = undefined;
  #hasFailed = false;

  constructor(options: LogWriterOptions) {
    this.#options = options;
  }

  write(frame: EventFrame): void {
    if (this.#hasFailed) return;
    if (this.#writing !== undefined) {
      this.#pending.push(frame);
      return;
    }
    this.#writing = this.#append([frame]);
  }

  /** Resolves when everything written so far is kept, or the log has failed. */
  async flushed(): Promise<void> {
    await this.#writing;
  }

  /** Undefined when the log did it at once. */
  #append(frames: readonly EventFrame[]): Promise<void> | undefined {
    const { log, tenant, run } = this.#options;
    try {
      const written = log.append(tenant, run, frames);
      if (written === undefined) this.#written(frames);
      else return this.#drain(written, frames);
    } catch (error) {
      this.#failed(error);
    }
    return undefined;
  }

  async #drain(firstWrite: Promise<void>, firstFrames: readonly EventFrame[]): Promise<void> {
    const { log, tenant, run } = this.#options;
    let frames = firstFrames;
    try {
      await firstWrite;
      this.#written(frames);
      while (this.#pending.length > 0) {
        frames = this.#pending;
        this.#pending = [];
        await log.append(tenant, run, frames);
        this.#written(frames);
      }
    } catch (error) {
      this.#failed(error);
    } finally {
      // At once, in the turn that found nothing pending: a frame that comes later starts a write of its own.
      this.#writing = undefined;
    }
  }

  #written(frames: readonly EventFrame[]): void {
    for (const frame of frames) this.#options.onWritten(frame);
  }

  #failed(error: unknown): void {
    this.#hasFailed = true;
    this.#pending = [];
    this.#options.onFailed(error);
  }
}
