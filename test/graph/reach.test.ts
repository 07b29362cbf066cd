/** Reachability, levels and cycles against brute force. */
import { describe, expect, it } from 'vitest';
import { measure, Reach } from '../../src/graph/plan.js';
import { property, type Random } from '../support/random.js';
import { transitiveClosure } from './support/token-game.js';

describe('reach and measure', () => {
  property('agree with brute force on random graphs', 2_000, (random) => {
    const successors = randomEdges(random);
    const leads = transitiveClosure(successors);
    const { level, cycle } = measure(successors);
    const reach = new Reach({ predecessors: reversed(successors), level, cycle });
    const nodes = [...successors.keys()];
    const pairs = nodes.flatMap((from) => nodes.map((to) => [from, to] as const));
    expect(pairs.map(([from, to]) => reach.canReach(from, to))).toEqual(pairs.map(([from, to]) => leads[from]?.[to]));
    expect(nodes.map((node) => cycle[node] !== -1)).toEqual(nodes.map((node) => leads[node]?.[node]));
    const looping = pairs.filter(([from, to]) => leads[from]?.[from] && leads[to]?.[to]);
    expect(looping.map(([from, to]) => cycle[from] === cycle[to])).toEqual(
      looping.map(([from, to]) => leads[from]?.[to] && leads[to]?.[from]),
    );
    expect(level).toEqual(longestPaths(successors, leads));
  });

  it('keeps a flat stack on a path of 100,000 nodes that ends in a cycle', () => {
    const count = 100_000;
    const successors = Array.from({ length: count }, (_, at) => [at === count - 1 ? count - 2 : at + 1]);
    const { level, cycle } = measure(successors);
    const reach = new Reach({ predecessors: reversed(successors), level, cycle });
    expect([level[0], level[count - 2], level[count - 1]]).toEqual([0, count - 2, count - 2]);
    expect([cycle[0], cycle[count - 2], cycle[count - 1]]).toEqual([-1, 0, 0]);
    expect([reach.canReach(0, count - 1), reach.canReach(count - 1, 0)]).toEqual([true, false]);
  });

  it('answers the same when its ancestor sets outgrow their cache', () => {
    // In paths of 8 nodes; a set takes 2.5 KB here, and 32 MB of them are kept.
    const count = 20_000;
    const successors = Array.from({ length: count }, (_, at) => (at % 8 === 7 ? [] : [at + 1]));
    const { level, cycle } = measure(successors);
    const reach = new Reach({ predecessors: reversed(successors), level, cycle });
    const wrong: number[] = [];
    for (let round = 0; round < 2; round += 1) {
      for (let to = 7; to < count; to += 1) if (reach.canReach(to - 4, to) !== to % 8 > 3) wrong.push(to);
    }
    expect(wrong).toEqual([]);
  });
});

function randomEdges(random: Random): number[][] {
  const count = 1 + random.int(14);
  const nodes = Array.from({ length: count }, (_, at) => at);
  const density = random.next() * 0.3;
  return nodes.map(() => random.some(nodes, density));
}

function reversed(successors: readonly (readonly number[])[]): number[][] {
  const predecessors: number[][] = successors.map(() => []);
  for (const [from, targets] of successors.entries()) for (const to of targets) predecessors[to]?.push(from);
  return predecessors;
}

/** Longest distance from any source over the graph in which each cycle is one node, by trying until nothing changes. */
function longestPaths(successors: readonly (readonly number[])[], leads: readonly boolean[][]): number[] {
  const level = successors.map(() => 0);
  for (let hasChanged = true; hasChanged; ) {
    hasChanged = false;
    for (const [from, targets] of successors.entries()) {
      for (const to of targets) {
        const isTogether = leads[to]?.[from] === true;
        const least = (level[from] as number) + (isTogether ? 0 : 1);
        if (from === to || (level[to] as number) >= least) continue;
        level[to] = least;
        hasChanged = true;
      }
    }
  }
  return level;
}
