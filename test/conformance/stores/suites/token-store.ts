import { describe, expect, it } from 'vitest';
import type { TokenRecord, TokenStore } from '../../../../src/records/tokens.js';
import { newId, newTenant } from '../../../stores/support/records.js';

/** What every {@link TokenStore} does. */
export function describeTokenStore(store: () => TokenStore): void {
  const token = (change: Partial<TokenRecord> = {}): TokenRecord => ({
    token: `token-${newId()}`,
    beta: `beta-${newId()}`,
    createdAt: 1_000,
    ...change,
  });

  describe('TokenStore', () => {
    it('finds a token by each of its keys, and says whose it is', async () => {
      const tenant = newTenant();
      const record = token({ agentId: 'a' });
      await store().insert(tenant, record);
      expect(await store().findByToken(record.token)).toEqual({ tenant, record });
      expect(await store().findByBeta(record.beta)).toEqual({ tenant, record });
      expect(await store().findByToken(record.beta)).toBeUndefined();
      expect(await store().findByBeta(record.token)).toBeUndefined();
      expect(await store().findByToken('')).toBeUndefined();
    });

    it('lists those of one tenant, the newest first', async () => {
      const [tenant, other] = [newTenant(), newTenant()];
      const [first, second] = [token(), token()];
      await store().insert(tenant, first);
      await store().insert(other, token());
      await store().insert(tenant, second);
      expect(await store().list(tenant)).toEqual([second, first]);
      expect(await store().list(newTenant())).toEqual([]);
    });

    it('deletes only what belongs to the tenant, and forgets both keys', async () => {
      const tenant = newTenant();
      const record = token();
      await store().insert(tenant, record);
      expect(await store().delete(newTenant(), record.token)).toBe(false);
      expect(await store().findByToken(record.token)).toEqual({ tenant, record });
      expect(await store().delete(tenant, record.token)).toBe(true);
      expect(await store().delete(tenant, record.token)).toBe(false);
      expect(await store().findByToken(record.token)).toBeUndefined();
      expect(await store().findByBeta(record.beta)).toBeUndefined();
      expect(await store().list(tenant)).toEqual([]);
    });
  });
}
