/** When a log is stored, what waits for it, and what becomes of a run whose log breaks. */
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { RunEvent } from '../../src/graph/events.js';
import { isTerminal } from '../../src/graph/events.js';
import { changesState, type EventLog } from '../../src/graph/log.js';
import { interrupt } from '../../src/graph/node-events.js';
import { execute } from '../../src/graph/run.js';
import { draw, type SpecParts } from './support/specs.js';
import { nodesOf, watch, watchToEnd } from './support/watch.js';

/** A log whose writes are done when the test says so; it takes note of what changes the state. */
class SlowLog implements EventLog {
  #taken: string[] = [];
  readonly #open: { readonly what: string; readonly done: () => void }[] = [];
  #last: Promise<void> = Promise.resolve();

  get open(): readonly string[] {
    return this.#open.map(({ what }) => what);
  }

  append(event: RunEvent): void {
    if (changesState(event) && 'token' in event) this.#taken.push(`${event.type.slice(5)} ${event.token}`);
  }

  snapshot(): void {
    this.#taken.push('snapshot');
  }

  flush(): Promise<void> {
    if (this.#taken.length > 0) {
      const what = this.#taken.splice(0).join(', ');
      this.#last = new Promise((done) => this.#open.push({ what, done }));
    }
    return this.#last;
  }

  async acknowledge(): Promise<void> {
    this.#open.shift()?.done();
    await setImmediate();
  }
}

describe('a log that is slow', () => {
  it('keeps the first nodes and successors waiting with durability sync, and is asked once for what is done in one go', async () => {
    const log = new SlowLog();
    const watched = watch(draw('a -> b c -> d'), { input: null }, { log, durability: 'sync' });
    const seen: string[] = [];
    while (!watched.isOver) {
      await setImmediate();
      seen.push(`${nodesOf(watched.events, 'node-started').join('')} [${log.open.join(' | ')}]`);
      await log.acknowledge();
    }
    expect(seen).toEqual([' [snapshot]', 'a [settled 1]', 'abc [settled 2, settled 3]', 'abcd [settled 5]']);
    expect(watched.events.at(-1)?.type).toBe('run-settled');
  });

  it('keeps nobody waiting with durability async, but the end of the run', async () => {
    const log = new SlowLog();
    const watched = watch(draw('a -> b -> c', { c: later }), { input: null }, { log, durability: 'async' });
    await setImmediate();
    await setImmediate();
    expect(nodesOf(watched.events, 'node-settled')).toEqual(['a', 'b', 'c']);
    expect(watched.isOver).toBe(false);
    expect(log.open).toEqual(['snapshot, settled 1, settled 2', 'settled 3']);
    for (let left = 2; left > 0; left -= 1) {
      expect(watched.isOver).toBe(false);
      await log.acknowledge();
    }
    expect(watched.isOver).toBe(true);
  });

  it('keeps the end of a run that waits until the question is kept', async () => {
    const log = new SlowLog();
    const ask: SpecParts = { activate: () => interrupt({ question: 1 }) };
    const watched = watch(draw('a', { a: ask }), { input: null }, { log, durability: 'sync' });
    await setImmediate();
    await log.acknowledge();
    expect({ isOver: watched.isOver, open: log.open }).toEqual({ isOver: false, open: ['interrupted 1'] });
    await log.acknowledge();
    expect(watched.events.at(-1)?.type).toBe('run-interrupted');
  });

  it('is asked at the end alone with durability exit', async () => {
    const log = new SlowLog();
    const watched = watch(draw('a -> b'), { input: null }, { log, durability: 'exit' });
    await setImmediate();
    expect(log.open).toEqual(['snapshot, settled 1, settled 2']);
    await log.acknowledge();
    expect(watched.isOver).toBe(true);
  });
});

describe.each(['sync', 'async'] as const)('a log that breaks, with durability %s', (durability) => {
  it.each([
    { when: 'at its first snapshot', good: 0 },
    { when: 'at its first event', good: 1 },
    { when: 'at a later event', good: 2 },
  ])('$when, ends the run once with JOURNAL_FAILED', async ({ good }) => {
    const log = breakingAfter(good);
    const plan = draw('a -> b c -> d -> e', { a: later, b: later, c: later, d: later, e: later });
    const watched = await watchToEnd(plan, { input: null }, { log, durability });
    for (let turns = 0; turns < 20; turns += 1) await setImmediate();

    expect(watched.error).toBeUndefined();
    expect(watched.events.filter(isTerminal)).toEqual([
      expect.objectContaining({ type: 'run-failed', error: expect.objectContaining({ code: 'JOURNAL_FAILED' }) }),
    ]);
    expect(watched.outcome).toMatchObject({ status: 'failed', error: { code: 'JOURNAL_FAILED' } });
    expect(nodesOf(watched.events, 'node-settled')).not.toContain('e');
  });

  it('with the last event, fails a run that had nothing else left to do', async () => {
    const outcome = await execute(draw('a', { a: later }), { input: null }, { log: breakingAfter(1), durability });
    expect(outcome).toMatchObject({ status: 'failed', error: { code: 'JOURNAL_FAILED' } });
  });
});

/** A node that takes a few turns, so that its successors do not start before a log may break. */
const later: SpecParts = {
  activate: async () => {
    await setImmediate();
    return {};
  },
};

function breakingAfter(writes: number): EventLog {
  let left = writes;
  let isEmpty = true;
  const take = () => {
    isEmpty = false;
  };
  return {
    append: take,
    snapshot: take,
    flush: async () => {
      if (!isEmpty) left -= 1;
      isEmpty = true;
      if (left < 0) throw new Error('disk full');
    },
  };
}
