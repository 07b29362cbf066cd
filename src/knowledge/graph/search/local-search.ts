/** What is known of the entities that a question names: their passages, those of their neighbours, and of what is said of both. */
import type { GraphEntity, GraphRelation, SummedGraph } from '../graph-records.js';
import type { GraphReason, GraphStep } from '../graph-search.js';
import { wordsVector } from '../names/sentence-vector.js';
import { type FoundPassageOfGraph, rankedPassages } from './found-passages.js';
import { rarityOf } from './passage-network.js';

/** What is searched. */
export interface LocalWork {
  readonly graph: SummedGraph;
  /** How many passages mention anything. */
  readonly passages: number;
  /** The relations of an entity, the strongest first. */
  readonly relationsOf: (id: string) => readonly GraphRelation[];
  readonly question: string;
  /** Entities that the question names. */
  readonly named: readonly GraphEntity[];
  readonly limit: number;
}

/** What passages of a named entity, of its title, and of a neighbour are worth. */
const MENTIONED = 1;
const TITLE = 2;
const NEIGHBOUR_TITLE = 0.8;
const RELATION = 0.6;
/** Neighbours of an entity that are followed; those whose relation has most to do with the question first. */
const MAX_NEIGHBOURS = 60;
/** Passages of an entity that count; those that mention it most often first. */
const MAX_PASSAGES = 200;

/**
 * Ranks passages around the named entities: by how many of them a passage is about, how rare they are, and how much what is said of a relation has to do with
 * the question.
 */
export function searchLocally({ graph, passages, relationsOf, question, named, limit }: LocalWork) {
  const scores = new Map<string, number>();
  const reasons = new Map<string, { readonly entities: Set<string>; steps: readonly GraphStep[] }>();
  const add = (chunkId: string, score: number, entity: string, step?: GraphStep): void => {
    scores.set(chunkId, (scores.get(chunkId) ?? 0) + score);
    const reason = reasons.get(chunkId) ?? { entities: new Set(), steps: [] };
    reason.entities.add(entity);
    if (step !== undefined && reason.steps.length < 3) reason.steps = [...reason.steps, step];
    reasons.set(chunkId, reason);
  };
  const vector = wordsVector(question);
  const isNamed = new Set(named.map(({ id }) => id));
  for (const entity of named) {
    const weight = 0.2 + rarityOf(entity, passages);
    for (const [chunk, count] of mostMentioned(entity))
      add(chunk, MENTIONED * weight * Math.min(2, 1 + Math.log2(count)), entity.name);
    for (const chunk of entity.titleOf) add(chunk, TITLE * weight, entity.name);
    for (const { relation, score } of nearest(relationsOf(entity.id), vector, isNamed)) {
      const other = graph.entities.get(relation.source === entity.id ? relation.target : relation.source);
      if (other === undefined) continue;
      const step = stepOf(relation, graph);
      for (const chunk of relation.chunks.slice(0, MAX_PASSAGES))
        add(chunk, RELATION * weight * score, entity.name, step);
      const near = NEIGHBOUR_TITLE * weight * score * rarityOf(other, passages);
      for (const chunk of other.titleOf) add(chunk, near, entity.name, step);
    }
  }
  return rankedPassages(scores, limit, (id): GraphReason => {
    const { entities = [], steps = [] } = reasons.get(id) ?? {};
    return { entities: [...entities], steps };
  }) as readonly FoundPassageOfGraph[];
}

/** A relation as it is told. */
export function stepOf({ source, target, relation, isExplicit }: GraphRelation, graph: SummedGraph): GraphStep {
  const nameOf = (id: string): string => graph.entities.get(id)?.name ?? id;
  return { from: nameOf(source), to: nameOf(target), relation, isExplicit };
}

function mostMentioned({ chunks }: GraphEntity): readonly (readonly [string, number])[] {
  if (chunks.size <= MAX_PASSAGES) return [...chunks];
  return [...chunks].sort(([a, one], [b, other]) => other - one || (a < b ? -1 : 1)).slice(0, MAX_PASSAGES);
}

/** Relations with how much they have to do with the question, 0 to 1; those between two named entities most. */
function nearest(relations: readonly GraphRelation[], question: Float64Array, named: ReadonlySet<string>) {
  const scored = relations.slice(0, MAX_SCORED).map((relation) => {
    const isBoth = named.has(relation.source) && named.has(relation.target);
    const text = `${relation.relation.replaceAll('_', ' ')} ${relation.descriptions[0] ?? ''}`;
    const likeness = relation.isExplicit ? product(question, wordsVector(text)) : 0;
    return { relation, score: Math.min(1, (isBoth ? 0.5 : 0) + (relation.isExplicit ? 0.3 : 0.15) + likeness) };
  });
  return scored
    .sort((a, b) => b.score - a.score || (a.relation.target < b.relation.target ? -1 : 1))
    .slice(0, MAX_NEIGHBOURS);
}

/** Relations of an entity whose sentences are compared with the question. */
const MAX_SCORED = 400;

function product(left: Float64Array, right: Float64Array): number {
  let sum = 0;
  for (let at = 0; at < left.length; at += 1) sum += (left[at] as number) * (right[at] as number);
  return Math.max(0, sum);
}
