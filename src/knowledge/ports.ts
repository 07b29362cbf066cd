/**
 * What loads, changes, stores and finds documents: function types with the options of a call.
 *
 * Each port is a function that gives a promise and may be given a signal. A function of one's own fits wherever a port is asked for;
 * the implementations here carry a name and a kind besides (`componentFunction`).
 */
import type { JsonObject } from '../json.js';
import type { CallOptions } from '../models/define-provider.js';
import type { Embedder } from '../models/single-answer.js';
import type { StepLabel } from './component-function.js';
import type { KnowledgeDocument } from './knowledge-document.js';

/** Options of a call that waits. */
export interface WaitOptions {
  /** Ends the work; the promise rejects with its reason. */
  readonly signal?: AbortSignal | undefined;
}

/** Options of reading a source. */
export interface SourceOptions extends WaitOptions {
  /** Laid over the metadata of every document that is read. */
  readonly metadata?: JsonObject | undefined;
}

/** Reads a source, named by a URI whose meaning is the loader's, as documents. */
export type LoadFunction = (uri: string, options?: SourceOptions) => Promise<KnowledgeDocument[]>;

/** Bytes to parse, and where they came from. */
export interface ParserInput {
  readonly bytes: Uint8Array;
  /** A path or URL; its ending tells the format. Empty when there is none. */
  readonly uri: string;
  /** Media type as the source declares it, with its parameters. @default unknown */
  readonly mimeType?: string | undefined;
}

/** Parses the bytes of a source as documents. */
export type ParseFunction = (input: ParserInput, options?: SourceOptions) => Promise<KnowledgeDocument[]>;

/** Makes other documents of documents: splits, filters, merges, puts in order. */
export type TransformFunction = (
  documents: readonly KnowledgeDocument[],
  options?: WaitOptions,
) => Promise<KnowledgeDocument[]>;

/** Turns texts into vectors, one per text, in order. */
export type EmbedFunction = (texts: readonly string[], options?: CallOptions) => Promise<number[][]>;

/** Options of storing documents. */
export interface IndexOptions extends WaitOptions {
  /** Index of a store that has several. @default the only one, or the store's own choice */
  readonly index?: string | undefined;
  /** Parts of the index that all the documents belong to, besides their own. @default none */
  readonly subIndexes?: readonly string[] | undefined;
  /** Makes the vectors of this call; it must be the model of those that are stored. @default that of the index */
  readonly embedder?: Embedder | undefined;
}

/** Stores documents; those with a known id replace the former ones. Gives the ids in order. */
export type IndexFunction = (
  documents: readonly KnowledgeDocument[],
  options?: IndexOptions,
) => Promise<readonly string[]>;

/**
 * Which documents count, by their metadata: every name has the given value; a list means any of its values, and of metadata that is a
 * list one item is enough. A function decides by itself.
 */
export type DocumentFilter = JsonObject | ((document: KnowledgeDocument) => boolean);

/** Options of a search. */
export interface RetrieveOptions extends WaitOptions {
  /** Index of a store that has several. @default the only one, or the store's own choice */
  readonly index?: string | undefined;
  /** Part of the index that is searched. @default all of it */
  readonly subIndex?: string | undefined;
  /** Documents at most; at least 1. @default that of the retriever */
  readonly topK?: number | undefined;
  /** Documents with a lower score are left out. It is no order. @default none */
  readonly scoreThreshold?: number | undefined;
  /** Applied before the best are chosen. @default none */
  readonly filter?: DocumentFilter | undefined;
  /** Makes the vector of the query; it must be the model of those that are stored. @default that of the index */
  readonly embedder?: Embedder | undefined;
}

/** Finds documents that fit a query, the best first. */
export type RetrieveFunction = (query: string, options?: RetrieveOptions) => Promise<KnowledgeDocument[]>;

/** A loader with name and kind. */
export type DocumentLoader = LoadFunction & StepLabel<'loader'>;
/** A transformer with name and kind. */
export type DocumentTransformer = TransformFunction & StepLabel<'transformer'>;
/** An indexer with name and kind. */
export type DocumentIndexer = IndexFunction & StepLabel<'indexer'>;
/** A retriever with name and kind. */
export type DocumentRetriever = RetrieveFunction & StepLabel<'retriever'>;
