import { Newest } from '../newest.js';
import { requireRoom, type UsageStore } from '../records/quotas.js';

/** How long a count is used for, should other processes store and delete sessions meanwhile. */
const FRESH_MS = 60_000;

/** How long a count is used for that leaves no room: a tenant that tries again and again must not cost a count each time. */
const FULL_MS = 1_000;

/** Tenants whose counts are held. */
const MAX_TENANTS = 10_000;

/** What of the quota sessions of chat pages may take, so that their visitors leave room for their tenant. */
const PAGE_SHARE = 0.9;

interface Count {
  /** Sessions that were stored at `at`. */
  readonly stored: number;
  readonly at: number;
  /** Sessions that this process has admitted since. */
  admitted: number;
}

/**
 * Bounds the sessions of each tenant by a count that is held in this process, so that a run costs no statement of its own. The count is taken
 * anew after a minute, and before anything is refused; with several processes, a tenant may pass its quota by what they admit within that time.
 */
export class SessionQuota {
  readonly #usage: UsageStore | undefined;
  readonly #now: () => number;
  readonly #counts = new Newest<Count>({ maxCount: MAX_TENANTS });
  readonly #counting = new Map<string, Promise<Count>>();

  /** @param usage counts sessions. @default nothing is bounded */
  constructor(usage: UsageStore | undefined, now: () => number) {
    this.#usage = usage;
    this.#now = now;
  }

  /** The most sessions that a tenant of this process was known to have. */
  get most(): number {
    let most = 0;
    for (const { stored, admitted } of this.#counts.values()) most = Math.max(most, stored + admitted);
    return most;
  }

  /**
   * Admits a session that is to be stored; at once where that is known to be possible.
   *
   * @param page the session is made by the key of a chat page
   * @throws EngineError QUOTA_EXCEEDED, also from the promise
   */
  admit(tenant: string, page?: string): Promise<void> | undefined {
    const usage = this.#usage;
    const quota = usage?.quotas.sessions ?? 0;
    if (usage === undefined || quota === 0) return undefined;
    const limit = page === undefined ? quota : Math.max(1, Math.floor(quota * PAGE_SHARE));
    const count = this.#counts.get(tenant);
    const age = count === undefined ? Number.POSITIVE_INFINITY : this.#now() - count.at;
    if (count === undefined) return this.#admitCounted(usage, tenant, limit);
    if (count.stored + count.admitted < limit) {
      count.admitted += 1;
      // What others have changed is learnt beside the runs; one that fails is tried again by the next session.
      if (age > FRESH_MS) this.#count(usage, tenant).catch(() => {});
      return undefined;
    }
    if (age > FULL_MS) return this.#admitCounted(usage, tenant, limit);
    requireRoom({ ...usage.quotas, sessions: limit }, 'sessions', count.stored + count.admitted, 1);
    return undefined;
  }

  async #admitCounted(usage: UsageStore, tenant: string, limit: number): Promise<void> {
    const count = await this.#count(usage, tenant);
    requireRoom({ ...usage.quotas, sessions: limit }, 'sessions', count.stored + count.admitted, 1);
    count.admitted += 1;
  }

  /** Counts anew; sessions that are admitted while it counts may not be stored yet. */
  #count(usage: UsageStore, tenant: string): Promise<Count> {
    let counting = this.#counting.get(tenant);
    if (counting === undefined) {
      const before = this.#counts.get(tenant)?.admitted ?? 0;
      counting = usage
        .sessions(tenant)
        .then((stored) => {
          const admitted = (this.#counts.get(tenant)?.admitted ?? 0) - before;
          const count: Count = { stored, at: this.#now(), admitted };
          this.#counts.put(tenant, count);
          return count;
        })
        .finally(() => this.#counting.delete(tenant));
      this.#counting.set(tenant, counting);
    }
    return counting;
  }
}
