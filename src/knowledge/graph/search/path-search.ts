/** How two entities are connected: the best short ways between them. */
import { LINKS_TO } from '../facts.js';
import type { GraphRelation, SummedGraph } from '../graph-records.js';
import type { FoundPath } from './found-passages.js';
import { stepOf } from './local-search.js';

/** Steps of the longest way, and entities that are looked at. */
const MAX_STEPS = 6;
const MAX_VISITED = 20_000;
/** Relations of an entity that are followed; stated ones first. */
const MAX_FOLLOWED = 200;
/** What a step costs: that a text states how, that it names the other, that both stand in one paragraph. A weight takes 0.2 off at most. */
const STATED_COST = 1;
const LINK_COST = 1.25;
const NEAR_COST = 1.5;

/** Entities and their relations as numbers, among which ways are found quickly. Made once for a graph. */
export class PathNetwork {
  readonly #graph: SummedGraph;
  readonly #ids: readonly string[];
  readonly #at = new Map<string, number>();
  /** Where the relations of an entity begin; one more than there are entities. */
  readonly #starts: Uint32Array;
  readonly #ends: Uint32Array;
  readonly #costs: Float64Array;
  readonly #relations: readonly GraphRelation[];
  /** What it costs to go through an entity: the more, the more passages mention it. */
  readonly #busy: Float64Array;

  /** @param relationsOf the relations of each entity, those first that are followed */
  constructor(graph: SummedGraph, relationsOf: (id: string) => readonly GraphRelation[]) {
    this.#graph = graph;
    this.#ids = [...graph.entities.keys()];
    for (const [at, id] of this.#ids.entries()) this.#at.set(id, at);
    this.#starts = new Uint32Array(this.#ids.length + 1);
    const relations: GraphRelation[] = [];
    for (const [at, id] of this.#ids.entries()) {
      relations.push(...relationsOf(id).slice(0, MAX_FOLLOWED));
      this.#starts[at + 1] = relations.length;
    }
    this.#relations = relations;
    this.#ends = new Uint32Array(relations.length);
    this.#costs = Float64Array.from(relations, costOf);
    this.#busy = Float64Array.from(graph.entities.values(), ({ chunks }) => Math.log10(1 + chunks.size) / 2);
    for (const [at, id] of this.#ids.entries()) {
      for (let edge = this.#starts[at] as number; edge < (this.#starts[at + 1] as number); edge += 1) {
        const { source, target } = relations[edge] as GraphRelation;
        this.#ends[edge] = this.#at.get(source === id ? target : source) as number;
      }
    }
  }

  /** Ways, the shortest and best stated first; none where the entities are not connected. Those after the first avoid its entities. */
  find(from: string, to: string, count = 3): FoundPath[] {
    const [start, end] = [this.#at.get(from), this.#at.get(to)];
    if (start === undefined || end === undefined) return [];
    const paths: FoundPath[] = [];
    const avoided = new Uint8Array(this.#ids.length);
    const used = new Set<GraphRelation>();
    while (paths.length < count) {
      const way = this.#shortest(start, end, avoided, used);
      if (way === undefined) break;
      const steps = way.map((relation) => stepOf(relation, this.#graph));
      paths.push({ steps, chunks: way.map(({ chunks }) => chunks[0]) });
      for (const relation of way) {
        for (const id of [relation.source, relation.target])
          if (id !== from && id !== to) avoided[this.#at.get(id) as number] = 1;
        if (way.length === 1) used.add(relation);
      }
    }
    return paths;
  }

  /** Dijkstra within bounds. */
  #shortest(
    start: number,
    end: number,
    avoided: Uint8Array,
    used: ReadonlySet<GraphRelation>,
  ): GraphRelation[] | undefined {
    const size = this.#ids.length;
    const least = new Float64Array(size).fill(Number.POSITIVE_INFINITY);
    const steps = new Uint8Array(size);
    /** The relation by which an entity is reached, and the entity before it. */
    const by = new Int32Array(size).fill(-1);
    const before = new Int32Array(size);
    const done = new Uint8Array(size);
    const open = new CostHeap();
    least[start] = 0;
    open.push(start, 0);
    for (let visited = 0; visited < MAX_VISITED; visited += 1) {
      const here = open.pop();
      if (here === undefined) return undefined;
      if (here === end) return this.#wayTo(end, by, before);
      if (done[here] === 1 || steps[here] === MAX_STEPS) continue;
      done[here] = 1;
      const reached = (least[here] as number) + (here === start ? 0 : (this.#busy[here] as number));
      for (let edge = this.#starts[here] as number; edge < (this.#starts[here + 1] as number); edge += 1) {
        const next = this.#ends[edge] as number;
        const cost = reached + (this.#costs[edge] as number);
        // What costs more than the whole way leads nowhere.
        if (done[next] === 1 || cost >= (least[next] as number) || cost >= (least[end] as number)) continue;
        if (avoided[next] === 1 || (used.size > 0 && used.has(this.#relations[edge] as GraphRelation))) continue;
        least[next] = cost;
        steps[next] = (steps[here] as number) + 1;
        by[next] = edge;
        before[next] = here;
        open.push(next, cost);
      }
    }
    return undefined;
  }

  #wayTo(end: number, by: Int32Array, before: Int32Array): GraphRelation[] {
    const way: GraphRelation[] = [];
    for (let at = end; by[at] !== -1; at = before[at] as number)
      way.unshift(this.#relations[by[at] as number] as GraphRelation);
    return way;
  }
}

function costOf({ relation, isExplicit, weight }: GraphRelation): number {
  const stated = relation === LINKS_TO ? LINK_COST : STATED_COST;
  return (isExplicit ? stated : NEAR_COST) + 0.2 / (1 + weight);
}

/** The cheapest first; of equally cheap ones the one that came first. */
class CostHeap {
  readonly #nodes: number[] = [];
  readonly #costs: number[] = [];
  readonly #orders: number[] = [];
  #pushed = 0;

  push(node: number, cost: number): void {
    this.#pushed += 1;
    let at = this.#nodes.length;
    this.#put(at, node, cost, this.#pushed);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!this.#isBefore(at, parent)) break;
      this.#swap(at, parent);
      at = parent;
    }
  }

  pop(): number | undefined {
    const top = this.#nodes[0];
    const [node, cost, order] = [this.#nodes.pop(), this.#costs.pop(), this.#orders.pop()];
    const size = this.#nodes.length;
    if (size === 0 || node === undefined || cost === undefined || order === undefined) return top;
    this.#put(0, node, cost, order);
    for (let at = 0; ; ) {
      let least = at;
      for (const child of [2 * at + 1, 2 * at + 2]) if (child < size && this.#isBefore(child, least)) least = child;
      if (least === at) return top;
      this.#swap(at, least);
      at = least;
    }
  }

  #put(at: number, node: number, cost: number, order: number): void {
    this.#nodes[at] = node;
    this.#costs[at] = cost;
    this.#orders[at] = order;
  }

  #isBefore(left: number, right: number): boolean {
    const [one, other] = [this.#costs[left] as number, this.#costs[right] as number];
    return one < other || (one === other && (this.#orders[left] as number) < (this.#orders[right] as number));
  }

  #swap(left: number, right: number): void {
    const [node, cost, order] = [this.#nodes[left], this.#costs[left], this.#orders[left]] as [number, number, number];
    this.#put(left, this.#nodes[right] as number, this.#costs[right] as number, this.#orders[right] as number);
    this.#put(right, node, cost, order);
  }
}
