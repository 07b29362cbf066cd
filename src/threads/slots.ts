/** Slots for work in threads, shared fairly between tenants. */
import { EngineError } from '../errors.js';

export interface Slots {
  /**
   * Resolves with the way to give the slot back. Rejects when `signal` is aborted meanwhile.
   *
   * A free slot goes to the tenant that has the fewest; among those to the least recently served one, and there to the one
   * that came first.
   *
   * @throws EngineError LIMIT_REACHED when too many wait; that of the options after `close`.
   */
  take(signal: AbortSignal, tenant: string): Promise<() => void>;
  /** Rejects all that wait or come later. */
  close(): void;
}

/** How much work there may be. */
export interface SlotsOptions {
  readonly maxActive: number;
  /** @default as many as there are */
  readonly maxActivePerTenant?: number;
  /** Of all tenants together. */
  readonly maxWaiting: number;
  readonly maxWaitingPerTenant: number;
  /** What waits and for what, for messages: `scripts wait to be run`. */
  readonly waiting: (tenant: boolean) => string;
  /** The error of what waits when the slots are closed. */
  readonly closed: () => EngineError;
}

/** One that waits. */
interface Waiter {
  readonly start: () => void;
  readonly refuse: (error: unknown) => void;
}

/** One tenant's part; it is forgotten when nothing of it runs or waits. */
interface Share {
  active: number;
  readonly waiting: Set<Waiter>;
}

/** Lets at most `maxActive` work and others wait, so that no tenant keeps the others from their work. */
export function createSlots(options: SlotsOptions): Slots {
  const { maxActive, maxActivePerTenant = maxActive, maxWaiting, maxWaitingPerTenant, waiting, closed } = options;
  /** The least recently served come first. */
  const shares = new Map<string, Share>();
  const state = { active: 0, waiting: 0, isClosed: false };

  const serve = (tenant: string, share: Share): (() => void) => {
    state.active += 1;
    share.active += 1;
    toTheEnd(shares, tenant, share);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      state.active -= 1;
      share.active -= 1;
      toTheEnd(shares, tenant, share);
      forgetUnused(shares, tenant);
      if (!state.isClosed) neediest(shares, maxActivePerTenant)?.start();
    };
  };

  return {
    take: (signal, tenant) =>
      new Promise((resolve, reject) => {
        signal.throwIfAborted();
        if (state.isClosed) throw closed();
        const share = shares.get(tenant) ?? { active: 0, waiting: new Set() };
        if (state.active < maxActive && share.active < maxActivePerTenant) {
          resolve(serve(tenant, share));
          return;
        }
        if (state.waiting >= maxWaiting) throw full(`${maxWaiting} ${waiting(false)} already`);
        if (share.waiting.size >= maxWaitingPerTenant) {
          throw full(`${maxWaitingPerTenant} ${waiting(true)} already`);
        }
        const leave = (): void => {
          share.waiting.delete(waiter);
          state.waiting -= 1;
          signal.removeEventListener('abort', abort);
        };
        const refuse = (error: unknown): void => {
          leave();
          forgetUnused(shares, tenant);
          reject(error as Error);
        };
        const abort = (): void => refuse(signal.reason);
        const start = (): void => {
          leave();
          resolve(serve(tenant, share));
        };
        const waiter: Waiter = { start, refuse };
        shares.set(tenant, share);
        share.waiting.add(waiter);
        state.waiting += 1;
        signal.addEventListener('abort', abort, { once: true });
      }),
    close() {
      state.isClosed = true;
      for (const { waiting } of [...shares.values()]) for (const { refuse } of [...waiting]) refuse(closed());
    },
  };
}

/** The longest waiting one of the tenant with the fewest slots, of those that may have another. */
function neediest(shares: ReadonlyMap<string, Share>, maxActivePerTenant: number): Waiter | undefined {
  let found: Share | undefined;
  for (const share of shares.values()) {
    if (share.active >= maxActivePerTenant) continue;
    if (share.waiting.size > 0 && (found === undefined || share.active < found.active)) found = share;
  }
  const [first] = found?.waiting ?? [];
  return first;
}

function toTheEnd(shares: Map<string, Share>, tenant: string, share: Share): void {
  shares.delete(tenant);
  shares.set(tenant, share);
}

function forgetUnused(shares: Map<string, Share>, tenant: string): void {
  const share = shares.get(tenant);
  if (share?.active === 0 && share.waiting.size === 0) shares.delete(tenant);
}

function full(what: string): EngineError {
  return new EngineError('LIMIT_REACHED', `${what}; try again later.`, { retryable: true });
}
