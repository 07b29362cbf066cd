import { BehaviorSubject, type Observable, Subject, Subscription } from 'rxjs';
import type { Session } from '../../canvas/turn.js';
import { type WireEvent, type WireHeader, WireMapper } from '../../canvas/wire-events.js';
import { EngineError, toEngineError } from '../../errors.js';
import type { NodeUsage } from '../../graph/events.js';
import type { RunRecord, RunStatus, RunUsage } from '../../graph/service-ports.js';
import type { EventFrame, FreshFrame } from './event-frame.js';
import { EventFramer } from './event-framer.js';
import type { EngineHooks, LiveRunOptions, RunIdentity } from './live-run-options.js';
import { abandoned } from './liveness.js';
import { LogWriter } from './log-writer.js';
import { Transcript } from './transcript.js';

/**
 * One run with its clients: numbers its events, serialises each once, keeps it in the log, then shows it.
 *
 * Clients come and go without the run noticing, but for one thing: left alone for longer than the grace, it is cancelled.
 */
export class LiveRun {
  readonly identity: RunIdentity;
  readonly startedAt: number;
  readonly transcript: Transcript;
  /** Number of the last event that was shown. */
  lastSeq = 0;
  readonly #options: LiveRunOptions;
  readonly #frames = new Subject<EventFrame>();
  readonly #clients = new BehaviorSubject(0);
  readonly #writer: LogWriter;
  readonly #framer = new EventFramer();
  readonly #abort = new AbortController();
  readonly #subscription = new Subscription();
  readonly #usage = { promptTokens: 0, completionTokens: 0, totalTokens: 0, calls: 0 };
  #record: RunRecord;
  #resolveEnded: (record: RunRecord) => void = () => {};
  /** Number of the last event that was made. */
  #seq = 0;
  #logBytes = 0;
  #session: Session | undefined = undefined;
  #status: Exclude<RunStatus, 'running'> = 'failed';
  /** Why the service ended the run, if it was the service. */
  #failure: EngineError | undefined = undefined;
  #terminal: WireEvent | undefined = undefined;

  /** Resolves with the run's record after its last event was shown; never rejects. */
  readonly ended: Promise<RunRecord>;

  constructor(options: LiveRunOptions) {
    const { identity, log, now, keepsTrace } = options;
    this.#options = options;
    this.identity = identity;
    this.startedAt = now();
    this.transcript = new Transcript({ keepsTrace });
    this.#record = this.#recordNow('running');
    this.ended = new Promise((resolve) => {
      this.#resolveEnded = resolve;
    });
    this.#writer = new LogWriter({
      log,
      tenant: identity.tenant,
      run: identity.id,
      onWritten: (frames) => {
        for (let at = 0; at < frames.length; at += 1) this.#show(frames[at] as EventFrame);
      },
      onFailed: (error) => this.#fail(toEngineError(error, 'INTERNAL')),
    });
  }

  /** What is known about the run at this moment. */
  get record(): RunRecord {
    return this.#record;
  }

  /** Events shown from now on; completes after the last one. */
  get frames$(): Observable<EventFrame> {
    return this.#frames;
  }

  start(): void {
    const { identity, plan, open, detachGraceMs } = this.#options;
    const { id, sessionId, messageId } = identity;
    if (detachGraceMs !== undefined) {
      this.#subscription.add(abandoned(this.#clients, detachGraceMs).subscribe(() => this.cancel()));
    }
    const hooks: EngineHooks = {
      run: id,
      signal: this.#abort.signal,
      onSession: (session, outcome) => {
        this.#session = session;
        this.#status = outcome.status;
      },
    };
    const mapper = new WireMapper(
      { plan, messageId, sessionId },
      {
        event: (event) => this.#take(event),
        piece: (header, component, text) => this.#takePiece(header, component, text),
      },
    );
    this.#subscription.add(
      open(hooks).subscribe({
        next: (event) => {
          if (event.type === 'node-usage') this.#count(event);
          mapper.map(event);
        },
        error: (error: unknown) => this.#crashed(error),
        complete: () => void this.#finish(),
      }),
    );
  }

  /** Counts a client until the subscription is ended. */
  attach(): Subscription {
    this.#clients.next(this.#clients.value + 1);
    return new Subscription(() => this.#clients.next(this.#clients.value - 1));
  }

  /** Stops the run at once; its last event says so. Does nothing when it is over. */
  cancel(): void {
    this.#abort.abort();
  }

  #count(event: NodeUsage): void {
    this.#usage.promptTokens += event.promptTokens;
    this.#usage.completionTokens += event.completionTokens;
    this.#usage.totalTokens += event.totalTokens;
    this.#usage.calls += 1;
  }

  #take(event: WireEvent): void {
    if (isLast(event)) {
      // Shown only when the conversation is kept: whoever answers it at once must find it.
      this.#terminal = event;
    } else if (this.#failure === undefined) {
      const frame = this.#frameOf(event);
      if (frame !== undefined && this.#write(frame)) this.transcript.add(event);
    }
  }

  /** Undefined, and the run fails, when the event cannot be written down: its values may be nested without end. */
  #frameOf(event: WireEvent): FreshFrame | undefined {
    try {
      return this.#framer.frame(this.#seq + 1, event);
    } catch (error) {
      this.#fail(unwritable(this.identity.id, error));
      return undefined;
    }
  }

  /** The way of nearly every event. */
  #takePiece(header: WireHeader, component: string, text: string): void {
    if (this.#failure !== undefined) return;
    if (this.#write(this.#framer.piece(this.#seq + 1, header, component, text))) this.transcript.addText(text);
  }

  /** Whether there was room in the log. */
  #write(frame: FreshFrame): boolean {
    const { maxLogBytes } = this.#options;
    this.#logBytes += frame.bytes;
    if (this.#logBytes > maxLogBytes) {
      this.#fail(logFull(this.identity.id, maxLogBytes));
      return false;
    }
    this.#seq += 1;
    this.#writer.write(frame);
    return true;
  }

  #show(frame: EventFrame): void {
    this.lastSeq = frame.seq;
    this.#frames.next(frame);
  }

  #fail(error: EngineError): void {
    this.#failure ??= error;
    this.#abort.abort();
  }

  #crashed(thrown: unknown): void {
    const error = toEngineError(thrown, 'INTERNAL');
    if (error.code === 'INTERNAL') this.#options.journal.error({ run: this.identity.id, err: thrown }, 'a run crashed');
    this.#failure ??= error;
    void this.#finish();
  }

  async #finish(): Promise<void> {
    this.#subscription.unsubscribe();
    await this.#writer.flushed();
    await this.#keepConversation();
    const frame = this.#lastFrame();
    await this.#keepLast(frame);
    this.#record = this.#recordNow(this.#statusNow(), frame.seq, this.#failureNow());
    await this.#attempt('the end of a run could not be kept', () => this.#options.whenEnded(this.#record));
    this.#show(frame);
    this.#frames.complete();
    this.#resolveEnded(this.#record);
  }

  /** What the log refused was not shown either: its numbers are free again. */
  #lastFrame(): FreshFrame {
    try {
      const frame = this.#framer.frame(this.lastSeq + 1, this.#lastEvent());
      this.transcript.add(this.#lastEvent());
      return frame;
    } catch (error) {
      this.#failure ??= unwritable(this.identity.id, error);
      return this.#framer.frame(this.lastSeq + 1, this.#lastEvent());
    }
  }

  async #keepConversation(): Promise<void> {
    const failure = this.#failureNow();
    const record = this.#recordNow(this.#statusNow(), this.lastSeq + 1, failure);
    try {
      await this.#options.keepConversation({ record, failure, session: this.#session, transcript: this.transcript });
    } catch (error) {
      this.#options.journal.error({ run: this.identity.id, err: error }, 'the conversation could not be kept');
      this.#failure ??= toEngineError(error, 'INTERNAL');
    }
  }

  /** A log that fails here is no reason to leave the clients without an end. */
  async #keepLast(frame: EventFrame): Promise<void> {
    const { log } = this.#options;
    const { tenant, id } = this.identity;
    await this.#attempt('the last event of a run could not be kept', async () => {
      await log.append(tenant, id, [frame]);
      await log.end(tenant, id);
    });
  }

  async #attempt(what: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#options.journal.error({ run: this.identity.id, err: error }, what);
    }
  }

  #statusNow(): Exclude<RunStatus, 'running'> {
    return this.#failureNow() === undefined ? this.#status : 'failed';
  }

  #failureNow(): RunRecord['error'] {
    const last = this.#lastEvent();
    return last.event === 'error'
      ? ({ code: last.data.code, message: last.data.message } as RunRecord['error'])
      : undefined;
  }

  #lastEvent(): WireEvent {
    if (this.#failure === undefined && this.#terminal !== undefined) return this.#terminal;
    const { code, message } = this.#failure ?? noEnd(this.identity.id);
    const { messageId, sessionId } = this.identity;
    return {
      event: 'error',
      message_id: messageId,
      created_at: Math.floor(this.startedAt / 1000),
      task_id: sessionId,
      session_id: sessionId,
      data: { code, message },
    };
  }

  #recordNow(status: RunStatus, lastSeq = 0, error?: RunRecord['error']): RunRecord {
    const { tenant: _, ...identity } = this.identity;
    return {
      ...identity,
      status,
      ...(error === undefined ? {} : { error }),
      ...(status === 'waiting' && this.#terminal !== undefined ? { pending: this.#terminal.data } : {}),
      startedAt: this.startedAt,
      ...(status === 'running' ? {} : { finishedAt: this.#options.now() }),
      usage: { ...this.#usage } satisfies RunUsage,
      lastSeq,
    };
  }
}

function isLast({ event }: WireEvent): boolean {
  return event === 'workflow_finished' || event === 'user_inputs' || event === 'error';
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

function noEnd(run: string): EngineError {
  return new EngineError('INTERNAL', `Run "${run}" ended without saying how.`);
}
