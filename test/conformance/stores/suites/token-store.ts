import { describe, expect, it } from 'vitest';
import type { KeyPair, TokenStore } from '../../../../src/records/tokens.js';
import { newId, newTenant } from '../../../stores/support/records.js';

/** What every {@link TokenStore} does. */
export function describeTokenStore(store: () => TokenStore): void {
  const token = (change: Partial<KeyPair> = {}): KeyPair => ({
    token: `ragflow-${newId()}-${newId()}`,
    beta: newId(),
    createdAt: 1_000,
    ...change,
  });

  describe('TokenStore', () => {
    it('finds a token by each of its keys, and says whose it is', async () => {
      const tenant = newTenant();
      const keys = token({ agentId: 'a' });
      await store().insert(tenant, keys);
      const found = await store().findByToken(keys.token);
      expect(found).toMatchObject({ tenant, record: { agentId: 'a', createdAt: 1_000 } });
      expect(await store().findByBeta(keys.beta)).toEqual(found);
      expect(await store().findByToken(keys.beta)).toBeUndefined();
      expect(await store().findByBeta(keys.token)).toBeUndefined();
      expect(await store().findByToken('')).toBeUndefined();
    });

    it('lists those of one tenant, the newest first', async () => {
      const [tenant, other] = [newTenant(), newTenant()];
      const [first, second] = [token(), token()];
      await store().insert(tenant, first);
      await store().insert(other, token());
      await store().insert(tenant, second);
      const shown = (await store().list(tenant)).map((one) => one.shown.replace(/\*+/, ''));
      expect(shown).toEqual([second, first].map((keys) => `${keys.token.slice(0, 14)}${keys.token.slice(-6)}`));
      expect(await store().list(newTenant())).toEqual([]);
    });

    it('stores no key', async () => {
      const tenant = newTenant();
      const keys = token();
      await store().insert(tenant, keys);
      const stored = JSON.stringify([await store().list(tenant), await store().findByToken(keys.token)]);
      for (const key of [keys.token, keys.beta]) {
        expect(stored).not.toContain(key);
        expect(stored).not.toContain(key.slice(14, -6));
      }
    });

    it('deletes by what a list shows, too, of its tenant alone', async () => {
      const [tenant, other] = [newTenant(), newTenant()];
      const [first, second] = [token(), token()];
      for (const keys of [first, second]) await store().insert(tenant, keys);
      const shown = (await store().list(tenant)).at(-1)?.shown ?? '';
      expect(await store().delete(other, shown)).toBe(false);
      expect(await store().delete(tenant, shown)).toBe(true);
      expect(await store().findByToken(first.token)).toBeUndefined();
      expect(await store().findByToken(second.token)).toBeDefined();
    });

    it('deletes only what belongs to the tenant, and forgets both keys', async () => {
      const tenant = newTenant();
      const keys = token();
      await store().insert(tenant, keys);
      expect(await store().delete(newTenant(), keys.token)).toBe(false);
      expect(await store().findByToken(keys.token)).toMatchObject({ tenant });
      expect(await store().delete(tenant, keys.token)).toBe(true);
      expect(await store().delete(tenant, keys.token)).toBe(false);
      expect(await store().findByToken(keys.token)).toBeUndefined();
      expect(await store().findByBeta(keys.beta)).toBeUndefined();
      expect(await store().list(tenant)).toEqual([]);
    });
  });
}
