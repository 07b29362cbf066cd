import { describe, expect, it } from 'vitest';
import { type ChatMessageRecord, type ChatStore, MAX_MESSAGE_BYTES } from '../../../../src/records/chats.js';
import { newId, newTenant } from '../../../stores/support/records.js';

const message = (id: string, change: Partial<ChatMessageRecord> = {}): ChatMessageRecord => ({
  id,
  role: 'user',
  content: `content of ${id}`,
  createdAt: 1_000,
  ...change,
});

/** What every {@link ChatStore} does. */
export function describeChatStore(store: () => ChatStore): void {
  const idsOf = async (tenant: string, session: string, query = {}): Promise<string[]> =>
    (await store().messages(tenant, session, { limit: 100, ...query })).map(({ id }) => id);

  describe('ChatStore', () => {
    it('gives messages in their order, with positions that grow', async () => {
      const [tenant, session] = [newTenant(), newId()];
      expect(await store().messages(tenant, session, { limit: 10 })).toEqual([]);
      const odd = message('b', {
        role: 'assistant',
        content: '\u0000 "ü" 😀\n',
        details: { evidence: [{ n: 1 }], text: '\u0000' },
      });
      await store().append(tenant, session, [message('a'), odd]);
      await store().append(tenant, session, [message('c')]);
      await store().append(tenant, session, []);
      const found = await store().messages(tenant, session, { limit: 10 });
      expect(found.map(({ position: _, ...record }) => record)).toEqual([message('a'), odd, message('c')]);
      const positions = found.map(({ position }) => position);
      expect(positions).toEqual([...positions].sort((a, b) => a - b));
      expect(new Set(positions).size).toBe(3);
    });

    it('stores a message once, however often it comes', async () => {
      const [tenant, session] = [newTenant(), newId()];
      expect(await store().append(tenant, session, [message('a'), message('b')])).toBe(2);
      const again = [message('a', { content: 'other' }), message('b'), message('c'), message('c')];
      expect(await store().append(tenant, session, again)).toBe(1);
      expect(await store().append(tenant, session, again)).toBe(0);
      expect(await store().append(tenant, session, [])).toBe(0);
      expect(await idsOf(tenant, session)).toEqual(['a', 'b', 'c']);
      expect((await store().messages(tenant, session, { limit: 1 }))[0]?.content).toBe('content of a');
    });

    it('gives the oldest or the newest of those behind a position', async () => {
      const [tenant, session] = [newTenant(), newId()];
      await store().append(
        tenant,
        session,
        ['a', 'b', 'c', 'd', 'e'].map((id) => message(id)),
      );
      const [, second] = await store().messages(tenant, session, { limit: 2 });
      const after = second?.position as number;
      expect(await idsOf(tenant, session, { after })).toEqual(['c', 'd', 'e']);
      expect(await idsOf(tenant, session, { after, limit: 2 })).toEqual(['c', 'd']);
      expect(await idsOf(tenant, session, { after, limit: 2, newest: true })).toEqual(['d', 'e']);
      expect(await idsOf(tenant, session, { limit: 9, newest: true })).toEqual(['a', 'b', 'c', 'd', 'e']);
      expect(await idsOf(tenant, session, { limit: 0, newest: true })).toEqual([]);
    });

    it('loses none of many that come at once', async () => {
      const [tenant, session] = [newTenant(), newId()];
      const names = Array.from({ length: 20 }, (_, at) => `m${at}`);
      await Promise.all(names.map((id) => store().append(tenant, session, [message(id), message(`${id}-answer`)])));
      const found = await idsOf(tenant, session);
      expect([...found].sort()).toEqual(names.flatMap((id) => [id, `${id}-answer`]).sort());
      for (const id of names) expect(found.indexOf(`${id}-answer`)).toBe(found.indexOf(id) + 1);
    });

    it('keeps tenants and sessions apart', async () => {
      const [mine, theirs, session, other] = [newTenant(), newTenant(), newId(), newId()];
      await store().append(mine, session, [message('a')]);
      await store().append(mine, other, [message('b')]);
      const summary = { text: 's', through: 'a', position: 1, createdAt: 1 };
      expect(await store().replaceSummary(mine, session, undefined, summary)).toBe(true);
      expect(await idsOf(theirs, session)).toEqual([]);
      expect(await store().summary(theirs, session)).toBeUndefined();
      expect(await store().summary(mine, other)).toBeUndefined();
      expect(await store().setDetails(theirs, session, 'a', {})).toBe(false);
      expect(await store().remove(theirs, session, ['a'])).toEqual([]);
      await store().delete(theirs, session);
      expect([await idsOf(mine, session), await idsOf(mine, other)]).toEqual([['a'], ['b']]);
    });

    it('changes details, deletes messages and whole sessions', async () => {
      const [tenant, session] = [newTenant(), newId()];
      await store().append(
        tenant,
        session,
        ['a', 'b', 'c'].map((id) => message(id)),
      );
      expect(await store().setDetails(tenant, session, 'b', { thumbs: 'up' })).toBe(true);
      expect(await store().setDetails(tenant, session, 'z', { thumbs: 'up' })).toBe(false);
      const found = await store().messages(tenant, session, { limit: 10 });
      expect(found.map(({ details }) => details)).toEqual([undefined, { thumbs: 'up' }, undefined]);
      expect(await store().setDetails(tenant, session, 'b', undefined)).toBe(true);
      expect((await store().remove(tenant, session, ['c', 'a', 'z'])).toSorted()).toEqual(['a', 'c']);
      expect(await store().messages(tenant, session, { limit: 10 })).toEqual([
        { ...message('b'), position: found[1]?.position },
      ]);
      await store().delete(tenant, session);
      expect(await idsOf(tenant, session)).toEqual([]);
      await store().append(tenant, session, [message('a')]);
      expect(await idsOf(tenant, session)).toEqual(['a']);
    });

    it('replaces a summary only over the one that was read, once of many that try', async () => {
      const [tenant, session] = [newTenant(), newId()];
      await store().append(
        tenant,
        session,
        ['a', 'b', 'c'].map((id) => message(id)),
      );
      const summary = (through: string, position: number, text = `${through} "ü"\u0000`) => ({
        text,
        through,
        position,
        createdAt: 5,
      });
      expect(await store().summary(tenant, session)).toBeUndefined();
      expect(await store().replaceSummary(tenant, session, 'a', summary('b', 2))).toBe(false);
      const tries = Array.from({ length: 10 }, (_, at) =>
        store().replaceSummary(tenant, session, undefined, summary('a', 1, `try ${at}`)),
      );
      expect((await Promise.all(tries)).filter(Boolean)).toHaveLength(1);
      expect((await store().summary(tenant, session))?.through).toBe('a');
      expect(await store().replaceSummary(tenant, session, undefined, summary('b', 2))).toBe(false);
      expect(await store().replaceSummary(tenant, session, 'a', summary('b', 2))).toBe(true);
      expect(await store().summary(tenant, session)).toEqual(summary('b', 2));
    });

    it('refuses a message that is too large, and then stores none of those with it', async () => {
      const [tenant, session] = [newTenant(), newId()];
      const large = message('b', { content: 'x'.repeat(MAX_MESSAGE_BYTES) });
      await expect(store().append(tenant, session, [message('a'), large])).rejects.toMatchObject({
        code: 'LIMIT_REACHED',
      });
      expect(await idsOf(tenant, session)).toEqual([]);
    });
  });
}
