import { EngineError } from '../errors.js';
import { requireObject } from '../operators/invalid-option.js';
import type {
  CountedDataset,
  DatasetRecord,
  DocumentChange,
  DocumentRecord,
  IngestionStep,
} from '../records/knowledge.js';
import type {
  DatasetQuery,
  DocumentQuery,
  KnowledgeStore,
  Remains,
  VectorGap,
  WaitingDataset,
} from '../records/knowledge-store.js';
import { foldCase, type Page } from '../records/repository.js';
import { ChunkRoom, MemoryChunks } from './memory-knowledge-chunks.js';
import { createMemoryGraphs } from './memory-knowledge-graphs.js';

/** Bounds of a {@link createMemoryKnowledge}, over all tenants. */
export interface MemoryKnowledgeOptions {
  /** @default 10,000 */
  readonly maxDatasets?: number;
  /** @default 100,000 */
  readonly maxDocuments?: number;
  /** @default 500,000 */
  readonly maxChunks?: number;
  /** Clock of claims in milliseconds, which may only grow. @default that of the process */
  readonly clock?: () => number;
}

interface StoredDataset {
  record: DatasetRecord;
  isDiscarded: boolean;
}

interface StoredDocument {
  record: DocumentRecord;
  isDiscarded: boolean;
  /** Position in the line of those that wait. */
  queued: number;
  claimedBy: string | undefined;
  claimedUntil: number;
  begun: number;
  steps: { readonly attempt: number; readonly step: IngestionStep }[];
}

/** What one tenant has. */
interface Shelf {
  readonly datasets: Map<string, StoredDataset>;
  readonly documents: Map<string, StoredDocument>;
  readonly chunks: MemoryChunks;
}

/** Knowledge bases in memory, bounded; gone with the process. */
export function createMemoryKnowledge(options: MemoryKnowledgeOptions = {}): KnowledgeStore {
  requireObject('createMemoryKnowledge', 'options', options, 'an object');
  const {
    maxDatasets = 10_000,
    maxDocuments = 100_000,
    maxChunks = 500_000,
    clock = () => performance.now(),
  } = options;
  const room = new ChunkRoom(maxChunks);
  const shelves = new Map<string, Shelf>();
  let line = 0;

  const shelfOf = (tenant: string): Shelf => {
    const known = shelves.get(tenant);
    if (known !== undefined) return known;
    const shelf: Shelf = { datasets: new Map(), documents: new Map(), chunks: new MemoryChunks(room) };
    shelves.set(tenant, shelf);
    return shelf;
  };
  const countOf = (what: 'datasets' | 'documents'): number =>
    [...shelves.values()].reduce((sum, shelf) => sum + shelf[what].size, 0);
  const datasetOf = (tenant: string, id: string): StoredDataset | undefined => {
    const found = shelfOf(tenant).datasets.get(id);
    return found?.isDiscarded === false ? found : undefined;
  };
  const documentOf = (tenant: string, id: string): StoredDocument | undefined => {
    const found = shelfOf(tenant).documents.get(id);
    const isThere = found?.isDiscarded === false && datasetOf(tenant, found.record.datasetId) !== undefined;
    return isThere ? found : undefined;
  };
  const counted = (tenant: string, { record }: StoredDocument): DocumentRecord => ({
    ...record,
    ...shelfOf(tenant).chunks.totals(record.id),
  });
  const documentsOf = (tenant: string): StoredDocument[] =>
    [...shelfOf(tenant).documents.keys()].flatMap((id) => documentOf(tenant, id) ?? []);
  const withCounts = (tenant: string, dataset: DatasetRecord): CountedDataset => {
    const own = documentsOf(tenant).filter(({ record }) => record.datasetId === dataset.id);
    const documents = own.map((document) => counted(tenant, document));
    const sum = (of: (document: DocumentRecord) => number) => documents.reduce((total, one) => total + of(one), 0);
    const counts = {
      documents: documents.length,
      chunks: sum(({ chunkCount }) => chunkCount),
      tokens: sum(({ tokenCount }) => tokenCount),
    };
    return { dataset, counts };
  };
  const requireDatasetName = (tenant: string, id: string, name: string): void => {
    const isTaken = [...shelfOf(tenant).datasets.values()].some(
      ({ record, isDiscarded }) => !isDiscarded && record.id !== id && foldCase(record.name) === foldCase(name),
    );
    if (isTaken) throw new EngineError('CONFLICT', `There is a dataset "${name}" already.`);
  };
  const requireDocumentName = (tenant: string, { id, datasetId, name }: DocumentRecord): void => {
    const isTaken = documentsOf(tenant).some(
      ({ record }) => record.id !== id && record.datasetId === datasetId && foldCase(record.name) === foldCase(name),
    );
    if (isTaken) throw new EngineError('CONFLICT', `The dataset has a document "${name}" already.`);
  };
  const requireAttempt = (tenant: string, id: string, attempt: number): void => {
    const document = documentOf(tenant, id);
    if (document === undefined) throw new EngineError('NOT_FOUND', `There is no document "${id}".`);
    const { attempt: now } = document.record;
    if (now === attempt) return;
    throw new EngineError('CONFLICT', `Document "${id}" is at attempt ${now}, and this work belongs to ${attempt}.`);
  };
  const isFree = ({ claimedBy, claimedUntil }: StoredDocument): boolean =>
    claimedBy === undefined || claimedUntil <= clock();
  const { documentChanged, rulesChanged, ...graphs } = createMemoryGraphs({
    clock,
    hasDataset: (tenant, id) => datasetOf(tenant, id) !== undefined,
    chunks: (tenant, id) =>
      documentsOf(tenant)
        .filter(({ record }) => record.datasetId === id && record.isEnabled)
        .flatMap(({ record }) => shelfOf(tenant).chunks.available(record.id)),
  });
  const chunksChanged = (tenant: string, documentId: string): void => {
    const document = documentOf(tenant, documentId);
    if (document !== undefined) documentChanged(tenant, document.record.datasetId, documentId);
  };

  return {
    ...graphs,
    async insertDataset(tenant, dataset) {
      if (shelfOf(tenant).datasets.has(dataset.id)) throw taken('dataset', dataset.id);
      requireDatasetName(tenant, dataset.id, dataset.name);
      if (countOf('datasets') >= maxDatasets) throw full('datasets', maxDatasets);
      shelfOf(tenant).datasets.set(dataset.id, { record: dataset, isDiscarded: false });
    },
    findDataset: async (tenant, id) => datasetOf(tenant, id)?.record,
    async findCountedDataset(tenant, id) {
      const found = datasetOf(tenant, id);
      return found && withCounts(tenant, found.record);
    },
    async updateDataset(tenant, id, change) {
      const found = datasetOf(tenant, id);
      if (found === undefined) return undefined;
      if (change.name !== undefined) requireDatasetName(tenant, id, change.name);
      found.record = { ...found.record, ...change };
      if (change.graphRules !== undefined) rulesChanged(tenant, id);
      return found.record;
    },
    async listDatasets(tenant, query) {
      const all = [...shelfOf(tenant).datasets.values()].flatMap(({ record, isDiscarded }) =>
        isDiscarded ? [] : [record],
      );
      const { items, total } = pageOf(
        all.filter((record) => isDatasetMatch(record, query)),
        query,
      );
      return { items: items.map((record) => withCounts(tenant, record)), total };
    },
    async discardDataset(tenant, id) {
      const found = datasetOf(tenant, id);
      if (found === undefined) return false;
      for (const document of documentsOf(tenant)) if (document.record.datasetId === id) document.isDiscarded = true;
      found.isDiscarded = true;
      return true;
    },

    async insertDocuments(tenant, documents) {
      const { documents: stored } = shelfOf(tenant);
      const names = new Set<string>();
      for (const document of documents) {
        const { id, datasetId, name } = document;
        if (datasetOf(tenant, datasetId) === undefined) throw noDataset(datasetId);
        if (stored.has(id)) throw taken('document', id);
        requireDocumentName(tenant, document);
        const key = JSON.stringify([datasetId, foldCase(name)]);
        if (names.has(key)) throw new EngineError('CONFLICT', `The dataset has a document "${name}" already.`);
        names.add(key);
      }
      if (countOf('documents') + documents.length > maxDocuments) throw full('documents', maxDocuments);
      for (const record of documents) {
        const unclaimed = { claimedBy: undefined, claimedUntil: 0, begun: 0, steps: [] };
        stored.set(record.id, { record, isDiscarded: false, queued: 0, ...unclaimed });
      }
    },
    async findDocument(tenant, id) {
      const found = documentOf(tenant, id);
      return found && counted(tenant, found);
    },
    async listDocuments(tenant, query) {
      const all = documentsOf(tenant).map(({ record }) => record);
      const { items, total } = pageOf(
        all.filter((record) => isDocumentMatch(record, query)),
        query,
      );
      return { items: items.map((one) => ({ ...one, ...shelfOf(tenant).chunks.totals(one.id) })), total };
    },
    async tallyDocuments(tenant, datasetIds, by) {
      const counts = new Map<string, { datasetId: string; value: string; count: number }>();
      for (const { record } of documentsOf(tenant)) {
        const { datasetId, [by]: value } = record;
        if (!datasetIds.includes(datasetId)) continue;
        const key = JSON.stringify([datasetId, value]);
        const tally = counts.get(key) ?? { datasetId, value, count: 0 };
        tally.count += 1;
        counts.set(key, tally);
      }
      return [...counts.values()].sort(
        (a, b) => b.count - a.count || compareTexts(a.value, b.value) || compareTexts(a.datasetId, b.datasetId),
      );
    },
    async updateDocument(tenant, id, change, attempt) {
      const found = documentOf(tenant, id);
      if (found === undefined || (attempt !== undefined && found.record.attempt !== attempt)) return undefined;
      const after = { ...found.record, ...change };
      if (change.name !== undefined) requireDocumentName(tenant, after);
      if (change.run !== undefined && change.run !== 'RUNNING') found.claimedBy = undefined;
      found.record = after;
      if (change.isEnabled !== undefined) documentChanged(tenant, after.datasetId, id);
      return counted(tenant, found);
    },
    async discardDocuments(tenant, datasetId, ids) {
      return ids.filter((id) => {
        const found = documentOf(tenant, id);
        if (found?.record.datasetId !== datasetId) return false;
        found.isDiscarded = true;
        documentChanged(tenant, datasetId, id);
        return true;
      });
    },

    async enqueue(tenant, ids) {
      return [...new Set(ids)].flatMap((id) => {
        const found = documentOf(tenant, id);
        if (found === undefined || found.record.run === 'RUNNING') return [];
        const begin: DocumentChange = { run: 'RUNNING', progress: 0, progressMsg: '', beganAt: null, durationMs: 0 };
        found.record = { ...found.record, ...begin, attempt: found.record.attempt + 1 };
        line += 1;
        Object.assign(found, { queued: line, claimedBy: undefined, begun: 0, steps: [] });
        return [counted(tenant, found)];
      });
    },
    async cancel(tenant, ids) {
      return [...new Set(ids)].flatMap((id) => {
        const found = documentOf(tenant, id);
        if (found === undefined || found.record.run !== 'RUNNING') return [];
        found.record = { ...found.record, run: 'CANCEL', progress: 0, attempt: found.record.attempt + 1 };
        Object.assign(found, { claimedBy: undefined, steps: [] });
        return [counted(tenant, found)];
      });
    },
    async waiting(limit) {
      const groups = new Map<string, WaitingDataset & { waiting: number; active: number; first: number }>();
      for (const tenant of shelves.keys()) {
        for (const document of documentsOf(tenant)) {
          const { datasetId, run } = document.record;
          if (run !== 'RUNNING') continue;
          const key = JSON.stringify([tenant, datasetId]);
          const group = groups.get(key) ?? { tenant, datasetId, waiting: 0, active: 0, first: Number.MAX_VALUE };
          if (isFree(document)) {
            group.waiting += 1;
            group.first = Math.min(group.first, document.queued);
          } else group.active += 1;
          groups.set(key, group);
        }
      }
      const some = [...groups.values()].filter(({ waiting }) => waiting > 0).sort((a, b) => a.first - b.first);
      return some.slice(0, limit).map(({ first: _, ...group }) => group);
    },
    async claim(owner, tenant, datasetId, ttlMs) {
      const free = documentsOf(tenant).filter(
        (one) => one.record.datasetId === datasetId && one.record.run === 'RUNNING' && isFree(one),
      );
      const first = free.sort((a, b) => a.queued - b.queued)[0];
      if (first === undefined) return undefined;
      Object.assign(first, { claimedBy: owner, claimedUntil: clock() + ttlMs, begun: first.begun + 1 });
      return { document: counted(tenant, first), begun: first.begun };
    },
    async renew(owner, tenant, id, attempt, ttlMs) {
      const found = documentOf(tenant, id);
      if (found?.claimedBy !== owner || found.record.attempt !== attempt) return false;
      found.claimedUntil = clock() + ttlMs;
      return true;
    },
    async release(owner, tenant, id) {
      const found = documentOf(tenant, id);
      if (found?.claimedBy !== owner) return;
      found.claimedBy = undefined;
      found.begun = Math.max(0, found.begun - 1);
    },
    async expireClaims() {
      for (const { documents } of shelves.values()) for (const one of documents.values()) one.claimedBy = undefined;
    },
    async saveStep(tenant, id, attempt, step) {
      const found = documentOf(tenant, id);
      if (found === undefined || found.record.attempt !== attempt) return false;
      found.steps = [...found.steps.filter((one) => one.step.name !== step.name), { attempt, step }];
      found.begun = 1;
      return true;
    },
    async steps(tenant, id, attempt) {
      const steps = documentOf(tenant, id)?.steps ?? [];
      return steps.filter((one) => one.attempt === attempt).map(({ step }) => step);
    },

    async putChunks(tenant, documentId, attempt, chunks, { isWritten = false } = {}) {
      requireAttempt(tenant, documentId, attempt);
      shelfOf(tenant).chunks.put(documentId, attempt, chunks, isWritten);
      chunksChanged(tenant, documentId);
    },
    async findChunks(tenant, ids) {
      const found = shelfOf(tenant).chunks.find(ids);
      return found.filter(({ documentId }) => documentOf(tenant, documentId) !== undefined);
    },
    async listChunks(tenant, query) {
      if (documentOf(tenant, query.documentId) === undefined) return { items: [], total: 0 };
      return shelfOf(tenant).chunks.list(query);
    },
    async chunksAfter(tenant, documentId, after, limit, isIndexed) {
      if (documentOf(tenant, documentId) === undefined) return [];
      const { chunks } = shelfOf(tenant);
      return chunks.after(documentId, after, limit, (one) => isIndexed === undefined || one.isIndexed === isIndexed);
    },
    async updateChunk(tenant, documentId, id, change) {
      const updated = documentOf(tenant, documentId) && shelfOf(tenant).chunks.update(documentId, id, change);
      const isSeen = change.text !== undefined || change.isAvailable !== undefined;
      if (updated !== undefined && isSeen) chunksChanged(tenant, documentId);
      return updated;
    },
    async markIndexed(tenant, documentId, chunks) {
      shelfOf(tenant).chunks.markIndexed(documentId, chunks);
    },
    async staleChunks(tenant, documentId, attempt, limit) {
      return shelfOf(tenant).chunks.stale(documentId, attempt, limit);
    },
    async deleteChunks(tenant, documentId, ids) {
      if (documentOf(tenant, documentId) === undefined) return [];
      const deleted = shelfOf(tenant).chunks.delete(documentId, ids);
      if (deleted.length > 0) chunksChanged(tenant, documentId);
      return deleted;
    },
    async putVectors(tenant, documentId, model, vectors) {
      shelfOf(tenant).chunks.putVectors(documentId, model, vectors);
    },
    async findVectors(tenant, model, chunkIds) {
      return shelfOf(tenant).chunks.vectors(model, chunkIds);
    },
    async chunksWithoutVector(tenant, documentId, model, after, limit) {
      if (documentOf(tenant, documentId) === undefined) return [];
      return shelfOf(tenant).chunks.after(documentId, after, limit, ({ vectors }) => !vectors.has(model));
    },
    async vectorGaps(model, after, limit) {
      const gaps: VectorGap[] = [];
      for (const tenant of [...shelves.keys()].sort(compareTexts)) {
        const documents = documentsOf(tenant).map(({ record }) => record);
        for (const { id, datasetId, run } of documents.sort((a, b) => compareTexts(a.id, b.id))) {
          const isBehind =
            after === undefined || (compareTexts(tenant, after.tenant) || compareTexts(id, after.documentId)) > 0;
          if (!isBehind || run !== 'DONE' || datasetOf(tenant, datasetId)?.record.embeddingModel !== '') continue;
          const lacking = shelfOf(tenant).chunks.after(id, undefined, 1, ({ vectors }) => !vectors.has(model));
          gaps.push({ tenant, datasetId, documentId: id, isOpen: lacking.length > 0 });
          if (gaps.length === limit) return gaps;
        }
      }
      return gaps;
    },

    async remains(limit) {
      const found: Remains[] = [];
      for (const [tenant, { datasets, documents }] of shelves) {
        for (const { record, isDiscarded } of documents.values()) {
          if (isDiscarded) found.push({ tenant, datasetId: record.datasetId, document: record });
        }
        for (const { record, isDiscarded } of datasets.values()) {
          const isEmpty = ![...documents.values()].some((one) => one.record.datasetId === record.id);
          if (isDiscarded && isEmpty) found.push({ tenant, datasetId: record.id });
        }
      }
      return found.slice(0, limit);
    },
    async chunksOfRemains(tenant, documentId, limit) {
      const { documents, chunks } = shelfOf(tenant);
      if (documents.get(documentId)?.isDiscarded !== true) return [];
      return chunks.after(documentId, undefined, limit, () => true).map(({ id }) => id);
    },
    async eraseChunks(tenant, documentId, ids) {
      const { documents, chunks } = shelfOf(tenant);
      if (documents.get(documentId)?.isDiscarded === true) chunks.delete(documentId, ids);
    },
    async erase(tenant, datasetId, documentId) {
      const { datasets, documents, chunks } = shelfOf(tenant);
      if (documentId === undefined) {
        if (datasets.get(datasetId)?.isDiscarded === true) datasets.delete(datasetId);
      } else if (documents.get(documentId)?.isDiscarded === true) {
        chunks.deleteAll(documentId);
        documents.delete(documentId);
      }
    },
  };
}

function isDatasetMatch(record: DatasetRecord, { ids, name, keywords, source }: DatasetQuery): boolean {
  return (
    (ids === undefined || ids.includes(record.id)) &&
    (name === undefined || foldCase(record.name) === foldCase(name)) &&
    (keywords === undefined || foldCase(record.name).includes(foldCase(keywords))) &&
    (source === undefined || record.source === source)
  );
}

function isDocumentMatch(record: DocumentRecord, query: DocumentQuery): boolean {
  const { datasetIds, ids, name, keywords, runs, suffixes, types, sha256, isEnabled, createdFrom, createdTo } = query;
  const isIn = <T>(wanted: readonly T[] | undefined, value: T): boolean =>
    wanted === undefined || wanted.includes(value);
  const is = <T>(wanted: T | undefined, value: T): boolean => wanted === undefined || wanted === value;
  return (
    isIn(datasetIds, record.datasetId) &&
    isIn(ids, record.id) &&
    isIn(runs, record.run) &&
    isIn(suffixes, record.suffix) &&
    isIn(types, record.type) &&
    is(sha256, record.sha256) &&
    is(isEnabled, record.isEnabled) &&
    is(name === undefined ? undefined : foldCase(name), foldCase(record.name)) &&
    (keywords === undefined || foldCase(record.name).includes(foldCase(keywords))) &&
    (createdFrom === undefined || record.createdAt >= createdFrom) &&
    (createdTo === undefined || record.createdAt <= createdTo)
  );
}

/** A part of records that are in the order of inserting; of equal ones the last is the last, or when descending the first. */
function pageOf<T, K extends keyof T & string>(
  records: readonly T[],
  { orderBy, descending, offset, limit }: { orderBy: K; descending: boolean; offset: number; limit: number },
): Page<T> {
  const sorted = descending ? [...records].reverse() : [...records];
  const sign = descending ? -1 : 1;
  sorted.sort((a, b) => {
    const [left, right] = [a[orderBy], b[orderBy]];
    if (left === right) return 0;
    return left < right ? -sign : sign;
  });
  return { items: sorted.slice(offset, offset + limit), total: records.length };
}

function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function taken(what: string, id: string): EngineError {
  return new EngineError('CONFLICT', `There is a ${what} "${id}" already.`);
}

function noDataset(id: string): EngineError {
  return new EngineError('NOT_FOUND', `There is no dataset "${id}".`);
}

function full(what: string, most: number): EngineError {
  return new EngineError(
    'LIMIT_REACHED',
    `This server stores at most ${most} ${what} in memory. Delete some, or use a database.`,
  );
}
