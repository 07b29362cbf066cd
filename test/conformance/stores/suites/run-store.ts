import { describe, expect, it } from 'vitest';
import type { RunQuery, RunStore } from '../../../../src/records/runs.js';
import { newTenant, runRecord } from '../../../stores/support/records.js';
import type { Given } from './given.js';

const ALL: Omit<RunQuery, 'agentId'> = { offset: 0, limit: 100 };

/** What every {@link RunStore} does. */
export function describeRunStore(store: () => RunStore, given: Given): void {
  describe('RunStore', () => {
    it('gives back what it was given last', async () => {
      const tenant = newTenant();
      const agent = await given.agent(tenant);
      const run = runRecord(agent, { parentRun: 'parent' });
      await store().save(tenant, run);
      expect(await store().find(tenant, run.id)).toEqual(run);
      const ended = {
        ...run,
        status: 'failed' as const,
        error: { code: 'NODE_FAILED' as const, message: 'Grüße' },
        finishedAt: 2_000,
        lastSeq: 7,
        usage: { promptTokens: 1, completionTokens: 2, totalTokens: 3, calls: 4 },
      };
      await store().save(tenant, ended);
      expect(await store().find(tenant, run.id)).toEqual(ended);
    });

    it('is replaced by the process of its newest epoch', async () => {
      const tenant = newTenant();
      const agent = await given.agent(tenant);
      const run = runRecord(agent);
      expect(await store().replace(tenant, run, run)).toBe(false);
      expect(await store().find(tenant, run.id)).toBeUndefined();
      await store().save(tenant, run);
      const recovered = { ...run, epoch: 2 };
      expect(await store().replace(tenant, run, recovered)).toBe(true);
      expect(await store().replace(tenant, run, recovered)).toBe(true);
      expect(await store().replace(tenant, run, { ...run, status: 'failed', finishedAt: 5 })).toBe(false);
      const ended = { ...recovered, status: 'succeeded', finishedAt: 5 } as const;
      expect(await store().replace(tenant, recovered, ended)).toBe(true);
      expect(await store().find(tenant, run.id)).toEqual(ended);
      expect(await store().list(tenant, { agentId: agent, status: 'failed', ...ALL })).toMatchObject({ total: 0 });
      expect(
        await store()
          .replace(newTenant(), ended, ended)
          .catch(() => false),
      ).toBe(false);
    });

    it('lists as many as fit into the bytes that are asked for', async () => {
      const tenant = newTenant();
      const agent = await given.agent(tenant);
      const large = { isDetached: true, headers: { a: 'x'.repeat(10_000) } };
      for (const startedAt of [1, 2, 3]) await store().save(tenant, runRecord(agent, { startedAt, launch: large }));
      const listed = async (query: Partial<RunQuery>) => {
        const { items, total } = await store().list(tenant, { agentId: agent, ...ALL, ...query });
        expect(total).toBe(3);
        return items.map(({ startedAt }) => startedAt);
      };
      for (const query of [{}, { sessionId: 'session', status: 'running' as const }]) {
        expect(await listed({ ...query, maxBytes: 25_000 })).toEqual([3, 2]);
        expect(await listed({ ...query, maxBytes: 25_000, offset: 2 })).toEqual([1]);
        expect(await listed({ ...query, maxBytes: 10 })).toEqual([]);
        expect(await listed({ ...query, maxBytes: 100_000 })).toEqual([3, 2, 1]);
      }
    });

    it('lists the newest first, by session and by status', async () => {
      const tenant = newTenant();
      const agent = await given.agent(tenant);
      const runs = [
        runRecord(agent, { id: 'a', startedAt: 1, sessionId: 's1', status: 'succeeded' }),
        runRecord(agent, { id: 'b', startedAt: 3, sessionId: 's2', status: 'succeeded' }),
        runRecord(agent, { id: 'c', startedAt: 2, sessionId: 's1', status: 'waiting' }),
      ];
      for (const run of runs) await store().save(tenant, run);
      await store().save(tenant, runRecord(await given.agent(tenant), { startedAt: 9 }));
      const ids = async (query: Partial<RunQuery>): Promise<string[]> => {
        const { items } = await store().list(tenant, { agentId: agent, ...ALL, ...query });
        return items.map(({ id }) => id);
      };
      expect(await ids({})).toEqual(['b', 'c', 'a']);
      expect(await ids({ sessionId: 's1' })).toEqual(['c', 'a']);
      expect(await ids({ status: 'succeeded' })).toEqual(['b', 'a']);
      expect(await ids({ sessionId: 's1', status: 'succeeded' })).toEqual(['a']);
      expect(await store().list(tenant, { agentId: agent, offset: 1, limit: 1 })).toEqual({
        items: [runs[2]],
        total: 3,
      });
    });

    it('lists what started between two times, both included', async () => {
      const tenant = newTenant();
      const agent = await given.agent(tenant);
      for (const startedAt of [10, 20, 30, 40]) {
        const status = startedAt === 20 ? 'failed' : 'succeeded';
        await store().save(tenant, runRecord(agent, { id: `r${startedAt}`, startedAt, sessionId: 's', status }));
      }
      const listed = async (query: Partial<RunQuery>) => {
        const { items, total } = await store().list(tenant, { agentId: agent, ...ALL, ...query });
        return [...items.map(({ id }) => id), total];
      };
      expect(await listed({ from: 20 })).toEqual(['r40', 'r30', 'r20', 3]);
      expect(await listed({ to: 30 })).toEqual(['r30', 'r20', 'r10', 3]);
      expect(await listed({ from: 20, to: 30 })).toEqual(['r30', 'r20', 2]);
      expect(await listed({ from: 20, offset: 1, limit: 1 })).toEqual(['r30', 3]);
      expect(await listed({ from: 20, sessionId: 's', status: 'succeeded' })).toEqual(['r40', 'r30', 2]);
      expect(await listed({ to: 30, status: 'failed' })).toEqual(['r20', 1]);
      expect(await listed({ from: 31, to: 39 })).toEqual([0]);
    });

    it('lists those that took so long, with a page of them', async () => {
      const tenant = newTenant();
      const [one, other] = [await given.agent(tenant), await given.agent(tenant)];
      const lengths = [0, 5_000, 60_000, undefined, 5_000, 90_000];
      for (const [at, length] of lengths.entries()) {
        const startedAt = 1_000 + at;
        const status = length === undefined ? 'running' : at === 4 ? 'waiting' : 'succeeded';
        const ended = length === undefined ? {} : { finishedAt: startedAt + length };
        // What a run waits for may have fields of any name.
        const pending = status === 'waiting' ? { pending: { finishedAt: 9, a: [{ finishedAt: 1 }] } } : {};
        await store().save(tenant, runRecord(at === 5 ? other : one, { startedAt, status, ...ended, ...pending }));
      }
      const listed = async (query: Partial<RunQuery>) => {
        const { items, total } = await store().list(tenant, { ...ALL, ...query });
        return [...items.map(({ startedAt }) => startedAt - 1_000), total];
      };
      expect(await listed({ shortestMs: 0 })).toEqual([5, 4, 2, 1, 0, 5]);
      expect(await listed({ shortestMs: 5_000 })).toEqual([5, 4, 2, 1, 4]);
      expect(await listed({ shortestMs: 5_001 })).toEqual([5, 2, 2]);
      expect(await listed({ longestMs: 5_000 })).toEqual([4, 1, 0, 3]);
      expect(await listed({ longestMs: 0 })).toEqual([0, 1]);
      expect(await listed({ shortestMs: 1, longestMs: 60_000 })).toEqual([4, 2, 1, 3]);
      expect(await listed({ shortestMs: 1, longestMs: 60_000, offset: 1, limit: 1 })).toEqual([2, 3]);
      expect(await listed({ shortestMs: 1, agentId: other })).toEqual([5, 1]);
      expect(await listed({ longestMs: 60_000, status: 'waiting' })).toEqual([4, 1]);
      expect(await listed({ longestMs: 60_000, from: 1_001, to: 1_002 })).toEqual([2, 1, 2]);
      expect(await listed({ shortestMs: 90_001 })).toEqual([0]);
    });

    it('lists those of all agents, and of no chat, by what they have', async () => {
      const [tenant, stranger] = [newTenant(), newTenant()];
      const [one, other] = [await given.agent(tenant), await given.agent(tenant)];
      const runs = [
        runRecord(one, { startedAt: 1, status: 'succeeded', documentVersion: 'draft', userId: 'me' }),
        runRecord(other, { startedAt: 2, status: 'waiting', documentVersion: 'v1', userId: 'me' }),
        runRecord(one, { startedAt: 3, status: 'running', documentVersion: 'v1' }),
        runRecord(other, { startedAt: 4, status: 'running', isChat: true }),
      ] as const;
      for (const run of runs) await store().save(tenant, run);
      await store().save(stranger, runRecord(await given.agent(stranger), { startedAt: 9 }));
      const listed = async (query: Partial<RunQuery>) => {
        const { items, total } = await store().list(tenant, { exceptKind: 'chat', ...ALL, ...query });
        expect(items.map((item) => runs.find(({ id }) => id === item.id))).toEqual(items);
        return [...items.map(({ startedAt }) => startedAt), total];
      };
      expect(await listed({})).toEqual([3, 2, 1, 3]);
      expect(await listed({ offset: 1, limit: 1 })).toEqual([2, 3]);
      expect(await listed({ from: 2, to: 3 })).toEqual([3, 2, 2]);
      expect(await listed({ status: 'waiting' })).toEqual([2, 1]);
      expect(await listed({ version: 'v1' })).toEqual([3, 2, 2]);
      expect(await listed({ version: 'v1', status: 'running' })).toEqual([3, 1]);
      expect(await listed({ userId: 'me' })).toEqual([2, 1, 2]);
      expect(await listed({ userId: 'me', agentId: one })).toEqual([1, 1]);
      expect(await listed({ userId: 'you' })).toEqual([0]);
      // One that ends is found by how it ended, and by nothing else.
      const ended = { ...runs[2], status: 'failed', finishedAt: 5 } as const;
      expect(await store().replace(tenant, runs[2], ended)).toBe(true);
      expect((await store().list(tenant, { exceptKind: 'chat', status: 'running', ...ALL })).total).toBe(0);
      expect((await store().list(tenant, { exceptKind: 'chat', status: 'failed', ...ALL })).items).toEqual([ended]);
    });

    it('deletes one run, of its tenant alone', async () => {
      const tenant = newTenant();
      const agent = await given.agent(tenant);
      const [run, kept] = [runRecord(agent, { startedAt: 1, status: 'failed' }), runRecord(agent, { startedAt: 2 })];
      for (const one of [run, kept]) await store().save(tenant, one);
      expect(await store().delete(newTenant(), run.id)).toBe(false);
      expect(await store().delete(tenant, run.id, 'another')).toBe(false);
      expect(await store().find(tenant, run.id)).toEqual(run);
      expect(await store().delete(tenant, run.id)).toBe(true);
      expect(await store().delete(tenant, run.id)).toBe(false);
      expect(await store().find(tenant, run.id)).toBeUndefined();
      for (const query of [
        {},
        { agentId: agent },
        { status: 'failed' as const },
        { sessionId: run.sessionId, agentId: agent },
      ]) {
        const { items } = await store().list(tenant, { exceptKind: 'chat', ...ALL, ...query });
        expect(items).toEqual('status' in query ? [] : [kept]);
      }
    });

    it('keeps what another tenant owns out of every call', async () => {
      const [mine, theirs] = [newTenant(), newTenant()];
      const agent = await given.agent(mine);
      const run = runRecord(agent);
      await store().save(mine, run);
      expect(await store().find(theirs, run.id)).toBeUndefined();
      expect(await store().list(theirs, { ...ALL, agentId: agent })).toEqual({ items: [], total: 0 });
      expect(await store().deleteOf(theirs, agent)).toEqual([]);
      expect(await store().find(mine, run.id)).toEqual(run);
    });

    it('names what it deleted with an agent', async () => {
      const tenant = newTenant();
      const [agent, other] = [await given.agent(tenant), await given.agent(tenant)];
      const runs = [runRecord(agent), runRecord(agent), runRecord(other)] as const;
      for (const run of runs) await store().save(tenant, run);
      expect([...(await store().deleteOf(tenant, agent))].sort()).toEqual([runs[0].id, runs[1].id].sort());
      expect(await store().find(tenant, runs[0].id)).toBeUndefined();
      expect(await store().find(tenant, runs[2].id)).toEqual(runs[2]);
    });
  });
}
