/** What makes a graph impossible to run, found when it is built. */
import { planError } from './graph-options.js';
import { END, type GraphBlueprint, START } from './step.js';

/** A part that a join needs: it may not be skipped when another part of the join is not. */
export interface NeededPart {
  readonly key: string;
  /** Id of the node it comes from. */
  readonly from: string;
  /** Id of the node with the join. */
  readonly to: string;
  /** Ids of all nodes that parts of this join come from. */
  readonly parts: readonly string[];
}

/** Edges by the node they lead out of or into. */
type Neighbours = ReadonlyMap<string, readonly string[]>;

/**
 * Refuses a graph that cannot run as it is drawn.
 *
 * @throws EngineError PLAN_INVALID naming graph and node: nothing at the start or the end, a cycle without a way in, an unreachable node, a
 * node without a way to the end, a needed part that a branch may skip.
 */
export function checkGraph(graph: GraphBlueprint, needed: readonly NeededPart[]): void {
  const after = neighboursOf(graph, 'from', 'to');
  const before = neighboursOf(graph, 'to', 'from');
  if (!after.has(START)) refuse(graph, 'nothing leads away from the start. Add g.edge(g.start, …).');
  if (!before.has(END)) refuse(graph, 'nothing leads to the end. Add g.edge(…, g.end).');
  checkReachable(graph, after);
  checkEnding(graph, before, after);
  checkNeeded(graph, needed, before, after);
}

function refuse(graph: GraphBlueprint, problem: string, node?: string): never {
  throw planError(`Graph "${graph.name}"`, problem, node);
}

function neighboursOf(graph: GraphBlueprint, key: 'from' | 'to', value: 'from' | 'to'): Neighbours {
  const lists = new Map<string, string[]>();
  for (const edge of graph.edges) {
    const list = lists.get(edge[key]);
    if (list === undefined) lists.set(edge[key], [edge[value]]);
    else list.push(edge[value]);
  }
  return lists;
}

/** Ids that can be reached from `root`, itself included; `blocked` ones are not entered. */
function reach(root: string, neighbours: Neighbours, blocked?: ReadonlySet<string>): Set<string> {
  const seen = new Set<string>();
  const open = [root];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (seen.has(id) || blocked?.has(id) === true) continue;
    seen.add(id);
    for (const next of neighbours.get(id) ?? []) open.push(next);
  }
  return seen;
}

function checkReachable(graph: GraphBlueprint, after: Neighbours): void {
  const reached = reach(START, after);
  const lost = graph.nodes.filter(({ id }) => !reached.has(id)).map(({ id }) => id);
  if (lost.length === 0) {
    if (!reached.has(END)) refuse(graph, 'no way leads from the start to the end. Join them with edges.');
    return;
  }
  const cycle = lost.map((id) => cycleAt(id, after)).find((ids) => ids !== undefined);
  if (cycle !== undefined) {
    const way = [...cycle, cycle[0]].map((id) => `"${id}"`).join(' → ');
    refuse(graph, `the cycle ${way} has no way in. Add an edge from the start, or from a node that runs.`, cycle[0]);
  }
  const first = lost[0] as string;
  refuse(graph, `node "${first}" cannot be reached from the start. Add an edge to it, or leave it out.`, first);
}

/** A shortest cycle through a node. */
function cycleAt(id: string, after: Neighbours): readonly string[] | undefined {
  const origins = new Map<string, string>();
  const open = [id];
  for (let at = 0; at < open.length; at += 1) {
    const here = open[at] as string;
    for (const next of after.get(here) ?? []) {
      if (next === id) return wayTo(here, id, origins);
      if (origins.has(next)) continue;
      origins.set(next, here);
      open.push(next);
    }
  }
  return undefined;
}

function wayTo(last: string, first: string, origins: ReadonlyMap<string, string>): readonly string[] {
  const way = [last];
  for (let id = last; id !== first; ) {
    id = origins.get(id) as string;
    way.unshift(id);
  }
  return way;
}

function checkEnding(graph: GraphBlueprint, before: Neighbours, after: Neighbours): void {
  const ending = reach(END, before);
  const stuck = graph.nodes.find(({ id }) => !ending.has(id))?.id;
  if (stuck === undefined) return;
  const isCycle = cycleAt(stuck, after) !== undefined;
  const advice = isCycle
    ? 'It is in a cycle that never ends: add a branch that leaves it.'
    : `Add an edge from it, to g.end for one, or g.join(…) its result with another.`;
  refuse(graph, `node "${stuck}" has no way to the end. ${advice}`, stuck);
}

function checkNeeded(
  graph: GraphBlueprint,
  needed: readonly NeededPart[],
  before: Neighbours,
  after: Neighbours,
): void {
  const routers = new Set(graph.nodes.filter(({ route }) => route !== undefined).map(({ id }) => id));
  if (routers.size === 0) return;
  for (const { key, from, to, parts } of needed) {
    const sure = leadingTo(from, graph, routers, before, after);
    const without = reach(START, after, sure);
    const other = parts.find((part) => part !== from && without.has(part));
    if (other === undefined) continue;
    refuse(
      graph,
      `node "${to}" needs the part "${key}" of "${from}", which a branch may skip while "${other}" runs. Write ` +
        `${key}: optional(…), or join behind the branch.`,
      to,
    );
  }
}

/** Ids of the nodes that never run without `goal` running, too, in runs whose loops end. */
function leadingTo(
  goal: string,
  graph: GraphBlueprint,
  routers: ReadonlySet<string>,
  before: Neighbours,
  after: Neighbours,
): Set<string> {
  const sure = new Set([START, END, ...graph.nodes.map(({ id }) => id)]);
  const waysLeft = new Map([...sure].map((id) => [id, after.get(id)?.length ?? 0]));
  const open = [...sure].filter((id) => id !== goal && waysLeft.get(id) === 0);
  // Whatever may go another way is taken out: a router with its first lost route, another node with its last lost edge.
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (id === goal || !sure.delete(id)) continue;
    for (const earlier of before.get(id) ?? []) {
      const left = (waysLeft.get(earlier) ?? 0) - 1;
      waysLeft.set(earlier, left);
      if (left === 0 || routers.has(earlier)) open.push(earlier);
    }
  }
  return sure;
}
