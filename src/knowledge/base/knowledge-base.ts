/** Knowledge bases: datasets whose documents are parsed, cut, and found. */
import { type Observable, share } from 'rxjs';
import type { FileStore } from '../../records/files.js';
import type { KnowledgeStore } from '../../records/knowledge-store.js';
import type { Retriever } from '../retriever.js';
import { type Chunks, createChunks } from './chunks.js';
import { createDatasets, type Datasets } from './datasets.js';
import { createDocuments, type Documents } from './documents.js';
import { createIngestionHub, type IngestionHub, type IngestionProgress } from './ingestion-hub.js';
import { createKnowledgeRetriever } from './knowledge-retriever.js';
import { createMetadata, type Metadata } from './metadata.js';
import type { BaseParts, FindEmbedder } from './parts.js';
import type { PassageIndexes } from './ports.js';
import { removeRemains } from './remove-remains.js';
import { type KnowledgeHits, type KnowledgeQuery, searchKnowledge } from './retrieval.js';
import { createDocumentTexts } from './texts.js';

/** What a knowledge base is made of. */
export interface KnowledgeBaseOptions {
  readonly store: KnowledgeStore;
  /** Where bytes and texts of documents are. */
  readonly files: FileStore;
  readonly indexes: PassageIndexes;
  /** Shared with what parses the documents, in the same process. @default one of its own, which nothing listens to */
  readonly hub?: IngestionHub | undefined;
  /** @default no model: passages are found by words */
  readonly embedders?: FindEmbedder | undefined;
  /** Milliseconds since 1970. @default Date.now */
  readonly now?: (() => number) | undefined;
}

/** A knowledge base. The tenant is a parameter of every call; what another tenant owns does not exist. */
export interface KnowledgeBase {
  readonly datasets: Datasets;
  readonly documents: Documents;
  readonly chunks: Chunks;
  readonly metadata: Metadata;
  /** Passages that fit a question, as {@link searchKnowledge}. */
  search(tenant: string, query: KnowledgeQuery, signal: AbortSignal): Promise<KnowledgeHits>;
  /** What is told of documents while they are parsed in this process, from now on; of one dataset, or of all. */
  progress(tenant: string, datasetId?: string): Observable<IngestionProgress>;
  /** The datasets of a tenant for the tool Retrieval. */
  retriever(tenant: string): Retriever;
  /** Goes on with deleting what a process was killed at. */
  removeRemains(signal?: AbortSignal): Promise<void>;
  /** What ingestions share with it. */
  readonly parts: BaseParts;
}

/** Makes a knowledge base over its stores; documents are parsed by `createIngestions`. */
export function createKnowledgeBase(options: KnowledgeBaseOptions): KnowledgeBase {
  const { store, files, indexes, hub = createIngestionHub(), embedders = () => undefined, now = Date.now } = options;
  const parts: BaseParts = { store, files, indexes, texts: createDocumentTexts(files), hub, embedders, now };
  const datasets = createDatasets(parts);
  const documents = createDocuments(parts);
  const search: KnowledgeBase['search'] = (tenant, query, signal) => searchKnowledge(parts, tenant, query, signal);
  return {
    parts,
    datasets,
    documents,
    chunks: createChunks(parts),
    metadata: createMetadata(parts, documents),
    search,
    progress: (tenant, datasetId) => hub.progressOf(tenant, datasetId).pipe(share()),
    retriever: (tenant) => createKnowledgeRetriever({ datasets, search }, tenant),
    removeRemains: (signal) => removeRemains(parts, signal),
  };
}
