/** Datasets of a knowledge base. */
import { randomUUID } from 'node:crypto';
import { EngineError } from '../../errors.js';
import type { CountedDataset, DatasetChange, DatasetRecord, DocumentRun } from '../../records/knowledge.js';
import type { DatasetQuery } from '../../records/knowledge-store.js';
import type { Page } from '../../records/repository.js';
import type { BaseParts } from './parts.js';
import { removeRemains } from './remove-remains.js';
import { requireFitting } from './require-fitting.js';

/** What a dataset is made with; only the name is needed. */
export type NewDataset = Partial<Omit<DatasetRecord, 'name' | 'createdAt' | 'updatedAt'>> & { readonly name: string };

/** How many documents of a dataset have each run state; states without any are absent. */
export type RunCounts = Readonly<Partial<Record<DocumentRun, number>>>;

/** Datasets. Errors of all: those of the store; NOT_FOUND for a dataset that does not exist, which that of another tenant does not. */
export interface Datasets {
  /** @throws EngineError CONFLICT for a name that is taken, without regard to case; BAD_REQUEST for an empty one, and for settings of more than 128 KiB. */
  create(tenant: string, dataset: NewDataset): Promise<CountedDataset>;
  find(tenant: string, id: string): Promise<CountedDataset | undefined>;
  /** The dataset with this id, or else with this name. */
  findByName(tenant: string, idOrName: string): Promise<CountedDataset | undefined>;
  list(tenant: string, query: DatasetQuery): Promise<Page<CountedDataset>>;
  /**
   * Changes a dataset; documents are cut by new settings when they are parsed again.
   *
   * @throws EngineError CONFLICT for a name that is taken; DATASET_BUSY for another model or method while documents are parsed; BAD_REQUEST for
   * settings of more than 128 KiB.
   */
  update(tenant: string, id: string, change: DatasetChange): Promise<CountedDataset>;
  /** Deletes a dataset with all that belongs to it; nothing of it is found from the first moment on. Whether there was one. */
  delete(tenant: string, id: string): Promise<boolean>;
  runCounts(tenant: string, ids: readonly string[]): Promise<ReadonlyMap<string, RunCounts>>;
}

/** Changes of these need documents that are at rest. */
const NEEDS_REST = ['embeddingModel', 'chunkMethod', 'pipelineId'] as const;

/** The datasets of a knowledge base. */
export function createDatasets(parts: BaseParts): Datasets {
  const { store, hub, now } = parts;
  const require = async (tenant: string, id: string): Promise<CountedDataset> => {
    const found = await store.findCountedDataset(tenant, id);
    if (found !== undefined) return found;
    throw new EngineError('NOT_FOUND', `There is no dataset "${id}".`);
  };
  return {
    async create(tenant, given) {
      const { name } = given;
      if (name.trim() === '') throw new EngineError('BAD_REQUEST', 'A dataset needs a name that is not empty.');
      requireFitting('The settings of the dataset', given.parserConfig);
      const time = now();
      const dataset: DatasetRecord = { ...DEFAULTS, id: newId(), ...given, createdAt: time, updatedAt: time };
      await store.insertDataset(tenant, dataset);
      return { dataset, counts: { documents: 0, chunks: 0, tokens: 0 } };
    },
    find: (tenant, id) => store.findCountedDataset(tenant, id),
    async findByName(tenant, idOrName) {
      const byId = await store.findCountedDataset(tenant, idOrName);
      if (byId !== undefined) return byId;
      const query = { name: idOrName, offset: 0, limit: 1, orderBy: 'createdAt', descending: false } as const;
      return (await store.listDatasets(tenant, query)).items[0];
    },
    list: (tenant, query) => parts.listDatasets(tenant, query),
    async update(tenant, id, change) {
      const { dataset } = await require(tenant, id);
      requireFitting('The settings of the dataset', change.parserConfig);
      if (NEEDS_REST.some((name) => change[name] !== undefined && change[name] !== dataset[name])) {
        await requireRest(parts, tenant, dataset);
      }
      await store.updateDataset(tenant, id, { ...change, updatedAt: now() });
      return require(tenant, id);
    },
    async delete(tenant, id) {
      const isThere = await store.discardDataset(tenant, id);
      if (!isThere) return false;
      hub.stop({ tenant, datasetId: id });
      await removeRemains(parts);
      return true;
    },
    async runCounts(tenant, ids) {
      const counts = new Map<string, Record<string, number>>(ids.map((id) => [id, {}]));
      for (const { datasetId, value, count } of await store.tallyDocuments(tenant, ids, 'run')) {
        const own = counts.get(datasetId);
        if (own !== undefined) own[value] = count;
      }
      return counts;
    },
  };
}

async function requireRest({ store }: BaseParts, tenant: string, { id, name }: DatasetRecord): Promise<void> {
  const query = { datasetIds: [id], offset: 0, limit: 1, orderBy: 'createdAt', descending: false } as const;
  const { total } = await store.listDocuments(tenant, { ...query, runs: ['RUNNING'] });
  if (total === 0) return;
  const message = `${total} documents of the dataset "${name}" are being parsed; wait until they are done, or stop them, before its model or its method is changed.`;
  throw new EngineError('DATASET_BUSY', message, { retryable: true });
}

/** A new id, as RAGFlow writes them. */
export function newId(): string {
  return randomUUID().replaceAll('-', '');
}

/** As RAGFlow has them. */
const DEFAULTS = {
  description: null,
  avatar: null,
  language: 'English',
  embeddingModel: '',
  permission: 'me',
  chunkMethod: 'naive',
  parserConfig: {},
  pipelineId: null,
  similarityThreshold: 0.2,
  vectorSimilarityWeight: 0.3,
  pagerank: 0,
  source: null,
} as const;
