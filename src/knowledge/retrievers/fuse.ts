/** One list of documents made of several. */
import { invalidOption, requireObject, requireOptions } from '../../operators/invalid-option.js';
import { type KnowledgeDocument, withScore } from '../knowledge-document.js';
import { byScore, uniqueById } from '../rank.js';

/** What one search found, the best first. */
export interface RankedList {
  /** Of the retriever, or the query. */
  readonly name: string;
  readonly documents: readonly KnowledgeDocument[];
}

/** Makes one list of several, the best first; `query` is what was asked. */
export type FuseFunction = (
  lists: readonly RankedList[],
  query: string,
) => readonly KnowledgeDocument[] | Promise<readonly KnowledgeDocument[]>;

/** How ranks count. */
export interface ReciprocalRankOptions {
  /** The larger it is, the less the first ranks stand out; more than 0. @default 60 */
  readonly k?: number;
  /** Weights of lists by name, at least 0. @default 1 each */
  readonly weights?: Readonly<Record<string, number>>;
}

/**
 * Fusion by reciprocal rank: the score of a document is the sum of `weight / (k + rank)` over the lists that it is in, ranks from 1. Equal
 * scores are in the order of ids, so the same lists always give the same order.
 *
 * A document that a list names twice counts there once, by its better rank. Of different documents with one id the first is given.
 * Source: Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion outperforms Condorcet and individual Rank Learning Methods", 2009.
 *
 * @throws EngineError OPTION_INVALID.
 */
export function reciprocalRank(options: ReciprocalRankOptions = {}): FuseFunction {
  requireOptions('reciprocalRank', options, ['k', 'weights']);
  const { k = 60, weights = {} } = options;
  requireObject('reciprocalRank', 'weights', weights, 'an object of numbers by name');
  if (!(k > 0 && Number.isFinite(k))) throw invalidOption('reciprocalRank', 'k', 'a number above 0', k);
  for (const [name, weight] of Object.entries(weights)) {
    if (!(weight >= 0 && Number.isFinite(weight))) {
      throw invalidOption('reciprocalRank', `weights.${name}`, 'a number of at least 0', weight);
    }
  }
  return (lists) => {
    const scores = new Map<string, number>();
    for (const { name, documents } of lists) {
      const weight = Object.hasOwn(weights, name) ? (weights[name] ?? 1) : 1;
      for (const [index, { id }] of uniqueById(documents).entries()) {
        scores.set(id, (scores.get(id) ?? 0) + weight / (k + index + 1));
      }
    }
    const all = uniqueById(lists.flatMap(({ documents }) => documents));
    return byScore(all.map((document) => withScore(document, scores.get(document.id))));
  };
}

/**
 * The lists one behind the other, each document once: at its first place, with the highest score that it has in any list.
 */
export function firstPlaces(): FuseFunction {
  return (lists) => uniqueById(lists.flatMap(({ documents }) => documents));
}
