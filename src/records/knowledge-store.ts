/** The port of the store of knowledge bases. */
import type { GraphStore } from './graph-store.js';
import type {
  ChunkChange,
  ChunkRecord,
  ChunkVector,
  CountedDataset,
  DatasetChange,
  DatasetRecord,
  DocumentChange,
  DocumentRecord,
  DocumentRun,
  IngestionStep,
} from './knowledge.js';
import type { Page, PageRequest, Tally } from './repository.js';

/** Which datasets; every condition that is given must hold. */
export interface DatasetQuery extends PageRequest {
  readonly ids?: readonly string[] | undefined;
  /** Without regard to case. */
  readonly name?: string | undefined;
  /** Part of the name, without regard to case. */
  readonly keywords?: string | undefined;
  readonly source?: string | undefined;
  readonly orderBy: 'createdAt' | 'updatedAt' | 'name';
  readonly descending: boolean;
}

/** Which documents; every condition that is given must hold. */
export interface DocumentQuery extends PageRequest {
  readonly datasetIds?: readonly string[] | undefined;
  readonly ids?: readonly string[] | undefined;
  /** Without regard to case. */
  readonly name?: string | undefined;
  /** Part of the name, without regard to case. */
  readonly keywords?: string | undefined;
  readonly runs?: readonly DocumentRun[] | undefined;
  readonly suffixes?: readonly string[] | undefined;
  readonly types?: readonly string[] | undefined;
  readonly sha256?: string | undefined;
  readonly isEnabled?: boolean | undefined;
  /** Milliseconds since 1970, inclusive. */
  readonly createdFrom?: number | undefined;
  readonly createdTo?: number | undefined;
  readonly orderBy: 'createdAt' | 'updatedAt' | 'name' | 'size';
  readonly descending: boolean;
}

/** Which chunks of a document, in their order; every condition that is given must hold. */
export interface ChunkQuery extends PageRequest {
  readonly documentId: string;
  readonly ids?: readonly string[] | undefined;
  /** Part of the text, without regard to the case of the letters a to z. */
  readonly keywords?: string | undefined;
  readonly isAvailable?: boolean | undefined;
  /** Bytes of texts on the page, in UTF-8; chunks behind them are left out. @default no bound */
  readonly maxBytes?: number | undefined;
}

/** A place in the order of the chunks of a document. */
export interface ChunkPlace {
  readonly index: number;
  readonly id: string;
}

/** A dataset with documents that wait to be parsed. */
export interface WaitingDataset {
  readonly tenant: string;
  readonly datasetId: string;
  /** Documents that no process is at work on. */
  readonly waiting: number;
  /** Documents that a process is at work on. */
  readonly active: number;
}

/** A document that a process is to parse. */
export interface Claim {
  readonly document: DocumentRecord;
  /** How many processes have begun since a step was finished last, this one included. */
  readonly begun: number;
}

/** What is left of something that was discarded and does not exist any more for other calls. */
export interface Remains {
  readonly tenant: string;
  readonly datasetId: string;
  /** Absent: the dataset itself, of which no document is left. */
  readonly document?: DocumentRecord;
}

/** A document of a dataset that names no model. */
export interface VectorGap {
  readonly tenant: string;
  readonly datasetId: string;
  readonly documentId: string;
  /** Whether chunks of it have no vector. */
  readonly isOpen: boolean;
}

/** Datasets. */
export interface DatasetStore {
  /** @throws EngineError CONFLICT when the id or the name is taken. */
  insertDataset(tenant: string, dataset: DatasetRecord): Promise<void>;
  findDataset(tenant: string, id: string): Promise<DatasetRecord | undefined>;
  /** With what its documents add up to, for which all of them are read. */
  findCountedDataset(tenant: string, id: string): Promise<CountedDataset | undefined>;
  /** The dataset as changed; undefined when there is none. @throws EngineError CONFLICT when the name is taken. */
  updateDataset(tenant: string, id: string, change: DatasetChange): Promise<DatasetRecord | undefined>;
  listDatasets(tenant: string, query: DatasetQuery): Promise<Page<CountedDataset>>;
  /** From now on neither the dataset nor its documents exist for other calls; what is left of them are remains. Whether there was one. */
  discardDataset(tenant: string, id: string): Promise<boolean>;
}

/** Documents. */
export interface DocumentStore {
  /** All or none. @throws EngineError NOT_FOUND when a dataset is gone, CONFLICT when an id, or a name in its dataset, is taken. */
  insertDocuments(tenant: string, documents: readonly DocumentRecord[]): Promise<void>;
  findDocument(tenant: string, id: string): Promise<DocumentRecord | undefined>;
  listDocuments(tenant: string, query: DocumentQuery): Promise<Page<DocumentRecord>>;
  /** How many documents of datasets have each run state, ending or type, the most frequent first. */
  tallyDocuments(
    tenant: string,
    datasetIds: readonly string[],
    by: 'run' | 'suffix' | 'type',
  ): Promise<readonly (Tally & { readonly datasetId: string })[]>;
  /**
   * The document as changed; undefined when there is none, or when `attempt` is given and it has another one.
   *
   * @throws EngineError CONFLICT when the name is taken.
   */
  updateDocument(
    tenant: string,
    id: string,
    change: DocumentChange,
    attempt?: number,
  ): Promise<DocumentRecord | undefined>;
  /** From now on these documents do not exist for other calls; what is left of them are remains. Gives the ids of those there were. */
  discardDocuments(tenant: string, datasetId: string, ids: readonly string[]): Promise<readonly string[]>;
}

/** Which document is parsed by which process. Times of claims are those of the store's own clock. */
export interface IngestionStore {
  /**
   * Puts documents in line to be parsed: RUNNING with a new attempt, no progress and no steps. Those that are RUNNING already are left as they
   * are. Gives the ones that were put in line.
   */
  enqueue(tenant: string, ids: readonly string[]): Promise<readonly DocumentRecord[]>;
  /** Takes RUNNING documents out of line, or from the process at work: CANCEL with a new attempt. Gives the ones that were stopped. */
  cancel(tenant: string, ids: readonly string[]): Promise<readonly DocumentRecord[]>;
  /** Datasets of any tenants with documents that wait, `limit` at most, those first whose documents wait the longest. */
  waiting(limit: number): Promise<readonly WaitingDataset[]>;
  /** Gives the document of a dataset that waits the longest to a process, for a time; undefined when none waits. */
  claim(owner: string, tenant: string, datasetId: string, ttlMs: number): Promise<Claim | undefined>;
  /** Prolongs a claim; false when it is another process's, or the document was stopped, put in line again or deleted. */
  renew(owner: string, tenant: string, id: string, attempt: number, ttlMs: number): Promise<boolean>;
  /** Gives a document back, so that another process may take it at once; it does not count as begun then. */
  release(owner: string, tenant: string, id: string): Promise<void>;
  /** Ends all claims: for stores that one process uses, when it starts. */
  expireClaims(): Promise<void>;
  /** Stores a finished step in place of one of its name; false as `renew` does, with nothing stored. */
  saveStep(tenant: string, id: string, attempt: number, step: IngestionStep): Promise<boolean>;
  /** The finished steps of an attempt, in their order. */
  steps(tenant: string, id: string, attempt: number): Promise<readonly IngestionStep[]>;
}

/** Chunks. They are never read all at once. */
export interface ChunkStore {
  /**
   * Inserts chunks of one document; of one with a known id text, place and tokens are replaced, and what users set stays. Each is marked as
   * part of the attempt, and as not indexed when it is new or what is searched of it has changed.
   *
   * @param options.isWritten the chunks are a user's: nothing stays of one with a known id. @default false
   * @throws EngineError NOT_FOUND when the document is gone, CONFLICT when it has another attempt.
   */
  putChunks(
    tenant: string,
    documentId: string,
    attempt: number,
    chunks: readonly ChunkRecord[],
    options?: { readonly isWritten?: boolean },
  ): Promise<void>;
  /** Those that there are, in no order. */
  findChunks(tenant: string, ids: readonly string[]): Promise<readonly ChunkRecord[]>;
  listChunks(tenant: string, query: ChunkQuery): Promise<Page<ChunkRecord>>;
  /** The next chunks of a document behind a place. @param isIndexed only those that are, or are not, indexed. @default all */
  chunksAfter(
    tenant: string,
    documentId: string,
    after: ChunkPlace | undefined,
    limit: number,
    isIndexed?: boolean,
  ): Promise<readonly ChunkRecord[]>;
  /** The chunk as changed, not indexed unless only its availability was changed; undefined when there is none. */
  updateChunk(tenant: string, documentId: string, id: string, change: ChunkChange): Promise<ChunkRecord | undefined>;
  /** Notes that chunks are in the index as they are; one that was changed after `updatedAt` of the given one is left out. */
  markIndexed(
    tenant: string,
    documentId: string,
    chunks: readonly Pick<ChunkRecord, 'id' | 'updatedAt'>[],
  ): Promise<void>;
  /** Ids of chunks that are no part of an attempt, `limit` at most. */
  staleChunks(tenant: string, documentId: string, attempt: number, limit: number): Promise<readonly string[]>;
  /** Deletes chunks with their vectors; gives the ids of those there were. */
  deleteChunks(tenant: string, documentId: string, ids: readonly string[]): Promise<readonly string[]>;
}

/** Vectors of chunks by models, which go with their chunks or with the text that they were made of. */
export interface VectorStore {
  /** Stores vectors of chunks of one document; those of chunks that are gone are left out. */
  putVectors(tenant: string, documentId: string, model: string, vectors: readonly ChunkVector[]): Promise<void>;
  /** Those that there are, in no order. */
  findVectors(tenant: string, model: string, chunkIds: readonly string[]): Promise<readonly ChunkVector[]>;
  /** The next chunks of a document behind a place that have no vector by a model. */
  chunksWithoutVector(
    tenant: string,
    documentId: string,
    model: string,
    after: ChunkPlace | undefined,
    limit: number,
  ): Promise<readonly ChunkRecord[]>;
  /**
   * The next parsed documents behind a place, of any tenants and of datasets that name no model, in the order of tenants and ids; each with whether
   * chunks of it have no vector by a model.
   */
  vectorGaps(model: string, after: VectorGap | undefined, limit: number): Promise<readonly VectorGap[]>;
}

/** What was discarded, until nothing of it is left. */
export interface RemainsStore {
  /** The next remains of any tenant. Documents come before their datasets. */
  remains(limit: number): Promise<readonly Remains[]>;
  /** Ids of chunks that are left of a discarded document, `limit` at most. */
  chunksOfRemains(tenant: string, documentId: string, limit: number): Promise<readonly string[]>;
  /** Deletes chunks that are left of a discarded document. */
  eraseChunks(tenant: string, documentId: string, ids: readonly string[]): Promise<void>;
  /** Deletes the last of a discarded document, or without `documentId` of a discarded dataset; nothing of one that was not discarded. */
  erase(tenant: string, datasetId: string, documentId?: string): Promise<void>;
}

/**
 * What is stored of knowledge bases. The tenant is a parameter of every call on its data; what another tenant owns does not exist. Statements
 * are small, as runs write their logs into the same database: callers give a few hundred chunks at a time at most.
 */
export interface KnowledgeStore
  extends DatasetStore,
    DocumentStore,
    IngestionStore,
    ChunkStore,
    VectorStore,
    RemainsStore,
    GraphStore {}
