/** What is searched, what is asked, and what is found. */
import type { JsonObject } from '../../json.js';

/** A passage of a document. */
export interface Passage {
  /** Unique in the dataset; a passage with a known id replaces the former one. At most 200 characters. */
  readonly id: string;
  readonly documentId: string;
  /** Title of the document or the headings above the passage; empty for none. */
  readonly title: string;
  readonly text: string;
  /** Words and questions that the passage is to be found by, besides its own. @default none */
  readonly keywords?: readonly string[] | undefined;
  readonly questions?: readonly string[] | undefined;
  /** What filters read. @default empty */
  readonly metadata?: JsonObject | undefined;
  /** Whether it may be found; what is not available counts in no statistics either. @default true */
  readonly available?: boolean | undefined;
}

/** What filters see of a passage. */
export interface PassageHead {
  readonly id: string;
  readonly documentId: string;
  readonly title: string;
  readonly metadata: JsonObject;
}

/** What each way of scoring gave a hit, 0 to 1 within the candidates of its search. */
export interface HitParts {
  readonly bm25: number;
  readonly ngram: number;
  readonly rm3: number;
  readonly proximity: number;
  /** Share of the question in the title. */
  readonly title: number;
  /** Share of the title in the question. */
  readonly titleInQuestion: number;
  /** Cosine of a model's vectors as it is, 0 where it is less; absent without a model. */
  readonly vector?: number;
  /** Score of the link graph; absent where no link led to the passage. */
  readonly link?: number;
  /** Score of a reranking model; absent without one. */
  readonly rerank?: number;
}

/** A passage that was found. */
export interface SearchHit extends PassageHead {
  /** 0 to 1; never larger than that of the hit before it. */
  readonly similarity: number;
  readonly parts: HitParts;
}
