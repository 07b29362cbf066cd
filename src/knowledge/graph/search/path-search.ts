/** How two entities are connected: the best short ways between them. */
import { LINKS_TO } from '../facts.js';
import type { GraphRelation, SummedGraph } from '../graph-records.js';
import type { FoundPath } from './found-passages.js';
import { stepOf } from './local-search.js';

/** What ways are looked for in. */
export interface PathWork {
  readonly graph: SummedGraph;
  readonly relationsOf: ReadonlyMap<string, readonly GraphRelation[]>;
  readonly from: string;
  readonly to: string;
  /** @default 3 */
  readonly count?: number | undefined;
}

/** Steps of the longest way, and entities that are looked at. */
const MAX_STEPS = 6;
const MAX_VISITED = 20_000;
/** Relations of an entity that are followed; stated ones first. */
const MAX_FOLLOWED = 200;
/** What a step costs: that a text states how, that it names the other, that both stand in one paragraph. A weight takes 0.2 off at most. */
const STATED_COST = 1;
const LINK_COST = 1.25;
const NEAR_COST = 1.5;

/** Ways, the shortest and best stated first; none where the entities are not connected. Those after the first avoid its entities. */
export function findPaths({ graph, relationsOf, from, to, count = 3 }: PathWork): FoundPath[] {
  const paths: FoundPath[] = [];
  const avoided = new Set<string>();
  const used = new Set<GraphRelation>();
  while (paths.length < count) {
    const way = shortest({ graph, relationsOf, from, to }, avoided, used);
    if (way === undefined) break;
    paths.push({ steps: way.map((relation) => stepOf(relation, graph)), chunks: way.map(({ chunks }) => chunks[0]) });
    for (const relation of way) {
      for (const end of [relation.source, relation.target]) if (end !== from && end !== to) avoided.add(end);
      if (way.length === 1) used.add(relation);
    }
  }
  return paths;
}

interface Reached {
  readonly id: string;
  readonly cost: number;
  readonly steps: number;
  readonly by: GraphRelation | undefined;
  readonly before: Reached | undefined;
}

/** Dijkstra within bounds; a busy entity costs more to go through. */
function shortest(
  { graph, relationsOf, from, to }: PathWork,
  avoided: ReadonlySet<string>,
  used: ReadonlySet<GraphRelation>,
): GraphRelation[] | undefined {
  const done = new Set<string>();
  const open = new CostHeap();
  open.push({ id: from, cost: 0, steps: 0, by: undefined, before: undefined });
  for (let visited = 0; visited < MAX_VISITED; visited += 1) {
    const here = open.pop();
    if (here === undefined) return undefined;
    if (here.id === to) return wayOf(here);
    if (done.has(here.id) || here.steps === MAX_STEPS) continue;
    done.add(here.id);
    const busy = here.id === from ? 0 : Math.log10(1 + (graph.entities.get(here.id)?.chunks.size ?? 0)) / 2;
    for (const relation of (relationsOf.get(here.id) ?? []).slice(0, MAX_FOLLOWED)) {
      const id = relation.source === here.id ? relation.target : relation.source;
      if (done.has(id) || avoided.has(id) || used.has(relation)) continue;
      const cost = here.cost + busy + costOf(relation) + 0.2 / (1 + relation.weight);
      open.push({ id, cost, steps: here.steps + 1, by: relation, before: here });
    }
  }
  return undefined;
}

function costOf({ relation, isExplicit }: GraphRelation): number {
  if (!isExplicit) return NEAR_COST;
  return relation === LINKS_TO ? LINK_COST : STATED_COST;
}

function wayOf(end: Reached): GraphRelation[] {
  const way: GraphRelation[] = [];
  for (let at: Reached | undefined = end; at?.by !== undefined; at = at.before) way.unshift(at.by);
  return way;
}

/** The cheapest first; of equally cheap ones the one that came first. */
class CostHeap {
  readonly #items: { readonly reached: Reached; readonly order: number }[] = [];
  #pushed = 0;

  push(reached: Reached): void {
    this.#pushed += 1;
    const items = this.#items;
    items.push({ reached, order: this.#pushed });
    let at = items.length - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!this.#isBefore(at, parent)) break;
      this.#swap(at, parent);
      at = parent;
    }
  }

  pop(): Reached | undefined {
    const items = this.#items;
    const top = items[0];
    const last = items.pop();
    if (top === undefined || last === undefined || items.length === 0) return top?.reached;
    items[0] = last;
    let at = 0;
    for (;;) {
      let least = at;
      for (const child of [2 * at + 1, 2 * at + 2])
        if (child < items.length && this.#isBefore(child, least)) least = child;
      if (least === at) return top.reached;
      this.#swap(at, least);
      at = least;
    }
  }

  #isBefore(left: number, right: number): boolean {
    const [one, other] = [this.#items[left], this.#items[right]];
    if (one === undefined || other === undefined) return false;
    return (
      one.reached.cost < other.reached.cost || (one.reached.cost === other.reached.cost && one.order < other.order)
    );
  }

  #swap(left: number, right: number): void {
    const items = this.#items;
    const one = items[left];
    const other = items[right];
    if (one === undefined || other === undefined) return;
    items[left] = other;
    items[right] = one;
  }
}
