import type { JsonObject } from '../json.js';
import type { Lease, LeaseStore } from '../records/durable-stores.js';
import { createId } from './ids.js';
import type { Log } from './log.js';

/** Leases with this beginning are those of sessions. */
export const SESSION_LEASES = 'session:';

/** The right to run a session, held by one run at a time. */
export interface SessionClaim {
  /** Gives it back; doing so twice does nothing, and a store that is away is left to find out by itself. */
  release(): Promise<void>;
  /** Lets another process have it at once, as if this one were lost. */
  abandon(): Promise<void>;
  /** Whether it is still this process's. */
  isHeld(): Promise<boolean>;
  /** Called once when somebody else has it. */
  whenLost: () => void;
}

/** What a lease says of its run. */
export interface ClaimAbout {
  readonly run: string;
  readonly agent: string;
  /** Which stores the run is in. */
  readonly home: string;
}

export interface SessionClaimsOptions {
  readonly leases: LeaseStore;
  /** How long a lease holds without being prolonged. */
  readonly ttlMs: number;
  readonly logger: Log;
}

/** Parts of its time after which a lease is prolonged. */
const RENEWALS = 3;

/** Claims of sessions by the runs of this process, prolonged until they are given back. */
export class SessionClaims {
  readonly #options: SessionClaimsOptions;
  readonly #held = new Set<HeldClaim>();
  #timer: NodeJS.Timeout | undefined = undefined;
  #isRenewing = false;
  #isFailing = false;

  constructor(options: SessionClaimsOptions) {
    this.#options = options;
  }

  /** Undefined when another run has the session. */
  async claim(tenant: string, session: string, about: ClaimAbout): Promise<SessionClaim | undefined> {
    const { leases, ttlMs } = this.#options;
    const lease = { name: SESSION_LEASES + session, owner: createId(), data: { ...about } satisfies JsonObject };
    const { isMine } = await leases.acquire(tenant, lease, ttlMs);
    if (!isMine) return undefined;
    const claim = new HeldClaim(tenant, lease, this.#options, () => this.#held.delete(claim));
    this.#held.add(claim);
    this.#timer ??= setInterval(() => void this.#renewAll(), ttlMs / RENEWALS).unref();
    return claim;
  }

  close(): void {
    clearInterval(this.#timer);
  }

  /** A store that is away is no reason to stop: nobody else can take a lease there either. */
  async #renewAll(): Promise<void> {
    if (this.#isRenewing) return;
    this.#isRenewing = true;
    const results = await Promise.allSettled([...this.#held].map((claim) => claim.renew()));
    const failure = results.find(({ status }) => status === 'rejected') as PromiseRejectedResult | undefined;
    if (failure !== undefined && !this.#isFailing) {
      this.#options.logger.warn({ err: failure.reason }, 'leases of runs cannot be prolonged; trying again');
    }
    this.#isFailing = failure !== undefined;
    this.#isRenewing = false;
  }
}

class HeldClaim implements SessionClaim {
  whenLost: () => void = () => {};
  readonly #tenant: string;
  readonly #lease: Omit<Lease, 'expiresAt'>;
  readonly #options: SessionClaimsOptions;
  readonly #forget: () => void;
  #isOver = false;

  constructor(tenant: string, lease: Omit<Lease, 'expiresAt'>, options: SessionClaimsOptions, forget: () => void) {
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
      logger.warn({ err: error }, 'a lease could not be given back; it ends by itself');
    }
  }

  async abandon(): Promise<void> {
    if (this.#isOver) return;
    this.#end();
    const { leases, logger } = this.#options;
    try {
      await leases.acquire(this.#tenant, this.#lease, 1);
    } catch (error) {
      logger.warn({ err: error }, 'a lease could not be given up; it ends by itself');
    }
  }

  #end(): void {
    this.#isOver = true;
    this.#forget();
  }
}

/** A claim that calls `free` once, when it is given back or given up. */
export function freeing(claim: SessionClaim, free: () => void): SessionClaim {
  let isFree = false;
  const once = (): void => {
    // A later claim of the same session is not this one's to give back.
    if (!isFree) free();
    isFree = true;
  };
  return {
    release: () => claim.release().finally(once),
    abandon: () => claim.abandon().finally(once),
    isHeld: () => claim.isHeld(),
    get whenLost() {
      return claim.whenLost;
    },
    set whenLost(listener) {
      claim.whenLost = listener;
    },
  };
}
