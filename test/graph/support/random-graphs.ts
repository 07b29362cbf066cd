/** Random graphs as plain data, and what must happen in them by dead-path elimination: a reference to compare the engine with. */
import type { Random } from '../../support/random.js';

/** A node: where it leads, and where it decides to go. */
export interface Shape {
  readonly id: string;
  readonly join: 'any' | 'all';
  readonly downstream: readonly string[];
  /** The successors that it names; undefined when it names none and so chooses all of them. */
  readonly next: readonly string[] | undefined;
}

/** A graph without cycles; the order of the nodes in the plan has nothing to do with the order of the edges. */
export function randomDag(random: Random, { anyJoins = false, most = 24 } = {}): Shape[] {
  const count = 2 + random.int(most - 1);
  const density = 0.05 + random.next() * 0.4;
  const shapes = Array.from({ length: count }, (_, at): Shape => {
    const later = Array.from({ length: count - at - 1 }, (_, offset) => `n${at + 1 + offset}`);
    const downstream = random.shuffle(random.some(later, density));
    return {
      id: `n${at}`,
      join: anyJoins && random.chance(0.1) ? 'any' : 'all',
      downstream,
      next: random.chance(0.5) ? undefined : random.some(downstream, 0.7),
    };
  });
  return random.shuffle(shapes);
}

/** For each node id: its predecessors. */
export function predecessorsOf(shapes: readonly Shape[]): Map<string, Shape[]> {
  const found = new Map(shapes.map(({ id }) => [id, [] as Shape[]]));
  for (const shape of shapes) for (const to of shape.downstream) found.get(to)?.push(shape);
  return found;
}

/** How often each node must run: dead-path elimination in topological order (`n0`, `n1` …). */
export function expectedRuns(shapes: readonly Shape[]): Map<string, number> {
  const before = predecessorsOf(shapes);
  const runs = new Map<string, number>();
  for (const { id, join } of inOrder(shapes)) {
    const sources = before.get(id) as Shape[];
    const arriving = sources
      .filter(({ next, downstream }) => (next ?? downstream).includes(id))
      .reduce((sum, source) => sum + (runs.get(source.id) as number), 0);
    const isJoin = join === 'all' && sources.length > 1;
    runs.set(id, sources.length === 0 ? 1 : isJoin ? Math.min(1, arriving) : arriving);
  }
  return runs;
}

/** For each node: every node that leads to it, directly or not. */
export function ancestorsOf(shapes: readonly Shape[]): Map<string, Set<string>> {
  const before = predecessorsOf(shapes);
  const ancestors = new Map<string, Set<string>>();
  for (const { id } of inOrder(shapes)) {
    const all = new Set<string>();
    for (const source of before.get(id) as Shape[]) {
      all.add(source.id);
      for (const above of ancestors.get(source.id) as Set<string>) all.add(above);
    }
    ancestors.set(id, all);
  }
  return ancestors;
}

function inOrder(shapes: readonly Shape[]): Shape[] {
  return [...shapes].sort((a, b) => Number(a.id.slice(1)) - Number(b.id.slice(1)));
}
