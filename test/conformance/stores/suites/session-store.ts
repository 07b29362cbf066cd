import { describe, expect, it } from 'vitest';
import type { SessionQuery, SessionRecord, SessionStore } from '../../../../src/records/sessions.js';
import { checkpoint, newTenant, sessionRecord } from '../../../stores/support/records.js';
import type { Given } from './given.js';

const ALL: Omit<SessionQuery, 'agentId'> = { offset: 0, limit: 100, orderBy: 'name', descending: false };

/** What every {@link SessionStore} does. */
export function describeSessionStore(store: () => SessionStore, given: Given): void {
  describe('SessionStore', () => {
    it('gives back what it was given, and the last of what it was given', async () => {
      const tenant = newTenant();
      const agent = await given.agent(tenant);
      const first = sessionRecord(agent, {
        dsl: { z: 1, a: 'a\u0000b' },
        messages: [{ role: 'user', content: 'Hi \u0000 😀', id: 'm1', createdAt: 1.5, files: [{ id: 'f' }] }],
        references: [{ chunks: [] }],
        conversation: { version: 1, variables: { 'sys.query': 'x' }, waiting: checkpoint('run', 3) },
      });
      await store().save(tenant, first);
      expect(await store().find(tenant, first.id)).toEqual(first);
      const { conversation: _, ...rest } = first;
      const second = { ...rest, dsl: { other: true }, lastRun: 'run', round: 1, errors: 'no', updatedAt: 2_000 };
      await store().save(tenant, second);
      expect(await store().find(tenant, first.id)).toEqual(second);
    });

    it('is replaced by the run that has it, and by the next one that read it', async () => {
      const tenant = newTenant();
      const session = sessionRecord(await given.agent(tenant), { dsl: { a: 1 } });
      await store().save(tenant, session);
      const asked = { ...session, lastRun: 'one', name: 'asked' };
      expect(await store().replace(tenant, session, asked)).toBe(true);
      // Its answer may have been lost.
      expect(await store().replace(tenant, session, asked)).toBe(true);
      // Another process has read the session before.
      expect(await store().replace(tenant, session, { ...session, lastRun: 'two' })).toBe(false);
      const recovered = { ...asked, epoch: 2 };
      expect(await store().replace(tenant, asked, recovered)).toBe(true);
      expect(await store().replace(tenant, asked, { ...asked, name: 'of the lost process' })).toBe(false);
      const ended = { ...recovered, name: 'ended', dsl: { b: 2 } };
      expect(await store().replace(tenant, recovered, ended)).toBe(true);
      expect(await store().find(tenant, session.id)).toEqual(ended);
      expect(await store().replace(newTenant(), ended, ended)).toBe(false);
      await store().delete(tenant, session.id);
      expect(await store().replace(tenant, ended, ended)).toBe(false);
      expect(await store().find(tenant, session.id)).toBeUndefined();
    });

    it('counts shared documents where they are listed, and lists without them', async () => {
      const tenant = newTenant();
      const agent = await given.agent(tenant);
      const dsl = { text: 'x'.repeat(10_000) };
      for (const name of ['a', 'b', 'c']) await store().save(tenant, sessionRecord(agent, { name, dsl }));
      const query = { agentId: agent, ...ALL, maxBytes: 25_000 };
      const { items } = await store().list(tenant, query);
      expect(items.map(({ name, dsl: read }) => [name, read])).toEqual([
        ['a', dsl],
        ['b', dsl],
      ]);
      const without = await store().list(tenant, { ...query, omitsShared: true });
      expect(without.items.map(({ name, dsl: read }) => [name, read])).toEqual([
        ['a', {}],
        ['b', {}],
        ['c', {}],
      ]);
      const selected = await store().select(tenant, { ...query, descending: true }, ['name', 'created_at']);
      expect(selected.total).toBe(3);
      expect(selected.items.map(({ name, created_at }) => [name, created_at])).toEqual([
        ['c', 1_000],
        ['b', 1_000],
        ['a', 1_000],
      ]);
    });

    it('keeps what another tenant owns out of every call', async () => {
      const [mine, theirs] = [newTenant(), newTenant()];
      const agent = await given.agent(mine);
      const session = sessionRecord(agent);
      await store().save(mine, session);
      expect(await store().find(theirs, session.id)).toBeUndefined();
      expect(await store().delete(theirs, session.id)).toBe(false);
      await store().deleteOf(theirs, agent);
      expect(await store().list(theirs, { ...ALL, agentId: agent })).toEqual({ items: [], total: 0 });
      expect(await store().find(mine, session.id)).toEqual(session);
    });

    it('selects those of several agents, with who wrote them last', async () => {
      const tenant = newTenant();
      const agents = [await given.agent(tenant), await given.agent(tenant), await given.agent(tenant)] as const;
      for (const [at, agent] of agents.entries()) {
        const change = at === 1 ? { lastRun: 'run/1', epoch: 3 } : {};
        await store().save(tenant, sessionRecord(agent, { name: `s${at}`, updatedAt: at, ...change }));
      }
      const query = { ...ALL, orderBy: 'updatedAt', descending: true } as const;
      const selected = async (change: Partial<SessionQuery>) => {
        const { items, total } = await store().select(tenant, { ...query, ...change }, ['agent', 'name', 'writer']);
        return [items.map(({ agent, name, writer }) => [agent, name, writer]), total];
      };
      const lines = [
        [agents[2], 's2', '/1'],
        [agents[1], 's1', 'run/1/3'],
        [agents[0], 's0', '/1'],
      ];
      expect(await selected({ agentIds: agents })).toEqual([lines, 3]);
      expect(await selected({ agentIds: [agents[1], 'none'] })).toEqual([[lines[1]], 1]);
      expect(await selected({ agentIds: agents, offset: 1, limit: 1 })).toEqual([[lines[1]], 3]);
      expect(await selected({ agentIds: [] })).toEqual([[], 0]);
      expect(await selected({})).toEqual([lines, 3]);
    });

    it('finds those whose last runs stand so, also of sessions from before that was stored', async () => {
      const tenant = newTenant();
      const agent = await given.agent(tenant);
      const ended = { lastRun: 'run', keptRun: 'run' } as const;
      const waiting = { version: 1, variables: {}, waiting: checkpoint('run', 3) } as const;
      const sessions: Readonly<Record<string, Partial<SessionRecord>>> = {
        none: {},
        first: { lastRun: 'run' },
        next: { ...ended, lastRun: 'next', keptStatus: 'failed' },
        succeeded: { ...ended, keptStatus: 'succeeded' },
        answered: { ...ended, keptStatus: 'succeeded', conversation: waiting },
        waiting: { ...ended, keptStatus: 'waiting' },
        failed: { ...ended, keptStatus: 'failed' },
        cancelled: { ...ended, keptStatus: 'cancelled' },
        'old-succeeded': ended,
        'old-waiting': { ...ended, conversation: waiting },
        'old-failed': { ...ended, errors: 'It broke.' },
      };
      for (const [name, change] of Object.entries(sessions))
        await store().save(tenant, sessionRecord(agent, { name, ...change }));
      const found = async (status: SessionQuery['status']) => {
        const { items, total } = await store().select(tenant, { ...ALL, ...(status && { status }) }, ['name']);
        expect(total).toBe(items.length);
        return items.map(({ name }) => name);
      };
      expect(await found('running')).toEqual(['first', 'next']);
      expect(await found('succeeded')).toEqual(['answered', 'old-succeeded', 'succeeded']);
      expect(await found('waiting')).toEqual(['old-waiting', 'waiting']);
      expect(await found('failed')).toEqual(['failed', 'old-failed']);
      expect(await found('cancelled')).toEqual(['cancelled']);
      expect(await found(undefined)).toHaveLength(11);
      // A run that begins there is written with its session.
      const session = sessionRecord(agent, { name: 'again', ...ended, keptStatus: 'cancelled' });
      await store().save(tenant, session);
      expect(await store().replace(tenant, session, { ...session, lastRun: 'next' })).toBe(true);
      expect(await found('running')).toEqual(['again', 'first', 'next']);
      expect(await found('cancelled')).toEqual(['cancelled']);
    });

    it('deletes one, or all of an agent', async () => {
      const tenant = newTenant();
      const [agent, other] = [await given.agent(tenant), await given.agent(tenant)];
      const sessions = [sessionRecord(agent), sessionRecord(agent), sessionRecord(other)] as const;
      for (const session of sessions) await store().save(tenant, session);
      expect(await store().delete(tenant, sessions[0].id)).toBe(true);
      expect(await store().delete(tenant, sessions[0].id)).toBe(false);
      await store().deleteOf(tenant, agent);
      expect(await store().find(tenant, sessions[1].id)).toBeUndefined();
      expect(await store().find(tenant, sessions[2].id)).toEqual(sessions[2]);
    });

    describe('listing', () => {
      const said = (content: string) => [{ role: 'user' as const, content, id: 'm', createdAt: 1 }];
      const about = [
        {
          id: 'id-a',
          name: 'Alpha',
          userId: 'u1',
          messages: said('Wie ist das Wetter in KÖLN?'),
          createdAt: 3,
          updatedAt: 9,
        },
        { id: 'id-b', name: 'beta', userId: 'u2', messages: said('100% \u0000sure'), createdAt: 1, updatedAt: 8 },
        { id: 'id-c', name: 'gamma', userId: 'u1', messages: [], createdAt: 2, updatedAt: 7 },
      ];
      const cases: readonly (readonly [string, Partial<SessionQuery>, readonly string[]])[] = [
        ['everything by name', {}, ['id-a', 'id-b', 'id-c']],
        ['by creation, the last first', { orderBy: 'createdAt', descending: true }, ['id-a', 'id-c', 'id-b']],
        ['by change', { orderBy: 'updatedAt' }, ['id-c', 'id-b', 'id-a']],
        ['one id', { id: 'id-b' }, ['id-b']],
        ['those of a user', { userId: 'u1' }, ['id-a', 'id-c']],
        ['those since', { from: 2 }, ['id-a', 'id-c']],
        ['those until', { to: 2 }, ['id-b', 'id-c']],
        ['part of a message, whatever the case', { keywords: 'köln' }, ['id-a']],
        ['part of a name', { keywords: 'AMM' }, ['id-c']],
        ['part of an id', { keywords: 'd-b' }, ['id-b']],
        ['a percent sign as it is', { keywords: '0%' }, ['id-b']],
        ['several conditions', { userId: 'u1', to: 2 }, ['id-c']],
      ];
      it.each(cases)('gives %s', async (_name, query, expected) => {
        const tenant = newTenant();
        const agent = await given.agent(tenant);
        for (const session of about) await store().save(tenant, sessionRecord(agent, session));
        await store().save(tenant, sessionRecord(await given.agent(tenant), { name: 'of another agent' }));
        const { items, total } = await store().list(tenant, { agentId: agent, ...ALL, ...query });
        expect(items.map(({ id }) => id)).toEqual(expected);
        expect(total).toBe(expected.length);
      });

      it('gives a page of whole sessions, and how many there are in all', async () => {
        const tenant = newTenant();
        const agent = await given.agent(tenant);
        const sessions = about.map((session, at) => sessionRecord(agent, { ...session, dsl: { shared: at > 0 } }));
        for (const session of sessions) await store().save(tenant, session);
        const { items, total } = await store().list(tenant, { agentId: agent, ...ALL, offset: 1, limit: 5 });
        expect(items).toEqual(sessions.slice(1));
        expect(total).toBe(3);
      });
    });
  });
}
