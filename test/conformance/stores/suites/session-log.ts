import { describe, expect, it } from 'vitest';
import { foldSession, loadSession } from '../../../../src/agents/sessions/fold-session.js';
import type { SessionFact, SessionStore } from '../../../../src/agents/sessions/session-store.js';
import { userMessage } from '../../../../src/models/messages.js';
import { newId, newTenant } from '../../../stores/support/records.js';

const started = (turn: string, text = `question of ${turn}`): SessionFact => ({
  type: 'turn-started',
  turn,
  run: `run of ${turn}`,
  input: [userMessage(text)],
});
const accepted = (id: string): SessionFact => ({ type: 'input-accepted', input: { id, content: 'and Bergen?' } });

const EVERY_FACT: readonly SessionFact[] = [
  started('t1', '\u0000 "ü" 😀\n\ud800'),
  {
    type: 'input-accepted',
    input: { id: 'i1', content: [{ type: 'text', text: 'and Bergen?' }], when: 'now', to: 'clerk' },
  },
  { type: 'input-delivered', id: 'i1', turn: 't1', round: 2, agent: 'writer/clerk' },
  {
    type: 'turn-ended',
    turn: 't1',
    status: 'waiting',
    messages: [
      { role: 'assistant', content: '', toolCalls: [{ id: 'c1', name: 'send', arguments: '{}' }] },
      { role: 'tool', content: 'done', toolCallId: 'c1', extra: { tookMs: 4 } },
    ],
    values: { city: 'Oslo', list: [1, null, { deep: true }] },
    checkpoint: 'checkpoint 1',
  },
  { type: 'turn-resumed', turn: 't1', run: 'run 2' },
  { type: 'turn-ended', turn: 't1', status: 'succeeded', messages: [{ role: 'assistant', content: 'Oslo.' }] },
  accepted('i2'),
  { type: 'input-dropped', id: 'i2', reason: 'too many inputs wait' },
  { type: 'rolled-back', turn: '' },
];

/** What every {@link SessionStore} does; `store` gives one with room for 5,000 bytes in an entry and 1,200 entries in a session. */
export function describeSessionLog(store: () => SessionStore): void {
  const mine = (): SessionStore => store().forTenant(newTenant());
  const factOf = ({ at: _, time: __, ...fact }: { at: number; time: number } & SessionFact): SessionFact => fact;

  describe('SessionStore', () => {
    it('gives back every fact as it was, numbered without gaps', async () => {
      const [log, session] = [mine(), newId()];
      expect(await log.read(session)).toEqual([]);
      const first = await log.append(session, EVERY_FACT.slice(0, 2), 0);
      const others = await log.append(session, EVERY_FACT.slice(2), 2);
      expect([...first, ...others].map(({ at }) => at)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
      const found = await log.read(session);
      expect(found).toEqual([...first, ...others]);
      expect(found.map(factOf)).toEqual(EVERY_FACT);
      expect(found.every(({ time }) => Number.isFinite(time) && time > 0)).toBe(true);
    });

    it('gives the entries behind a number, and no more than asked for', async () => {
      const [log, session] = [mine(), newId()];
      await log.append(session, ['a', 'b', 'c'].map(accepted), 0);
      await log.append(session, ['d', 'e'].map(accepted), 3);
      const numbers = async (options = {}) => (await log.read(session, options)).map(({ at }) => at);
      expect(await numbers({ after: 1 })).toEqual([2, 3, 4, 5]);
      expect(await numbers({ after: 3 })).toEqual([4, 5]);
      expect(await numbers({ limit: 2 })).toEqual([1, 2]);
      expect(await numbers({ after: 2, limit: 2 })).toEqual([3, 4]);
      expect(await numbers({ after: 4, limit: 9 })).toEqual([5]);
      expect(await numbers({ after: 5 })).toEqual([]);
      expect(await numbers({ after: 99 })).toEqual([]);
      expect(await numbers()).toEqual([1, 2, 3, 4, 5]);
    });

    it('refuses a writer that has not read the newest entry, and stores nothing of it', async () => {
      const [log, session] = [mine(), newId()];
      await log.append(session, [accepted('a'), accepted('b')], 0);
      for (const after of [0, 1, 3]) {
        await expect(log.append(session, [accepted('c')], after)).rejects.toMatchObject({
          code: 'SESSION_BUSY',
          details: { session, after, newest: 2 },
        });
      }
      await expect(log.append(newId(), [accepted('c')], 1)).rejects.toMatchObject({ code: 'SESSION_BUSY' });
      expect(await log.read(session)).toHaveLength(2);
    });

    it('lets one of many writers begin a turn', async () => {
      const [log, session] = [mine(), newId()];
      const begin = () =>
        Promise.allSettled(
          Array.from({ length: 8 }, (_, at) => log.append(session, [started(`t${at}`), accepted(`i${at}`)], 0)),
        );
      const outcomes = await begin();
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      for (const outcome of outcomes) {
        if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: 'SESSION_BUSY' });
      }
      const won = outcomes.findIndex(({ status }) => status === 'fulfilled');
      expect((await log.read(session)).map(factOf)).toEqual([started(`t${won}`), accepted(`i${won}`)]);
    });

    it('loses nothing of writers that read and try again', async () => {
      const [log, session] = [mine(), newId()];
      const write = async (id: string): Promise<void> => {
        for (let state = await loadSession(log, session); ; state = await loadSession(log, session, state)) {
          try {
            await log.append(session, [accepted(id)], state.newest);
            return;
          } catch (error) {
            expect(error).toMatchObject({ code: 'SESSION_BUSY' });
          }
        }
      };
      const ids = Array.from({ length: 12 }, (_, at) => `i${at}`);
      await Promise.all(ids.map(write));
      const state = await loadSession(log, session);
      expect([...state.seenInputIds].sort()).toEqual([...ids].sort());
      expect(state.newest).toBe(12);
    });

    it('keeps tenants and sessions apart', async () => {
      const [log, others, session] = [mine(), mine(), newId()];
      await log.append(session, [accepted('a')], 0);
      expect(await others.read(session)).toEqual([]);
      expect(await others.list()).toEqual([]);
      await others.append(session, [accepted('b')], 0);
      await others.delete(session);
      expect((await log.read(session)).map(factOf)).toEqual([accepted('a')]);
      expect(await log.read(`${session}2`)).toEqual([]);
      expect(await store().forTenant(log.tenant).read(session)).toHaveLength(1);
    });

    it('deletes a session, whose numbers begin anew', async () => {
      const [log, session] = [mine(), newId()];
      await log.delete(session);
      await log.append(session, [accepted('a'), accepted('b')], 0);
      await log.delete(session);
      expect(await log.read(session)).toEqual([]);
      expect(await log.list()).toEqual([]);
      await expect(log.append(session, [accepted('c')], 2)).rejects.toMatchObject({ code: 'SESSION_BUSY' });
      expect(await log.append(session, [accepted('c')], 0)).toMatchObject([{ at: 1 }]);
      expect((await log.read(session)).map(factOf)).toEqual([accepted('c')]);
    });

    it('lists sessions page by page, those that changed last first', async () => {
      const log = mine();
      for (const session of ['a', 'b', 'c', 'd', 'e']) await log.append(session, [accepted('x')], 0);
      await log.append('b', [accepted('y'), accepted('z')], 1);
      const all = await log.list();
      expect(all.map(({ session, newest }) => [session, newest])).toEqual([
        ['b', 3],
        ['e', 1],
        ['d', 1],
        ['c', 1],
        ['a', 1],
      ]);
      for (const { startedAt, changedAt } of all) expect(changedAt).toBeGreaterThanOrEqual(startedAt);
      const first = await log.list({ limit: 2 });
      expect(first).toEqual(all.slice(0, 2));
      await log.append('d', [accepted('y')], 1);
      const rest = await log.list({ limit: 2, after: first[1]?.cursor as string });
      expect(rest.map(({ session }) => session)).toEqual(['c', 'a']);
      expect(await log.list({ after: rest[1]?.cursor as string })).toEqual([]);
    });

    it('prunes sessions that nothing happened in since a time, and those behind the newest ones', async () => {
      const [log, other] = [mine(), mine()];
      const ids = ['a', 'b', 'c', 'd', 'e'].map((name) => `${name}-${newId()}`);
      for (const id of ids) await log.append(id, [accepted('i')], 0);
      await other.append('x', [accepted('i')], 0);
      await log.append(ids[0] as string, [accepted('j')], 1);
      const left = async () => (await log.list()).map(({ session }) => session.charAt(0)).join('');
      expect(await log.prune({})).toBe(0);
      expect([await log.prune({ keep: 5 }), await left()]).toEqual([0, 'aedcb']);
      expect([await log.prune({ keep: 3 }), await left()]).toEqual([2, 'aed']);
      const oldest = Math.min(...(await log.list()).map(({ changedAt }) => changedAt));
      expect([await log.prune({ before: oldest }), await left()]).toEqual([0, 'aed']);
      expect([await log.prune({ before: Date.now() + 3_600_000, keep: 9 }), await left()]).toEqual([3, '']);
      expect(await log.read(ids[0] as string)).toEqual([]);
      expect(await other.list()).toHaveLength(1);
      await log.append(ids[0] as string, [accepted('i')], 0);
      expect(await left()).toBe('a');
      for (const options of [{ before: Number.NaN }, { keep: -1 }, { keep: 1.5 }, { older: 1 }, 7]) {
        await expect(log.prune(options as never)).rejects.toMatchObject({ code: 'OPTION_INVALID' });
      }
    });

    it('takes ids of any script, and refuses others', async () => {
      const log = mine();
      const odd = [
        '小明的会话',
        '../../etc/passwd',
        'a/b\\c:*?"<>|',
        'CON',
        '.',
        ' ',
        '👩‍💻'.repeat(40),
        'A',
        'a',
        '\u00e9',
        'e\u0301',
      ];
      for (const session of odd) await log.append(session, [accepted(session)], 0);
      for (const session of odd) expect((await log.read(session)).map(factOf)).toEqual([accepted(session)]);
      expect((await log.list()).map(({ session }) => session).sort()).toEqual([...odd].sort());
      for (const session of ['', 'x'.repeat(201), 'a\nb', '\u0000', '\ud800', 7 as never]) {
        for (const call of [log.append(session, [accepted('a')], 0), log.read(session), log.delete(session)]) {
          await expect(call).rejects.toMatchObject({ code: 'SESSION_INVALID' });
        }
      }
    });

    it('refuses what is no fact, and then stores none of those with it', async () => {
      const [log, session] = [mine(), newId()];
      const wrong: readonly unknown[] = [
        { type: 'turn-begun', turn: 't1' },
        { ...started('t1'), turn: '' },
        { ...started('t1'), input: [{ role: 'user', content: 7 }] },
        { type: 'turn-ended', turn: 't1', status: 'done', messages: [] },
        { type: 'turn-ended', turn: 't1', status: 'failed', messages: [], values: { at: new Date(0) } },
        { type: 'input-accepted', input: { id: 'a\u0000', content: '' } },
        { type: 'input-delivered', id: 'a', turn: 't1', round: -1, agent: '' },
        null,
      ];
      for (const fact of wrong) {
        const facts = [accepted('a'), fact as SessionFact];
        await expect(log.append(session, facts, 0)).rejects.toMatchObject({ code: 'SESSION_INVALID' });
      }
      expect(await log.read(session)).toEqual([]);
      expect(await log.append(session, [], 0)).toEqual([]);
      expect(await log.list()).toEqual([]);
    });

    it('refuses an entry that is too large, and a session that is too long', async () => {
      const [log, session] = [mine(), newId()];
      const large = started('t1', 'ü'.repeat(2_500));
      await expect(log.append(session, [accepted('a'), large], 0)).rejects.toMatchObject({ code: 'LIMIT_REACHED' });
      expect(await log.read(session)).toEqual([]);
      const many = (from: number, count: number) => Array.from({ length: count }, (_, at) => accepted(`i${from + at}`));
      await log.append(session, many(0, 1_000), 0);
      await log.append(session, many(1_000, 200), 1_000);
      await expect(log.append(session, many(1_200, 1), 1_200)).rejects.toMatchObject({ code: 'LIMIT_REACHED' });
      expect(await log.read(session)).toHaveLength(1_000);
      const state = await loadSession(log, session);
      expect([state.newest, state.waitingInputs.length]).toEqual([1_200, 1_200]);
      expect(foldSession(await log.read(session, { after: 1_000 }), foldSession(await log.read(session)))).toEqual(
        state,
      );
    });
  });
}
