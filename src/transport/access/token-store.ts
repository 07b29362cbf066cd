import { createHash } from 'node:crypto';
import { EngineError } from '../../errors.js';
import type { OwnedToken, TokenStore } from '../../records/durable-stores.js';

export interface MemoryTokenLimits {
  /** Of all tenants together. @default 100,000 */
  readonly maxCount?: number;
}

/** Tokens in memory, gone with the process. */
export function createMemoryTokens({ maxCount = 100_000 }: MemoryTokenLimits = {}): TokenStore {
  // By digest: the time of a look-up does not reveal existing keys.
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
