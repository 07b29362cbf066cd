import { SESSION_LEASES } from '../../../src/hosting/leases.js';
import type { LeaseStore } from '../../../src/records/coordination.js';
import { createMemoryStores } from '../../../src/stores/memory-stores.js';
import type { ServerStores } from '../../../src/transport/server-parts.js';

/** Longer than any test takes, however busy the machine is. */
const LONG_MS = 3_600_000;
/** What a process that stops asks for, so that another one can have the lease at once. */
const GIVEN_UP_MS = 1;

/**
 * Stores of several servers. However short their leases are by their settings, and however often they look for expired ones, a run is
 * lost only when its server stops, never because the machine was too busy to prolong a lease in time.
 *
 * @param options.areKilled a server that stops leaves its runs as one that was killed does, and does not release them. @default false
 */
export function durableStores({ areKilled = false } = {}) {
  const memory = createMemoryStores();
  const leases: LeaseStore = {
    ...memory.leases,
    acquire(tenant, lease, ttlMs) {
      const { isReleased: _, ...data } = lease.data;
      return memory.leases.acquire(tenant, areKilled ? { ...lease, data } : lease, durationOf(lease.name, ttlMs));
    },
    renew: (tenant, name, owner, ttlMs) => memory.leases.renew(tenant, name, owner, durationOf(name, ttlMs)),
  };
  return { ...memory, leases, log: { ...memory.log, isVolatile: false } } satisfies ServerStores;
}

function durationOf(name: string, ttlMs: number): number {
  return name.startsWith(SESSION_LEASES) && ttlMs > GIVEN_UP_MS ? LONG_MS : ttlMs;
}
