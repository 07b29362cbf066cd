import { z } from 'zod';
import { jsonObject } from '../../dsl/json-object.js';
import { invalidOption } from '../../operators/invalid-option.js';
import type { Lease, LeaseStore } from '../../records/coordination.js';
import type { LeaseAcquisition } from '../../records/run-commit.js';
import type { Call } from './commands.js';
import { activeSessionKey, cancelKey, KEPT_MS, LEASE_PREFIX, LEASES_KEY, leaseMember } from './keys.js';
import { ACQUIRE_LEASE, EXPIRED_LEASES, RELEASE_LEASE, RENEW_LEASE } from './lease-scripts.js';
import { jsonText, readReply } from './read-reply.js';
import type { Redis } from './redis.js';

/** Version of a lease; a reader refuses any other. */
const FORMAT = 1;

/** Leases with this beginning are listed as RAGFlow's active sessions, too; `run`, `agent` and `user` of their data with them. */
const SESSION_PREFIX = 'session:';

/** Expired leases that are looked at in one step. */
const MAX_SCANNED = 10_000;

const dataSchema = jsonText(jsonObject);
const acquiredSchema = z.tuple([z.literal([0, 1]), z.string(), z.coerce.number(), dataSchema]);
const expiredSchema = z.array(
  z.tuple([z.literal(String(FORMAT)), z.string(), z.string(), z.string(), z.coerce.number(), dataSchema]),
);

/**
 * Leases in Redis, by the server's clock.
 *
 * A lease that expired is remembered for 30 days, until another owner takes it; until then its owner may still prolong it, so that an outage
 * of Redis alone does not cost a run.
 */
export function createRedisLeases(redis: Redis): LeaseStore {
  const { commands } = redis;
  return {
    async acquire(tenant, lease, ttlMs) {
      const { name } = lease;
      const { keys, args } = acquireStep(tenant, { ...lease, ttlMs });
      const reply = readReply(acquiredSchema, await commands.run(ACQUIRE_LEASE, keys, args), `Lease "${name}"`);
      const [isMine, holder, expiresAt, held] = reply;
      return { holder: { name, owner: holder, expiresAt, data: held }, isMine: isMine === 1 };
    },
    async renew(tenant, name, owner, ttlMs) {
      const { keys, member, session } = placeOf(tenant, name);
      const args = [member, owner, whole(ttlMs), KEPT_MS.run, session];
      return (await commands.run(RENEW_LEASE, keys, args)) === 1;
    },
    async release(tenant, name, owner) {
      const { keys, args } = releaseStep(tenant, { name, owner });
      await commands.run(RELEASE_LEASE, keys, args);
    },
    async expired(prefix, limit) {
      const reply = await commands.run(EXPIRED_LEASES, [LEASES_KEY], [prefix, limit, LEASE_PREFIX, MAX_SCANNED]);
      return readReply(expiredSchema, reply, 'A lease').map(([, tenant, name, owner, expiresAt, data]) => ({
        tenant,
        name,
        owner,
        expiresAt,
        data,
      }));
    },
  };
}

/** What {@link ACQUIRE_LEASE} is given. */
export function acquireStep(tenant: string, { name, owner, data, ttlMs }: LeaseAcquisition): Call {
  const { keys, member, session } = placeOf(tenant, name);
  const args = [member, owner, whole(ttlMs), JSON.stringify(data), KEPT_MS.run, tenant, name, FORMAT, session];
  return { keys, args };
}

/** What {@link RELEASE_LEASE} is given. */
export function releaseStep(tenant: string, { name, owner }: Pick<Lease, 'name' | 'owner'>): Call {
  const { keys, member } = placeOf(tenant, name);
  return { keys, args: [member, owner] };
}

function placeOf(tenant: string, name: string) {
  const member = leaseMember(tenant, name);
  const keys = [LEASE_PREFIX + member, LEASES_KEY];
  if (!name.startsWith(SESSION_PREFIX)) return { keys, member, session: '' };
  const session = name.slice(SESSION_PREFIX.length);
  return { keys: [...keys, activeSessionKey(session), cancelKey(session)], member, session };
}

function whole(ttlMs: number): number {
  if (!(ttlMs > 0 && Number.isFinite(ttlMs))) throw invalidOption('LeaseStore', 'ttlMs', 'a number above 0', ttlMs);
  return Math.ceil(ttlMs);
}
