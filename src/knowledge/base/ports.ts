/** What a knowledge base is made of: documents as they were read, what cuts them, what finds their passages, what enriches them. */

import type { JsonObject } from '../../json.js';
import type { Embedder } from '../../models/single-answer.js';
import type { ChunkMethod, ChunkRecord } from '../../records/knowledge.js';
import type { ChunkDraft, ParsedDocument } from '../chunkers/chunker.js';
import type { TermTable } from '../search/expand-terms.js';
import type { Passage } from '../search/passage.js';
import type { Cut } from './chunking/cut.js';

/** The text of a document with what is known of its parts; all places are in the text. */
export interface DocumentText extends ParsedDocument {
  /** Whether there was more text than is read. @default false */
  readonly isCut?: boolean | undefined;
}

/** How a document is cut: RAGFlow's `parser_config`, such as `chunk_token_num`, `delimiter`, `overlapped_percent`, and its method. */
export interface ChunkerConfig {
  readonly method: ChunkMethod;
  readonly settings: JsonObject;
  /** How a pipeline cuts it; then neither method nor settings count. @default none */
  readonly cuts?: readonly Cut[] | undefined;
}

/** A piece of a document with what methods of knowledge bases find besides. */
export interface BaseDraft extends ChunkDraft {
  readonly tags?: readonly string[] | undefined;
  /** Boxes on pages: `[page, left, right, top, bottom]`. */
  readonly positions?: readonly (readonly number[])[] | undefined;
}

/** Cuts documents: `document.text.slice(start, end)` is the text of each piece, and pieces come in the order of the text. */
export interface DocumentChunker {
  chunk(document: DocumentText, config: ChunkerConfig): Iterable<BaseDraft> | Promise<Iterable<BaseDraft>>;
}

/** What is looked for in an index. */
export interface PassageQuery {
  readonly question: string;
  /** Hits at most. */
  readonly limit: number;
  /** Only passages of these documents, decided before candidates are cut. @default all */
  readonly documentIds?: readonly string[] | undefined;
  /** Share of the vectors of the model in the score, 0 to 1. @default that of the index */
  readonly vectorShare?: number | undefined;
  /** Terms that mean the same, by which the question is expanded. @default those of the package */
  readonly terms?: TermTable | undefined;
}

/** A passage that was found. */
export interface PassageHit {
  readonly id: string;
  /** 0 to 1, higher is better. */
  readonly score: number;
  /** What the score is made of, by name; `vector` is the cosine of the model, 0 to 1, where the index has its vectors. */
  readonly scores: Readonly<Record<string, number>>;
}

/** The index of the passages of one dataset. */
export interface PassageIndex {
  /** Adds passages; one with a known id replaces the former one. */
  add(passages: readonly Passage[], signal?: AbortSignal): Promise<void>;
  /** Takes passages out; ids that are unknown are passed over. */
  remove(ids: readonly string[]): Promise<void>;
  /** Lets passages be found or not; ids that are unknown are passed over. */
  setAvailable(ids: readonly string[], available: boolean): Promise<void>;
  /** Passages that fit, the best first. */
  search(query: PassageQuery, signal: AbortSignal): Promise<readonly PassageHit[]>;
  /**
   * Stores vectors of the model that the index was opened with, by the ids of passages, which may be added later. Those of a passage that is
   * removed go with it.
   *
   * @throws EngineError EMBEDDING_MISMATCH for vectors of another length than those that are there.
   */
  setVectors(vectors: ReadonlyMap<string, readonly number[]>): Promise<void>;
}

/** The model whose vectors an index compares. */
export interface PassageModel {
  /** Vectors of different models are never compared. */
  readonly name: string;
  readonly embedder: Embedder;
}

/** The indexes of datasets. */
export interface PassageIndexes {
  /** @param model makes the vectors of questions. @default none: `setVectors` is refused, and vectors that are there do not count */
  open(tenant: string, datasetId: string, model?: PassageModel): PassageIndex;
  /** Deletes all that is stored of the index of a dataset. */
  drop(tenant: string, datasetId: string): Promise<void>;
  /** Resolves when no work goes on in the background: before the store is closed. */
  settled(): Promise<void>;
  /** Indexes that are in memory, how many passages they find, and of how many their last searches missed a vector, as far as that is known without reading. */
  sizes?(): { readonly open: number; readonly passages: number; readonly lacking?: number };
}

/** What was found out about a chunk. */
export interface Enrichment {
  readonly keywords: readonly string[];
  readonly questions: readonly string[];
}

/**
 * Finds keywords of chunks and questions that they answer, such as with a model: one result for each, in order. `keywords` and `questions`
 * are how many of each are wanted.
 */
export type EnrichChunks = (
  chunks: readonly ChunkRecord[],
  wanted: { readonly tenant: string; readonly keywords: number; readonly questions: number },
  signal: AbortSignal,
) => Promise<readonly Enrichment[]>;
