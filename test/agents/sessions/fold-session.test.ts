import { describe, expect, it } from 'vitest';
import {
  applyEntry,
  EMPTY_SESSION,
  foldSession,
  loadSession,
  type SessionState,
} from '../../../src/agents/sessions/fold-session.js';
import { memorySessions } from '../../../src/agents/sessions/memory-sessions.js';
import type { SessionEntry, SessionFact } from '../../../src/agents/sessions/session-store.js';
import type { JsonObject } from '../../../src/json.js';
import { assistantMessage, type ChatMessage, userMessage } from '../../../src/models/messages.js';
import { property, type Random } from '../../support/random.js';

const entries = (facts: readonly SessionFact[], from = 1): readonly SessionEntry[] =>
  facts.map((fact, index) => ({ at: from + index, time: 1_000 + from + index, ...fact }));
const started = (turn: string): SessionFact => ({
  type: 'turn-started',
  turn,
  run: `${turn}-run`,
  input: [userMessage(`${turn}?`)],
});
type Status = Extract<SessionFact, { type: 'turn-ended' }>['status'];
const ended = (turn: string, status: Status, more: { values?: JsonObject; checkpoint?: string } = {}): SessionFact => ({
  type: 'turn-ended',
  turn,
  status,
  messages: [assistantMessage(`${turn}!`)],
  ...more,
});
const accepted = (id: string): SessionFact => ({ type: 'input-accepted', input: { id, content: id } });
const textsOf = ({ messages }: SessionState): string[] => messages.map(({ content }) => String(content));
const unfinishedOf = ({ messages }: SessionState): boolean[] => messages.map(({ extra }) => extra?.unfinished === true);

describe('foldSession', () => {
  it('has nothing without entries', () => {
    expect(foldSession([])).toEqual(EMPTY_SESSION);
  });

  it('tells turns, their messages and the values', () => {
    const state = foldSession(
      entries([
        started('a'),
        ended('a', 'succeeded', { values: { x: 1, y: 1 } }),
        started('b'),
        ended('b', 'succeeded', { values: { y: 2 } }),
      ]),
    );
    expect(textsOf(state)).toEqual(['a?', 'a!', 'b?', 'b!']);
    expect(unfinishedOf(state)).toEqual([false, false, false, false]);
    expect(state.values).toEqual({ x: 1, y: 2 });
    expect(
      state.turns.map(({ turn, status, values, messagesBefore, startedAt }) => [
        turn,
        status,
        values,
        messagesBefore,
        startedAt,
      ]),
    ).toEqual([
      ['a', 'succeeded', { x: 1, y: 1 }, 0, 1_001],
      ['b', 'succeeded', { x: 1, y: 2 }, 2, 1_003],
    ]);
    expect([state.open, state.newest]).toEqual([undefined, 4]);
  });

  it('tells the input of a turn that runs, and marks what one said that did not succeed', () => {
    const running = foldSession(entries([started('a')]));
    expect([textsOf(running), unfinishedOf(running)]).toEqual([['a?'], [false]]);
    expect(running.open).toEqual({ turn: 'a', run: 'a-run', status: 'running' });
    for (const status of ['failed', 'cancelled', 'waiting'] as const) {
      const state = foldSession(entries([started('a'), ended('a', status, { checkpoint: 'c1' })]));
      expect([textsOf(state), unfinishedOf(state)]).toEqual([
        ['a?', 'a!'],
        [false, true],
      ]);
      // The turn itself has what was stored.
      expect(state.turns[0]?.messages).toEqual([assistantMessage('a!')]);
      expect(state.turns[0]?.checkpoint).toBe('c1');
      const open = { turn: 'a', run: 'a-run', status: 'waiting', checkpoint: 'c1' };
      expect(state.open).toEqual(status === 'waiting' ? open : undefined);
    }
  });

  it('keeps the facts of a message that it marks', () => {
    const messages = [assistantMessage('a!', { extra: { tookMs: 3 } })];
    const state = foldSession(entries([started('a'), { type: 'turn-ended', turn: 'a', status: 'failed', messages }]));
    expect(state.messages[1]?.extra).toEqual({ tookMs: 3, unfinished: true });
    expect(messages[0]?.extra).toEqual({ tookMs: 3 });
  });

  it('replaces what a turn said once it is resumed and ends', () => {
    const waiting = [started('a'), ended('a', 'waiting', { values: { x: 1 }, checkpoint: 'c1' })];
    const resumed: readonly SessionFact[] = [...waiting, { type: 'turn-resumed', turn: 'a', run: 'second' }];
    const atWork = foldSession(entries(resumed));
    expect(atWork.open).toEqual({ turn: 'a', run: 'second', status: 'running', checkpoint: 'c1' });
    expect(unfinishedOf(atWork)).toEqual([false, true]);
    const done = foldSession(entries([...resumed, ended('a', 'succeeded', { values: { y: 2 } })]));
    expect([textsOf(done), unfinishedOf(done)]).toEqual([
      ['a?', 'a!'],
      [false, false],
    ]);
    expect([done.values, done.open, done.turns[0]?.checkpoint]).toEqual([{ x: 1, y: 2 }, undefined, undefined]);
  });

  it('goes back to a turn: its messages, its values, and whether it is open', () => {
    const facts = [
      started('a'),
      ended('a', 'succeeded', { values: { x: 1 } }),
      started('b'),
      ended('b', 'waiting', { values: { x: 2 }, checkpoint: 'c1' }),
      started('c'),
    ];
    const back = (turn: string) => foldSession(entries([...facts, { type: 'rolled-back', turn }]));
    expect([textsOf(back('a')), back('a').values, back('a').open]).toEqual([['a?', 'a!'], { x: 1 }, undefined]);
    expect([textsOf(back('b')), back('b').values]).toEqual([['a?', 'a!', 'b?', 'b!'], { x: 2 }]);
    expect(back('b').open).toEqual({ turn: 'b', run: 'b-run', status: 'waiting', checkpoint: 'c1' });
    expect([textsOf(back('')), back('').values, back('').turns]).toEqual([[], {}, []]);
    expect({ ...back('zzz'), newest: 5 }).toEqual(foldSession(entries(facts)));
    expect({ ...back('c'), newest: 5 }).toEqual(foldSession(entries(facts)));
  });

  it('goes on behind a turn that was gone back to, also under an id that was rolled back', () => {
    const state = foldSession(
      entries([started('a'), ended('a', 'succeeded'), started('b'), { type: 'rolled-back', turn: 'a' }, started('b')]),
    );
    expect(textsOf(state)).toEqual(['a?', 'a!', 'b?']);
    expect(state.open?.turn).toBe('b');
  });

  it('has inputs wait until they are delivered or dropped, each id once', () => {
    const facts: readonly SessionFact[] = [
      started('a'),
      accepted('i1'),
      accepted('i2'),
      accepted('i1'),
      accepted('i3'),
      { type: 'input-delivered', id: 'i1', turn: 'a', round: 1, agent: 'a' },
      { type: 'input-dropped', id: 'i3', reason: 'full' },
      accepted('i1'),
      { type: 'input-delivered', id: 'never', turn: 'a', round: 1, agent: 'a' },
      { type: 'rolled-back', turn: '' },
    ];
    const state = foldSession(entries(facts));
    expect(state.waitingInputs.map(({ id }) => id)).toEqual(['i2']);
    expect([...state.seenInputIds]).toEqual(['i1', 'i2', 'i3']);
  });

  it('leaves everything as it is for facts about turns that are not the last one', () => {
    const facts = [started('a'), ended('a', 'succeeded'), started('b')];
    const late: readonly SessionFact[] = [
      ended('a', 'failed', { values: { x: 1 } }),
      ended('zzz', 'failed'),
      { type: 'turn-resumed', turn: 'a', run: 'other' },
    ];
    expect({ ...foldSession(entries([...facts, ...late])), newest: 3 }).toEqual(foldSession(entries(facts)));
  });

  it('refuses entries that do not follow', () => {
    expect(() => foldSession(entries([started('a')], 2))).toThrow('Entry 2 of a session does not follow entry 0');
    const state = foldSession(entries([started('a')]));
    expect(() => applyEntry(state, { at: 1, time: 0, ...started('b') })).toThrow(
      'Entry 1 of a session does not follow',
    );
    expect(() => foldSession([], null as never)).toThrow('"state" must be what foldSession gave');
  });

  property('folding in pieces is folding the whole, and changes no state before', 200, (random) => {
    const facts = someFacts(random, random.int(60));
    const all = entries(facts);
    const whole = foldSession(all);
    const states: SessionState[] = [EMPTY_SESSION];
    const copies: string[] = [];
    for (let at = 0; at < all.length; ) {
      const next = Math.min(all.length, at + 1 + random.int(5));
      const before = states.at(-1) as SessionState;
      copies.push(shown(before));
      const piece = all.slice(at, next);
      states.push(piece.length === 1 ? applyEntry(before, piece[0] as SessionEntry) : foldSession(piece, before));
      at = next;
    }
    expect(states.at(-1)).toEqual(whole);
    expect(states.slice(0, -1).map(shown)).toEqual(copies);
    // The history is what the turns say.
    const told = whole.turns.flatMap(({ input, messages }): ChatMessage[] => [...input, ...messages]);
    expect(textsOf(whole)).toEqual(told.map(({ content }) => content));
  });

  property('going back to a turn is as if nothing had followed it', 200, (random) => {
    const before = someFacts(random, random.int(40));
    const there = foldSession(entries(before));
    const turn = there.turns.at(-1)?.turn ?? '';
    // New ids: what follows may not go back further.
    const after = someFacts(random, random.int(20), 'later').filter(
      (fact) => fact.type !== 'turn-resumed' && (fact.type !== 'rolled-back' || fact.turn.startsWith('later')),
    );
    const begun = [started('later-0'), ...after];
    const back = foldSession(entries([...before, ...begun, { type: 'rolled-back', turn }]));
    const { waitingInputs: _, seenInputIds: __, newest: ___, ...kept } = back;
    expect(kept).toEqual((({ waitingInputs, seenInputIds, newest, ...rest }) => rest)(there));
  });

  it('reads only what is new in a log', async () => {
    const log = memorySessions();
    const reads: number[] = [];
    const counted = {
      read: (session: string, options: { after?: number } = {}) => {
        reads.push(options.after ?? 0);
        return log.read(session, options);
      },
    };
    await log.append('s', [started('a'), ended('a', 'succeeded')], 0);
    const first = await loadSession(counted, 's');
    await log.append('s', [started('b')], 2);
    const second = await loadSession(counted, 's', first);
    expect(second).toEqual(foldSession(await log.read('s')));
    expect(reads).toEqual([0, 2, 2, 3]);
  });
});

const shown = (state: SessionState): string => JSON.stringify({ ...state, seenInputIds: [...state.seenInputIds] });

/** Facts as they could follow one another, some of them about turns and inputs that are not there. */
function someFacts(random: Random, count: number, prefix = 't'): readonly SessionFact[] {
  const idOf = (): string => `${prefix}-${random.int(6)}`;
  let latest = idOf();
  return Array.from({ length: count }, (): SessionFact => {
    const turn = random.chance(0.8) ? latest : idOf();
    const status = random.pick(['succeeded', 'waiting', 'failed', 'cancelled'] as const);
    const more = {
      ...(random.chance(0.5) && { values: { [random.pick(['x', 'y', 'z'])]: random.int(9) } }),
      ...(random.chance(0.3) && { checkpoint: `c${random.int(9)}` }),
    };
    const begin = (): SessionFact => {
      latest = idOf();
      return started(latest);
    };
    return random.pick<() => SessionFact>([
      begin,
      begin,
      () => ended(turn, status, more),
      () => ended(turn, status, more),
      () => ({ type: 'turn-resumed', turn, run: `run-${random.int(9)}` }),
      () => accepted(idOf()),
      () => ({ type: 'input-delivered', id: idOf(), turn, round: random.int(3), agent: 'a' }),
      () => ({ type: 'input-dropped', id: idOf(), reason: 'full' }),
      () => ({ type: 'rolled-back', turn: random.chance(0.1) ? '' : turn }),
    ])();
  });
}
