/** What chats search: datasets with scores and places, where a `Retriever` gives texts alone. */
import type { ChunkRecord } from '../records/knowledge.js';
import type { KnowledgeHits, KnowledgeQuery } from './base/retrieval.js';

/** One question to datasets. */
export interface DatasetsQuery extends Omit<KnowledgeQuery, 'datasetIds' | 'datasets'> {
  /** Ids of datasets. @default all that there are */
  readonly datasetIds?: readonly string[] | undefined;
}

/** The datasets of one tenant. */
export interface KnowledgeSearch {
  /** The same as another tenant sees them. */
  forTenant?(tenant: string): KnowledgeSearch;
  /**
   * The best hits of all datasets; those of different models are searched apart, and their hits put in one order.
   *
   * @throws EngineError NOT_FOUND for a dataset that is named and does not exist; errors of the index.
   */
  search(query: DatasetsQuery, signal: AbortSignal): Promise<KnowledgeHits>;
  /** Pieces of a document from one place to another, in order. @default hits are given without their neighbours */
  neighbours?(documentId: string, first: number, last: number): Promise<readonly ChunkRecord[]>;
}
