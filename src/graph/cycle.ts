/** Names what a run goes round in, for the error that ends a run without an end. */
import type { Node, Plan } from './plan.js';
import type { Token } from './tokens.js';

/** Nodes of a cycle that are named; further ones are counted. */
const MAX_NAMED = 20;

/**
 * The cycles and bodies that a token is in, the innermost first, such as `the body of "Loop:L" inside "a" -> "Loop:L" -> "a"`; when it is in
 * none, those of the tokens beside it. Undefined when no token is in any: the run is only long.
 */
export function describeRounds(plan: Plan, token: Token): string | undefined {
  const own = roundsOf(plan, token);
  if (own.length > 0) return own.join(' inside ');
  for (let other = token.frame.first; other !== undefined; other = other.next) {
    const rounds = roundsOf(plan, other);
    if (rounds.length > 0) return rounds.join(' inside ');
  }
  return undefined;
}

function roundsOf(plan: Plan, token: Token): string[] {
  const rounds: string[] = [];
  for (let at: Token | undefined = token; at !== undefined; at = at.frame.owner) {
    const node = plan.nodes[at.node] as Node;
    if (at !== token) rounds.push(`the body of "${node.id}"`);
    if (node.cycle !== -1) rounds.push(named(plan, shortestCycle(plan, node)));
  }
  return rounds;
}

function named(plan: Plan, cycle: readonly number[]): string {
  const ids = cycle.map((index) => `"${(plan.nodes[index] as Node).id}"`);
  if (ids.length <= MAX_NAMED) return ids.join(' -> ');
  const omitted = ids.length - MAX_NAMED;
  return [...ids.slice(0, MAX_NAMED - 1), `(${omitted} more)`, ids.at(-1)].join(' -> ');
}

/** Indexes of a shortest way from a node in a cycle back to it, with the node at both ends. Breadth first, against the edges. */
function shortestCycle(plan: Plan, start: Node): readonly number[] {
  /** The node that comes after each one on the way back to the start. */
  const after = new Map<number, number>();
  let wave = [start.index];
  while (wave.length > 0 && !after.has(start.index)) {
    const next: number[] = [];
    for (const index of wave) {
      for (const before of (plan.nodes[index] as Node).predecessors) {
        if ((plan.nodes[before] as Node).cycle !== start.cycle || after.has(before)) continue;
        after.set(before, index);
        next.push(before);
      }
    }
    wave = next;
  }
  const path = [start.index];
  for (let at = after.get(start.index); at !== undefined && at !== start.index; at = after.get(at)) path.push(at);
  return [...path, start.index];
}
