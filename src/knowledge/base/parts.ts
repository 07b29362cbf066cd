/** What the services of a knowledge base share. */
import type { Embedder } from '../../models/single-answer.js';
import type { FileStore } from '../../records/files.js';
import type { DatasetRecord } from '../../records/knowledge.js';
import type { KnowledgeStore } from '../../records/knowledge-store.js';
import type { IngestionHub } from './ingestion-hub.js';
import type { PassageIndex, PassageIndexes } from './ports.js';
import type { DocumentTexts } from './texts.js';

/** The embedder of a model by its name; undefined when there is none of that name. */
export type FindEmbedder = (tenant: string, model: string) => Embedder | undefined;

/** Stores and ports of a knowledge base. */
export interface BaseParts {
  readonly store: KnowledgeStore;
  readonly files: FileStore;
  readonly indexes: PassageIndexes;
  readonly texts: DocumentTexts;
  readonly hub: IngestionHub;
  readonly embedders: FindEmbedder;
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
