import { describe, expect, it } from 'vitest';
import { latestVersion, type VersionStore } from '../../../../src/records/versions.js';
import { newTenant, versionRecord } from '../../../stores/support/records.js';
import type { Given } from './given.js';

/** What every {@link VersionStore} does. */
export function describeVersionStore(store: () => VersionStore, given: Given): void {
  describe('VersionStore', () => {
    it('gives back what it was given', async () => {
      const tenant = newTenant();
      const agent = await given.agent(tenant);
      const version = versionRecord(agent, { description: 'first', dsl: { z: 1, a: '\u0000' } });
      await store().insert(tenant, version);
      expect(await store().find(tenant, version.id, agent)).toEqual(version);
    });

    it('lists the newest first; of the same time, the one inserted last', async () => {
      const tenant = newTenant();
      const agent = await given.agent(tenant);
      const times = [
        ['a', 5],
        ['b', 9],
        ['c', 5],
        ['d', 1],
      ] as const;
      for (const [id, createdAt] of times) await store().insert(tenant, versionRecord(agent, { id, createdAt }));
      const { items, total } = await store().list(tenant, { agentId: agent, offset: 0, limit: 3 });
      expect(items.map(({ id }) => id)).toEqual(['b', 'c', 'a']);
      expect(total).toBe(4);
      expect((await latestVersion(store(), tenant, agent))?.id).toBe('b');
    });

    it('never replaces a version', async () => {
      const tenant = newTenant();
      const agent = await given.agent(tenant);
      const version = versionRecord(agent);
      await store().insert(tenant, version);
      await expect(store().insert(tenant, { ...version, title: 'other' })).rejects.toMatchObject({ code: 'CONFLICT' });
      expect(await store().find(tenant, version.id, agent)).toEqual(version);
    });

    it('finds nothing of another agent or another tenant', async () => {
      const [tenant, stranger] = [newTenant(), newTenant()];
      const [agent, other] = [await given.agent(tenant), await given.agent(tenant)];
      const version = versionRecord(agent);
      await store().insert(tenant, version);
      expect(await store().find(tenant, version.id, other)).toBeUndefined();
      expect(await store().find(stranger, version.id, agent)).toBeUndefined();
      expect(await latestVersion(store(), stranger, agent)).toBeUndefined();
      expect(await store().delete(stranger, version.id, agent)).toBe(false);
      expect(await store().delete(tenant, version.id, other)).toBe(false);
      await store().deleteOf(stranger, agent);
      expect(await latestVersion(store(), tenant, agent)).toEqual(version);
    });

    it('deletes one, or all of an agent', async () => {
      const tenant = newTenant();
      const [agent, other] = [await given.agent(tenant), await given.agent(tenant)];
      const [first, second, kept] = [versionRecord(agent), versionRecord(agent), versionRecord(other)];
      for (const version of [first, second, kept]) await store().insert(tenant, version);
      expect(await store().delete(tenant, first.id, agent)).toBe(true);
      expect(await store().delete(tenant, first.id, agent)).toBe(false);
      expect(await latestVersion(store(), tenant, agent)).toEqual(second);
      await store().deleteOf(tenant, agent);
      expect(await latestVersion(store(), tenant, agent)).toBeUndefined();
      expect(await latestVersion(store(), tenant, other)).toEqual(kept);
    });

    it('keeps both of two that are published at once', async () => {
      const tenant = newTenant();
      const agent = await given.agent(tenant);
      await Promise.all([1, 2].map((createdAt) => store().insert(tenant, versionRecord(agent, { createdAt }))));
      expect((await store().list(tenant, { agentId: agent, offset: 0, limit: 10 })).total).toBe(2);
    });
  });
}
