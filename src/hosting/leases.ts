import { setTimeout as pause } from 'node:timers/promises';
import { filter, firstValueFrom, Subject } from 'rxjs';
import { PassingValues } from '../passing-values.js';
import type { Lease } from '../records/coordination.js';
import { ownedKey } from '../records/repository.js';
import type { LeaseAcquisition } from '../records/run-commit.js';
import type { HostParts } from './host-options.js';
import { createId } from './ids.js';
import { partyOf, Shares } from './shares.js';

/** Leases with this beginning are those of sessions. */
export const SESSION_LEASES = 'session:';

/** Whose session, and the run that requests it. */
export interface LeaseRequest {
  readonly tenant: string;
  readonly sessionId: string;
  readonly agentId: string;
  readonly run: string;
  /** Whether a visitor of a chat page requests it: together they have a share of their own. @default false */
  readonly isVisitor?: boolean;
}

/** Parts of its time after which a lease is renewed. */
const RENEWALS = 3;

/** Pause between two attempts to have a lease confirmed, in milliseconds. */
const CONFIRM_AGAIN_MS = 100;

/** Leases of sessions that the runs of this process hold, renewed until they are released. */
export class SessionLeases {
  readonly #parts: HostParts;
  /** Sessions that this process has or is about to have. */
  readonly #taken = new Set<string>();
  /** Their places. */
  readonly shares: Shares;
  readonly #freed = new Subject<void>();
  readonly #held = new PassingValues<SessionLease>();
  #timer: NodeJS.Timeout | undefined = undefined;
  #isRenewing = false;
  #isFailing = false;

  constructor(parts: HostParts) {
    this.#parts = parts;
    this.shares = new Shares({ most: parts.limits.maxRuns, isShared: parts.isShared });
  }

  /** Sessions that this process has or is about to have. */
  get size(): number {
    return this.#taken.size;
  }

  /** Whether this process has a session, or is about to have it. */
  has(tenant: string, sessionId: string): boolean {
    return this.#taken.has(ownedKey(tenant, sessionId));
  }

  /** Undefined when another run has the session. */
  async acquire(request: LeaseRequest): Promise<SessionLease | undefined> {
    const lease = this.prepare(request);
    if (lease === undefined) return undefined;
    try {
      const { ttlMs, ...row } = lease.acquisition;
      const { isMine } = await this.#parts.stores.leases.acquire(request.tenant, row, ttlMs);
      if (isMine) lease.hold();
      else lease.forget();
      return isMine ? lease : undefined;
    } catch (error) {
      lease.forget();
      throw error;
    }
  }

  /** A lease that is acquired in the store together with something else; undefined when a run of this process has the session. */
  prepare(request: LeaseRequest): SessionLease | undefined {
    const { tenant, sessionId, agentId, run } = request;
    const { stores, limits } = this.#parts;
    const { home = '' } = stores;
    const key = ownedKey(tenant, sessionId);
    if (this.#taken.has(key)) return undefined;
    // Before anything is waited for: two requests must not both find it free.
    this.#taken.add(key);
    const giveBack = this.shares.take(partyOf(tenant, request.isVisitor));
    const free = (): void => {
      this.#taken.delete(key);
      giveBack();
      this.#freed.next();
    };
    const row = { name: SESSION_LEASES + sessionId, owner: createId(), data: { run, agent: agentId, home } };
    let place = -1;
    const lease = new SessionLease(tenant, row, this.#parts, {
      hold: () => {
        place = this.#held.add(lease);
        this.#timer ??= setInterval(() => void this.#renewAll(), limits.leaseMs / RENEWALS).unref();
      },
      forget: () => this.#held.remove(place, lease),
      free,
    });
    return lease;
  }

  /** Resolves when this process has no session any more. */
  async whenEmpty(): Promise<void> {
    while (this.size > 0) await firstValueFrom(this.#freed.pipe(filter(() => this.size === 0)));
  }

  close(): void {
    clearInterval(this.#timer);
  }

  /** A store that cannot be reached is no reason to stop: no other process can acquire a lease there either. */
  async #renewAll(): Promise<void> {
    if (this.#isRenewing) return;
    this.#isRenewing = true;
    const results = await Promise.allSettled(this.#held.list().map((lease) => lease.renew()));
    const failure = results.find(({ status }) => status === 'rejected') as PromiseRejectedResult | undefined;
    if (failure !== undefined && !this.#isFailing) {
      this.#parts.logger.warn({ err: failure.reason }, 'leases of runs cannot be renewed; trying again');
    }
    this.#isFailing = failure !== undefined;
    this.#isRenewing = false;
  }
}

interface LeaseEnds {
  /** Called when the lease was acquired: it is renewed from now on. */
  readonly hold: () => void;
  /** Called when the lease is over: it is not renewed any more. */
  readonly forget: () => void;
  /** Called once when the session may be leased again. */
  readonly free: () => void;
}

/** The exclusive right to run a session, held by one run at a time. */
export class SessionLease {
  /** Called once when another process holds it. */
  whenLost: () => void = () => {};
  /** Whether the store has acquired it; otherwise that is a part of the start of its run. */
  isAcquired = false;
  /** Set while the store releases it together with something else, when it is no loss that it is gone. */
  isEnding = false;
  readonly #tenant: string;
  readonly #lease: Omit<Lease, 'expiresAt'>;
  readonly #parts: HostParts;
  readonly #ends: LeaseEnds;
  /** Milliseconds since 1970: when the store was asked for what it confirmed last. */
  #confirmedAt: number;
  #confirming: Promise<void> | undefined = undefined;
  #whenAcquired: () => void = () => {};
  #isOver = false;
  #isFree = false;

  constructor(tenant: string, lease: Omit<Lease, 'expiresAt'>, parts: HostParts, ends: LeaseEnds) {
    this.#tenant = tenant;
    this.#lease = lease;
    this.#parts = parts;
    this.#ends = ends;
    this.#confirmedAt = parts.now();
    const { name, owner, data } = lease;
    this.acquisition = { name, owner, data, ttlMs: parts.limits.leaseMs };
  }

  /** What acquires it in the store. */
  readonly acquisition: LeaseAcquisition;

  /** The store has acquired it: it is renewed from now on. */
  hold(): void {
    if (this.#isOver) return;
    this.isAcquired = true;
    this.#ends.hold();
    this.#whenAcquired();
  }

  /** Ends it here: the store has released it, or has never acquired it. */
  forget(): void {
    if (!this.#isOver) this.#end();
    this.#free();
  }

  async renew(): Promise<void> {
    if (!(await this.isHeld()) && !this.#isOver && !this.isEnding) {
      this.#end();
      this.whenLost();
    }
  }

  /** Whether this process still holds it. */
  async isHeld(): Promise<boolean> {
    const { stores, limits, now } = this.#parts;
    const { name, owner } = this.#lease;
    if (this.#isOver) return false;
    const askedAt = now();
    const isHeld = await stores.leases.renew(this.#tenant, name, owner, limits.leaseMs);
    if (isHeld) this.#confirmedAt = Math.max(this.#confirmedAt, askedAt);
    return isHeld;
  }

  /**
   * A promise while another process may have taken it, because this one was halted, or did not reach the store, for as long as a lease
   * lasts; it resolves when the store has confirmed the lease, or has said that it is lost, and when the lease or its run ends. Undefined
   * otherwise.
   */
  unconfirmed(): Promise<void> | undefined {
    if (this.#isOver || !this.#mayBeTaken) return undefined;
    this.#confirming ??= this.#confirm().finally(() => {
      this.#confirming = undefined;
    });
    return this.#confirming;
  }

  get #mayBeTaken(): boolean {
    const { now, limits } = this.#parts;
    return now() - this.#confirmedAt > limits.leaseMs;
  }

  async #confirm(): Promise<void> {
    if (!this.isAcquired) {
      await new Promise<void>((resolve) => {
        this.#whenAcquired = resolve;
      });
    }
    while (!this.#isOver && !this.isEnding && this.#mayBeTaken) {
      // While the store cannot be reached, this asks again and again: the run could store nothing, either.
      await this.renew().catch(() => pause(CONFIRM_AGAIN_MS));
    }
  }

  /** Ends it; does nothing the second time. A store that cannot be reached sees the lease expire. */
  release(): Promise<void> {
    const { name, owner } = this.#lease;
    return this.#giveUp('released', () => this.#parts.stores.leases.release(this.#tenant, name, owner));
  }

  /**
   * Lets it expire at once, so that another process recovers the run.
   *
   * @param isLoss whether that counts as a loss of the run's process
   */
  abandon(isLoss: boolean): Promise<void> {
    const lease = isLoss ? this.#lease : { ...this.#lease, data: { ...this.#lease.data, isReleased: true } };
    return this.#giveUp('abandoned', () => this.#parts.stores.leases.acquire(this.#tenant, lease, 1));
  }

  async #giveUp(how: string, work: () => Promise<unknown>): Promise<void> {
    if (!this.#isOver) {
      this.#end();
      try {
        await work();
      } catch (error) {
        this.#parts.logger.warn({ err: error }, `a lease could not be ${how}; it will expire`);
      }
    }
    this.#free();
  }

  #free(): void {
    // A later lease of the same session must not be freed by this one.
    if (!this.#isFree) this.#ends.free();
    this.#isFree = true;
  }

  #end(): void {
    this.#isOver = true;
    this.#ends.forget();
    // What waits until it is acquired would wait for ever.
    this.#whenAcquired();
  }
}
