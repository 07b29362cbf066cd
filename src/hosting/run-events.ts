/** The events of one run on their way into its log and to its clients. */
import { type Observable, Subject } from 'rxjs';
import type { WorkingNode } from '../canvas/wire-calls.js';
import type { Speaker, WireEvent, WireHeader } from '../canvas/ragflow-events.js';
import { type WireContext, WireMapper, type WireSink } from '../canvas/ragflow-events.js';
import { EngineError, toEngineError } from '../errors.js';
import type { Journal } from '../graph/journal.js';
import type { RunJournal } from '../records/durable-stores.js';
import type { RunLog } from '../records/stores.js';
import type { EventFrame, FreshFrame } from './event-frame.js';
import { EventFramer } from './event-framer.js';
import { isLastEvent } from './last-event.js';
import type { RunIdentity } from './live-run-options.js';
import { LogWriter } from './log-writer.js';
import type { RunPast } from './run-past.js';
import { Transcript } from './transcript.js';

/** Bounds of one reading from the log. */
const PAGE = { maxEvents: 512, maxBytes: 1024 * 1024 };

export interface RunEventsOptions {
  readonly identity: RunIdentity;
  readonly log: RunLog;
  readonly runJournal: RunJournal | undefined;
  readonly maxLogBytes: number;
  readonly keepsTrace: boolean;
  readonly past: RunPast | undefined;
  /** Called when an event cannot be kept. */
  readonly onFailed: (error: EngineError) => void;
}

/** The events of one run: numbers them, serialises each once, keeps it in the log, then shows it. */
export class RunEvents implements WireSink {
  readonly transcript: Transcript;
  /** What the run ends with, as far as the engine is concerned. */
  terminal: WireEvent | undefined = undefined;
  /** Number of the last event that was shown. */
  lastSeq: number;
  readonly #options: RunEventsOptions;
  readonly #frames = new Subject<EventFrame>();
  readonly #framer = new EventFramer();
  readonly #writer: LogWriter;
  #mapper: WireMapper | undefined = undefined;
  /** Number of the last event that was made. */
  #seq: number;
  #bytes: number;
  #isMuted = false;

  constructor(options: RunEventsOptions) {
    const { identity, log, runJournal, keepsTrace, past, onFailed } = options;
    this.#options = options;
    this.transcript = past?.transcript ?? new Transcript({ keepsTrace });
    this.lastSeq = past?.lastSeq ?? 0;
    this.#seq = this.lastSeq;
    this.#bytes = past?.bytes ?? 0;
    this.#writer = new LogWriter({
      log,
      journal: runJournal,
      tenant: identity.tenant,
      run: identity.id,
      onWritten: (frames) => {
        for (let at = 0; at < frames.length; at += 1) this.show(frames[at] as EventFrame);
      },
      onFailed: (error) => onFailed(toEngineError(error, 'INTERNAL')),
    });
  }

  /** Number of the last event that was made. */
  get lastMade(): number {
    return this.#seq;
  }

  /** Events shown from now on; completes after the last one. */
  get frames$(): Observable<EventFrame> {
    return this.#frames;
  }

  /** Takes the journal of the run, which is kept together with its events. */
  get journal(): Journal {
    return this.#writer;
  }

  /** Whether something could not be kept. */
  get hasFailed(): boolean {
    return this.#writer.hasFailed;
  }

  /** What takes the events of the engine and makes these of them. */
  mapperOf(context: WireContext): WireMapper {
    this.#mapper = new WireMapper(context, this);
    return this.#mapper;
  }

  /** What nodes called so far that are still at work. */
  get working(): readonly WorkingNode[] {
    return this.#mapper?.working ?? [];
  }

  event(event: WireEvent): void {
    if (isLastEvent(event.event)) {
      // Shown only when the conversation is kept: whoever answers it at once must find it.
      this.terminal = event;
    } else if (!this.#isMuted) {
      const frame = this.#frameOf(event);
      if (frame !== undefined && this.#write(frame)) this.transcript.add(event);
    }
  }

  /** The way of nearly every event. */
  piece(header: WireHeader, speaker: Speaker, text: string): void {
    if (this.#isMuted) return;
    if (this.#write(this.#framer.piece(this.#seq + 1, header, speaker, text))) this.transcript.addText(text);
  }

  /** Takes no more events but the last one. */
  mute(): void {
    this.#isMuted = true;
  }

  /** Keeps nothing more: somebody else does. */
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
  lastFrame(event: WireEvent): FreshFrame {
    try {
      return this.#framer.frame(this.lastSeq + 1, event);
    } catch (error) {
      throw unwritable(this.#options.identity.id, error);
    }
  }

  /** Shows what is in the log after all: a write whose answer was lost may have been done. */
  async catchUp(): Promise<void> {
    const { log, identity } = this.#options;
    for (;;) {
      const page = await log.read(identity.tenant, identity.id, this.lastSeq, PAGE);
      if (page === undefined || page.length === 0) return;
      for (const frame of page) this.show(frame);
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
  #frameOf(event: WireEvent): FreshFrame | undefined {
    try {
      return this.#framer.frame(this.#seq + 1, event);
    } catch (error) {
      this.#options.onFailed(unwritable(this.#options.identity.id, error));
      return undefined;
    }
  }

  /** Whether there was room in the log. */
  #write(frame: FreshFrame): boolean {
    const { maxLogBytes, identity, onFailed } = this.#options;
    this.#bytes += frame.bytes;
    if (this.#bytes > maxLogBytes) {
      onFailed(logFull(identity.id, maxLogBytes));
      return false;
    }
    this.#seq += 1;
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
