/** Putting found documents into another order. */
import { EngineError } from '../../errors.js';
import type { Reranker } from '../../models/single-answer.js';
import { invalidOption, requireMethods, requireOptions, requireWhole } from '../../operators/invalid-option.js';
import { componentFunction, type StepLabel } from '../component-function.js';
import { type KnowledgeDocument, metadataValue, withScore } from '../knowledge-document.js';
import type { DocumentRetriever, DocumentTransformer, RetrieveFunction, WaitOptions } from '../ports.js';
import { byScore } from '../rank.js';
import { requireDocuments, requireText } from '../require-input.js';

/** Documents, and the query that they were found with. */
export interface FoundDocuments {
  readonly query: string;
  readonly documents: readonly KnowledgeDocument[];
}

/** Puts found documents in order. */
export type RerankFunction = (found: FoundDocuments, options?: WaitOptions) => Promise<KnowledgeDocument[]>;

/** How documents are put in order by a model. */
export interface RerankOptions {
  /** Documents at most. @default all */
  readonly topK?: number;
  /** Documents with a lower score are left out. @default none */
  readonly scoreThreshold?: number;
  /** Documents that the model reads, the first ones; those behind are left out. @default 1_000 */
  readonly maxDocuments?: number;
  /** @default 'rerank' */
  readonly name?: string;
}

const RERANK_OPTIONS = ['topK', 'scoreThreshold', 'maxDocuments', 'name'];

/**
 * A transformer of a query and its documents that puts them in the order of a model's scores, which they get. Equal scores are in the order of
 * ids.
 *
 * Errors of a call: `MODEL_RESPONSE` for a wrong number of scores or scores that are no numbers, and those of the model.
 *
 * @throws EngineError OPTION_INVALID.
 */
export function rerank(reranker: Reranker, options: RerankOptions = {}): RerankFunction & StepLabel<'transformer'> {
  requireMethods('rerank', 'reranker', reranker, ['rerank'], 'an object with a function "rerank"');
  requireOptions('rerank', options, RERANK_OPTIONS);
  const { topK, scoreThreshold, maxDocuments = 1_000, name = 'rerank' } = options;
  if (topK !== undefined) requireWhole('rerank', 'topK', topK, 1);
  requireWhole('rerank', 'maxDocuments', maxDocuments, 1);
  const order: RerankFunction = async (found, { signal } = {}) => {
    requireText(name, 'query', found?.query);
    requireDocuments(name, found.documents);
    const { query, documents } = found;
    signal?.throwIfAborted();
    const read = documents.slice(0, maxDocuments);
    if (read.length === 0) return [];
    const scores = await reranker.rerank(
      query,
      read.map(({ text }) => text),
      { signal },
    );
    if (scores.length !== read.length || !scores.every(Number.isFinite)) {
      throw new EngineError(
        'MODEL_RESPONSE',
        `"${name}" got ${scores.length} scores for ${read.length} documents, or scores that are no numbers. Check the model.`,
      );
    }
    return byScore(
      read.map((document, at) => withScore(document, scores[at])),
      { topK, scoreThreshold },
    );
  };
  return componentFunction(name, 'transformer', order);
}

/** How what a retriever finds is put in order. */
export interface RerankedRetrieverOptions {
  readonly retriever: RetrieveFunction;
  /** Puts what it finds in order, such as `rerank(model)` gives. */
  readonly rerank: RerankFunction;
  /** Documents that are asked for, to choose from; at least as many as the call wants. @default those of the call, or of the retriever */
  readonly candidates?: number;
  /** @default 'rerankedRetriever' */
  readonly name?: string;
}

const RERANKED_RETRIEVER_OPTIONS = ['retriever', 'rerank', 'candidates', 'name'];

/**
 * A retriever whose documents are put in order anew. `topK` and `scoreThreshold` of a call count after that.
 *
 * @throws EngineError OPTION_INVALID.
 */
export function rerankedRetriever(options: RerankedRetrieverOptions): DocumentRetriever {
  requireOptions('rerankedRetriever', options, RERANKED_RETRIEVER_OPTIONS);
  if (typeof options.retriever !== 'function')
    throw invalidOption('rerankedRetriever', 'retriever', 'a function', options.retriever);
  if (typeof options.rerank !== 'function')
    throw invalidOption('rerankedRetriever', 'rerank', 'what rerank(…) gives', options.rerank);
  const { retriever, rerank: order, candidates, name = 'rerankedRetriever' } = options;
  if (candidates !== undefined) requireWhole('rerankedRetriever', 'candidates', candidates, 1);
  const retrieve: RetrieveFunction = async (query, call = {}) => {
    requireText(name, 'query', query);
    const { topK, scoreThreshold, ...rest } = call;
    const asked = Math.max(candidates ?? 0, topK ?? 0);
    const documents = await retriever(query, { ...rest, ...(asked > 0 && { topK: asked }) });
    const ordered = await order({ query, documents }, { signal: call.signal });
    const kept = scoreThreshold === undefined ? ordered : ordered.filter(({ score }) => (score ?? 0) >= scoreThreshold);
    return kept.slice(0, topK);
  };
  return componentFunction(name, 'retriever', retrieve);
}

/** How documents are spread. */
export interface BestFirstAndLastOptions {
  /** The score of a document; a name stands for a number in the metadata. @default `score` of the document, 0 where it has none */
  readonly scoreOf?: string | ((document: KnowledgeDocument) => number);
  /** @default 'bestFirstAndLast' */
  readonly name?: string;
}

/**
 * A transformer that puts the best documents first and last and the worst in the middle: the best is the first, the second best the last, the
 * third the second, and so on. Models read the ends of a long prompt best (Liu et al., "Lost in the Middle", 2023). Equal scores keep their order.
 *
 * @throws EngineError OPTION_INVALID.
 */
export function bestFirstAndLast(options: BestFirstAndLastOptions = {}): DocumentTransformer {
  requireOptions('bestFirstAndLast', options, ['scoreOf', 'name']);
  const { scoreOf = ({ score }: KnowledgeDocument) => score ?? 0, name = 'bestFirstAndLast' } = options;
  if (scoreOf === '') throw invalidOption('bestFirstAndLast', 'scoreOf', 'a name or a function', scoreOf);
  const scored = typeof scoreOf === 'function' ? scoreOf : scoreIn(scoreOf);
  return componentFunction(name, 'transformer', async (documents: readonly KnowledgeDocument[]) => {
    requireDocuments(name, documents);
    const sorted = documents
      .map((document) => ({ document, score: scored(document) }))
      .sort((left, right) => right.score - left.score)
      .map(({ document }) => document);
    const odd = sorted.filter((_, at) => at % 2 === 1).reverse();
    return [...sorted.filter((_, at) => at % 2 === 0), ...odd];
  });
}

function scoreIn(key: string): (document: KnowledgeDocument) => number {
  return ({ metadata }) => {
    const value = metadataValue(metadata, key);
    return typeof value === 'number' ? value : 0;
  };
}
