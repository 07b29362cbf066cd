/** When events say that nodes started and settled: the clock is read once where only the engine was at work between them. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { lastValueFrom, toArray } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { EngineError } from '../../src/errors.js';
import { planOf } from '../../src/graph/build.js';
import type { RunEvent } from '../../src/graph/events.js';
import { run } from '../../src/graph/run.js';

/** A clock that code moves on. */
class Clock {
  at = 1_000;
  reads = 0;
  readonly now = (): number => {
    this.reads += 1;
    return this.at;
  };
}

async function timesOf(plan: ReturnType<typeof planOf>, clock: Clock, concurrency = 5): Promise<string[]> {
  const events = await lastValueFrom(run(plan, { input: null }, { now: clock.now, concurrency }).pipe(toArray()));
  return events.flatMap((event: RunEvent) =>
    event.type === 'node-started' || event.type === 'node-settled'
      ? [`${event.node} ${event.type === 'node-started' ? 'started' : 'settled'} ${event.at - 1_000}`]
      : [],
  );
}

describe('the clock of a run', () => {
  it('is moved on by nodes: a node starts when the one before it has settled', async () => {
    const clock = new Clock();
    const work = (ms: number) => () => {
      clock.at += ms;
      return {};
    };
    expect(await timesOf(planOf({ a: work(3), b: work(0), c: work(4) }), clock)).toEqual([
      'a started 0',
      'a settled 3',
      'b started 3',
      'b settled 3',
      'c started 3',
      'c settled 7',
    ]);
    const readsOf = async (nodes: number): Promise<number> => {
      const still = new Clock();
      await timesOf(planOf(Object.fromEntries(Array.from({ length: nodes }, (_, at) => [`n${at}`, work(0)]))), still);
      return still.reads;
    };
    expect((await readsOf(30)) - (await readsOf(10))).toBe(20);
  });

  it('is read anew for a node that waited for a slot, and for one behind a node that settles later', async () => {
    const clock = new Clock();
    const later = async () => {
      await nextTurn();
      clock.at += 10;
      return {};
    };
    const plan = planOf({ s: () => ({}), a: later, b: later, c: later }, [
      ['s', 'a'],
      ['s', 'b'],
      ['a', 'c'],
    ]);
    expect(await timesOf(plan, clock, 1)).toEqual([
      's started 0',
      's settled 0',
      'a started 0',
      'a settled 10',
      'b started 10',
      'b settled 20',
      'c started 20',
      'c settled 30',
    ]);
  });

  it('is read anew for a node that gets the slot of one that failed', async () => {
    const clock = new Clock();
    let attempts = 0;
    const failing = async () => {
      await nextTurn();
      clock.at += 100;
      attempts += 1;
      if (attempts === 1) throw new EngineError('MODEL_UNAVAILABLE', 'The first attempt fails.', { retryable: true });
      return {};
    };
    const plan = planOf(
      { s: () => ({}), x: { activate: failing, retry: { attempts: 2, delayMs: 0 } }, y: () => ({}) },
      [
        ['s', 'x'],
        ['s', 'y'],
      ],
    );
    expect(await timesOf(plan, clock, 1)).toEqual([
      's started 0',
      's settled 0',
      'x started 0',
      'y started 100',
      'y settled 100',
      'x started 100',
      'x settled 200',
    ]);
  });
});
