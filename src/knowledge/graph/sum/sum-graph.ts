/** The sum of contributions, made once. */
import type { ChunkContribution, GraphLayer } from '../facts.js';
import type { NameDecision, SummedGraph } from '../graph-records.js';
import type { Simplify } from '../names/name-forms.js';
import { GraphSum } from './graph-sum.js';

/** How a graph is summed. */
export interface SumOptions {
  /** Layers that count. @default all */
  readonly layers?: readonly GraphLayer[] | undefined;
  readonly decisions?: readonly NameDecision[] | undefined;
  /** Names with others that mean the same, such as terms with their aliases; one that no text mentions leads to the other. @default none */
  readonly aliases?: readonly (readonly [string, string])[] | undefined;
  /** @default traditional letters stay */
  readonly simplify?: Simplify | undefined;
}

/** Sums contributions; see {@link GraphSum}. */
export function sumGraph(contributions: Iterable<ChunkContribution>, options: SumOptions = {}): SummedGraph {
  const { layers, decisions = [], aliases = [], simplify } = options;
  const sum = new GraphSum(simplify);
  for (const one of contributions) if (layers === undefined || layers.includes(one.layer)) sum.add(one);
  sum.decide(decisions, aliases);
  return sum.graph;
}
