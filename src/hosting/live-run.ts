/** A run at work in this process, with its clients, its last event and the record that it leaves. */
import { setImmediate } from 'node:timers';
import { type Observable, Subscription } from 'rxjs';
import type { RagflowProjection } from '../canvas/ragflow-events.js';
import type { Session } from '../canvas/turn.js';
import { EngineError, toEngineError } from '../errors.js';
import type { RunEvent, RunUsage, TerminalEvent } from '../graph/events.js';
import type { EventLog } from '../graph/log.js';
import type { Plan } from '../graph/plan.js';
import type { RunOutcome } from '../graph/run-options.js';
import { addUsage, NO_USAGE } from '../graph/state.js';
import { doubling, retry } from '../operators/retry-with.js';
import type { CommitRun, RecordChange } from '../records/run-commit.js';
import { FIRST_EPOCH } from '../records/run-log.js';
import type { RunIdentity, RunLaunch, RunRecord } from '../records/runs.js';
import type { SessionRecord } from '../records/sessions.js';
import { projectionOf } from './canvases.js';
import { afterRun, storeConversation } from './conversation.js';
import type { EventFrame } from './event-frame.js';
import type { HostParts } from './host-options.js';
import type { SessionLease } from './leases.js';
import { ClientPresence } from './liveness.js';
import { RunEvents } from './run-events.js';
import type { RunPast } from './run-past.js';
import { endIn, type RecordParts, recordOfEnd, recordOfStart } from './run-record.js';
import type { Transcript } from './transcript.js';

/** Hooks through which a run takes its way from the engine into the conversation. */
export interface EngineHooks {
  readonly run: string;
  readonly signal: AbortSignal;
  readonly log: EventLog;
  /** Number of the last event in the log. */
  readonly seq: number;
  /** Milliseconds since 1970, at the first start of the run. */
  readonly startedAt: number;
  readonly onSession: (session: Session, outcome: RunOutcome) => void;
}

/** What a run does: the engine's side, cold, one subscription is the run; or the reason why it cannot. */
export type RunWork =
  | { readonly plan: Plan; readonly open: (hooks: EngineHooks) => Observable<RunEvent> }
  | { readonly failure: EngineError };

/** What a run is started with. */
export interface RunStart {
  readonly identity: RunIdentity;
  readonly work: RunWork;
  /** What the run did in a process that was lost. */
  readonly past?: RunPast | undefined;
  /** Milliseconds since 1970, at the first start of a run that is recovered. @default now */
  readonly startedAt?: number | undefined;
  readonly launch: RunLaunch;
  readonly storesTrace: boolean;
  /** The session as the run begins with it; stored with the start of a new run. Without it the end of a run is stored in steps. */
  readonly session?: RecordChange<SessionRecord> | undefined;
  /** The record as it is stored, with the epoch of this process, when the run was claimed. @default a new run, of the first epoch */
  readonly claimed?: RunRecord | undefined;
}

export interface LiveRunOptions extends RunStart {
  readonly parts: HostParts;
  readonly commit: CommitRun;
  readonly lease: SessionLease;
  /** Called with each event that is published. */
  readonly whenPublished: () => void;
  /** Called once when the run is over here, before its last event is delivered. */
  readonly whenOver: () => void;
  /** Aborted when unreachable stores are not waited for any more. */
  readonly closing: AbortSignal;
}

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
  /** Of this process as the writer of the run; see `RunLog`. */
  readonly #epoch: number;
  readonly #events: RunEvents;
  readonly #abort = new AbortController();
  readonly #subscription = new Subscription();
  #usage: RunUsage;
  /** What is known about the run at this moment. */
  record: RunRecord;
  #resolveEnded: (record: RunRecord) => void = () => {};
  #session: Session | undefined = undefined;
  /** Why the service ended the run, if it was the service. */
  #failure: EngineError | undefined = undefined;
  /** Milliseconds since 1970. */
  #failedAt: number | undefined = undefined;
  #relaunching: Promise<unknown> = Promise.resolve();
  /** Resolves when its start is stored, or cannot be. */
  #beginning: Promise<unknown> = Promise.resolve();
  #isFinishing = false;
  #isReleased = false;
  /** Whether its start is stored. */
  #hasBegun: boolean;
  /** Whether its last event was delivered. */
  hasEnded = false;

  /** Resolves with the run's record after its last event was delivered, or when it is released to another process; never rejects. */
  readonly ended: Promise<RunRecord>;

  constructor(options: LiveRunOptions) {
    const { identity, past, parts, commit, work, startedAt = parts.now(), storesTrace, claimed } = options;
    this.#options = options;
    this.#hasBegun = claimed !== undefined;
    this.#epoch = claimed?.epoch ?? FIRST_EPOCH;
    this.identity = identity;
    this.startedAt = startedAt;
    this.projection = projectionOf({ ...identity, startedAt }, 'failure' in work ? undefined : work.plan);
    const { projection } = this;
    this.#events = new RunEvents({
      ...{ identity, projection, storesTrace, past },
      log: parts.stores.log,
      commit,
      epoch: this.#epoch,
      maxLogBytes: parts.limits.runLogBytes,
      maxUnstoredBytes: parts.limits.runUnstoredBytes,
      onFailed: (error) => this.#fail(error),
      onPublished: options.whenPublished,
    });
    this.#usage = past?.usage ?? NO_USAGE;
    this.record = recordOfStart(this.#recordParts(0), options.launch);
    this.ended = new Promise((resolve) => {
      this.#resolveEnded = resolve;
    });
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

  /** The events after one that were delivered; undefined when not all of them are in memory any more. */
  publishedAfter(seq: number): readonly EventFrame[] | undefined {
    return this.#events.publishedAfter(seq);
  }

  /**
   * Starts; resolves when the start of a new run is stored, with its first events.
   *
   * @throws what the store throws; then the run is over, and nothing but its caller knows of it.
   */
  async start(): Promise<void> {
    const { session, lease } = this.#options;
    if (this.#hasBegun) {
      this.#open();
      setImmediate(this.#watchClients);
      return;
    }
    const begun = this.#events.begin({
      ...(!lease.isAcquired && { acquire: lease.acquisition }),
      ...(session && { session }),
      record: { after: this.record },
    });
    // Also while its first nodes are at work, and the last ones: an end is stored behind the start.
    this.#beginning = begun.catch(() => {});
    this.#open();
    await begun;
    lease.hold();
    this.#hasBegun = true;
    // The client that started the run is there in a moment.
    setImmediate(this.#watchClients);
  }

  readonly #watchClients = (): void => {
    const { launch, parts } = this.#options;
    const { detachGraceMs } = parts.limits;
    if (launch.isDetached || detachGraceMs === 0 || this.#isFinishing || this.#isReleased) return;
    this.#subscription.add(this.clients.abandoned(detachGraceMs).subscribe(() => this.cancel()));
  };

  #open(): void {
    const { identity, work, past, lease } = this.#options;
    const { id } = identity;
    const whenLost = () => this.release('its lease was lost', true);
    lease.whenLost = whenLost;
    if ('failure' in work) {
      this.#failure = work.failure;
      void this.#finish();
      return;
    }
    const { log } = this.#events;
    const hooks: EngineHooks = {
      run: id,
      signal: this.#abort.signal,
      // No node begins here when another process may have the run.
      log: { ...log, ready: () => lease.unconfirmed() ?? log.ready?.() },
      seq: past?.lastSeq ?? 0,
      startedAt: this.startedAt,
      onSession: (session) => {
        this.#session = session;
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

  /** Stops the run at once; its last event is that it was cancelled. Does nothing when it is over. */
  cancel(): void {
    this.#abort.abort();
  }

  /** Stores another launch, as long as the run is at work. Rejects with what the store throws. */
  relaunch(launch: RunLaunch): Promise<void> {
    if (this.#isFinishing || this.#isReleased) return Promise.resolve();
    const before = this.record;
    this.record = { ...before, launch };
    const stored = this.#options.parts.stores.runs.replace(this.identity.tenant, before, this.record);
    // The record of the end must not be overtaken by it.
    this.#relaunching = stored.catch(() => false);
    return stored.then(() => undefined);
  }

  /** Stops without a last event: another process resumes the run. @param isLoss whether that counts as a loss of its process */
  release(why: string, isLoss: boolean): void {
    if (this.#isReleased || this.hasEnded) return;
    const { parts, identity, lease } = this.#options;
    parts.logger.warn({ run: identity.id, reason: why }, 'run released; another process will resume it');
    this.#leave();
    // A write that is still in flight is stored before another process claims the run, or refused.
    void lease.abandon(isLoss);
  }

  /** Stops without a last event. */
  #leave(): void {
    const { identity, whenOver } = this.#options;
    this.#isReleased = true;
    this.#subscription.unsubscribe();
    this.clients.close();
    this.#events.stop(new EngineError('CONFLICT', `Run "${identity.id}" continues in another process.`));
    whenOver();
    this.#events.complete();
    this.#resolveEnded(this.record);
  }

  #fail(error: EngineError): void {
    if (!this.#hasBegun && this.#events.hasFailed) {
      // Its start was not stored: the caller reports why.
      this.#leave();
      return;
    }
    // The log has events of another process, so this run cannot continue; the process that recovers it reads them.
    if (error.code === 'CONFLICT') this.release('another process has written to it', true);
    this.#failure ??= error;
    this.#events.mute();
    this.#abort.abort();
  }

  #crashed(thrown: unknown): void {
    const error = toEngineError(thrown, 'INTERNAL');
    if (error.code === 'INTERNAL') this.#logError(thrown, 'a run crashed');
    this.#failure ??= error;
    void this.#finish();
  }

  async #finish(): Promise<void> {
    if (this.#isFinishing) return;
    this.#isFinishing = true;
    this.#subscription.unsubscribe();
    this.clients.close();
    try {
      if (await this.#endAtOnce()) return;
      await this.#events.flushed();
      if (this.#isReleased || (this.#events.hasFailed && !(await this.#isStillMine()))) return;
      await this.#storeConversation();
      if (this.#isReleased) return;
      const frame = await this.#storeLast();
      if (frame === undefined || this.#isReleased) return;
      await this.#storeRecord(frame.seq);
      await this.#options.lease.release();
      this.#deliverLast(frame);
    } catch (error) {
      // The server stops while its store is away: the run is resumed from its log when both are back.
      this.release(toEngineError(error, 'INTERNAL').message, false);
    }
  }

  #deliverLast(frame: EventFrame): void {
    this.#options.whenOver();
    this.hasEnded = true;
    this.#events.publish(frame);
    this.#events.complete();
    this.#resolveEnded(this.record);
  }

  /** Stores what waits, the conversation, the last event and the record in one step; false when that is refused, or not possible. */
  async #endAtOnce(): Promise<boolean> {
    const { session, lease, parts, closing } = this.#options;
    await Promise.all([this.#beginning, this.#events.idle(), this.#relaunching]);
    if (session === undefined || this.#isReleased || this.#events.hasFailed) return false;
    try {
      const last = this.#lastEvent();
      const frame = this.#events.lastFrame(last, this.lastMade);
      const record = this.#recordOfEnd(frame.seq);
      const end = { record, session: this.#session, transcript: this.transcript };
      const extras = {
        session: { before: session.after, after: afterRun(session.after, end, parts.now()) },
        record: { before: this.record, after: record },
        isLast: true,
        release: lease.acquisition,
      };
      lease.isEnding = true;
      await this.#retry(() => this.#events.end(frame, extras));
      // Released in that moment: its clients follow the log, which has the end.
      if (this.#isReleased) return true;
      lease.forget();
      this.transcript.add(last);
      this.record = record;
      this.#deliverLast(frame);
      return true;
    } catch (error) {
      if (closing.aborted) throw error;
      // What of it is refused, and what is still possible, shows when each part is stored by itself.
      lease.isEnding = false;
      return false;
    }
  }

  /** A process that has claimed the run meanwhile finds its last event, and stores the record itself. */
  async #storeRecord(lastSeq: number): Promise<void> {
    const { runs } = this.#options.parts.stores;
    await this.#relaunching;
    const before = this.record;
    this.record = this.#recordOfEnd(lastSeq);
    await this.#attempt('the end of a run could not be stored', async () => {
      await runs.replace(this.identity.tenant, before, this.record);
    });
  }

  /** Events that could not be stored may belong to another process by now; those that were stored after all are delivered. */
  async #isStillMine(): Promise<boolean> {
    if (!(await this.#retry(() => this.#options.lease.isHeld()))) {
      this.release('its lease was lost', true);
      return false;
    }
    await this.#attempt('events of a run could not be read again', () => this.#events.catchUp());
    return true;
  }

  async #storeConversation(): Promise<void> {
    const { stores, now } = this.#options.parts;
    const record = this.#recordOfEnd(this.lastSeq + 1);
    const end = { record, session: this.#session, transcript: this.transcript };
    try {
      await this.#retry(() => storeConversation(stores.sessions, this.identity, this.#epoch, end, now()));
    } catch (error) {
      if (this.#options.closing.aborted) throw error;
      if (isConflict(error)) {
        this.release('another process has claimed it', true);
        return;
      }
      this.#logError(error, 'the conversation could not be stored');
      this.#failure ??= toEngineError(error, 'INTERNAL');
    }
  }

  /** Undefined when another process has the run. A log that refuses for good is no reason to leave the clients without an end. */
  async #storeLast(): Promise<EventFrame | undefined> {
    const { lease, parts } = this.#options;
    const { log } = parts.stores;
    const { tenant, id } = this.identity;
    let frame = this.#lastFrame();
    const store = async (): Promise<void> => {
      frame = this.#lastFrame();
      await log.append(tenant, id, { epoch: this.#epoch, events: [frame] });
    };
    try {
      await this.#retry(store);
    } catch (error) {
      if (this.#options.closing.aborted) throw error;
      if (isConflict(error) || !(await this.#retry(() => lease.isHeld()))) {
        this.release('another process has written to it', true);
        return undefined;
      }
      await this.#attempt('the last event of a run could not be stored', async () => {
        await this.#events.catchUp();
        await store();
      });
    }
    this.transcript.add(this.#lastEvent());
    await this.#attempt('the log of a run could not be ended', async () => {
      await log.end(tenant, id, this.#epoch).catch((error: unknown) => {
        // The process that has claimed it meanwhile ends it.
        if (!isConflict(error)) throw error;
      });
    });
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
    const { closing: signal, parts } = this.#options;
    const onRetry = (error: unknown, attempt: number): void => {
      if (attempt === 1) parts.logger.warn({ run: this.identity.id, err: error }, 'the end of a run waits for a store');
    };
    return retry(work, { delayMs: doubling(FIRST_DELAY_MS, MAX_DELAY_MS), onRetry, signal });
  }

  async #attempt(what: string, work: () => Promise<void>): Promise<void> {
    try {
      await this.#retry(work);
    } catch (error) {
      if (this.#options.closing.aborted) throw error;
      this.#logError(error, what);
    }
  }

  #logError(err: unknown, what: string): void {
    this.#options.parts.logger.error({ run: this.identity.id, err }, what);
  }

  /** What the engine ended the run with, unless the service ended it. */
  #lastEvent(): TerminalEvent {
    const { terminal } = this.#events;
    if (this.#failure === undefined && terminal !== undefined) return terminal;
    const { id: run } = this.identity;
    const { code, message } = this.#failure ?? new EngineError('INTERNAL', `Run "${run}" ended without saying how.`);
    const { input = {}, usage = NO_USAGE, openCalls } = terminal ?? {};
    // The same each time: a client may have read what a write that is tried again has stored.
    this.#failedAt ??= this.#options.parts.now();
    const at = this.#failedAt;
    return {
      ...{ type: 'run-failed', run, at, error: { code, message }, input, usage },
      // The log gives its number.
      seq: 0,
      elapsedMs: Math.max(0, at - this.startedAt),
      ...(openCalls === undefined ? {} : { openCalls }),
    };
  }

  #recordOfEnd(lastSeq: number): RunRecord {
    const end = endIn(this.#lastEvent(), this.projection);
    return recordOfEnd(this.#recordParts(lastSeq), end, this.#options.parts.now());
  }

  #recordParts(lastSeq: number): RecordParts {
    return { identity: this.identity, epoch: this.#epoch, startedAt: this.startedAt, usage: this.#usage, lastSeq };
  }
}

function isConflict(error: unknown): boolean {
  return EngineError.is(error) && error.code === 'CONFLICT';
}
