/** All runs that are going on in this process, and how clients find them and those of other processes. */
import { AsyncSubject, filter, firstValueFrom, merge, type Observable, Subject, Subscription } from 'rxjs';
import { EngineError } from '../errors.js';
import type { TraceContext } from '../graph/trace-context.js';
import type { LeaseStore, RunJournal, Signals } from '../records/durable-stores.js';
import type { RunRecord, Stores } from '../records/stores.js';
import { observed } from '../telemetry/run-watch.js';
import type { Telemetry } from '../telemetry/telemetry.js';
import type { EventFrame } from './event-frame.js';
import { type Following, follow } from './follow.js';
import { LiveRun } from './live-run.js';
import type { LiveRunOptions } from './live-run-options.js';
import type { Log } from './log.js';
import { busySession } from './refusals.js';
import { BELIEVED_MS, RunNews } from './run-news.js';
import { freeing, type SessionClaim, SessionClaims } from './session-claims.js';

/** What the hub keeps, and how it agrees with other processes. */
export interface HubStores extends Stores {
  /** Which process has which run. */
  readonly leases: LeaseStore;
  /** What processes tell each other. */
  readonly signals: Signals;
  /** What tells these stores from others that share the same leases. @default nothing */
  readonly home?: string;
}

/** Bounds of the runs of one process. */
export interface HostLimits {
  /** Runs at work at once. */
  readonly maxRuns: number;
  /** Bytes of events of one run. */
  readonly runLogBytes: number;
  /** Milliseconds without a client after which a run is cancelled; 0: never. */
  readonly detachGraceMs: number;
  /** Bytes that wait for one client. */
  readonly clientQueueBytes: number;
  /** Milliseconds after which a lease that is not renewed expires. */
  readonly leaseMs: number;
}

export interface RunHubOptions {
  readonly stores: HubStores;
  /** Undefined when runs do not outlive their process. */
  readonly runJournal?: RunJournal | undefined;
  readonly config: HostLimits;
  readonly logger: Log;
  readonly now: () => number;
  /** Watches the runs and counts them. @default nobody */
  readonly telemetry?: Telemetry;
}

/** What the hub does not know about a run itself. */
export interface RunStart
  extends Pick<LiveRunOptions, 'identity' | 'work' | 'past' | 'launch' | 'keepsTrace' | 'keepConversation'> {
  /** Where the caller stands in a trace. @default nowhere */
  readonly trace?: TraceContext;
}

/** Whose session, and the run that wants it. */
export interface ClaimRequest {
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
}

/** All runs of this process that are going on, and the way to those of others. */
export class RunHub {
  readonly #options: RunHubOptions;
  readonly #live = new Map<string, LiveRun>();
  readonly #byId = new Map<string, LiveRun>();
  readonly #followers = new Set<Following>();
  /** Runs whose last event was not shown yet; they have given back their sessions a moment before. */
  readonly #unfinished = new Set<Promise<unknown>>();
  /** Sessions that this process has or is about to have. */
  readonly #claimed = new Set<string>();
  readonly #claims: SessionClaims;
  readonly #news: RunNews;
  readonly #changes = new Subject<void>();
  readonly #closing = new AbortController();
  /** Errors when the process goes away, for those who follow runs of others. */
  readonly #stopped = new AsyncSubject<never>();
  #isClosing = false;
  #isGraceOver = false;

  constructor(options: RunHubOptions) {
    const { config, logger, now } = options;
    const { leases, signals } = options.stores;
    this.#options = options;
    this.#claims = new SessionClaims({ leases, ttlMs: config.leaseMs, logger });
    this.#news = new RunNews(signals, now, (run) => {
      const live = this.#byId.get(run);
      live?.clients.visit(BELIEVED_MS);
      return live !== undefined;
    });
  }

  /** Whether this process has a session, or is about to have it. */
  hasClaimed(tenant: string, sessionId: string): boolean {
    return this.#claimed.has(keyOf(tenant, sessionId));
  }

  /** How many are going on. */
  get size(): number {
    return this.#live.size;
  }

  /** Events that are made and wait to be kept; and those that were shown and wait for their clients. */
  get queues(): { readonly log: number; readonly clients: number } {
    let [log, clients] = [0, 0];
    for (const live of this.#live.values()) log += Math.max(0, live.unseen.lastMade - live.lastSeq);
    for (const { behind } of this.#followers) clients += behind;
    return { log, clients };
  }

  /** @throws EngineError SESSION_BUSY while another run has the session, LIMIT_REACHED while the server takes no runs. */
  async claim(request: ClaimRequest): Promise<SessionClaim> {
    const { tenant, sessionId } = request;
    if (this.#isClosing) throw new EngineError('LIMIT_REACHED', 'The server is shutting down and starts no more runs.');
    if (this.#claimed.has(keyOf(tenant, sessionId))) throw busySession();
    const { maxRuns } = this.#options.config;
    if (this.#claimed.size >= maxRuns) {
      throw new EngineError('LIMIT_REACHED', `${maxRuns} runs are going on, which is the most; try again later.`);
    }
    const claim = await this.tryClaim(request);
    if (claim === undefined) throw busySession();
    return claim;
  }

  /** Undefined while another run has the session. */
  async tryClaim({ tenant, sessionId, agentId, run }: ClaimRequest): Promise<SessionClaim | undefined> {
    const key = keyOf(tenant, sessionId);
    if (this.#claimed.has(key)) return undefined;
    // Before anything is waited for: two requests must not both find it free.
    this.#claimed.add(key);
    const free = (): void => {
      this.#claimed.delete(key);
      this.#changes.next();
    };
    try {
      const claim = await this.#claims.claim(tenant, sessionId, {
        run,
        agent: agentId,
        home: this.#options.stores.home ?? '',
      });
      if (claim === undefined) free();
      return claim === undefined ? undefined : freeing(claim, free);
    } catch (error) {
      free();
      throw error;
    }
  }

  /** Starts a run, or goes on with one; the claim is given back when it ends. */
  async start(start: RunStart, claim: SessionClaim): Promise<LiveRun> {
    const { trace, ...rest } = start;
    const { identity, launch, work } = start;
    const { stores, runJournal, config, logger, now, telemetry } = this.#options;
    const { tenant, id } = identity;
    const watching = new Subscription();
    const live = new LiveRun({
      ...rest,
      work:
        telemetry === undefined || 'failure' in work
          ? work
          : { ...work, open: observed(telemetry, { ...identity, plan: work.plan, trace }, work.open) },
      log: stores.log,
      runJournal,
      claim,
      maxLogBytes: config.runLogBytes,
      detachGraceMs: launch.isDetached || config.detachGraceMs === 0 ? undefined : config.detachGraceMs,
      logger,
      now,
      closing: this.#closing.signal,
      saveRecord: (record) => stores.runs.save(tenant, record),
      whenOver: () => {
        watching.unsubscribe();
        this.#live.delete(keyOf(tenant, id));
        this.#byId.delete(id);
        this.#news.forget(id);
      },
    });
    await stores.runs.save(tenant, live.record);
    this.#live.set(keyOf(tenant, id), live);
    this.#byId.set(id, live);
    const ended = live.ended.then((record) => {
      this.#unfinished.delete(ended);
      this.count(record);
    });
    this.#unfinished.add(ended);
    watching.add(live.frames$.subscribe(() => this.#news.tell(id)));
    this.#watchCancels(live, watching);
    live.start();
    // It was claimed in time and came too late all the same.
    if (this.#isGraceOver) this.#stop(live);
    return live;
  }

  /** Counts a run that has ended; one that was put down ends elsewhere. */
  count(record: RunRecord): void {
    if (record.status !== 'running') this.#options.telemetry?.meters.ended(record);
  }

  /** A run that is going on in this process. */
  find(tenant: string, run: string): LiveRun | undefined {
    return this.#live.get(keyOf(tenant, run));
  }

  /** A run, going on or not. */
  async record(tenant: string, run: string): Promise<RunRecord | undefined> {
    return this.find(tenant, run)?.record ?? (await this.#options.stores.runs.find(tenant, run));
  }

  /** Events of a run after those that a client has; see {@link follow}. */
  follow(tenant: string, run: string, client: ClientCursor): Observable<EventFrame> {
    const { stores, config } = this.#options;
    return follow({
      ...client,
      log: stores.log,
      tenant,
      run,
      findLive: () => this.find(tenant, run),
      findRecord: () => this.record(tenant, run),
      news$: merge(this.#news.of(run), this.#stopped),
      maxQueueBytes: config.clientQueueBytes,
      followers: this.#followers,
    });
  }

  /** Cancels what matches and is going on in this process. */
  cancel(tenant: string, { run, agentId, sessionId }: LiveFilter): void {
    for (const live of [...this.#live.values()]) {
      const { identity } = live;
      if (identity.tenant !== tenant || (run !== undefined && identity.id !== run)) continue;
      if (agentId !== undefined && identity.agentId !== agentId) continue;
      if (sessionId !== undefined && identity.sessionId !== sessionId) continue;
      live.cancel();
    }
  }

  /** Takes no more runs, gives those that are going on `graceMs` to end, then cancels them, or puts down those that outlive the process. */
  async close(graceMs: number): Promise<void> {
    this.#isClosing = true;
    const timeout = setTimeout(() => this.#stopAll(), graceMs);
    try {
      while (this.#claimed.size > 0) await firstValueFrom(this.#changes.pipe(filter(() => this.#claimed.size === 0)));
      await Promise.all(this.#unfinished);
      this.#stopped.error(new EngineError('STORE_UNAVAILABLE', 'The server stops; follow the run again.'));
    } finally {
      clearTimeout(timeout);
      this.#claims.close();
      this.#news.close();
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
        error: (error: unknown) => logger.error({ run: id, err: error }, 'requests to cancel a run are not heard'),
      }),
    );
  }

  #stopAll(): void {
    this.#isGraceOver = true;
    this.#closing.abort();
    for (const live of [...this.#live.values()]) this.#stop(live);
  }

  #stop(live: LiveRun): void {
    const { runJournal } = this.#options;
    if (runJournal === undefined || runJournal.isVolatile === true) live.cancel();
    else live.putDown('the server stops');
  }
}

function keyOf(tenant: string, id: string): string {
  return `${tenant.length}:${tenant}${id}`;
}
