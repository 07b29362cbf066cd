/** Random graphs with cycles, gotos and failures: they end, and a run resumed after any settlement goes on as if nothing was. */
import { describe, expect } from 'vitest';
import type { RunEvent } from '../../src/graph/events.js';
import { link, type NodeSpec } from '../../src/graph/link.js';
import type { NodeFunction } from '../../src/graph/node.js';
import { settled, type Write } from '../../src/graph/node-events.js';
import { hash, property, type Random } from '../support/random.js';
import { movesOf, stateAfter } from './support/initial-state.js';
import { readValue } from './support/specs.js';
import { randomCycles } from './support/token-game.js';
import { watchToEnd, written } from './support/watch.js';

/** Visits after which a node names no successor any more. */
const BUDGET = 4;

describe('a graph with cycles', () => {
  property('ends, and resumed after any settlement it says and leaves the same', 3_000, async (random, seed) => {
    const plan = link(wandering(random, seed), { variables: { 'env.clock': 0 } });
    const whole = await watchToEnd(plan);
    expect(whole.events.at(-1)?.type).toBe('run-settled');

    const moves = movesOf(whole.events);
    const cut = random.int(moves.length + 1);
    const state = stateAfter(plan, whole.events, cut, clockWrites(moves));
    expect(state.step).toBe(cut);
    const rest = await watchToEnd(plan, { checkpoint: written(plan, state) });

    expect([...moves.slice(0, cut), ...movesOf(rest.events)].map(told)).toEqual(moves.map(told));
    expect(written(plan, rest.outcome!.state).state).toEqual(written(plan, whole.outcome!.state).state);
    expect(rest.outcome?.outputs).toEqual(whole.outcome?.outputs);
  });
});

/** Nodes whose way depends on how often they ran, on what others left, and on a clock that every settlement moves. */
function wandering(random: Random, seed: number): NodeSpec[] {
  const { specs } = randomCycles(random);
  const failing = new Set(specs.filter(() => random.chance(0.15)).map(({ id }) => id));
  const steady = specs.map(({ id }) => id).filter((id) => !failing.has(id));
  return specs.map((spec) => {
    const targets = [...spec.downstream, ...spec.targets];
    const goto = random.some(steady, 0.2);
    const fails = failing.has(spec.id) && goto.length > 0;
    return {
      ...spec,
      create: () => wander(seed, spec, targets, fails),
      ...(fails ? { onError: { method: 'continue-at', outputs: {}, targets: goto } } : {}),
    } satisfies NodeSpec;
  });
}

function wander(seed: number, { id }: NodeSpec, targets: readonly string[], fails: boolean): NodeFunction {
  return (at) => {
    const clock = readValue(at, 'env.clock') as number;
    if (fails && hash(seed, id, clock) % 3 === 0) throw new Error('Lost the way.');
    const visits = ((readValue(at, `${id}@visits`) as number | null) ?? 0) + 1;
    const seen = targets.slice(0, 3).map((target) => readValue(at, `${target}@value`) as number | null);
    const value = hash(seed, id, visits, ...seen.map((one) => one ?? -1));
    const chosen = visits > BUDGET ? [] : targets.filter((_, index) => hash(value, index) % 5 < 3);
    const next = visits <= BUDGET && value % 4 === 0 ? {} : { next: chosen };
    return settled({ visits, value }, { ...next, writes: tick(clock) });
  };
}

const tick = (clock: number): Write[] => [{ to: { kind: 'variable', key: 'env.clock' }, value: clock + 1 }];

/** Events carry no writes; here each settlement moves the clock by one. */
function clockWrites(moves: readonly RunEvent[]) {
  const clocks = new Map<RunEvent, number>();
  let clock = 0;
  for (const move of moves) {
    clocks.set(move, clock);
    if (move.type === 'node-settled') clock += 1;
  }
  return (event: RunEvent) => (event.type === 'node-settled' ? tick(clocks.get(event) as number) : []);
}

function told(event: ReturnType<typeof movesOf>[number]): unknown {
  return [event.type, event.node, event.token, event.outputs];
}
