/** Graphs of datasets in memory. */
import {
  type BuildState,
  type ContributionRecord,
  type GraphBuildRecord,
  type GraphNote,
  type GraphStore,
  shardOf,
  textHash,
} from '../records/graph-store.js';
import type { ChunkRecord } from '../records/knowledge.js';

/** What graphs read of the rest of the store. */
export interface GraphGround {
  /** Chunks of a dataset that are searched. */
  readonly chunks: (tenant: string, datasetId: string) => readonly ChunkRecord[];
  readonly hasDataset: (tenant: string, datasetId: string) => boolean;
  readonly clock: () => number;
}

interface StoredGraph {
  readonly tenant: string;
  readonly datasetId: string;
  revision: number;
  readonly shards: Map<number, number>;
  readonly contributions: Map<string, ContributionRecord>;
  readonly notes: Map<string, Map<string, GraphNote['value']>>;
  build?: GraphBuildRecord & { readonly queued: number; claimedBy?: string; claimedUntil: number; begun: number };
}

/** What the rest of the store tells. */
export interface MemoryGraphs extends GraphStore {
  /** What is searched of a document may have changed. */
  documentChanged(tenant: string, datasetId: string, documentId: string): void;
  rulesChanged(tenant: string, datasetId: string): void;
}

/** Graphs over the chunks of a store in memory; those of datasets that are gone go with the next call. */
export function createMemoryGraphs({ chunks, hasDataset, clock }: GraphGround): MemoryGraphs {
  const graphs = new Map<string, StoredGraph>();
  let line = 0;
  const keyOf = (tenant: string, datasetId: string): string => JSON.stringify([tenant, datasetId]);
  const find = (tenant: string, datasetId: string): StoredGraph | undefined => {
    const key = keyOf(tenant, datasetId);
    if (!hasDataset(tenant, datasetId)) graphs.delete(key);
    return graphs.get(key);
  };
  const open = (tenant: string, datasetId: string): StoredGraph | undefined => {
    if (!hasDataset(tenant, datasetId)) return find(tenant, datasetId);
    const key = keyOf(tenant, datasetId);
    const known = graphs.get(key) ?? {
      ...{ tenant, datasetId, revision: 0 },
      ...{ shards: new Map(), contributions: new Map(), notes: new Map() },
    };
    graphs.set(key, known);
    return known;
  };
  const raise = ({ shards }: StoredGraph, documentId: string): void => {
    const shard = shardOf(documentId);
    shards.set(shard, (shards.get(shard) ?? 0) + 1);
  };
  /** Contributions that are of the texts that there are, by chunk and layer. @param shard only those of one */
  const alive = (tenant: string, datasetId: string, shard?: number): ContributionRecord[] => {
    const graph = find(tenant, datasetId);
    if (graph === undefined) return [];
    const byId = new Map(chunks(tenant, datasetId).map((chunk) => [chunk.id, chunk]));
    const found = [...graph.contributions.values()].filter(({ chunkId, documentId, textHash: hash }) => {
      const chunk = byId.get(chunkId);
      if (chunk === undefined || (shard !== undefined && shardOf(documentId) !== shard)) return false;
      return textHash(chunk.text) === hash;
    });
    return found.sort((a, b) => compare([a.chunkId, a.layer], [b.chunkId, b.layer]));
  };
  return {
    async putContributions(tenant, datasetId, contributions) {
      const graph = open(tenant, datasetId);
      if (graph === undefined || contributions.length === 0) return;
      const known = new Map(chunks(tenant, datasetId).map(({ id, documentId }) => [id, documentId]));
      for (const one of contributions) {
        const documentId = known.get(one.chunkId);
        if (documentId === undefined) continue;
        graph.contributions.set(`${one.chunkId} ${one.layer}`, { ...one, documentId });
        raise(graph, documentId);
      }
      graph.revision += 1;
    },
    async deleteContributions(tenant, datasetId, layer) {
      const graph = find(tenant, datasetId);
      const gone = [...(graph?.contributions ?? [])].filter(([, one]) => one.layer === layer);
      if (graph === undefined || gone.length === 0) return 0;
      for (const [place, { documentId }] of gone) {
        graph.contributions.delete(place);
        raise(graph, documentId);
      }
      graph.revision += 1;
      return gone.length;
    },
    async contributionHeads(tenant, datasetId, after, limit) {
      const place = after && [after.chunkId, after.layer];
      const behind = alive(tenant, datasetId).filter(
        ({ chunkId, layer }) => place === undefined || compare([chunkId, layer], place) > 0,
      );
      return behind.slice(0, limit).map(({ body: _, ...head }) => head);
    },
    async shardRevisions(tenant, datasetId) {
      if (!hasDataset(tenant, datasetId)) return undefined;
      return new Map(find(tenant, datasetId)?.shards);
    },
    async shardHeads(tenant, datasetId, shard, after, limit) {
      const place = after && [after.documentId, after.chunkId, after.layer];
      const behind = alive(tenant, datasetId, shard)
        .map((one) => ({ one, at: [one.documentId, one.chunkId, one.layer] }))
        .filter(({ at }) => place === undefined || compare(at, place) > 0)
        .sort((a, b) => compare(a.at, b.at));
      return behind.slice(0, limit).map(({ one: { body: _, ...head } }) => head);
    },
    async readContributions(tenant, datasetId, chunkIds) {
      const wanted = new Set(chunkIds);
      return alive(tenant, datasetId).filter(({ chunkId }) => wanted.has(chunkId));
    },
    async chunksWithoutContribution(tenant, datasetId, { layer, version }, after, looks) {
      const made = new Set(
        alive(tenant, datasetId)
          .filter((one) => one.layer === layer && one.version === version)
          .map(({ chunkId }) => chunkId),
      );
      const behind = chunks(tenant, datasetId)
        .filter(({ id }) => after === undefined || id > after)
        .sort((a, b) => compare([a.id], [b.id]));
      const looked = behind.slice(0, looks);
      const next = looked.length < behind.length ? looked.at(-1)?.id : undefined;
      return { chunks: looked.filter(({ id }) => !made.has(id)), next };
    },
    async putNotes(tenant, datasetId, kind, notes) {
      const graph = open(tenant, datasetId);
      if (graph === undefined || notes.length === 0) return;
      const own = graph.notes.get(kind) ?? new Map<string, GraphNote['value']>();
      graph.notes.set(kind, own);
      for (const { key, value } of notes) own.set(key, value);
      graph.revision += 1;
    },
    async listNotes(tenant, datasetId, kind, after, limit) {
      const own = [...(find(tenant, datasetId)?.notes.get(kind) ?? [])];
      const behind = own.filter(([key]) => after === undefined || key > after);
      return behind
        .sort(([a], [b]) => compare([a], [b]))
        .slice(0, limit)
        .map(([key, value]) => ({ key, value }));
    },
    async deleteNotes(tenant, datasetId, kind, keys) {
      const graph = find(tenant, datasetId);
      const own = graph?.notes.get(kind);
      const gone = [...(own?.keys() ?? [])].filter((key) => keys === undefined || keys.includes(key));
      for (const key of gone) own?.delete(key);
      if (graph !== undefined && gone.length > 0) graph.revision += 1;
      return gone.length;
    },
    async graphRevision(tenant, datasetId) {
      return find(tenant, datasetId)?.revision ?? 0;
    },
    async clearGraph(tenant, datasetId) {
      const graph = find(tenant, datasetId);
      if (graph === undefined) return false;
      const notes = [...graph.notes.values()].some(({ size }) => size > 0);
      const had = notes || alive(tenant, datasetId).length > 0 || graph.build !== undefined;
      for (const { documentId } of graph.contributions.values()) raise(graph, documentId);
      graph.contributions.clear();
      graph.notes.clear();
      delete graph.build;
      graph.revision += 1;
      return had;
    },
    documentChanged(tenant, datasetId, documentId) {
      const graph = find(tenant, datasetId);
      if (graph !== undefined) raise(graph, documentId);
    },
    rulesChanged(tenant, datasetId) {
      const graph = find(tenant, datasetId);
      if (graph !== undefined) graph.revision += 1;
    },
    async startBuild(tenant, datasetId, build) {
      const graph = open(tenant, datasetId);
      if (graph === undefined || graph.build?.state === 'RUNNING') return false;
      line += 1;
      graph.build = { ...build, queued: line, claimedUntil: 0, begun: 0 };
      return true;
    },
    async findBuild(tenant, datasetId) {
      const build = find(tenant, datasetId)?.build;
      return build && { id: build.id, state: build.state, value: build.value };
    },
    async claimBuild(owner, ttlMs) {
      const free = [...graphs.values()].flatMap(({ tenant, datasetId, build }) => {
        const isFree = build?.state === 'RUNNING' && (build.claimedBy === undefined || build.claimedUntil <= clock());
        return build !== undefined && isFree && hasDataset(tenant, datasetId) ? [{ tenant, datasetId, build }] : [];
      });
      const [first] = free.sort((a, b) => a.build.queued - b.build.queued);
      if (first === undefined) return undefined;
      const { tenant, datasetId, build } = first;
      Object.assign(build, { claimedBy: owner, claimedUntil: clock() + ttlMs, begun: build.begun + 1 });
      return { tenant, datasetId, build: { id: build.id, state: build.state, value: build.value }, begun: build.begun };
    },
    async saveBuild(owner, tenant, datasetId, { id, state, value }, ttlMs) {
      const build = find(tenant, datasetId)?.build;
      if (build?.claimedBy !== owner || build.id !== id || build.state !== 'RUNNING') return false;
      Object.assign(build, { state: state satisfies BuildState, value, claimedUntil: clock() + ttlMs });
      return true;
    },
    async releaseBuild(owner, tenant, datasetId) {
      const build = find(tenant, datasetId)?.build;
      if (build?.claimedBy !== owner) return;
      delete build.claimedBy;
      build.begun = Math.max(0, build.begun - 1);
    },
    async stopBuild(tenant, datasetId) {
      const build = find(tenant, datasetId)?.build;
      if (build?.state !== 'RUNNING') return false;
      Object.assign(build, { state: 'CANCEL' satisfies BuildState });
      delete build.claimedBy;
      return true;
    },
  };
}

/** The order of lists of texts by their code units. */
function compare(left: readonly string[], right: readonly string[]): number {
  for (const [at, one] of left.entries()) {
    const other = right[at] ?? '';
    if (one !== other) return one < other ? -1 : 1;
  }
  return 0;
}
