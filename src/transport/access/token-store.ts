import { createHash } from 'node:crypto';
import { EngineError } from '../../errors.js';

/** A pair of keys that a tenant made for itself. */
export interface TokenRecord {
  /** Opens the whole API. */
  readonly token: string;
  /** Opens chat pages alone, so that it may stand in them. */
  readonly beta: string;
  /** The one agent that `beta` opens; absent: all of the tenant's. */
  readonly agentId?: string;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
}

/** A token and whose it is. */
export interface OwnedToken {
  readonly tenant: string;
  readonly record: TokenRecord;
}

/** Keys that tenants made. */
export interface TokenStore {
  /** @throws EngineError LIMIT_REACHED when the store is full. */
  insert(tenant: string, record: TokenRecord): Promise<void>;
  /** Newest first. */
  list(tenant: string): Promise<readonly TokenRecord[]>;
  /** Whether there was one. */
  delete(tenant: string, token: string): Promise<boolean>;
  findByToken(token: string): Promise<OwnedToken | undefined>;
  findByBeta(beta: string): Promise<OwnedToken | undefined>;
}

export interface MemoryTokenLimits {
  /** Of all tenants together. @default 100,000 */
  readonly maxCount?: number;
}

/** Tokens in memory, gone with the process. */
export function createMemoryTokens({ maxCount = 100_000 }: MemoryTokenLimits = {}): TokenStore {
  // By digest: how long a look-up takes says nothing about keys that exist.
  const byToken = new Map<string, OwnedToken>();
  const byBeta = new Map<string, OwnedToken>();
  return {
    async insert(tenant, record) {
      if (byToken.size >= maxCount) {
        throw new EngineError('LIMIT_REACHED', `This server keeps at most ${maxCount} tokens. Delete some.`);
      }
      byToken.set(digestOf(record.token), { tenant, record });
      byBeta.set(digestOf(record.beta), { tenant, record });
    },
    async list(tenant) {
      return [...byToken.values()].flatMap((owned) => (owned.tenant === tenant ? [owned.record] : [])).reverse();
    },
    async delete(tenant, token) {
      const owned = byToken.get(digestOf(token));
      if (owned?.tenant !== tenant) return false;
      byBeta.delete(digestOf(owned.record.beta));
      return byToken.delete(digestOf(token));
    },
    findByToken: async (token) => byToken.get(digestOf(token)),
    findByBeta: async (beta) => byBeta.get(digestOf(beta)),
  };
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
