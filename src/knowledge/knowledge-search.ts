/** What chats search: datasets with scores and places, where a `Retriever` gives texts alone. */
import type { ChunkRecord } from '../records/knowledge.js';
import type { KnowledgeHits, KnowledgeQuery } from './base/retrieval.js';
import type { GraphFindings, GraphQuery } from './graph/graph-search.js';

/** One question to datasets. */
export interface DatasetsQuery extends Omit<KnowledgeQuery, 'datasetIds' | 'datasets'> {
  /** Ids of datasets. @default all that there are */
  readonly datasetIds?: readonly string[] | undefined;
}

/** One question to the graphs of datasets. */
export interface GraphsQuery extends Omit<GraphQuery, 'datasetIds'> {
  /** Ids of datasets. @default all that there are */
  readonly datasetIds?: readonly string[] | undefined;
}

/** What graphs of datasets lead to, the best first, and what models took for it. */
export type FoundByGraphs = Pick<GraphFindings, 'hits' | 'spent'>;

/** The datasets of one tenant. */
export interface KnowledgeSearch {
  /** The same as another tenant sees them. */
  forTenant?(tenant: string): KnowledgeSearch;
  /** Whether no search has succeeded yet: the first one loads dictionaries and indexes, which takes longer. @default false */
  readonly isCold?: boolean | undefined;
  /**
   * The best hits of all datasets; those of different models are searched apart, and their hits put in one order.
   *
   * @throws EngineError NOT_FOUND for a dataset that is named and does not exist; errors of the index.
   */
  search(query: DatasetsQuery, signal: AbortSignal): Promise<KnowledgeHits>;
  /**
   * Passages that the graphs of datasets lead to, each with the way to it.
   *
   * @throws EngineError GRAPH_MISSING where no dataset has a graph; else as the search of graphs.
   * @default there are no graphs
   */
  graphSearch?(query: GraphsQuery, signal: AbortSignal): Promise<FoundByGraphs>;
  /**
   * Ids of those of the datasets that have a graph; what does not exist has none.
   *
   * @param datasetIds undefined: all that there are
   * @default any may have one
   */
  withGraph?(datasetIds: readonly string[] | undefined, signal: AbortSignal): Promise<readonly string[]>;
  /** Pieces of a document from one place to another, in order. @default hits are given without their neighbours */
  neighbours?(documentId: string, first: number, last: number): Promise<readonly ChunkRecord[]>;
}
