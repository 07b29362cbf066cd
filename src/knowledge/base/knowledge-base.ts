/** Knowledge bases: datasets whose documents are parsed, cut, and found. */

import { type Observable, share } from 'rxjs';
import { EngineError } from '../../errors.js';
import { requireObject } from '../../operators/invalid-option.js';
import { SharedReads } from '../../operators/shared-reads.js';
import type { FileStore } from '../../records/files.js';
import type { CountedDataset } from '../../records/knowledge.js';
import type { KnowledgeStore } from '../../records/knowledge-store.js';
import type { Page } from '../../records/repository.js';
import type { FindGraphModel } from '../graph/calls/graph-model.js';
import type { KnowledgeGraphs } from '../graph/knowledge-graphs.js';
import { createKnowledgeGraphs } from '../graph/service/graph-of-base.js';
import { openThreadDesk } from '../graph/service/open-desk.js';
import { openOwnDesk } from '../graph/service/own-desk.js';
import type { Retriever } from '../retriever.js';
import type { TermTable } from '../search/expand-terms.js';
import { type Chunks, createChunks } from './chunks.js';
import { createDatasets, type Datasets } from './datasets.js';
import { createDocuments, type Documents } from './documents.js';
import { createIngestionHub, type IngestionHub, type IngestionProgress } from './ingestion-hub.js';
import { createKnowledgeRetriever } from './knowledge-retriever.js';
import { createMetadata, type Metadata } from './metadata.js';
import type { LocalModel } from './minilm/local-model.js';
import type { BaseParts, FindEmbedder, FindReranker, TranslateQuestion } from './parts.js';
import type { PassageIndexes } from './ports.js';
import { removeRemains } from './remove-remains.js';
import { type KnowledgeHits, type KnowledgeQuery, searchKnowledge } from './retrieval.js';
import { createTags, type Tags } from './tags.js';
import { createDocumentTexts } from './texts.js';
import { lookAtDocuments, watchProgress } from './watch-progress.js';

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
  /** Of datasets in English that name no model; `embedInBackground` makes their vectors. @default none */
  readonly local?: LocalModel | undefined;
  /** @default no model: a search that names one is refused */
  readonly rerankers?: FindReranker | undefined;
  /** @default questions are searched for as they are */
  readonly translate?: TranslateQuestion | undefined;
  /** Terms that mean the same, beside those of the package and of each dataset. @default none */
  readonly terms?: TermTable | undefined;
  /** Models that searches of graphs with a budget ask. @default none: they work by rules */
  readonly graphModels?: FindGraphModel | undefined;
  /** Where graphs are held in memory: in a thread of its own, started when a graph is asked for, or in the calling one. @default 'thread' */
  readonly graphs?: 'thread' | 'here' | undefined;
  /** Milliseconds since 1970. @default Date.now */
  readonly now?: (() => number) | undefined;
}

/** A knowledge base. The tenant is a parameter of every call; what another tenant owns does not exist. */
export interface KnowledgeBase {
  readonly datasets: Datasets;
  readonly documents: Documents;
  readonly chunks: Chunks;
  readonly metadata: Metadata;
  readonly tags: Tags;
  /** The graphs of the datasets; `createGraphBuilds` makes them. */
  readonly graphs: KnowledgeGraphs;
  /** Passages that fit a question, as {@link searchKnowledge}. */
  search(tenant: string, query: KnowledgeQuery, signal: AbortSignal): Promise<KnowledgeHits>;
  /** What is told of documents while they are parsed in this process, from now on; of one dataset, or of all. */
  progress(tenant: string, datasetId?: string): Observable<IngestionProgress>;
  /** The same of one dataset, also by other processes: seen in the store within a second, and beginning with what runs. */
  watch(tenant: string, datasetId: string): Observable<IngestionProgress>;
  /** The datasets of a tenant for the tool Retrieval. */
  retriever(tenant: string): Retriever;
  /** Goes on with deleting what a process was killed at. */
  removeRemains(signal?: AbortSignal): Promise<void>;
  /** What ingestions share with it. */
  readonly parts: BaseParts;
}

/** Milliseconds between looks at what other processes do. */
const LOOK_MS = 1_000;

/** Makes a knowledge base over its stores; documents are parsed by `createIngestions`. */
export function createKnowledgeBase(options: KnowledgeBaseOptions): KnowledgeBase {
  requireObject('createKnowledgeBase', 'options', options, 'an object with "store", "files" and "indexes"');
  const { store, files, indexes, hub = createIngestionHub(), now = Date.now } = options;
  const {
    embedders = () => undefined,
    rerankers = noReranker,
    translate = async () => [],
    terms = [],
    local,
    graphs: place = 'thread',
    graphModels: models,
  } = options;
  const texts = createDocumentTexts(files);
  const lists = new SharedReads<Page<CountedDataset>>();
  const listDatasets: BaseParts['listDatasets'] = (tenant, query) =>
    lists.read(JSON.stringify([tenant, query]), () => store.listDatasets(tenant, query));
  const parts: BaseParts = {
    ...{ store, listDatasets, files, indexes, texts, hub, embedders, local, rerankers, translate, terms, now },
  };
  const datasets = createDatasets(parts);
  const documents = createDocuments(parts);
  const chunks = createChunks(parts);
  const search: KnowledgeBase['search'] = (tenant, query, signal) => searchKnowledge(parts, tenant, query, signal);
  const desk = place === 'here' ? openOwnDesk() : openThreadDesk();
  const graphs = createKnowledgeGraphs({ parts, desk, models });
  return {
    parts,
    datasets,
    documents,
    chunks,
    tags: createTags(parts, chunks),
    graphs,
    metadata: createMetadata(parts, documents),
    search,
    progress: (tenant, datasetId) => hub.progressOf(tenant, datasetId).pipe(share()),
    watch: (tenant, datasetId) => {
      const live$ = hub.progressOf(tenant, datasetId);
      return watchProgress({ tenant, live$, look: lookAtDocuments(store, tenant, datasetId), pollMs: LOOK_MS });
    },
    retriever: (tenant) => createKnowledgeRetriever({ datasets, search, graphs }, tenant),
    removeRemains: (signal) => removeRemains(parts, signal),
  };
}

function noReranker(_tenant: string, model: string): never {
  throw new EngineError(
    'MODEL_UNKNOWN',
    `There is no reranking model ${JSON.stringify(model)}: this knowledge base has none.`,
  );
}
