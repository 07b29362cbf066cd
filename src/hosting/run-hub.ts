/** All runs at work in this process, and how clients find them and those of other processes. */
import {
  AsyncSubject,
  endWith,
  filter,
  firstValueFrom,
  from,
  ignoreElements,
  merge,
  type Observable,
  of,
  race,
  Subject,
  Subscription,
  timer,
} from 'rxjs';
import type { RagflowProjection } from '../canvas/ragflow-events.js';
import { EngineError } from '../errors.js';
import type { Log } from '../logger.js';
import { FIRST_EPOCH } from '../records/run-log.js';
import type { RunRecord } from '../records/runs.js';
import { observed } from '../telemetry/run-watch.js';
import type { Telemetry } from '../telemetry/telemetry.js';
import type { TraceContext } from '../trace-context.js';
import { findProjection, type OpenCanvas } from './canvases.js';
import { storeConversation } from './conversation.js';
import type { EventFrame } from './event-frame.js';
import { type Following, follow } from './follow.js';
import type { HostLimits, HostStores } from './host-options.js';
import { freeing, type SessionLease, SessionLeases } from './leases.js';
import { LiveRun } from './live-run.js';
import type { LiveRunOptions } from './live-run-options.js';
import { BELIEVED_MS, RunNotifications } from './notifications.js';
import { busySession, noRun } from './refusals.js';

export interface RunHubOptions {
  readonly stores: HostStores;
  /** Whether another process can recover the runs of this one. */
  readonly areRecoverable: boolean;
  /** Opens documents of sessions. */
  readonly openCanvas: OpenCanvas;
  readonly limits: HostLimits;
  readonly logger: Log;
  readonly now: () => number;
  /** Watches the runs and counts them. @default none */
  readonly telemetry?: Telemetry;
}

/** What the hub does not know about a run itself. */
export interface RunStart
  extends Pick<LiveRunOptions, 'identity' | 'work' | 'past' | 'startedAt' | 'launch' | 'keepsTrace'> {
  /** The caller's position in a trace. @default none */
  readonly trace?: TraceContext;
  /** What recovery has claimed; absent for a new run. */
  readonly claimed?: ClaimedRun;
}

/** A run that this process has claimed. */
export interface ClaimedRun {
  readonly epoch: number;
  /** Its record as it is stored, with that epoch. */
  readonly record: RunRecord;
}

/** Whose session, and the run that requests it. */
export interface LeaseRequest {
  readonly tenant: string;
  readonly sessionId: string;
  readonly agentId: string;
  readonly run: string;
}

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
}

/** Runs of one agent that are cancelled in other processes by one request. */
const MAX_CANCELLED = 10_000;

/** Beyond the number of any event. */
const AFTER_ALL = 2_000_000_000;

/** All runs at work in this process, and the way to those of others. */
export class RunHub {
  readonly #options: RunHubOptions;
  readonly #live = new Map<string, LiveRun>();
  readonly #byId = new Map<string, LiveRun>();
  readonly #followers = new Set<Following>();
  /** Runs whose last event was not delivered yet; they have released their sessions a moment before. */
  readonly #unfinished = new Set<Promise<unknown>>();
  /** Sessions that this process has or is about to have. */
  readonly #leased = new Set<string>();
  readonly #leases: SessionLeases;
  readonly #notifications: RunNotifications;
  readonly #changes = new Subject<void>();
  readonly #closing = new AbortController();
  /** Errors when the process goes away, for those who follow runs of others. */
  readonly #stopped = new AsyncSubject<never>();
  #isClosing = false;
  #isGraceOver = false;

  constructor(options: RunHubOptions) {
    const { limits, logger, now } = options;
    const { leases, signals } = options.stores;
    this.#options = options;
    this.#leases = new SessionLeases({ leases, ttlMs: limits.leaseMs, logger });
    this.#notifications = new RunNotifications(signals, now, (run) => {
      const live = this.#byId.get(run);
      live?.clients.visit(BELIEVED_MS);
      return live !== undefined;
    });
  }

  /** Whether this process has a session, or is about to have it. */
  hasLease(tenant: string, sessionId: string): boolean {
    return this.#leased.has(keyOf(tenant, sessionId));
  }

  /** How many are running. */
  get size(): number {
    return this.#live.size;
  }

  /** Events that are made and wait to be stored; and those that were delivered and wait for their clients. */
  get queues(): { readonly log: number; readonly clients: number } {
    let [log, clients] = [0, 0];
    for (const live of this.#live.values()) log += Math.max(0, live.lastMade - live.lastSeq);
    for (const { behind } of this.#followers) clients += behind;
    return { log, clients };
  }

  /** @throws EngineError SESSION_BUSY while another run has the session, LIMIT_REACHED while the server takes no runs. */
  async lease(request: LeaseRequest): Promise<SessionLease> {
    const { tenant, sessionId } = request;
    if (this.#isClosing) throw new EngineError('LIMIT_REACHED', 'The server is shutting down and starts no more runs.');
    if (this.#leased.has(keyOf(tenant, sessionId))) throw busySession();
    const { maxRuns } = this.#options.limits;
    if (this.#leased.size >= maxRuns) {
      throw new EngineError('LIMIT_REACHED', `${maxRuns} runs are going on, which is the most; try again later.`);
    }
    const lease = await this.tryLease(request);
    if (lease === undefined) throw busySession();
    return lease;
  }

  /** Undefined while another run has the session. */
  async tryLease({ tenant, sessionId, agentId, run }: LeaseRequest): Promise<SessionLease | undefined> {
    const key = keyOf(tenant, sessionId);
    if (this.#leased.has(key)) return undefined;
    // Before anything is waited for: two requests must not both find it free.
    this.#leased.add(key);
    const free = (): void => {
      this.#leased.delete(key);
      this.#changes.next();
    };
    try {
      const lease = await this.#leases.acquire(tenant, sessionId, {
        run,
        agent: agentId,
        home: this.#options.stores.home ?? '',
      });
      if (lease === undefined) free();
      return lease === undefined ? undefined : freeing(lease, free);
    } catch (error) {
      free();
      throw error;
    }
  }

  /** Starts a run, or resumes one; the lease is released when it ends. */
  async start(start: RunStart, lease: SessionLease): Promise<LiveRun> {
    const { trace, claimed, ...rest } = start;
    const { identity, launch, work } = start;
    const epoch = claimed?.epoch ?? FIRST_EPOCH;
    const { stores, limits, logger, now, telemetry } = this.#options;
    const { tenant, id } = identity;
    const watching = new Subscription();
    const live = new LiveRun({
      ...rest,
      work:
        telemetry === undefined || 'failure' in work
          ? work
          : { ...work, open: observed(telemetry, { ...identity, plan: work.plan, trace }, work.open) },
      log: stores.log,
      epoch,
      lease,
      maxLogBytes: limits.runLogBytes,
      detachGraceMs: launch.isDetached || limits.detachGraceMs === 0 ? undefined : limits.detachGraceMs,
      logger,
      now,
      closing: this.#closing.signal,
      storeConversation: (end) => storeConversation(stores.sessions, { ...identity, epoch }, end, now()),
      saveRecord: async (record) => {
        await stores.runs.replace(tenant, live.record, record);
      },
      whenOver: () => {
        watching.unsubscribe();
        this.#live.delete(keyOf(tenant, id));
        this.#byId.delete(id);
        this.#notifications.forget(id);
      },
    });
    if (claimed === undefined) await stores.runs.save(tenant, live.record);
    else if (!(await stores.runs.replace(tenant, claimed.record, live.record))) throw claimedElsewhere(id);
    this.#live.set(keyOf(tenant, id), live);
    this.#byId.set(id, live);
    const ended = live.ended.then((record) => {
      this.#unfinished.delete(ended);
      this.count(record);
    });
    this.#unfinished.add(ended);
    watching.add(live.frames$.subscribe(() => this.#notifications.notify(id)));
    this.#watchCancels(live, watching);
    live.start();
    // It was claimed in time and came too late all the same.
    if (this.#isGraceOver) this.#stop(live);
    return live;
  }

  /** Counts a run that has ended; one that was released ends in another process. */
  count(record: RunRecord): void {
    if (record.status !== 'running') this.#options.telemetry?.meters.ended(record);
  }

  /** A run of this process. */
  find(tenant: string, run: string): LiveRun | undefined {
    return this.#live.get(keyOf(tenant, run));
  }

  /** A run, running or not. */
  async record(tenant: string, run: string): Promise<RunRecord | undefined> {
    return this.find(tenant, run)?.record ?? (await this.#options.stores.runs.find(tenant, run));
  }

  /** The projection of a run into RAGFlow's format, whatever process it is in. @throws EngineError NOT_FOUND. */
  async projection(tenant: string, run: string): Promise<RagflowProjection> {
    const live = this.find(tenant, run);
    if (live !== undefined) return live.projection;
    const { stores, openCanvas } = this.#options;
    const record = await stores.runs.find(tenant, run);
    if (record === undefined) throw noRun();
    return findProjection(stores.sessions, openCanvas, tenant, record);
  }

  /** Events of a run after those that a client has; see {@link follow}. */
  follow(tenant: string, run: string, client: ClientCursor): Observable<EventFrame> {
    const { stores, limits } = this.#options;
    return follow({
      ...client,
      log: stores.log,
      tenant,
      run,
      findLive: () => this.find(tenant, run),
      findRecord: () => this.record(tenant, run),
      findProjection: () => this.projection(tenant, run),
      notifications$: merge(this.#notifications.of(run), this.#stopped),
      maxQueueBytes: limits.clientQueueBytes,
      followers: this.#followers,
    });
  }

  /** Cancels the runs that match, here and in other processes. Gives those that another process was asked to cancel. */
  async cancel(tenant: string, which: LiveFilter): Promise<readonly RunRecord[]> {
    this.cancelHere(tenant, which);
    const { signals } = this.#options.stores;
    const elsewhere = (await this.#runningOf(tenant, which)).filter(({ id }) => this.find(tenant, id) === undefined);
    // By the run's own id: the request must not reach a later run of the same session.
    await Promise.all(elsewhere.map(({ id }) => signals.requestCancel(id)));
    return elsewhere;
  }

  /** Cancels the runs of this process that match. */
  cancelHere(tenant: string, { run, agentId, sessionId }: LiveFilter): void {
    for (const live of [...this.#live.values()]) {
      const { identity } = live;
      if (identity.tenant !== tenant || (run !== undefined && identity.id !== run)) continue;
      if (agentId !== undefined && identity.agentId !== agentId) continue;
      if (sessionId !== undefined && identity.sessionId !== sessionId) continue;
      live.cancel();
    }
  }

  /** Resolves when a run is over, in whatever process it is, at the latest after `patienceMs`. */
  async whenOver(tenant: string, run: string, patienceMs: number): Promise<void> {
    const end$ = this.follow(tenant, run, { after: AFTER_ALL, ready$: of(true) });
    const live = this.find(tenant, run);
    const ended$ = live === undefined ? end$.pipe(ignoreElements(), endWith(undefined)) : from(live.ended);
    await firstValueFrom(race<unknown[]>(ended$, timer(patienceMs)));
  }

  /** Runs that match and have not ended, as far as the store knows. */
  async #runningOf(tenant: string, { run, agentId, sessionId }: LiveFilter): Promise<readonly RunRecord[]> {
    const { runs, sessions } = this.#options.stores;
    const id = run ?? (sessionId === undefined ? undefined : (await sessions.find(tenant, sessionId))?.lastRun);
    if (id !== undefined) {
      const record = await runs.find(tenant, id);
      const isMeant = record?.status === 'running' && (agentId === undefined || record.agentId === agentId);
      return isMeant && (sessionId === undefined || record.sessionId === sessionId) ? [record] : [];
    }
    if (agentId === undefined || sessionId !== undefined) return [];
    return (await runs.list(tenant, { agentId, status: 'running', offset: 0, limit: MAX_CANCELLED })).items;
  }

  /** Takes no more runs, gives those that are running `graceMs` to end, then cancels them, or releases those that outlive the process. */
  async close(graceMs: number): Promise<void> {
    this.#isClosing = true;
    const timeout = setTimeout(() => this.#stopAll(), graceMs);
    try {
      while (this.#leased.size > 0) await firstValueFrom(this.#changes.pipe(filter(() => this.#leased.size === 0)));
      await Promise.all(this.#unfinished);
      this.#stopped.error(new EngineError('STORE_UNAVAILABLE', 'The server stops; follow the run again.'));
    } finally {
      clearTimeout(timeout);
      this.#leases.close();
      this.#notifications.close();
    }
  }

  /** By the run's own id, and by the session's, which is RAGFlow's name of the task. */
  #watchCancels(live: LiveRun, watching: Subscription): void {
    const { logger, stores } = this.#options;
    const { signals } = stores;
    const { id, sessionId } = live.identity;
    watching.add(
      merge(signals.cancelOf(id), signals.cancelOf(sessionId)).subscribe({
        next: () => live.cancel(),
        error: (error: unknown) => logger.error({ run: id, err: error }, 'requests to cancel a run are not received'),
      }),
    );
  }

  #stopAll(): void {
    this.#isGraceOver = true;
    this.#closing.abort();
    for (const live of [...this.#live.values()]) this.#stop(live);
  }

  #stop(live: LiveRun): void {
    if (!this.#options.areRecoverable) live.cancel();
    else live.release('the server stops');
  }
}

/** The error of a process whose run another one has claimed since. */
export function claimedElsewhere(run: string): EngineError {
  return new EngineError('CONFLICT', `Run "${run}" was claimed by another process.`);
}

function keyOf(tenant: string, id: string): string {
  return `${tenant.length}:${tenant}${id}`;
}
