import type { JsonObject } from '../json.js';
import type { Log } from '../logger.js';
import type { Lease, LeaseStore } from '../records/coordination.js';
import { createId } from './ids.js';

/** Leases with this beginning are those of sessions. */
export const SESSION_LEASES = 'session:';

/** The exclusive right to run a session, held by one run at a time. */
export interface SessionLease {
  /** Ends it; does nothing the second time. A store that cannot be reached sees the lease expire. */
  release(): Promise<void>;
  /** Lets it expire at once, so that another process recovers the run. */
  abandon(): Promise<void>;
  /** Whether this process still holds it. */
  isHeld(): Promise<boolean>;
  /** Called once when another process holds it. */
  whenLost: () => void;
}

/** What a lease stores about its run. */
export interface LeaseData {
  readonly run: string;
  readonly agent: string;
  /** Which stores the run is in. */
  readonly home: string;
}

export interface SessionLeasesOptions {
  readonly leases: LeaseStore;
  /** How long a lease holds without being renewed. */
  readonly ttlMs: number;
  readonly logger: Log;
}

/** Parts of its time after which a lease is renewed. */
const RENEWALS = 3;

/** Leases of sessions that the runs of this process hold, renewed until they are released. */
export class SessionLeases {
  readonly #options: SessionLeasesOptions;
  readonly #held = new Set<HeldLease>();
  #timer: NodeJS.Timeout | undefined = undefined;
  #isRenewing = false;
  #isFailing = false;

  constructor(options: SessionLeasesOptions) {
    this.#options = options;
  }

  /** Undefined when another run has the session. */
  async acquire(tenant: string, session: string, data: LeaseData): Promise<SessionLease | undefined> {
    const { leases, ttlMs } = this.#options;
    const row = { name: SESSION_LEASES + session, owner: createId(), data: { ...data } satisfies JsonObject };
    const { isMine } = await leases.acquire(tenant, row, ttlMs);
    if (!isMine) return undefined;
    const lease = new HeldLease(tenant, row, this.#options, () => this.#held.delete(lease));
    this.#held.add(lease);
    this.#timer ??= setInterval(() => void this.#renewAll(), ttlMs / RENEWALS).unref();
    return lease;
  }

  close(): void {
    clearInterval(this.#timer);
  }

  /** A store that cannot be reached is no reason to stop: no other process can acquire a lease there either. */
  async #renewAll(): Promise<void> {
    if (this.#isRenewing) return;
    this.#isRenewing = true;
    const results = await Promise.allSettled([...this.#held].map((lease) => lease.renew()));
    const failure = results.find(({ status }) => status === 'rejected') as PromiseRejectedResult | undefined;
    if (failure !== undefined && !this.#isFailing) {
      this.#options.logger.warn({ err: failure.reason }, 'leases of runs cannot be renewed; trying again');
    }
    this.#isFailing = failure !== undefined;
    this.#isRenewing = false;
  }
}

class HeldLease implements SessionLease {
  whenLost: () => void = () => {};
  readonly #tenant: string;
  readonly #lease: Omit<Lease, 'expiresAt'>;
  readonly #options: SessionLeasesOptions;
  readonly #forget: () => void;
  #isOver = false;

  constructor(tenant: string, lease: Omit<Lease, 'expiresAt'>, options: SessionLeasesOptions, forget: () => void) {
    this.#tenant = tenant;
    this.#lease = lease;
    this.#options = options;
    this.#forget = forget;
  }

  async renew(): Promise<void> {
    if (!(await this.isHeld()) && !this.#isOver) {
      this.#end();
      this.whenLost();
    }
  }

  async isHeld(): Promise<boolean> {
    const { leases, ttlMs } = this.#options;
    return !this.#isOver && (await leases.renew(this.#tenant, this.#lease.name, this.#lease.owner, ttlMs));
  }

  async release(): Promise<void> {
    if (this.#isOver) return;
    this.#end();
    const { leases, logger } = this.#options;
    try {
      await leases.release(this.#tenant, this.#lease.name, this.#lease.owner);
    } catch (error) {
      logger.warn({ err: error }, 'a lease could not be released; it will expire');
    }
  }

  async abandon(): Promise<void> {
    if (this.#isOver) return;
    this.#end();
    const { leases, logger } = this.#options;
    try {
      await leases.acquire(this.#tenant, this.#lease, 1);
    } catch (error) {
      logger.warn({ err: error }, 'a lease could not be abandoned; it will expire');
    }
  }

  #end(): void {
    this.#isOver = true;
    this.#forget();
  }
}

/** A lease that calls `free` once, when it is released or abandoned. */
export function freeing(lease: SessionLease, free: () => void): SessionLease {
  let isFree = false;
  const once = (): void => {
    // A later lease of the same session must not be freed by this one.
    if (!isFree) free();
    isFree = true;
  };
  return {
    release: () => lease.release().finally(once),
    abandon: () => lease.abandon().finally(once),
    isHeld: () => lease.isHeld(),
    get whenLost() {
      return lease.whenLost;
    },
    set whenLost(listener) {
      lease.whenLost = listener;
    },
  };
}
