import { EngineError } from '../errors.js';
import type { Lease, LeaseStore } from '../records/coordination.js';
import { ownedKey } from '../records/repository.js';

const MAX_LEASES = 100_000;

/**
 * Leases in memory, for a single process. A lease that expired stays until another owner takes it; until then its owner may still prolong
 * it.
 *
 * @param options.now milliseconds since 1970; default: the clock of the machine
 */
export function createMemoryLeases({ now = Date.now }: { readonly now?: () => number } = {}): LeaseStore {
  const leases = new Map<string, Lease & { readonly tenant: string }>();

  return {
    async acquire(tenant, lease, ttlMs) {
      const key = ownedKey(tenant, lease.name);
      const before = leases.get(key);
      if (before !== undefined && before.owner !== lease.owner && before.expiresAt > now()) {
        const { tenant: _, ...holder } = before;
        return { holder, isMine: false };
      }
      if (before === undefined && leases.size >= MAX_LEASES) throw full();
      const { name, owner, data } = lease;
      const holder: Lease = { name, owner, data, expiresAt: now() + ttlMs };
      leases.set(key, { ...holder, tenant });
      return { holder, isMine: true };
    },
    async renew(tenant, name, owner, ttlMs) {
      const key = ownedKey(tenant, name);
      const lease = leases.get(key);
      if (lease?.owner !== owner) return false;
      leases.set(key, { ...lease, expiresAt: now() + ttlMs });
      return true;
    },
    async release(tenant, name, owner) {
      const key = ownedKey(tenant, name);
      if (leases.get(key)?.owner === owner) leases.delete(key);
    },
    async expired(prefix, limit) {
      const found = [...leases.values()].filter(({ name, expiresAt }) => name.startsWith(prefix) && expiresAt <= now());
      return found.sort((a, b) => a.expiresAt - b.expiresAt).slice(0, limit);
    },
  };
}

function full(): EngineError {
  return new EngineError(
    'LIMIT_REACHED',
    `${MAX_LEASES} leases are held, which is the most; let runs end, or raise the limit.`,
  );
}
