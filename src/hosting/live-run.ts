/** A run at work in this process, with its clients, its last event and the record that it leaves. */
import { type Observable, Subscription } from 'rxjs';
import type { RagflowProjection } from '../canvas/ragflow-events.js';
import type { Session } from '../canvas/turn.js';
import { EngineError, toEngineError } from '../errors.js';
import type { ErrorInfo, RunFailed, RunUsage, TerminalEvent } from '../graph/events.js';
import { addUsage, NO_USAGE } from '../graph/state.js';
import { doubling, retry } from '../operators/retry-with.js';
import type { RunRecord, RunStatus } from '../records/runs.js';
import { projectionOf } from './canvases.js';
import type { EventFrame } from './event-frame.js';
import type { EngineHooks, LiveRunOptions, RunIdentity } from './live-run-options.js';
import { ClientPresence } from './liveness.js';
import { RunEvents } from './run-events.js';
import type { Transcript } from './transcript.js';

/** Delays between two attempts to store the end of a run. */
const FIRST_DELAY_MS = 100;
const MAX_DELAY_MS = 2_000;

/**
 * One run with its clients, from its first event to what it leaves.
 *
 * Clients come and go without the run noticing, but for one thing: left alone for longer than the grace, it is cancelled. It is over
 * when its end is stored; while a store is away, the end waits.
 */
export class LiveRun {
  readonly identity: RunIdentity;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly projection: RagflowProjection;
  readonly clients = new ClientPresence();
  readonly #options: LiveRunOptions;
  readonly #events: RunEvents;
  readonly #abort = new AbortController();
  readonly #subscription = new Subscription();
  #usage: RunUsage;
  #record: RunRecord;
  #resolveEnded: (record: RunRecord) => void = () => {};
  #session: Session | undefined = undefined;
  #status: Exclude<RunStatus, 'running'> = 'failed';
  /** Why the service ended the run, if it was the service. */
  #failure: EngineError | undefined = undefined;
  #isFinishing = false;
  #isReleased = false;
  #hasEnded = false;

  /** Resolves with the run's record after its last event was delivered, or when it is released to another process; never rejects. */
  readonly ended: Promise<RunRecord>;

  constructor(options: LiveRunOptions) {
    const { identity, past, now } = options;
    this.#options = options;
    this.identity = identity;
    const { work, startedAt = now() } = options;
    this.startedAt = startedAt;
    this.projection = projectionOf({ ...identity, startedAt }, 'failure' in work ? undefined : work.plan);
    const { projection } = this;
    this.#events = new RunEvents({ ...options, projection, past, onFailed: (error) => this.#fail(error) });
    this.#usage = past?.usage ?? NO_USAGE;
    this.#record = this.#recordNow('running');
    this.ended = new Promise((resolve) => {
      this.#resolveEnded = resolve;
    });
  }

  /** What is known about the run at this moment. */
  get record(): RunRecord {
    return this.#record;
  }

  get transcript(): Transcript {
    return this.#events.transcript;
  }

  /** Number of the last event that was made; those after `lastSeq` are not stored yet. */
  get lastMade(): number {
    return this.#events.lastMade;
  }

  /** Number of the last event that was delivered. */
  get lastSeq(): number {
    return this.#events.lastSeq;
  }

  /** Events delivered from now on; completes after the last one, and when the run is released to another process. */
  get frames$(): Observable<EventFrame> {
    return this.#events.frames$;
  }

  /** Whether its last event was delivered. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  start(): void {
    const { identity, work, past, detachGraceMs, lease } = this.#options;
    const { id } = identity;
    lease.whenLost = () => this.release('its lease was lost');
    if (detachGraceMs !== undefined) {
      this.#subscription.add(this.clients.abandoned(detachGraceMs).subscribe(() => this.cancel()));
    }
    if ('failure' in work) {
      this.#failure = work.failure;
      void this.#finish();
      return;
    }
    const hooks: EngineHooks = {
      run: id,
      signal: this.#abort.signal,
      log: this.#events.log,
      seq: past?.lastSeq ?? 0,
      startedAt: this.startedAt,
      onSession: (session, outcome) => {
        this.#session = session;
        this.#status = outcome.status;
      },
    };
    this.#subscription.add(
      work.open(hooks).subscribe({
        next: (event) => {
          if (event.type === 'node-usage') this.#usage = addUsage(this.#usage, event);
        },
        error: (error: unknown) => this.#crashed(error),
        complete: () => void this.#finish(),
      }),
    );
  }

  /** Stops the run at once; its last event says so. Does nothing when it is over. */
  cancel(): void {
    this.#abort.abort();
  }

  /** Stops without a last event: another process resumes the run. */
  release(why: string): void {
    if (this.#isReleased || this.#hasEnded) return;
    const { logger, identity, whenOver, lease } = this.#options;
    logger.warn({ run: identity.id, reason: why }, 'run released; another process will resume it');
    this.#isReleased = true;
    this.#subscription.unsubscribe();
    this.clients.close();
    this.#events.stop(new EngineError('CONFLICT', `Run "${identity.id}" goes on in another process.`));
    whenOver();
    this.#events.complete();
    this.#resolveEnded(this.#record);
    // The process that recovers the run must not meet a write of this one that is still in flight.
    void this.#events.flushed().finally(() => lease.abandon());
  }

  #fail(error: EngineError): void {
    // The log has events of another process, so this run cannot continue; the process that recovers it reads them.
    if (error.code === 'CONFLICT') this.release('another process has written to it');
    this.#failure ??= error;
    this.#events.mute();
    this.#abort.abort();
  }

  #crashed(thrown: unknown): void {
    const error = toEngineError(thrown, 'INTERNAL');
    if (error.code === 'INTERNAL') this.#options.logger.error({ run: this.identity.id, err: thrown }, 'a run crashed');
    this.#failure ??= error;
    void this.#finish();
  }

  async #finish(): Promise<void> {
    if (this.#isFinishing) return;
    this.#isFinishing = true;
    this.#subscription.unsubscribe();
    this.clients.close();
    await this.#events.flushed();
    try {
      if (this.#isReleased || (this.#events.hasFailed && !(await this.#isStillMine()))) return;
      await this.#storeConversation();
      const frame = await this.#keepLast();
      if (frame === undefined || this.#isReleased) return;
      this.#record = this.#recordNow(this.#statusNow(), frame.seq, this.#failureNow());
      await this.#attempt('the end of a run could not be stored', () => this.#options.saveRecord(this.#record));
      await this.#options.lease.release();
      this.#options.whenOver();
      this.#hasEnded = true;
      this.#events.show(frame);
      this.#events.complete();
      this.#resolveEnded(this.#record);
    } catch (error) {
      // The server stops while its store is away: the run is resumed from its log when both are back.
      this.release(toEngineError(error, 'INTERNAL').message);
    }
  }

  /** Events that could not be stored may belong to another process by now; those that were stored after all are delivered. */
  async #isStillMine(): Promise<boolean> {
    if (!(await this.#retry(() => this.#options.lease.isHeld()))) {
      this.release('its lease was lost');
      return false;
    }
    await this.#attempt('events of a run could not be read again', () => this.#events.catchUp());
    return true;
  }

  async #storeConversation(): Promise<void> {
    const failure = this.#failureNow();
    const record = this.#recordNow(this.#statusNow(), this.lastSeq + 1, failure);
    const report = { record, failure, session: this.#session, transcript: this.transcript };
    try {
      await this.#retry(() => this.#options.storeConversation(report));
    } catch (error) {
      if (this.#options.closing.aborted) throw error;
      this.#options.logger.error({ run: this.identity.id, err: error }, 'the conversation could not be stored');
      this.#failure ??= toEngineError(error, 'INTERNAL');
    }
  }

  /** Undefined when another process has the run. A log that refuses for good is no reason to leave the clients without an end. */
  async #keepLast(): Promise<EventFrame | undefined> {
    const { log, lease } = this.#options;
    const { tenant, id } = this.identity;
    let frame = this.#lastFrame();
    const keep = async (): Promise<void> => {
      frame = this.#lastFrame();
      await log.append(tenant, id, { events: [frame] });
    };
    try {
      await this.#retry(keep);
    } catch (error) {
      if (this.#options.closing.aborted) throw error;
      if (toEngineError(error, 'INTERNAL').code === 'CONFLICT' || !(await this.#retry(() => lease.isHeld()))) {
        this.release('another process has written to it');
        return undefined;
      }
      await this.#attempt('the last event of a run could not be stored', async () => {
        await this.#events.catchUp();
        await keep();
      });
    }
    this.transcript.add(this.#lastEvent());
    await this.#attempt('the log of a run could not be ended', () => log.end(tenant, id));
    return frame;
  }

  #lastFrame(): EventFrame {
    try {
      return this.#events.lastFrame(this.#lastEvent());
    } catch (error) {
      this.#failure ??= toEngineError(error, 'INTERNAL');
      return this.#events.lastFrame(this.#lastEvent());
    }
  }

  /** Retries while a store cannot be reached, however long that takes, until the host closes. */
  #retry<T>(work: () => Promise<T>): Promise<T> {
    const { closing: signal, logger } = this.#options;
    const onRetry = (error: unknown, attempt: number): void => {
      if (attempt === 1) logger.warn({ run: this.identity.id, err: error }, 'the end of a run waits for a store');
    };
    return retry(work, { delayMs: doubling(FIRST_DELAY_MS, MAX_DELAY_MS), onRetry, signal });
  }

  async #attempt(what: string, work: () => Promise<void>): Promise<void> {
    try {
      await this.#retry(work);
    } catch (error) {
      if (this.#options.closing.aborted) throw error;
      this.#options.logger.error({ run: this.identity.id, err: error }, what);
    }
  }

  #statusNow(): Exclude<RunStatus, 'running'> {
    return this.#failureNow() === undefined ? this.#status : 'failed';
  }

  #failureNow(): RunRecord['error'] {
    const last = this.#lastEvent();
    return last.type === 'run-failed' ? errorOf(last.error) : undefined;
  }

  #lastEvent(): TerminalEvent {
    const { terminal } = this.#events;
    if (this.#failure === undefined && terminal !== undefined) return terminal;
    const { startedAt } = this;
    return failureEvent({
      run: this.identity.id,
      startedAt,
      at: this.#options.now(),
      failure: this.#failure,
      terminal,
    });
  }

  #recordNow(status: RunStatus, lastSeq = 0, error?: RunRecord['error']): RunRecord {
    const { tenant: _, ...identity } = this.identity;
    const { terminal } = this.#events;
    return {
      ...identity,
      status,
      ...(error === undefined ? {} : { error }),
      ...(status === 'waiting' && terminal !== undefined ? endIn(terminal, this.projection) : {}),
      startedAt: this.startedAt,
      ...(status === 'running' ? { launch: this.#options.launch } : { finishedAt: this.#options.now() }),
      usage: this.#usage,
      lastSeq,
    };
  }
}

/** What the host adds to a run that the engine did not end, or not with this failure. */
export interface FailureParts {
  readonly run: string;
  readonly startedAt: number;
  readonly at: number;
  /** @default that the run ended without saying how */
  readonly failure: EngineError | undefined;
  /** What the engine ended it with, if it did. */
  readonly terminal: TerminalEvent | undefined;
}

/** The event that ends a run which failed outside of the engine; its number is given by the log. */
export function failureEvent({ run, startedAt, at, failure, terminal }: FailureParts): RunFailed {
  const { code, message } = failure ?? new EngineError('INTERNAL', `Run "${run}" ended without saying how.`);
  const { input = {}, usage = NO_USAGE, openCalls } = terminal ?? {};
  return {
    type: 'run-failed',
    run,
    seq: 0,
    at,
    error: { code, message },
    elapsedMs: Math.max(0, at - startedAt),
    input,
    usage,
    ...(openCalls === undefined ? {} : { openCalls }),
  };
}

/** What the last event of a run says of how it ended. */
export function endIn(
  event: TerminalEvent,
  projection: RagflowProjection,
): Pick<RunRecord, 'status' | 'error' | 'pending'> {
  switch (event.type) {
    case 'run-interrupted':
      return { status: 'waiting', pending: projection.project(event)?.data ?? {} };
    case 'run-settled':
      return { status: 'succeeded' };
    case 'run-cancelled':
      return { status: 'cancelled' };
    case 'run-failed':
      return { status: 'failed', error: errorOf(event.error) };
  }
}

/** An error as the record of a run has it. */
export function errorOf({ code, message }: ErrorInfo): NonNullable<RunRecord['error']> {
  return { code, message };
}
