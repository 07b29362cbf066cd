import { describe, expect, it } from 'vitest';
import type { LeaseStore } from '../../../../src/records/coordination.js';
import { newId, newTenant } from '../../../stores/support/records.js';

/** A store of leases, and time as it sees it. */
export interface LeaseSubject {
  readonly leases: LeaseStore;
  /** Lets every lease expire that is held now. */
  readonly expireAll: () => Promise<void>;
}

const TTL_MS = 60_000;

/** What every {@link LeaseStore} does. */
export function describeLeaseStore(subject: () => LeaseSubject): void {
  const acquire = (tenant: string, name: string, owner: string, data = {}) =>
    subject().leases.acquire(tenant, { name, owner, data }, TTL_MS);

  describe('LeaseStore', () => {
    it('gives a lease to the first, and says to the others who holds it', async () => {
      const tenant = newTenant();
      const first = await acquire(tenant, 'session:1', 'one', { run: 'r' });
      expect(first.isMine).toBe(true);
      expect(first.holder).toMatchObject({ name: 'session:1', owner: 'one', data: { run: 'r' } });
      expect(await acquire(tenant, 'session:1', 'two', { run: 'other' })).toEqual({ ...first, isMine: false });
    });

    it('gives it to one of many that ask at once', async () => {
      const tenant = newTenant();
      const all = await Promise.all(Array.from({ length: 20 }, (_, at) => acquire(tenant, 'session:1', `owner ${at}`)));
      expect(all.filter(({ isMine }) => isMine)).toHaveLength(1);
      expect(new Set(all.map(({ holder }) => holder.owner)).size).toBe(1);
    });

    it('gives it to its owner again, with what is new', async () => {
      const tenant = newTenant();
      await acquire(tenant, 'session:1', 'one', { run: 'old' });
      expect(await acquire(tenant, 'session:1', 'one', { run: 'new' })).toMatchObject({
        isMine: true,
        holder: { data: { run: 'new' } },
      });
    });

    it('keeps names and tenants apart', async () => {
      const [mine, theirs] = [newTenant(), newTenant()];
      await acquire(mine, 'session:1', 'one');
      expect((await acquire(theirs, 'session:1', 'two')).isMine).toBe(true);
      expect((await acquire(mine, 'session:2', 'two')).isMine).toBe(true);
    });

    it('is free when its owner gives it back, and not when somebody else does', async () => {
      const tenant = newTenant();
      await acquire(tenant, 'session:1', 'one');
      await subject().leases.release(tenant, 'session:1', 'two');
      expect((await acquire(tenant, 'session:1', 'two')).isMine).toBe(false);
      await subject().leases.release(tenant, 'session:1', 'one');
      expect((await acquire(tenant, 'session:1', 'two')).isMine).toBe(true);
    });

    it('goes to the next when it has expired, and the owner before can no longer prolong it', async () => {
      const tenant = newTenant();
      await acquire(tenant, 'session:1', 'one');
      await subject().expireAll();
      expect(await acquire(tenant, 'session:1', 'two')).toMatchObject({ isMine: true, holder: { owner: 'two' } });
      expect(await subject().leases.renew(tenant, 'session:1', 'one', TTL_MS)).toBe(false);
      await subject().leases.release(tenant, 'session:1', 'one');
      expect((await acquire(tenant, 'session:1', 'three')).isMine).toBe(false);
    });

    it('goes on when its owner prolongs it, also late, as long as nobody took it', async () => {
      const tenant = newTenant();
      await acquire(tenant, 'session:1', 'one');
      await subject().expireAll();
      expect(await subject().leases.renew(tenant, 'session:1', 'one', TTL_MS)).toBe(true);
      expect((await acquire(tenant, 'session:1', 'two')).isMine).toBe(false);
      expect(await subject().leases.renew(tenant, 'session:1', 'two', TTL_MS)).toBe(false);
      expect(await subject().leases.renew(tenant, 'no such', 'one', TTL_MS)).toBe(false);
    });

    it('names what has expired, of any tenant, by the beginning of its name', async () => {
      const [one, other] = [newTenant(), newTenant()];
      const kind = `run-${newId()}:`;
      await acquire(one, `${kind}1`, 'gone', { seq: 1 });
      await acquire(other, `${kind}2`, 'gone');
      await acquire(one, `x${kind}3`, 'gone');
      await subject().expireAll();
      await acquire(one, `${kind}4`, 'alive');
      const expired = await subject().leases.expired(kind, 10);
      const brief = expired.map(({ tenant, name, owner, data }) => ({ tenant, name, owner, data }));
      expect(brief).toHaveLength(2);
      expect(brief).toEqual(
        expect.arrayContaining([
          { tenant: one, name: `${kind}1`, owner: 'gone', data: { seq: 1 } },
          { tenant: other, name: `${kind}2`, owner: 'gone', data: {} },
        ]),
      );
      expect(await subject().leases.expired(kind, 1)).toHaveLength(1);
      await acquire(one, `${kind}1`, 'next');
      expect((await subject().leases.expired(kind, 10)).map(({ name }) => name)).toEqual([`${kind}2`]);
    });
  });
}
