/** Reachability, levels and cycles against brute force. */
import { describe, expect, it } from 'vitest';
import { measure, Reach } from '../../src/graph/reach.js';
import { property, type Random } from '../support/random.js';
import { transitiveClosure } from './support/token-game.js';

describe('reach and measure', () => {
  property('agree with brute force on random graphs', 2_000, (random) => {
    const successors = randomEdges(random);
    const leads = transitiveClosure(successors);
    const { level, cycle } = measure(successors);
    const reach = new Reach({ predecessors: reversed(successors), level, cycle });
    for (const from of successors.keys()) {
      expect(cycle[from] !== -1, `cycle of ${from}`).toBe(leads[from]?.[from]);
      for (const to of successors.keys()) {
        expect(reach.canReach(from, to), `${from} to ${to}`).toBe(leads[from]?.[to]);
        const isTogether = from === to || (leads[from]?.[to] === true && leads[to]?.[from] === true);
        expect(cycle[from] !== -1 && cycle[from] === cycle[to], `${from} and ${to}`).toBe(
          isTogether && cycle[from] !== -1,
        );
      }
    }
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
    // 20,000 nodes: a set takes 2.5 KB, and 32 MB of sets are kept; every look below asks for another one.
    const count = 20_000;
    const successors = Array.from({ length: count }, (_, at) => (at + 2 < count ? [at + 1, at + 2] : []));
    const { level, cycle } = measure(successors);
    const reach = new Reach({ predecessors: reversed(successors), level, cycle });
    for (let to = 19_000; to > 4_000; to -= 1) {
      if (!reach.canReach(to - 4, to) || reach.canReach(to, to - 4)) throw new Error(`Wrong about ${to}.`);
    }
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
