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

/** Nodes that are looked at before a part and its join are checked in the whole graph. */
const NEAR = 32;

/** Edges by the node they lead out of or into. */
type Neighbours = ReadonlyMap<string, readonly string[]>;

/**
 * Refuses a graph that cannot run as it is drawn.
 *
 * @throws EngineError PLAN_INVALID naming graph and node: nothing at the start or the end, a cycle without a way in, an unreachable node, a
 * node without a way to the end, a cycle without a branch, a needed part that a branch may skip.
 */
export function checkGraph(graph: GraphBlueprint, needed: readonly NeededPart[]): void {
  const after = neighboursOf(graph, 'from', 'to');
  const before = neighboursOf(graph, 'to', 'from');
  if (!after.has(START)) refuse(graph, 'nothing leads away from the start. Add g.edge(g.start, …).');
  if (!before.has(END)) refuse(graph, 'nothing leads to the end. Add g.edge(…, g.end).');
  checkReachable(graph, after);
  checkEnding(graph, before, after);
  checkCycles(graph, after);
  checkNeeded(graph, needed);
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

/** Ids that can be reached from `root`, itself included. */
function reach(root: string, neighbours: Neighbours): Set<string> {
  const seen = new Set<string>();
  const open = [root];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (seen.has(id)) continue;
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
    refuse(
      graph,
      `the cycle ${wordsOf(cycle)} has no way in. Add an edge from the start, or from a node that runs.`,
      cycle[0],
    );
  }
  const first = lost[0] as string;
  refuse(graph, `node "${first}" cannot be reached from the start. Add an edge to it, or leave it out.`, first);
}

/** A cycle without a branch goes round for ever, whatever else leads out of it, unless the first result ends the graph. */
function checkCycles(graph: GraphBlueprint, after: Neighbours): void {
  if (graph.endWith === 'first') return;
  const routers = new Set(graph.nodes.filter(({ route }) => route !== undefined).map(({ id }) => id));
  const sure: Neighbours = new Map([...after].filter(([id]) => !routers.has(id)));
  const cycle = anyCycle(graph, sure);
  if (cycle === undefined) return;
  refuse(
    graph,
    `the cycle ${wordsOf(cycle)} never ends, because no branch leaves it. Lead out of it by g.branch(…), or end with the first result: { endWith: 'first' }.`,
    cycle[0],
  );
}

function anyCycle({ nodes }: GraphBlueprint, after: Neighbours): readonly string[] | undefined {
  const waysIn = new Map<string, number>();
  for (const targets of after.values()) for (const id of targets) waysIn.set(id, (waysIn.get(id) ?? 0) + 1);
  // What nothing leads to is taken out, again and again: cycles are left, and what stands behind them.
  const open = nodes.flatMap(({ id }) => (waysIn.has(id) ? [] : [id]));
  open.push(START);
  const left = new Set(nodes.map(({ id }) => id));
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    left.delete(id);
    for (const next of after.get(id) ?? []) {
      const count = (waysIn.get(next) as number) - 1;
      waysIn.set(next, count);
      if (count === 0) open.push(next);
    }
  }
  for (const id of left) {
    const cycle = cycleAt(id, after);
    if (cycle !== undefined) return cycle;
  }
  return undefined;
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

function wordsOf(cycle: readonly string[]): string {
  return [...cycle, cycle[0]].map((id) => `"${id}"`).join(' → ');
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

function checkNeeded(graph: GraphBlueprint, needed: readonly NeededPart[]): void {
  const risky = needed.filter(({ parts }) => parts.length > 1);
  if (risky.length === 0 || graph.nodes.every(({ route }) => route === undefined)) return;
  const ways = new Ways(graph);
  const found = new Map<string, Uint8Array>();
  for (const { key, from, to, parts } of risky) {
    if (parts.every((part) => part === from || ways.isNear(part, from))) continue;
    const skipping = found.get(from) ?? ways.without(from);
    found.set(from, skipping);
    const other = parts.find((part) => part !== from && skipping[ways.numberOf(part)] === 1);
    if (other === undefined) continue;
    refuse(
      graph,
      `node "${to}" needs the part "${key}" of "${from}", which a branch may skip while "${other}" runs. Write ` +
        `${key}: optional(…), or join behind the branch.`,
      to,
    );
  }
}

/** The ways through a graph, by numbers: a check for each part of each join has to be quick. */
class Ways {
  readonly #ids: readonly string[];
  readonly #numbers: ReadonlyMap<string, number>;
  readonly #after: readonly number[][];
  readonly #before: readonly number[][];
  readonly #isRouter: readonly boolean[];

  constructor({ nodes, edges }: GraphBlueprint) {
    this.#ids = [START, END, ...nodes.map(({ id }) => id)];
    this.#isRouter = [false, false, ...nodes.map(({ route }) => route !== undefined)];
    this.#numbers = new Map(this.#ids.map((id, number) => [id, number]));
    this.#after = this.#ids.map(() => []);
    this.#before = this.#ids.map(() => []);
    for (const { from, to } of edges) {
      const [source, target] = [this.numberOf(from), this.numberOf(to)];
      this.#after[source]?.push(target);
      this.#before[target]?.push(source);
    }
  }

  numberOf(id: string): number {
    return this.#numbers.get(id) as number;
  }

  /** Whether a few looks show that `part` never runs without `goal`: it stands behind it, or both behind one node. */
  isNear(part: string, goal: string): boolean {
    const wanted = this.numberOf(goal);
    let node = this.numberOf(part);
    for (let looks = 0; looks < NEAR; looks += 1) {
      if (node === wanted || (this.#isRouter[node] === false && this.#after[node]?.includes(wanted) === true))
        return true;
      const [before, ...others] = this.#before[node] as readonly number[];
      if (before === undefined || others.length > 0) return false;
      node = before;
    }
    return false;
  }

  /** 1 for the nodes that may run in a run without `goal`. */
  without(goal: string): Uint8Array {
    const sure = this.#leadingTo(this.numberOf(goal));
    const seen = new Uint8Array(this.#ids.length);
    const open = [0];
    for (let node = open.pop(); node !== undefined; node = open.pop()) {
      if (seen[node] === 1 || sure[node] === 1) continue;
      seen[node] = 1;
      for (const next of this.#after[node] as number[]) open.push(next);
    }
    return seen;
  }

  /** 1 for the nodes that never run without `goal` running, too, in runs whose loops end. */
  #leadingTo(goal: number): Uint8Array {
    const sure = new Uint8Array(this.#ids.length).fill(1);
    const waysLeft = Uint32Array.from(this.#after, ({ length }) => length);
    const open: number[] = [];
    for (let node = 0; node < waysLeft.length; node += 1) if (node !== goal && waysLeft[node] === 0) open.push(node);
    // Whatever may go another way is taken out: a router with its first lost route, another node with its last lost edge.
    for (let node = open.pop(); node !== undefined; node = open.pop()) {
      if (node === goal || sure[node] === 0) continue;
      sure[node] = 0;
      for (const earlier of this.#before[node] as number[]) {
        waysLeft[earlier] = (waysLeft[earlier] as number) - 1;
        if (waysLeft[earlier] === 0 || this.#isRouter[earlier] === true) open.push(earlier);
      }
    }
    return sure;
  }
}
