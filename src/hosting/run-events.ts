/** The events of one run on their way into its log and to its clients. */
import { type Observable, Subject } from 'rxjs';
import type { RagflowProjection } from '../canvas/ragflow-events.js';
import { EngineError, toEngineError } from '../errors.js';
import { isTerminal, type RunEvent, type TerminalEvent } from '../graph/events.js';
import type { EventLog } from '../graph/log.js';
import type { RunLog } from '../records/run-log.js';
import { type EventFrame, EventFramer, storedFrame } from './event-frame.js';
import type { RunIdentity } from './live-run-options.js';
import { LogWriter } from './log-writer.js';
import type { RunPast } from './run-past.js';
import { Transcript } from './transcript.js';

/** Bounds of one reading from the log. */
const PAGE = { maxEvents: 512, maxBytes: 1024 * 1024 };

export interface RunEventsOptions {
  readonly identity: RunIdentity;
  readonly log: RunLog;
  /** Of this process as the writer of the run. */
  readonly epoch: number;
  readonly maxLogBytes: number;
  readonly projection: RagflowProjection;
  readonly keepsTrace: boolean;
  readonly past: RunPast | undefined;
  /** Called when an event cannot be kept. */
  readonly onFailed: (error: EngineError) => void;
}

/** The events of one run: numbers them, serialises each once, keeps it in the log, then shows it. */
export class RunEvents {
  readonly transcript: Transcript;
  /** What the run ends with, as far as the engine is concerned. */
  terminal: TerminalEvent | undefined = undefined;
  /** Number of the last event that was made. */
  lastMade: number;
  /** Number of the last event that was shown. */
  lastSeq: number;
  readonly #options: RunEventsOptions;
  readonly #frames = new Subject<EventFrame>();
  readonly #framer: EventFramer;
  readonly #writer: LogWriter;
  #bytes: number;
  #isMuted = false;

  constructor(options: RunEventsOptions) {
    const { identity, log, epoch, projection, keepsTrace, past, onFailed } = options;
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
      onWritten: (frames) => {
        for (let at = 0; at < frames.length; at += 1) this.show(frames[at] as EventFrame);
      },
      onFailed: (error) => onFailed(toEngineError(error, 'INTERNAL')),
    });
  }

  /** Events shown from now on; completes after the last one. */
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
    };
  }

  /** Whether something could not be stored. */
  get hasFailed(): boolean {
    return this.#writer.hasFailed;
  }

  /** Takes an event of the engine; gives the bytes that are stored of it. */
  #take(event: RunEvent): number {
    if (isTerminal(event)) {
      // Shown only when the conversation is stored: a client that answers it at once must find it.
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

  /** Resolves when everything so far is kept, or cannot be. */
  flushed(): Promise<void> {
    return this.#writer.flushed();
  }

  /**
   * The last event, numbered after those that were shown: what the log refused was not shown either, so its numbers are free again.
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

  /** Shows what is in the log after all: a write whose answer was lost may have been done. */
  async catchUp(): Promise<void> {
    const { log, identity, projection } = this.#options;
    for (;;) {
      const page = await log.read(identity.tenant, identity.id, this.lastSeq, PAGE);
      if (page === undefined || page.length === 0) return;
      for (const event of page) this.show(storedFrame(event, projection));
    }
  }

  show(frame: EventFrame): void {
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
