/** All runs at work in this process, and how clients find them and those of other processes. */
import { AsyncSubject, from, lastValueFrom, merge, type Observable, of, Subscription, takeUntil, timer } from 'rxjs';
import type { RagflowProjection } from '../canvas/ragflow-events.js';
import { EngineError } from '../errors.js';
import { PassingMap, PassingValues } from '../passing-values.js';
import { type CommitRun, commitInSteps, sessionTaken } from '../records/run-commit.js';
import type { RunIdentity, RunRecord } from '../records/runs.js';
import { observed } from '../telemetry/run-watch.js';
import type { TraceContext } from '../trace-context.js';
import { findProjection } from './canvases.js';
import type { EventFrame } from './event-frame.js';
import { type Following, follow } from './follow.js';
import type { HostParts } from './host-options.js';
import { type LeaseRequest, type SessionLease, SessionLeases } from './leases.js';
import { LiveRun, type RunStart } from './live-run.js';
import { BELIEVED_MS, RunNotifications } from './notifications.js';
import { claimedElsewhere, noRun } from './refusals.js';
import { RunChanges } from './run-changes.js';
import { SessionQuota } from './session-quota.js';
import { partyOf } from './shares.js';

/** Which runs; every condition that is given must hold. */
export interface LiveFilter {
  readonly run?: string;
  readonly agentId?: string;
  readonly sessionId?: string;
}

/** Whom to send events to, and from where on. */
export interface ClientCursor {
  readonly after: number;
  readonly ready$: Observable<boolean>;
  /** Whether it gets every event by itself, however slow it is. @default false */
  readonly isExact?: boolean;
  /** Whether it has all earlier events, and reads `lean`. @default false */
  readonly isLean?: boolean;
}

/** Runs of one agent that are cancelled in other processes by one request. */
const MAX_CANCELLED = 10_000;

/** How long runs may take to be released, in milliseconds. */
const RELEASE_MS = 2_000;

/** Beyond the number of any event. */
const AFTER_ALL = 2_000_000_000;

/** All runs at work in this process, and the way to those of others. */
export class RunHub {
  readonly parts: HostParts;
  readonly #commit: CommitRun;
  /** By id, which no two runs of any tenants have in common. */
  readonly #live = new PassingMap<LiveRun>();
  readonly #followers = new PassingValues<Following>();
  /** Runs whose last event was not delivered yet; they have released their sessions a moment before. */
  readonly #unfinished = new PassingValues<Promise<unknown>>();
  readonly leases: SessionLeases;
  readonly sessionQuota: SessionQuota;
  readonly #notifications: RunNotifications;
  /** Of all agents; runs of chats are listed elsewhere. */
  readonly changes: RunChanges;
  readonly #closing = new AbortController();
  /** Errors when the process goes away, for those who follow runs of others. */
  readonly #stopped = new AsyncSubject<never>();
  #isClosing = false;

  constructor(parts: HostParts) {
    this.parts = parts;
    this.#commit = parts.stores.commit ?? commitInSteps(parts.stores);
    this.leases = new SessionLeases(parts);
    this.sessionQuota = new SessionQuota(parts.stores.usage, parts.now);
    this.changes = new RunChanges(parts.stores.signals);
    this.#notifications = new RunNotifications(parts.stores.signals, parts.now, (run) => {
      const live = this.#live.get(run);
      live?.clients.visit(BELIEVED_MS);
      return live !== undefined;
    });
  }

  /** How many are running. */
  get size(): number {
    return this.#live.size;
  }

  /** Whether a tenant may have another run in this process; those that are about to begin count. */
  hasRoom(tenant: string): boolean {
    return this.leases.shares.hasRoom(tenant);
  }

  /** Events that are made and wait to be stored; and those that were delivered and wait for their clients. */
  get queues(): { readonly log: number; readonly clients: number } {
    let [log, clients] = [0, 0];
    for (const live of this.#live.list()) log += Math.max(0, live.lastMade - live.lastSeq);
    for (const { behind } of this.#followers.list()) clients += behind;
    return { log, clients };
  }

  /**
   * @param isNew the session is made by the run: its lease is acquired when that starts
   * @throws EngineError SESSION_BUSY while another run has the session, LIMIT_REACHED while the server takes no runs.
   */
  async lease(request: LeaseRequest, isNew: boolean): Promise<SessionLease> {
    if (this.#isClosing) throw new EngineError('LIMIT_REACHED', 'The server is shutting down and starts no more runs.');
    if (this.leases.has(request.tenant, request.sessionId)) throw sessionTaken();
    const { shares } = this.leases;
    const party = partyOf(request.tenant, request.isVisitor);
    if (!shares.hasRoom(party)) {
      throw new EngineError('LIMIT_REACHED', shares.refusal(party, 'runs'));
    }
    const lease = isNew ? this.leases.prepare(request) : await this.leases.acquire(request);
    if (lease === undefined) throw sessionTaken();
    return lease;
  }

  /**
   * Starts a run, or resumes one; the lease is released when it ends.
   *
   * @param trace the caller's position in a trace
   * @throws EngineError CONFLICT when another process has claimed the run meanwhile.
   */
  async start(start: RunStart, lease: SessionLease, trace: TraceContext = {}): Promise<LiveRun> {
    const { identity, work, claimed, past, startedAt, launch, storesTrace, session } = start;
    const { stores, telemetry } = this.parts;
    const { tenant, id } = identity;
    const watching = new Subscription();
    const live = new LiveRun({
      ...{ identity, claimed, past, startedAt, launch, storesTrace, session },
      work:
        telemetry === undefined || 'failure' in work
          ? work
          : { plan: work.plan, open: observed(telemetry, { ...identity, plan: work.plan, trace }, work.open) },
      parts: this.parts,
      commit: this.#commit,
      lease,
      closing: this.#closing.signal,
      whenPublished: () => this.#notifications.notify(id),
      whenOver: () => {
        watching.unsubscribe();
        this.#live.delete(id);
        this.#notifications.forget(id);
      },
    });
    if (claimed !== undefined && !(await stores.runs.replace(tenant, claimed, live.record))) throw claimedElsewhere(id);
    this.#live.set(id, live);
    const ended: Promise<void> = live.ended.then((record) => {
      this.#unfinished.remove(place, ended);
      this.count(record);
      this.#noteChange(identity);
    });
    const place = this.#unfinished.add(ended);
    this.#watchCancels(live, watching, !lease.isAcquired);
    await live.start();
    this.#noteChange(identity);
    // It was claimed in time and came too late all the same.
    if (this.#closing.signal.aborted) this.#stop(live);
    return live;
  }

  #noteChange({ tenant, isChat }: RunIdentity): void {
    if (isChat !== true) this.changes.note(tenant);
  }

  /** Counts a run that has ended; one that was released ends in another process. */
  count(record: RunRecord): void {
    if (record.status !== 'running') this.parts.telemetry?.meters.ended(record);
  }

  /** A run of this process. */
  find(tenant: string, run: string): LiveRun | undefined {
    const live = this.#live.get(run);
    return live?.identity.tenant === tenant ? live : undefined;
  }

  /** A run, running or not. */
  async record(tenant: string, run: string): Promise<RunRecord | undefined> {
    return this.find(tenant, run)?.record ?? (await this.parts.stores.runs.find(tenant, run));
  }

  /** The projection of a run into RAGFlow's format, whatever process it is in. @throws EngineError NOT_FOUND. */
  async projection(tenant: string, run: string): Promise<RagflowProjection> {
    const live = this.find(tenant, run);
    if (live !== undefined) return live.projection;
    const { stores, openCanvas } = this.parts;
    const record = await stores.runs.find(tenant, run);
    if (record === undefined) throw noRun();
    return findProjection(stores.sessions, openCanvas, tenant, record);
  }

  /** Events of a run after those that a client has; see {@link follow}. */
  follow(tenant: string, run: string, client: ClientCursor): Observable<EventFrame> {
    const { stores, storedLog, limits } = this.parts;
    return follow({
      after: client.after,
      ready$: client.ready$,
      isExact: client.isExact,
      log: client.isLean === true ? storedLog : stores.log,
      tenant,
      run,
      findLive: () => this.find(tenant, run),
      findRecord: () => this.record(tenant, run),
      findProjection: () => this.projection(tenant, run),
      openNotifications: () => merge(this.#notifications.of(run), this.#stopped),
      maxQueueBytes: limits.clientQueueBytes,
      followers: this.#followers,
    });
  }

  /** Cancels the runs that match, here and in other processes. Gives those that another process was asked to cancel. */
  async cancel(tenant: string, which: LiveFilter): Promise<readonly RunRecord[]> {
    for (const live of this.#live.list()) {
      if (live.identity.tenant === tenant && isMeant(live.identity, which)) live.cancel();
    }
    const { signals } = this.parts.stores;
    const elsewhere = (await this.#runningOf(tenant, which)).filter(({ id }) => this.find(tenant, id) === undefined);
    // By the run's own id: the request must not reach a later run of the same session.
    await Promise.all(elsewhere.map(({ id }) => signals.requestCancel(id)));
    return elsewhere;
  }

  /** Resolves when a run is over, in whatever process it is, at the latest after `patienceMs`. */
  async whenOver(tenant: string, run: string, patienceMs: number): Promise<void> {
    // As a client it would keep a run of this process from being cancelled as abandoned.
    const live = this.find(tenant, run);
    const ended$: Observable<unknown> =
      live === undefined ? this.follow(tenant, run, { after: AFTER_ALL, ready$: of(true) }) : from(live.ended);
    await lastValueFrom(ended$.pipe(takeUntil(timer(patienceMs))), { defaultValue: undefined });
  }

  /** Runs that match and have not ended, as far as the store knows. */
  async #runningOf(tenant: string, which: LiveFilter): Promise<readonly RunRecord[]> {
    const { runs, sessions } = this.parts.stores;
    const { run, agentId, sessionId } = which;
    const id = run ?? (sessionId === undefined ? undefined : (await sessions.find(tenant, sessionId))?.lastRun);
    if (id !== undefined) {
      const record = await runs.find(tenant, id);
      return record?.status === 'running' && isMeant(record, which) ? [record] : [];
    }
    if (agentId === undefined || sessionId !== undefined) return [];
    return (await runs.list(tenant, { agentId, status: 'running', offset: 0, limit: MAX_CANCELLED })).items;
  }

  /**
   * Takes no more runs, gives those that are running `graceMs` to end, then cancels them, or releases those that outlive the process. Ends
   * {@link RELEASE_MS} later also while a store does not answer: leases that could not be given up expire.
   */
  async close(graceMs: number): Promise<void> {
    this.#isClosing = true;
    const timeout = setTimeout(() => {
      this.#closing.abort();
      for (const live of this.#live.list()) this.#stop(live);
    }, graceMs);
    try {
      const released = this.leases.whenEmpty().then(() => Promise.all(this.#unfinished.list()));
      await lastValueFrom(from(released).pipe(takeUntil(timer(graceMs + RELEASE_MS))), { defaultValue: undefined });
      const { size } = this.leases;
      if (size > 0) this.parts.logger.warn({ runs: size }, 'a store does not answer, so leases of runs will expire');
      this.#stopped.error(new EngineError('STORE_UNAVAILABLE', 'The server stops; follow the run again.'));
    } finally {
      clearTimeout(timeout);
      this.leases.close();
      this.#notifications.close();
      this.changes.close();
    }
  }

  /** By the run's own id, and by the session's, which is RAGFlow's name of the task. */
  #watchCancels(live: LiveRun, watching: Subscription, isNew: boolean): void {
    const { logger, stores } = this.parts;
    const { signals } = stores;
    const { id, sessionId } = live.identity;
    const observer = {
      next: () => live.cancel(),
      error: (error: unknown) => logger.error({ run: id, err: error }, 'requests to cancel a run are not received'),
    };
    for (const task of [id, sessionId]) watching.add(signals.cancelOf(task, isNew).subscribe(observer));
  }

  #stop(live: LiveRun): void {
    const { durability, stores } = this.parts;
    if (durability === 'exit' || stores.log.isVolatile === true) live.cancel();
    else live.release('the server stops', false);
  }
}

function isMeant(
  { id, agentId, sessionId }: Pick<RunRecord, 'id' | 'agentId' | 'sessionId'>,
  which: LiveFilter,
): boolean {
  if (which.run !== undefined && which.run !== id) return false;
  if (which.agentId !== undefined && which.agentId !== agentId) return false;
  return which.sessionId === undefined || which.sessionId === sessionId;
}
