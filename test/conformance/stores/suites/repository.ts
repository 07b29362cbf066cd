import { describe, expect, it } from 'vitest';
import type { Repository } from '../../../../src/records/repository.js';
import type { PlainStores } from '../../../../src/records/resources.js';
import { agentRecord, newTenant, runRecord, sessionRecord, versionRecord } from '../../../stores/support/records.js';
import { skippedUnless } from '../../../support/skipped.js';
import type { Given } from './given.js';

interface Row {
  readonly name: string;
  readonly store: (stores: PlainStores) => unknown;
  /** A record of an agent; two of them differ in their ids. */
  readonly record: (agent: string) => { readonly id: string };
  /** Whether records belong to an agent. */
  readonly isOwned: boolean;
  /** A record that may be pruned before time 20, and one that may not. */
  readonly prune?: (agent: string) => readonly [over: { readonly id: string }, current: { readonly id: string }];
}

/** One row per kind of plain record whose id is its field `id`. */
const ROWS: readonly Row[] = [
  { name: 'agents', store: ({ agents }) => agents, record: () => agentRecord(), isOwned: false },
  { name: 'versions', store: ({ versions }) => versions, record: (agent) => versionRecord(agent), isOwned: true },
  {
    name: 'sessions',
    store: ({ sessions }) => sessions,
    record: (agent) => sessionRecord(agent),
    isOwned: true,
    prune: (agent) => [sessionRecord(agent, { updatedAt: 10 }), sessionRecord(agent, { updatedAt: 30 })],
  },
  {
    name: 'runs',
    store: ({ runs }) => runs,
    record: (agent) => runRecord(agent),
    isOwned: true,
    prune: (agent) => [
      runRecord(agent, { status: 'failed', finishedAt: 10 }),
      runRecord(agent, { status: 'running', finishedAt: 10 }),
    ],
  },
];

/** What every {@link Repository} does, whatever it stores. */
export function describeRepositories(stores: () => PlainStores, given: Given): void {
  describe.each(ROWS)('the repository of $name', ({ store, record, isOwned, prune }) => {
    type Stored = { readonly id: string };
    const repository = () => store(stores()) as Repository<Stored>;
    const all = (agentId: string) => ({ offset: 0, limit: 10, ...(isOwned && { agentId }) });

    it('inserts a record once, and saves it as often as it changes', async () => {
      const tenant = newTenant();
      const one = record(await given.agent(tenant));
      await repository().insert(tenant, one);
      await expect(repository().insert(tenant, one)).rejects.toMatchObject({ code: 'CONFLICT' });
      expect(await repository().find(tenant, one.id)).toEqual(one);
      const changed = { ...one, updatedAt: 5_000 };
      await repository().save(tenant, changed);
      expect(await repository().update(tenant, one.id, { createdAt: 7 } as object)).toEqual({
        ...changed,
        createdAt: 7,
      });
      expect(await repository().find(tenant, one.id)).toEqual({ ...changed, createdAt: 7 });
      expect(await repository().update(newTenant(), one.id, {})).toBeUndefined();
    });

    it('separates tenants and owners', async () => {
      const [tenant, stranger] = [newTenant(), newTenant()];
      const agent = await given.agent(tenant);
      const one = record(agent);
      await repository().save(tenant, one);
      expect(await repository().find(stranger, one.id)).toBeUndefined();
      expect(await repository().delete(stranger, one.id)).toBe(false);
      expect(await repository().find(tenant, one.id, 'another')).toBeUndefined();
      expect(await repository().delete(tenant, one.id, 'another')).toBe(false);
      expect(await repository().deleteOf(tenant, 'another')).toEqual([]);
      expect(await repository().find(tenant, one.id, isOwned ? agent : undefined)).toEqual(one);
      expect(await repository().delete(tenant, one.id, isOwned ? agent : undefined)).toBe(true);
      expect(await repository().find(tenant, one.id)).toBeUndefined();
    });

    it('orders equal records by when they were inserted, in both directions', async () => {
      const tenant = newTenant();
      const agent = await given.agent(tenant);
      const before = (await repository().list(tenant, all(agent))).items.map(({ id }) => id);
      const made = [record(agent), record(agent), record(agent)];
      for (const one of made) await repository().insert(tenant, one);
      const ids = async (descending: boolean) =>
        (await repository().list(tenant, { ...all(agent), descending })).items
          .map(({ id }) => id)
          .filter((id) => !before.includes(id));
      const inserted = made.map(({ id }) => id);
      expect(await ids(false)).toEqual(inserted);
      expect(await ids(true)).toEqual(inserted.toReversed());
    });

    it('lists as many records as fit into the bytes that are asked for, none when the first does not', async () => {
      const tenant = newTenant();
      const agent = await given.agent(tenant);
      const made = [record(agent), record(agent), record(agent)];
      for (const one of made) await repository().insert(tenant, { ...one, later: 'é'.repeat(5_000) } as Stored);
      const last = made.map(({ id }) => id).toReversed();
      const listed = async (maxBytes: number, offset = 0) => {
        const page = await repository().list(tenant, { ...all(agent), limit: 3, offset, maxBytes });
        expect(page.total).toBeGreaterThanOrEqual(3);
        return page.items.map(({ id }) => id);
      };
      expect(await listed(1)).toEqual([]);
      expect(await listed(20_000)).toEqual(last.slice(0, 1));
      expect(await listed(25_000)).toEqual(last.slice(0, 2));
      expect((await listed(25_000, 1)).slice(0, 2)).toEqual(last.slice(1, 3));
      expect(await listed(100_000)).toEqual(last);
    });

    it('gives the columns that are asked for, without the records', async () => {
      const tenant = newTenant();
      const agent = await given.agent(tenant);
      const one = record(agent);
      await repository().insert(tenant, one);
      const asked = { ...all(agent), limit: 1 };
      expect((await repository().select(tenant, asked, [])).items).toEqual([{ id: one.id }]);
      expect((await repository().select(newTenant(), asked, [])).total).toBe(0);
    });

    it.skipIf(prune === undefined)(
      skippedUnless(
        prune !== undefined,
        'nothing of it is pruned',
        'prunes what its rule allows, at most as many as asked',
      ),
      async () => {
        const tenant = newTenant();
        const agent = await given.agent(tenant);
        const [over, current] = prune?.(agent) ?? [];
        const other = prune?.(agent)[0];
        for (const one of [over, current, other]) await repository().save(tenant, one as Stored);
        await repository().prune(20, 0);
        expect((await repository().list(tenant, all(agent))).total).toBe(3);
        while ((await repository().prune(20, 1)) > 0);
        expect((await repository().list(tenant, all(agent))).items).toEqual([current]);
      },
    );
  });
}
