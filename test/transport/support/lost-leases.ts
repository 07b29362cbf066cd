import type { LeaseStore } from '../../../src/records/coordination.js';

/** Leases that any other server finds expired, while their owner believes that it has them. */
export function lostLeases(leases: LeaseStore): LeaseStore {
  return {
    ...leases,
    acquire: (tenant, lease) => leases.acquire(tenant, lease, 1),
    renew: async () => true,
    expired: async () => [],
  };
}
