/** What is stored of the graphs of datasets. */
import { createHash } from 'node:crypto';
import type { JsonObject } from '../json.js';
import type { ChunkRecord } from './knowledge.js';

/** What one chunk contributes to the graph of its dataset by one layer. */
export interface ContributionRecord {
  readonly chunkId: string;
  readonly documentId: string;
  /** Such as `links`, `rules`, `model`, `given`. */
  readonly layer: string;
  /** How it was made; another one makes it again. */
  readonly version: string;
  /** Hash of the text that it was made of; see `textHash`. */
  readonly textHash: string;
  /** Names and relations. */
  readonly body: JsonObject;
}

/** The hash of the text of a chunk, as a database makes it, too. */
export function textHash(text: string): string {
  return createHash('md5').update(text).digest('hex');
}

/** Parts of a graph of which each has a revision, so that readers take only what has changed. */
export const GRAPH_SHARDS = 64;

/** The shard of the contributions of a document, 0 to 63, as a database makes it, too. */
export function shardOf(documentId: string): number {
  return (createHash('md5').update(documentId).digest()[0] ?? 0) % GRAPH_SHARDS;
}

/** Which contribution; without what it says. */
export type ContributionHead = Omit<ContributionRecord, 'body'>;

/** A place in the order of contributions. */
export type ContributionPlace = Pick<ContributionRecord, 'chunkId' | 'layer'>;

/** A place in the order of the contributions of a shard. */
export type ShardPlace = Pick<ContributionRecord, 'documentId' | 'chunkId' | 'layer'>;

/** A small record that belongs to a graph: a decision about names, a report of a community, a setting … */
export interface GraphNote {
  /** Unique within its kind; at most 300 characters. */
  readonly key: string;
  readonly value: JsonObject;
}

/** How a build stands. */
export type BuildState = 'RUNNING' | 'DONE' | 'CANCEL' | 'FAIL';

/** The last build of the graph of a dataset. */
export interface GraphBuildRecord {
  readonly id: string;
  readonly state: BuildState;
  /** What was asked for, and how far it is. */
  readonly value: JsonObject;
}

/** A build that a process is to go on with. */
export interface ClaimedBuild {
  readonly tenant: string;
  readonly datasetId: string;
  readonly build: GraphBuildRecord;
  /** How many processes have begun with it, this one included. */
  readonly begun: number;
}

/** Chunks that have no contribution, of some that were looked at. */
export interface MissingChunks {
  /** In the order of ids; fewer than were looked at. */
  readonly chunks: readonly ChunkRecord[];
  /** Id of the last chunk that was looked at, behind which to go on; undefined at the end. */
  readonly next: string | undefined;
}

/**
 * Graphs of datasets: contributions of chunks, and notes. Contributions of chunks that are gone, not available, changed, or whose document is not enabled do
 * not exist for readers, so nothing of what was deleted stays in a graph. The tenant is a parameter of every call.
 */
export interface GraphStore {
  /** Stores contributions in place of those of the same chunk and layer; those of chunks that are gone, or of another dataset, are left out. A few hundred at a time. */
  putContributions(tenant: string, datasetId: string, contributions: readonly ContributionRecord[]): Promise<void>;
  /** Deletes the contributions of a layer; gives how many there were. */
  deleteContributions(tenant: string, datasetId: string, layer: string): Promise<number>;
  /** The next contributions behind a place, in the order of chunks and layers. */
  contributionHeads(
    tenant: string,
    datasetId: string,
    after: ContributionPlace | undefined,
    limit: number,
  ): Promise<readonly ContributionHead[]>;
  /**
   * The revision of each shard, see {@link shardOf}; one that is absent is at 0, undefined where there is no dataset. It rises with everything that changes which contributions of the
   * shard there are for readers, in the same transaction, so what was read after it is at least as new. It may rise where nothing has changed.
   */
  shardRevisions(tenant: string, datasetId: string): Promise<ReadonlyMap<number, number> | undefined>;
  /** The next contributions of a shard behind a place, in the order of documents, chunks and layers. */
  shardHeads(
    tenant: string,
    datasetId: string,
    shard: number,
    after: ShardPlace | undefined,
    limit: number,
  ): Promise<readonly ContributionHead[]>;
  /** Those that there are of these chunks, in no order. */
  readContributions(
    tenant: string,
    datasetId: string,
    chunkIds: readonly string[],
  ): Promise<readonly ContributionRecord[]>;
  /** Looks at so many chunks behind one, by id, for available ones of enabled documents that have no contribution of a layer and version. */
  chunksWithoutContribution(
    tenant: string,
    datasetId: string,
    wanted: Pick<ContributionRecord, 'layer' | 'version'>,
    after: string | undefined,
    looks: number,
  ): Promise<MissingChunks>;
  putNotes(tenant: string, datasetId: string, kind: string, notes: readonly GraphNote[]): Promise<void>;
  /** The next notes of a kind behind a key, in the order of keys. */
  listNotes(
    tenant: string,
    datasetId: string,
    kind: string,
    after: string | undefined,
    limit: number,
  ): Promise<readonly GraphNote[]>;
  /** Deletes notes of a kind, all without `keys`; gives how many there were. */
  deleteNotes(tenant: string, datasetId: string, kind: string, keys?: readonly string[]): Promise<number>;
  /** Raised by everything that is put or deleted here, and by rules of the dataset that are changed; 0 before. */
  graphRevision(tenant: string, datasetId: string): Promise<number>;
  /** Deletes contributions, notes and the build of a dataset; whether there were any. */
  clearGraph(tenant: string, datasetId: string): Promise<boolean>;

  /** Puts a build in line; false while another one of the dataset is RUNNING. */
  startBuild(tenant: string, datasetId: string, build: GraphBuildRecord): Promise<boolean>;
  findBuild(tenant: string, datasetId: string): Promise<GraphBuildRecord | undefined>;
  /** Gives a RUNNING build that no process is at work on, of any tenant, to a process for a time. */
  claimBuild(owner: string, ttlMs: number): Promise<ClaimedBuild | undefined>;
  /** Prolongs a claim and stores how far it is; false when it is another process's, or the build was stopped or cleared. */
  saveBuild(owner: string, tenant: string, datasetId: string, build: GraphBuildRecord, ttlMs: number): Promise<boolean>;
  /** Gives a build back, so that another process may take it at once. */
  releaseBuild(owner: string, tenant: string, datasetId: string): Promise<void>;
  /** Stops a RUNNING build; whether there was one. */
  stopBuild(tenant: string, datasetId: string): Promise<boolean>;
}
