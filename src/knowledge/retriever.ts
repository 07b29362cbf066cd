/** What finds passages in datasets: an index in this process, another service, later the knowledge base. */
import type { JsonObject } from '../json.js';
import type { GraphQuery, GraphSearchBudget, GraphSearchKind } from './graph/graph-search.js';

/** One search. */
export interface RetrievalRequest {
  readonly question: string;
  /** Ids or names of datasets; at least one. */
  readonly datasets: readonly string[];
  /** Passages at most. */
  readonly topN: number;
  /** Candidates that are looked at before the best are chosen. */
  readonly topK: number;
  /** Passages below it are left out, 0 to 1. */
  readonly similarityThreshold: number;
  /** Share of keywords in the similarity, 0 to 1; the rest is that of the vectors. */
  readonly keywordWeight: number;
  /** Model that puts the candidates in order; empty for none. */
  readonly rerankId: string;
  /** Languages that the question is translated into as well. */
  readonly crossLanguages: readonly string[];
  readonly useGraph: boolean;
  /** Which search of graphs gives the passages, alone. @default none: graphs only fill places, with `useGraph` */
  readonly graph?: GraphSearchKind | undefined;
  /** Of such a search: what a model may spend, and which one. @default none: it works by rules */
  readonly graphBudget?: GraphSearchBudget | undefined;
  readonly graphModel?: string | undefined;
  readonly onGraphCall?: GraphQuery['onCall'];
  readonly useContents: boolean;
  /** RAGFlow's `meta_data_filter`; empty for none. */
  readonly filter: JsonObject;
  /** Sent with every request of the search, such as those of a trace. @default none */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** A passage, the best first. */
export interface RetrievedPassage {
  readonly id: string;
  readonly content: string;
  readonly documentId: string;
  readonly documentName: string;
  readonly datasetId: string;
  readonly similarity: number;
  /** What else is known of it: `vector_similarity`, `term_similarity`, `positions`, `image_id`, `url` … */
  readonly record?: JsonObject;
  readonly metadata?: JsonObject;
}

/** Finds passages of datasets, for canvases. */
export interface Retriever {
  /** The same as another tenant sees it; absent where all tenants see the same. */
  forTenant?(tenant: string): Retriever;
  /** Names of all datasets that can be searched; absent where they are not known. */
  datasets?(signal: AbortSignal): Promise<readonly string[]>;
  /**
   * Passages that fit the question.
   *
   * @throws EngineError NOT_FOUND for a dataset that does not exist; TOOL_FAILED and those of the way there.
   */
  search(request: RetrievalRequest, signal: AbortSignal): Promise<readonly RetrievedPassage[]>;
  /** What memories hold about a question, the newest first; absent where there are none. */
  recall?(
    request: {
      readonly question: string;
      readonly memories: readonly string[];
      readonly userId: string;
      readonly topN: number;
      readonly headers?: Readonly<Record<string, string>> | undefined;
    },
    signal: AbortSignal,
  ): Promise<readonly string[]>;
}
