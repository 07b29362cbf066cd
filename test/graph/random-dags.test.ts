/** The join rule on random graphs without cycles: who runs, how often, and never early. */
import { describe, expect } from 'vitest';
import type { RunEvent } from '../../src/graph/events.js';
import { link } from '../../src/graph/link.js';
import type { NodeFunction } from '../../src/graph/node.js';
import { type Settled, settled } from '../../src/graph/node-events.js';
import { property } from '../support/random.js';
import { ancestorsOf, expectedRuns, randomDag, type Shape } from './support/random-graphs.js';
import { SlowNodes } from './support/slow-nodes.js';
import { spec } from './support/specs.js';
import { nodesOf, watch, watchToEnd } from './support/watch.js';

describe('a graph without cycles', () => {
  property('runs every chosen node exactly once, after everything that leads to it', 3_000, async (random) => {
    const shapes = randomDag(random);
    const { events } = await watchToEnd(planOf(shapes));
    expect(runsIn(shapes, events)).toEqual(expectedRuns(shapes));
    expect(earlyIn(shapes, events)).toEqual([]);
  });

  property('runs a node that joins nothing once per arriving token', 1_000, async (random) => {
    const shapes = randomDag(random, { anyJoins: true, most: 12 });
    const { events } = await watchToEnd(planOf(shapes));
    expect(runsIn(shapes, events)).toEqual(expectedRuns(shapes));
  });

  property('keeps to it when nodes take time and only some may work at once', 1_500, async (random) => {
    const shapes = randomDag(random);
    const concurrency = random.pick([1, 2, Number.MAX_SAFE_INTEGER]);
    const slow = new SlowNodes();
    const plan = planOf(shapes, (shape) =>
      random.chance(0.3) ? () => outcomeOf(shape) : slow.node(() => [outcomeOf(shape)]),
    );
    const watched = watch(plan, { input: null }, { concurrency });
    await slow.finish(random, () => watched.isOver);

    expect(runsIn(shapes, watched.events)).toEqual(expectedRuns(shapes));
    expect(earlyIn(shapes, watched.events)).toEqual([]);
    expect(slow.most).toBeLessThanOrEqual(concurrency);
  });

  property('uses every slot that it may use', 300, async (random) => {
    const width = 1 + random.int(12);
    const concurrency = 1 + random.int(12);
    const slow = new SlowNodes();
    const shapes = Array.from(
      { length: width },
      (_, at): Shape => ({ id: `n${at}`, join: 'all', downstream: [], next: undefined }),
    );
    const watched = watch(
      planOf(shapes, (shape) => slow.node(() => [outcomeOf(shape)])),
      { input: null },
      { concurrency },
    );
    for (let left = width; left > 0; left -= 1) {
      expect(slow.atWork).toBe(Math.min(left, concurrency));
      slow.step(random);
    }
    expect(watched.isOver).toBe(true);
  });
});

const outcomeOf = ({ id, next }: Shape): Settled => settled({ value: id }, next === undefined ? {} : { next });

function planOf(
  shapes: readonly Shape[],
  nodeOf = (shape: Shape): NodeFunction =>
    () =>
      outcomeOf(shape),
) {
  return link(
    shapes.map((shape) => spec(shape.id, { downstream: shape.downstream, join: shape.join, activate: nodeOf(shape) })),
  );
}

function runsIn(shapes: readonly Shape[], events: readonly RunEvent[]): Map<string, number> {
  expect(nodesOf(events, 'node-settled').sort()).toEqual(nodesOf(events, 'node-started').sort());
  expect(events.at(-1)?.type).toBe('run-settled');
  const runs = new Map(shapes.map(({ id }) => [id, 0]));
  for (const node of nodesOf(events, 'node-settled')) runs.set(node, (runs.get(node) as number) + 1);
  return runs;
}

/** Nodes that started before a node that leads to them and that ran had settled. */
function earlyIn(shapes: readonly Shape[], events: readonly RunEvent[]): string[] {
  const ancestors = ancestorsOf(shapes);
  const ran = new Set(nodesOf(events, 'node-settled'));
  const settledSoFar = new Set<string>();
  const early: string[] = [];
  for (const event of events) {
    if (event.type === 'node-settled') settledSoFar.add(event.node);
    if (event.type !== 'node-started') continue;
    for (const above of ancestors.get(event.node) as Set<string>) {
      if (ran.has(above) && !settledSoFar.has(above)) early.push(`${event.node} before ${above}`);
    }
  }
  return early;
}
