/** Runs that are stopped at any moment and go on from their State: what they give is what an undisturbed run gives. */
import { describe, expect } from 'vitest';
import { isTerminal, type RunEvent } from '../../src/graph/events.js';
import { link } from '../../src/graph/link.js';
import type { NodeFunction } from '../../src/graph/node.js';
import { type NodeEvent, settled } from '../../src/graph/node-events.js';
import type { Plan } from '../../src/graph/plan.js';
import { hash, property } from '../support/random.js';
import { predecessorsOf, randomDag, type Shape } from './support/random-graphs.js';
import { SlowNodes } from './support/slow-nodes.js';
import { readValue, spec } from './support/specs.js';
import { watch, watchToEnd, written } from './support/watch.js';

describe('a run that is stopped and resumed', () => {
  property('settles every node of the graph once with the same outputs', 600, async (random, seed) => {
    const shapes = randomDag(random);
    const undisturbed = await watchToEnd(planOf(shapes, seed));

    const slow = new SlowNodes();
    const plan = planOf(shapes, seed, (steps) => (random.chance(0.6) ? slow.node(steps) : undefined));
    const outputs: [string, unknown][] = [];
    let start: Parameters<typeof watch>[1] = { input: null };
    for (let stops = random.int(4); ; stops -= 1) {
      const abort = new AbortController();
      const options = { signal: abort.signal, concurrency: 1 + random.int(4) };
      const watched = watch(plan, start, options);
      if (stops > 0) {
        for (let steps = random.int(shapes.length); steps > 0 && !watched.isOver; steps -= 1) slow.step(random);
        abort.abort();
      } else await slow.finish(random, () => watched.isOver);
      outputs.push(...outputsIn(watched.events));
      expect(slow.atWork, 'nodes that work on after the run').toBe(0);
      if (watched.events.at(-1)?.type === 'run-settled') {
        expect(new Map(outputs)).toEqual(new Map(outputsIn(undisturbed.events)));
        expect(outputs.length).toBe(new Map(outputs).size);
        expect(cellsOf(plan, watched.outcome!)).toEqual(cellsOf(plan, undisturbed.outcome!));
        return;
      }
      expect(watched.events.at(-1)?.type).toBe('run-cancelled');
      start = { checkpoint: written(plan, watched.outcome!.state) };
    }
  });

  property('hears nothing after it was unsubscribed', 300, async (random, seed) => {
    const shapes = randomDag(random);
    const slow = new SlowNodes();
    const plan = planOf(shapes, seed, (steps) => slow.node(steps));
    const at = random.int(2 * shapes.length);
    const watched = watch(plan, { input: null }, {}, ({ seq }, { unsubscribe }) => {
      if (seq === at) unsubscribe();
    });
    while (slow.step(random));
    const last = watched.events.at(-1);
    if (last !== undefined && isTerminal(last)) return;
    watched.unsubscribe();
    const heard = watched.events.length;
    while (slow.step(random));
    expect(watched.events.length).toBe(heard);
    expect(watched.outcome).toBeUndefined();
    expect(slow.atWork).toBe(0);
  });
});

/** Each node settles with a hash of what its predecessors left. */
function planOf(
  shapes: readonly Shape[],
  seed: number,
  slowly: (steps: (at: Parameters<NodeFunction>[0]) => NodeEvent[]) => NodeFunction | undefined = () => undefined,
): Plan {
  const before = predecessorsOf(shapes);
  return link(
    shapes.map(({ id, downstream, join, next }) => {
      const settle: NodeFunction = (at) => {
        const seen = (before.get(id) as Shape[]).map((source) => readValue(at, `${source.id}@value`) as number | null);
        return settled({ value: hash(seed, id, ...seen.map((one) => one ?? -1)) }, next === undefined ? {} : { next });
      };
      const activate = slowly((at) => [settle(at) as NodeEvent]) ?? settle;
      return spec(id, { downstream, join, activate });
    }),
  );
}

function outputsIn(events: readonly RunEvent[]): [string, unknown][] {
  return events.flatMap((event): [string, unknown][] =>
    event.type === 'node-settled' ? [[event.node, event.outputs]] : [],
  );
}

const cellsOf = (plan: Plan, { state }: { readonly state: Parameters<typeof written>[1] }) =>
  written(plan, state).state.cells;
