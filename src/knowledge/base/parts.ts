/** What the services of a knowledge base share. */
import type { Embedder, Reranker } from '../../models/single-answer.js';
import type { FileStore } from '../../records/files.js';
import type { DatasetRecord } from '../../records/knowledge.js';
import type { KnowledgeStore } from '../../records/knowledge-store.js';
import type { TermTable } from '../search/expand-terms.js';
import type { IngestionHub } from './ingestion-hub.js';
import type { PassageIndex, PassageIndexes } from './ports.js';
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
  readonly files: FileStore;
  readonly indexes: PassageIndexes;
  readonly texts: DocumentTexts;
  readonly hub: IngestionHub;
  readonly embedders: FindEmbedder;
  readonly rerankers: FindReranker;
  readonly translate: TranslateQuestion;
  /** Terms of this server that mean the same, beside those of the package. */
  readonly terms: TermTable;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** The index of a dataset, with the model of the dataset where there is one. */
export function openIndex(
  { indexes, embedders }: Pick<BaseParts, 'indexes' | 'embedders'>,
  tenant: string,
  { id, embeddingModel: name }: Pick<DatasetRecord, 'id' | 'embeddingModel'>,
): PassageIndex {
  const embedder = name === '' ? undefined : embedders(tenant, name);
  return embedder === undefined ? indexes.open(tenant, id) : indexes.open(tenant, id, { name, embedder });
}
