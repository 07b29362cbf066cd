import { describe, expect, it } from 'vitest';
import { type AgentQuery, type AgentStore, listAgentSummaries } from '../../../../src/records/agents.js';
import { agentRecord, newTenant } from '../../../stores/support/records.js';

const ALL: AgentQuery = { offset: 0, limit: 100, orderBy: 'title', descending: false };

/** What every {@link AgentStore} does. */
export function describeAgentStore(store: () => AgentStore): void {
  describe('AgentStore', () => {
    it('gives back what it was given, every character and the order of keys included', async () => {
      const tenant = newTenant();
      const agent = agentRecord({
        description: 'Grüße, 世界 😀',
        tags: 'b, a',
        dsl: { z: 1, a: 'a\u0000b\ud800', nested: { y: null, x: [1.5, -0.25, 1e21, true] } },
        published: { dsl: { version: 2 }, at: 7 },
      });
      await store().insert(tenant, agent);
      const found = await store().find(tenant, agent.id);
      expect(found).toEqual(agent);
      expect(JSON.stringify(found?.dsl)).toBe(JSON.stringify(agent.dsl));
    });

    it('lists agents without their documents', async () => {
      const tenant = newTenant();
      const documents = { dsl: { a: 'a\u0000b'.repeat(5_000) }, published: { dsl: { version: 2 }, at: 7 } };
      const agent = agentRecord({ title: 'b', description: 'Grüße \u0000', tags: 'b, a', ...documents });
      const { dsl: _, published: __, ...others } = agent;
      await store().insert(tenant, agent);
      const page = await listAgentSummaries(store(), tenant, ALL);
      expect(page).toEqual({ items: [{ ...others, published: { at: 7 } }], total: 1 });
      await store().update(tenant, agent.id, { title: 'other', published: undefined } as object);
      expect((await listAgentSummaries(store(), tenant, ALL)).items).toEqual([{ ...others, title: 'other' }]);
      const large = agentRecord({ title: 'p', avatar: 'x'.repeat(10_000) });
      await store().insert(tenant, large);
      expect((await listAgentSummaries(store(), tenant, { ...ALL, maxBytes: 9_000 })).items).toHaveLength(1);
    });

    it('counts the values of a column, also those in lists', async () => {
      const tenant = newTenant();
      for (const [tags, canvasCategory] of [
        ['red, blue', 'a'],
        ['blue', 'b'],
        ['', 'b'],
        ['blue,blue', 'b'],
      ] as const) {
        await store().insert(tenant, agentRecord({ tags, canvasCategory }));
      }
      await store().insert(newTenant(), agentRecord({ tags: 'green' }));
      expect(await store().tally(tenant, ALL, 'category')).toEqual([
        { value: 'b', count: 3 },
        { value: 'a', count: 1 },
      ]);
      expect(await store().tally(tenant, { ...ALL, limit: 1 }, 'tags')).toEqual([
        { value: 'blue', count: 3 },
        { value: '', count: 1 },
        { value: 'red', count: 1 },
      ]);
      expect(await store().tally(tenant, { ...ALL, categories: ['a'] }, 'tags')).toEqual([
        { value: 'blue', count: 1 },
        { value: 'red', count: 1 },
      ]);
      expect(await store().tally(newTenant(), ALL, 'tags')).toEqual([]);
    });

    it('finds agents by tags, whatever characters those of others have', async () => {
      const tenant = newTenant();
      await store().insert(tenant, agentRecord({ tags: 'a\u0000b,\ud800' }));
      const blue = agentRecord({ tags: 'blue' });
      await store().insert(tenant, blue);
      const page = await store().list(tenant, { ...ALL, tags: ['blue', '\udc00', '\u0000'] });
      expect(page).toEqual({ items: [blue], total: 1 });
      expect((await store().tally(tenant, ALL, 'tags')).length).toBe(3);
    });

    it('keeps what another tenant owns out of every call', async () => {
      const [mine, theirs] = [newTenant(), newTenant()];
      const agent = agentRecord();
      await store().insert(mine, agent);
      expect(await store().find(theirs, agent.id)).toBeUndefined();
      expect(await store().update(theirs, agent.id, { title: 'stolen' })).toBeUndefined();
      expect(await store().delete(theirs, agent.id)).toBe(false);
      expect(await store().list(theirs, ALL)).toEqual({ items: [], total: 0 });
      expect(await store().find(mine, agent.id)).toEqual(agent);
    });

    it('lets two tenants use the same id and the same title', async () => {
      const [one, other] = [newTenant(), newTenant()];
      const agent = agentRecord();
      await store().insert(one, agent);
      await store().insert(other, { ...agent, description: 'other' });
      expect(await store().find(one, agent.id)).toEqual(agent);
    });

    it('says who has an id, of the tenants that it is given, two at most', async () => {
      const tenants = [newTenant(), newTenant(), newTenant()];
      const [one, other] = tenants as [string, string, string];
      const agent = agentRecord();
      const owners = async (among: readonly string[]) => [...(await store().ownersOf(agent.id, among))].sort();
      expect(await owners(tenants)).toEqual([]);
      await store().insert(one, agent);
      expect(await owners(tenants)).toEqual([one]);
      expect(await owners([other])).toEqual([]);
      expect(await owners([])).toEqual([]);
      for (const tenant of tenants.slice(1)) await store().insert(tenant, agent);
      expect(await owners([other])).toEqual([other]);
      expect(await owners(tenants)).toHaveLength(2);
    });

    it('refuses a title that is taken in its category, whatever the case', async () => {
      const tenant = newTenant();
      const agent = agentRecord({ title: 'Älteste Straße' });
      await store().insert(tenant, agent);
      const same = agentRecord({ title: 'äLTESTE sTRAßE' });
      await expect(store().insert(tenant, same)).rejects.toMatchObject({ code: 'CONFLICT' });
      await store().insert(tenant, { ...same, canvasCategory: 'dataflow_canvas' });
      const other = agentRecord();
      await store().insert(tenant, other);
      await expect(store().update(tenant, other.id, { title: same.title })).rejects.toMatchObject({ code: 'CONFLICT' });
      expect(await store().find(tenant, other.id)).toEqual(other);
    });

    it('changes what a change names and nothing else', async () => {
      const tenant = newTenant();
      const agent = agentRecord();
      await store().insert(tenant, agent);
      const changed = await store().update(tenant, agent.id, { title: 'New', updatedAt: 2_000 });
      expect(changed).toEqual({ ...agent, title: 'New', updatedAt: 2_000 });
      expect(await store().find(tenant, agent.id)).toEqual(changed);
    });

    it('takes of concurrent changes that expect the same state one', async () => {
      const tenant = newTenant();
      const agent = agentRecord();
      await store().insert(tenant, agent);
      const expected = { updatedAt: agent.updatedAt };
      const change = (title: string) =>
        store().update(tenant, agent.id, { title, updatedAt: agent.updatedAt + 1 }, expected);
      const results = await Promise.allSettled(['A', 'B', 'C'].map(change));
      const [won, ...more] = results.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
      expect(more).toEqual([]);
      expect(await store().find(tenant, agent.id)).toEqual(won);
      const refusals = results.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
      const details = { field: 'updatedAt', stored: agent.updatedAt + 1 };
      expect(refusals).toMatchObject([
        { code: 'CONFLICT', details },
        { code: 'CONFLICT', details },
      ]);
      expect(await store().update(tenant, 'none', {}, expected)).toBeUndefined();
    });

    it('takes of concurrent changes every one', async () => {
      const tenant = newTenant();
      const agent = agentRecord();
      await store().insert(tenant, agent);
      await Promise.all([
        store().update(tenant, agent.id, { description: 'new' }),
        store().update(tenant, agent.id, { tags: 'x' }),
        store().update(tenant, agent.id, { avatar: 'face' }),
      ]);
      expect(await store().find(tenant, agent.id)).toMatchObject({ description: 'new', tags: 'x', avatar: 'face' });
    });

    it('of two that take the same title at once, takes one', async () => {
      const tenant = newTenant();
      const title = 'One';
      const results = await Promise.allSettled([
        store().insert(tenant, agentRecord({ title })),
        store().insert(tenant, agentRecord({ title })),
      ]);
      expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
      expect((await store().list(tenant, ALL)).total).toBe(1);
    });

    it('says whether there was something to delete', async () => {
      const tenant = newTenant();
      const agent = agentRecord();
      await store().insert(tenant, agent);
      expect(await store().delete(tenant, agent.id)).toBe(true);
      expect(await store().delete(tenant, agent.id)).toBe(false);
      expect(await store().find(tenant, agent.id)).toBeUndefined();
    });

    describe('listing', () => {
      const agents = [
        agentRecord({ id: 'a', title: 'Alpha 100%', tags: 'red, Green', createdAt: 3, updatedAt: 30 }),
        agentRecord({
          id: 'b',
          title: 'beta_x',
          tags: 'green',
          canvasType: 'Recommended',
          createdAt: 1,
          updatedAt: 10,
        }),
        agentRecord({ id: 'c', title: 'ÄHRE', canvasCategory: 'dataflow_canvas', createdAt: 2, updatedAt: 20 }),
      ];
      const cases: readonly (readonly [string, Partial<AgentQuery>, readonly string[]])[] = [
        ['everything by title', {}, ['a', 'b', 'c']],
        ['by creation', { orderBy: 'createdAt' }, ['b', 'c', 'a']],
        ['by change, the last first', { orderBy: 'updatedAt', descending: true }, ['a', 'c', 'b']],
        ['one id', { id: 'b' }, ['b']],
        ['one title', { title: 'beta_x' }, ['b']],
        ['no title in another case', { title: 'BETA_X' }, []],
        ['part of a title, whatever the case', { keywords: 'ähr' }, ['c']],
        ['part of a tag', { keywords: 'REE' }, ['a', 'b']],
        ['nothing across tags', { keywords: 'redgreen' }, []],
        ['a percent sign as it is', { keywords: '0%' }, ['a']],
        ['an underscore as it is', { keywords: 'a_x' }, ['b']],
        ['a whole tag', { tags: ['green'] }, ['b']],
        ['one of several tags', { tags: ['red', 'green'] }, ['a', 'b']],
        ['categories', { categories: ['dataflow_canvas', 'other'] }, ['c']],
        ['no category', { categories: [] }, []],
        ['any category but one', { notCategory: 'agent_canvas' }, ['c']],
        ['a canvas type', { canvasType: 'Recommended' }, ['b']],
        ['several conditions', { keywords: 'green', categories: ['agent_canvas'], canvasType: 'Recommended' }, ['b']],
      ];
      it.each(cases)('gives %s', async (_name, query, expected) => {
        const tenant = newTenant();
        for (const agent of agents) await store().insert(tenant, agent);
        const { items, total } = await store().list(tenant, { ...ALL, ...query });
        expect(items.map(({ id }) => id)).toEqual(expected);
        expect(total).toBe(expected.length);
      });

      it('gives a page, and how many there are in all', async () => {
        const tenant = newTenant();
        for (const agent of agents) await store().insert(tenant, agent);
        const { items, total } = await store().list(tenant, { ...ALL, offset: 1, limit: 1 });
        expect(items).toEqual([agents[1]]);
        expect(total).toBe(3);
        expect(await store().list(tenant, { ...ALL, offset: 5 })).toEqual({ items: [], total: 3 });
      });
    });
  });
}
