/** What the services of a knowledge base share. */
import type { Embedder, Reranker } from '../../models/single-answer.js';
import type { FileStore } from '../../records/files.js';
import type { CountedDataset, DatasetRecord } from '../../records/knowledge.js';
import type { DatasetQuery, KnowledgeStore } from '../../records/knowledge-store.js';
import type { Page } from '../../records/repository.js';
import type { TermTable } from '../search/expand-terms.js';
import type { IngestionHub } from './ingestion-hub.js';
import type { LocalModel } from './minilm/local-model.js';
import type { PassageIndex, PassageIndexes, PassageModel } from './ports.js';
import type { DocumentTexts } from './texts.js';

/** The embedder of a model by its name; undefined when there is none of that name. */
export type FindEmbedder = (tenant: string, model: string) => Embedder | undefined;

/** The reranking model of a name. @throws EngineError MODEL_UNKNOWN */
export type FindReranker = (tenant: string, model: string) => Reranker;

/** A question in other languages, one for each at most; none where that is not possible. */
export type TranslateQuestion = (
  tenant: string,
  question: string,
  languages: readonly string[],
  signal: AbortSignal,
) => Promise<readonly string[]>;

/** Stores and ports of a knowledge base. */
export interface BaseParts {
  readonly store: KnowledgeStore;
  /** As the store lists them; equal questions that come at once share their answer, as many chats ask the same. */
  readonly listDatasets: (tenant: string, query: DatasetQuery) => Promise<Page<CountedDataset>>;
  readonly files: FileStore;
  readonly indexes: PassageIndexes;
  readonly texts: DocumentTexts;
  readonly hub: IngestionHub;
  readonly embedders: FindEmbedder;
  /** Of datasets in English that name no model. @default none */
  readonly local?: LocalModel | undefined;
  readonly rerankers: FindReranker;
  readonly translate: TranslateQuestion;
  /** Terms of this server that mean the same, beside those of the package. */
  readonly terms: TermTable;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** The model whose vectors a dataset has: the one that it names, or for a dataset in English that names none the local one. */
export function modelOf(
  { embedders, local }: Pick<BaseParts, 'embedders' | 'local'>,
  tenant: string,
  { embeddingModel: name, language }: Pick<DatasetRecord, 'embeddingModel' | 'language'>,
): PassageModel | undefined {
  if (name === '') return local && isEnglish(language) ? { name: local.name, embedder: local.questions } : undefined;
  const embedder = embedders(tenant, name);
  return embedder && { name, embedder };
}

/** The index of a dataset, with its model where it has one. */
export function openIndex(
  parts: Pick<BaseParts, 'indexes' | 'embedders' | 'local'>,
  tenant: string,
  dataset: Pick<DatasetRecord, 'id' | 'embeddingModel' | 'language'>,
): PassageIndex {
  const model = modelOf(parts, tenant, dataset);
  return model === undefined ? parts.indexes.open(tenant, dataset.id) : parts.indexes.open(tenant, dataset.id, model);
}

/** As RAGFlow writes it, or by its code. */
function isEnglish(language: string): boolean {
  return /^en(?:glish)?\b/i.test(language);
}
