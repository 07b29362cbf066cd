/** When a journal is written, what waits for it, and what becomes of a run whose journal breaks. */
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { isTerminal } from '../../src/graph/events.js';
import { type Journal, readRecord } from '../../src/graph/journal.js';
import { interrupt } from '../../src/graph/node-events.js';
import { execute } from '../../src/graph/run.js';
import { MemoryJournal } from './support/memory-journal.js';
import { draw, type SpecParts } from './support/specs.js';
import { nodesOf, watch, watchToEnd } from './support/watch.js';

/** A journal whose writes are done when the test says so. */
class SlowJournal implements Journal {
  #taken: string[] = [];
  readonly #open: { readonly what: string; readonly done: () => void }[] = [];
  #last: Promise<void> = Promise.resolve();

  get open(): readonly string[] {
    return this.#open.map(({ what }) => what);
  }

  append(records: readonly string[]): void {
    this.#taken.push(...records.map(readRecord).map(({ type, token }) => `${type} ${token}`));
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

describe('a journal that is slow', () => {
  it('keeps the first nodes and successors waiting with durability sync, and is asked once for what is done in one go', async () => {
    const journal = new SlowJournal();
    const watched = watch(draw('a -> b c -> d'), { input: null }, { journal, durability: 'sync' });
    const seen: string[] = [];
    while (!watched.isOver) {
      await setImmediate();
      seen.push(`${nodesOf(watched.events, 'node-started').join('')} [${journal.open.join(' | ')}]`);
      await journal.acknowledge();
    }
    expect(seen).toEqual([' [snapshot]', 'a [settled 1]', 'abc [settled 2, settled 3]', 'abcd [settled 5]']);
    expect(watched.events.at(-1)?.type).toBe('run-settled');
  });

  it('keeps nobody waiting with durability async, but the end of the run', async () => {
    const journal = new SlowJournal();
    const watched = watch(draw('a -> b -> c', { c: later }), { input: null }, { journal, durability: 'async' });
    await setImmediate();
    await setImmediate();
    expect(nodesOf(watched.events, 'node-settled')).toEqual(['a', 'b', 'c']);
    expect(watched.isOver).toBe(false);
    expect(journal.open).toEqual(['snapshot, settled 1, settled 2', 'settled 3']);
    for (let left = 2; left > 0; left -= 1) {
      expect(watched.isOver).toBe(false);
      await journal.acknowledge();
    }
    expect(watched.isOver).toBe(true);
  });

  it('keeps the end of a run that waits until the question is kept', async () => {
    const journal = new SlowJournal();
    const ask: SpecParts = { activate: () => interrupt({ question: 1 }) };
    const watched = watch(draw('a', { a: ask }), { input: null }, { journal, durability: 'sync' });
    await setImmediate();
    await journal.acknowledge();
    expect({ isOver: watched.isOver, open: journal.open }).toEqual({ isOver: false, open: ['waiting 1'] });
    await journal.acknowledge();
    expect(watched.events.at(-1)?.type).toBe('run-interrupted');
  });

  it('is not used with durability exit', async () => {
    const journal = new MemoryJournal();
    await execute(draw('a -> b'), { input: null }, { journal: journal.open(), durability: 'exit' });
    await execute(draw('a -> b'), { input: null }, { journal: journal.open() });
    expect(journal.bytesWritten).toBe(0);
  });
});

describe.each(['sync', 'async'] as const)('a journal that breaks, with durability %s', (durability) => {
  it.each([
    { when: 'at its first snapshot', good: 0 },
    { when: 'at its first record', good: 1 },
    { when: 'at a later record', good: 2 },
  ])('$when, ends the run once with JOURNAL_FAILED', async ({ good }) => {
    const journal = breakingAfter(good);
    const plan = draw('a -> b c -> d -> e', { a: later, b: later, c: later, d: later, e: later });
    const watched = await watchToEnd(plan, { input: null }, { journal, durability });
    for (let turns = 0; turns < 20; turns += 1) await setImmediate();

    expect(watched.error).toBeUndefined();
    expect(watched.events.filter(isTerminal)).toEqual([
      expect.objectContaining({ type: 'run-failed', error: expect.objectContaining({ code: 'JOURNAL_FAILED' }) }),
    ]);
    expect(watched.outcome).toMatchObject({ status: 'failed', error: { code: 'JOURNAL_FAILED' } });
    expect(nodesOf(watched.events, 'node-settled')).not.toContain('e');
  });

  it('with the last record, fails a run that had nothing else left to do', async () => {
    const outcome = await execute(draw('a', { a: later }), { input: null }, { journal: breakingAfter(1), durability });
    expect(outcome).toMatchObject({ status: 'failed', error: { code: 'JOURNAL_FAILED' } });
  });
});

/** A node that takes a few turns, so that its successors do not start before a journal may break. */
const later: SpecParts = {
  activate: async () => {
    await setImmediate();
    return {};
  },
};

function breakingAfter(writes: number): Journal {
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
