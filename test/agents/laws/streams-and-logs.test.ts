/** What chunks, events and logs of agents and teams have in common with their answers, tried on random ones. */
import { lastValueFrom, toArray } from 'rxjs';
import { describe, expect } from 'vitest';
import { compileStep } from '../../../src/compose/compile.js';
import { foldLog } from '../../../src/compose/stored-run.js';
import { valueCodec } from '../../../src/compose/values/value-codec.js';
import type { AnyAgent } from '../../../src/entries/agents.js';
import { changesState, type EventLog } from '../../../src/graph/log.js';
import type { Checkpoint } from '../../../src/graph/state.js';
import { EngineError, invoke, type RunEvent, run, stream } from '../../../src/index.js';
import { TextLog } from '../../compose/support/memory-run-log.js';
import { attempt, throughJson } from '../../compose/support/waiting-runs.js';
import { createRandom, property } from '../../support/random.js';
import { randomAgent } from '../support/random-agents.js';

const maker = (seed: number, asks: boolean) => (): AnyAgent => randomAgent(createRandom(seed), 4, asks);

/** What a promise gives, or the message of the bound that was reached. */
async function orLimit<T>(given: Promise<T>): Promise<T | { readonly limit: string }> {
  try {
    return await given;
  } catch (error) {
    if (EngineError.is(error) && error.code === 'LIMIT_REACHED') return { limit: error.message };
    throw error;
  }
}

describe('A random agent', () => {
  property('gives in one chunk what it gives whole', 60, async (_, seed) => {
    const make = maker(seed, false);
    const whole = await orLimit(invoke(make(), 'Go.'));
    const chunks = await orLimit(lastValueFrom(stream(make(), 'Go.').pipe(toArray())));
    expect(chunks).toEqual(typeof whole === 'object' && whole !== null && 'limit' in whole ? whole : [whole]);
  });

  property('tells of the begin and of one end of every activation, and of every agent in it', 60, async (_, seed) => {
    const events: RunEvent[] = [];
    await new Promise<void>((resolve) => {
      run(maker(seed, false)(), { input: 'Go.' }).subscribe({
        next: (event) => events.push(event),
        error: () => resolve(),
        complete: resolve,
      });
    });
    const began = new Map<number, number>();
    const ended = new Map<number, number>();
    const count = (counts: Map<number, number>, token: number) => counts.set(token, (counts.get(token) ?? 0) + 1);
    let open = 0;
    for (const event of events) {
      if (event.type === 'node-started') count(began, event.token);
      if (event.type === 'node-settled') count(ended, event.token);
      if (event.type !== 'node-notice') continue;
      if (event.name === 'agent-started') open += 1;
      if (event.name === 'agent-ended') open -= 1;
      expect(open).toBeGreaterThanOrEqual(0);
    }
    expect(new Set([...began.values(), ...ended.values()])).toEqual(new Set([1]));
    expect([...ended.keys()].filter((token) => !began.has(token))).toEqual([]);
    if (events.at(-1)?.type !== 'run-settled') return;
    expect(ended.size).toBe(began.size);
    expect(open).toBe(0);
  });

  property('has the state that the fold of its log gives, also while it waits', 60, async (_, seed) => {
    const make = maker(seed, true);
    const first = new TextLog();
    const log: EventLog = {
      append: (event) => first.append(event),
      snapshot: (checkpoint) => {
        if (first.length === 0) first.snapshot(checkpoint);
      },
      flush: async () => {},
    };
    const saved: Checkpoint[] = [];
    const checkpoints = {
      save: (one: Checkpoint) => void saved.push(one),
      load: async () => undefined,
      delete: async () => {},
    };
    const end = await orLimit(attempt(make() as never, 'Go.', { log, checkpoints, run: 'r' }));
    if ('limit' in end) return;
    const { plan } = compileStep(make() as never, valueCodec(), new WeakMap());
    expect(foldLog(plan, first.all).checkpoint.state).toEqual(throughJson((saved.at(-1) as Checkpoint).state));
    expect(first.events.some((event) => changesState(event as never))).toBe(true);
  });
});
