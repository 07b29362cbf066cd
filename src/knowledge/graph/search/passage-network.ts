/** Entities and passages as one network of numbers, on which walks are quick. */
import type { GraphEntity, SummedGraph } from '../graph-records.js';

/** A list of neighbours of each node, one behind the other. */
interface Rows {
  /** Where the neighbours of a node begin; one more than there are nodes. */
  readonly starts: Uint32Array;
  readonly ends: Uint32Array;
  readonly weights: Float32Array;
}

/** How much stronger a passage hangs on the entity that is its title. */
const TITLE_WEIGHT = 3;
/** What a relation that a text states weighs beside a mention, and one of a paragraph. */
const EXPLICIT_WEIGHT = 0.6;
const NEAR_WEIGHT = 0.05;
/** Share of the score that goes back to where the walk began, at each step. */
const RESTART = 0.5;
const STEPS = 12;

/** Passages that mention any entity. */
export function passagesOf({ entities }: Pick<SummedGraph, 'entities'>): ReadonlySet<string> {
  const passages = new Set<string>();
  for (const { chunks } of entities.values()) for (const chunk of chunks.keys()) passages.add(chunk);
  return passages;
}

/** How much a mention of an entity says, 0 to 1: the less, the more of all passages mention it. */
export function rarityOf({ chunks }: Pick<GraphEntity, 'chunks'>, passages: number): number {
  return Math.log(1 + passages / (1 + chunks.size)) / Math.log(2 + passages);
}

/** Nodes are passages, then entities, in the order of ids. */
export class PassageNetwork {
  readonly passages: readonly string[];
  readonly entities: readonly string[];
  readonly #passageAt = new Map<string, number>();
  readonly #entityAt = new Map<string, number>();
  readonly #rows: Rows;

  constructor(graph: SummedGraph) {
    this.passages = [...passagesOf(graph)].sort();
    this.entities = [...graph.entities.keys()];
    for (const [at, id] of this.passages.entries()) this.#passageAt.set(id, at);
    for (const [at, id] of this.entities.entries()) this.#entityAt.set(id, this.passages.length + at);
    this.#rows = this.#join(graph);
  }

  /** See {@link rarityOf}. */
  rarity(entity: Pick<GraphEntity, 'chunks'>): number {
    return rarityOf(entity, this.passages.length);
  }

  /**
   * PageRank that begins again at seeds; gives the score of each passage that is reached, the sum of all nodes being 1.
   *
   * Source: Haveliwala, "Topic-sensitive PageRank", 2002.
   */
  walk(seeds: { readonly passages: ReadonlyMap<string, number>; readonly entities: ReadonlyMap<string, number> }) {
    const { starts, ends, weights } = this.#rows;
    const size = this.passages.length + this.entities.length;
    const start = new Float64Array(size);
    const put = (at: number | undefined, weight: number): void => {
      if (at !== undefined && weight > 0) start[at] = (start[at] as number) + weight;
    };
    for (const [id, weight] of seeds.passages) put(this.#passageAt.get(id), weight);
    for (const [id, weight] of seeds.entities) put(this.#entityAt.get(id), weight);
    const all = start.reduce((sum, value) => sum + value, 0);
    const scores = new Map<string, number>();
    if (all === 0) return scores;
    for (let at = 0; at < size; at += 1) start[at] = (start[at] as number) / all;
    let now = Float64Array.from(start);
    for (let step = 0; step < STEPS; step += 1) {
      const next = start.map((value) => value * RESTART);
      for (let at = 0; at < size; at += 1) {
        const share = (1 - RESTART) * (now[at] as number);
        if (share < 1e-9) continue;
        for (let edge = starts[at] as number; edge < (starts[at + 1] as number); edge += 1) {
          const to = ends[edge] as number;
          next[to] = (next[to] as number) + share * (weights[edge] as number);
        }
      }
      now = next;
    }
    for (const [at, id] of this.passages.entries()) if ((now[at] as number) > 0) scores.set(id, now[at] as number);
    return scores;
  }

  /** All edges, both ways; the weights from a node add up to 1. */
  #join(graph: SummedGraph): Rows {
    const edges: (readonly [from: number, to: number, weight: number])[] = [];
    const join = (left: number | undefined, right: number | undefined, weight: number): void => {
      if (left === undefined || right === undefined || weight <= 0) return;
      edges.push([left, right, weight], [right, left, weight]);
    };
    for (const [id, entity] of graph.entities) {
      const titles = new Set(entity.titleOf);
      const rarity = this.rarity(entity);
      for (const chunk of entity.chunks.keys()) {
        const weight = rarity * (titles.has(chunk) ? TITLE_WEIGHT : 1);
        join(this.#entityAt.get(id), this.#passageAt.get(chunk), weight);
      }
    }
    for (const { source, target, weight, isExplicit } of graph.relations) {
      const strength = (isExplicit ? EXPLICIT_WEIGHT : NEAR_WEIGHT) * Math.log2(1 + weight);
      join(this.#entityAt.get(source), this.#entityAt.get(target), strength);
    }
    return rowsOf(edges, this.passages.length + this.entities.length);
  }
}

function rowsOf(edges: readonly (readonly [from: number, to: number, weight: number])[], size: number): Rows {
  const starts = new Uint32Array(size + 1);
  const sums = new Float64Array(size);
  for (const [from, , weight] of edges) {
    starts[from + 1] = (starts[from + 1] as number) + 1;
    sums[from] = (sums[from] as number) + weight;
  }
  for (let at = 0; at < size; at += 1) starts[at + 1] = (starts[at + 1] as number) + (starts[at] as number);
  const next = Uint32Array.from(starts);
  const ends = new Uint32Array(edges.length);
  const weights = new Float32Array(edges.length);
  for (const [from, to, weight] of edges) {
    const at = next[from] as number;
    next[from] = at + 1;
    ends[at] = to;
    weights[at] = weight / (sums[from] as number);
  }
  return { starts, ends, weights };
}
