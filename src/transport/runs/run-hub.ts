import { filter, firstValueFrom, type Observable, Subject } from 'rxjs';
import { EngineError } from '../../errors.js';
import type { RunRecord, Stores } from '../../graph/service-ports.js';
import type { ServerConfig } from '../config.js';
import type { Log } from '../log.js';
import { busySession } from '../refusals.js';
import type { EventFrame } from './event-frame.js';
import { follow } from './follow.js';
import { LiveRun } from './live-run.js';
import type { LiveRunOptions } from './live-run-options.js';

export interface RunHubOptions {
  readonly stores: Stores;
  readonly config: Pick<ServerConfig, 'maxRuns' | 'runLogBytes' | 'detachGraceMs' | 'clientQueueBytes'>;
  readonly journal: Log;
  readonly now: () => number;
}

/** What the hub does not know about a run itself. */
export interface RunStart
  extends Pick<LiveRunOptions, 'identity' | 'plan' | 'open' | 'keepsTrace' | 'keepConversation'> {
  /** The run goes on without clients for as long as it takes. */
  readonly detached: boolean;
}

/** The right to run a session, held by one run at a time. */
export interface SessionClaim {
  /** Gives it back; doing so twice does nothing. */
  release(): void;
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

/** All runs of this process that are going on. */
export class RunHub {
  readonly #options: RunHubOptions;
  readonly #live = new Map<string, LiveRun>();
  /** Runs whose last event was not shown yet; they have given back their sessions a moment before. */
  readonly #unfinished = new Set<Promise<unknown>>();
  readonly #claims = new Set<string>();
  readonly #changes = new Subject<void>();
  #isClosing = false;
  #isGraceOver = false;

  constructor(options: RunHubOptions) {
    this.#options = options;
  }

  /** @throws EngineError SESSION_BUSY while another run has the session, LIMIT_REACHED while the server takes no runs. */
  claim(tenant: string, sessionId: string): SessionClaim {
    if (this.#isClosing) throw new EngineError('LIMIT_REACHED', 'The server is shutting down and starts no more runs.');
    const key = keyOf(tenant, sessionId);
    if (this.#claims.has(key)) throw busySession();
    const { maxRuns } = this.#options.config;
    if (this.#claims.size >= maxRuns) {
      throw new EngineError('LIMIT_REACHED', `${maxRuns} runs are going on, which is the most; try again later.`);
    }
    this.#claims.add(key);
    let isHeld = true;
    return {
      release: () => {
        // A later claim of the same session is not this one's to give back.
        if (isHeld) this.#claims.delete(key);
        isHeld = false;
        this.#changes.next();
      },
    };
  }

  /** Starts a run; the claim is given back when it ends. */
  async start(start: RunStart, claim: SessionClaim): Promise<LiveRun> {
    const { detached, identity, ...rest } = start;
    const { stores, config, journal, now } = this.#options;
    const { tenant, id } = identity;
    const live = new LiveRun({
      ...rest,
      identity,
      log: stores.log,
      maxLogBytes: config.runLogBytes,
      detachGraceMs: detached || config.detachGraceMs === 0 ? undefined : config.detachGraceMs,
      journal,
      now,
      whenEnded: async (record) => {
        try {
          await stores.runs.save(tenant, record);
        } finally {
          this.#live.delete(keyOf(tenant, id));
          claim.release();
        }
      },
    });
    await stores.runs.save(tenant, live.record);
    this.#live.set(keyOf(tenant, id), live);
    const ended = live.ended.finally(() => this.#unfinished.delete(ended));
    this.#unfinished.add(ended);
    live.start();
    // It was claimed in time and came too late all the same.
    if (this.#isGraceOver) live.cancel();
    return live;
  }

  /** A run that is going on. */
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
    const live = this.find(tenant, run);
    return follow({ log: stores.log, tenant, run, live, maxQueueBytes: config.clientQueueBytes, ...client });
  }

  /** Cancels what matches and is going on. */
  cancel(tenant: string, { run, agentId, sessionId }: LiveFilter): void {
    for (const live of [...this.#live.values()]) {
      const { identity } = live;
      if (identity.tenant !== tenant || (run !== undefined && identity.id !== run)) continue;
      if (agentId !== undefined && identity.agentId !== agentId) continue;
      if (sessionId !== undefined && identity.sessionId !== sessionId) continue;
      live.cancel();
    }
  }

  /** Takes no more runs, gives those that are going on `graceMs` to end, then cancels them. */
  async close(graceMs: number): Promise<void> {
    this.#isClosing = true;
    const timeout = setTimeout(() => this.#cancelAll(), graceMs);
    try {
      while (this.#claims.size > 0) await firstValueFrom(this.#changes.pipe(filter(() => this.#claims.size === 0)));
      await Promise.all(this.#unfinished);
    } finally {
      clearTimeout(timeout);
    }
  }

  #cancelAll(): void {
    this.#isGraceOver = true;
    for (const live of [...this.#live.values()]) live.cancel();
  }
}

function keyOf(tenant: string, id: string): string {
  return `${tenant.length}:${tenant}${id}`;
}
