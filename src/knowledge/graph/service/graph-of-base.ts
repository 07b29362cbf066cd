/** The graphs of the datasets of a knowledge base: searched, shown, corrected, cleared. */
import { randomUUID } from 'node:crypto';
import { EngineError } from '../../../errors.js';
import type { ChunkRecord } from '../../../records/knowledge.js';
import type { KnowledgeStore } from '../../../records/knowledge-store.js';
import { chunksOfDataset } from '../../base/chunks-of-dataset.js';
import type { BaseParts } from '../../base/parts.js';
import { availableChunks } from '../../base/retrieval.js';
import type { FindGraphModel } from '../calls/graph-model.js';
import { Problems } from '../given/problems.js';
import type { GivenReading } from '../given/read-given.js';
import type { NameDecision } from '../graph-records.js';
import type { GraphHit } from '../graph-search.js';
import type { KnowledgeGraphs } from '../knowledge-graphs.js';
import type { FoundPassageOfGraph } from '../search/found-passages.js';
import { createDatasetRules } from './dataset-rules.js';
import { findInGraphs } from './find-in-graphs.js';
import { findGiven, replaceGiven } from './given-store.js';
import { pairOf } from './graph-notes.js';
import { createHeldGraphs } from './held-graphs.js';
import type { GraphDesk } from './open-desk.js';
import { createOwnAliases } from './own-aliases.js';

/** What graphs are made of. */
export interface KnowledgeGraphsOptions {
  readonly parts: BaseParts;
  readonly desk: GraphDesk;
  /** Models that searches with a budget ask. @default none */
  readonly models?: FindGraphModel | undefined;
}

const MAX_LIMIT = 100;
const MAX_TOKENS = 8_000;
/** Passages of a graph that are looked at for each that is given: some may be too long. */
const SPARE = 3;
const MAX_DECISIONS = 10_000;

/** The graphs of a knowledge base. */
export function createKnowledgeGraphs({ parts, desk, models }: KnowledgeGraphsOptions): KnowledgeGraphs {
  const { store } = parts;
  const held = createHeldGraphs({ store, desk });
  const ask: KnowledgeGraphs['ask'] = async (tenant, datasetId, question) => {
    const answer = await held.ask(tenant, datasetId, question);
    if (answer !== undefined) return answer;
    throw new EngineError('GRAPH_MISSING', `The dataset "${datasetId}" has no graph; build it first.`);
  };
  const decisions = async (tenant: string, datasetId: string): Promise<NameDecision[]> => {
    const notes = await store.listNotes(tenant, datasetId, 'decision', undefined, MAX_DECISIONS);
    return notes.flatMap(({ key, value: { names, kind, by } }): NameDecision[] => {
      const pair = pairOf(names);
      if (pair === undefined) return [];
      return [
        { id: key, names: pair, kind: kind === 'apart' ? 'apart' : 'same', by: by === 'model' ? 'model' : 'user' },
      ];
    });
  };
  return {
    ask,
    decisions,
    ...createOwnAliases({ store, ask, decisions }),
    ...createDatasetRules(parts),
    async has(tenant, datasetId) {
      if (((await findGiven(store, tenant, datasetId))?.notes ?? 0) > 0) return true;
      return (await store.contributionHeads(tenant, datasetId, undefined, 1)).length > 0;
    },
    async give(tenant, datasetId, form, text) {
      const reading = await desk.answer({ do: 'read', form, text });
      await refuseWhileBuilt(store, tenant, datasetId);
      const chunks = await chunksOf(store, tenant, datasetId, reading);
      await replaceGiven(parts, { tenant, datasetId }, reading, chunks);
      return { nodes: reading.nodes, edges: reading.edges, chunks: chunks.size };
    },
    async search(tenant, query, signal) {
      const found = await findInGraphs(
        { held, parts, models },
        tenant,
        { ...query, limit: SPARE * boundedLimit(query.limit ?? 8) },
        signal,
      );
      signal.throwIfAborted();
      const { limit = 8, maxTokens = MAX_TOKENS } = query;
      const hits = await hitsOf(parts, tenant, found.passages, { limit: boundedLimit(limit), maxTokens, signal });
      return { ...found.findings, hits };
    },
    async decide(tenant, datasetId, kind, names) {
      const pair = pairOf(names);
      if (pair === undefined || pair[0] === pair[1])
        throw new EngineError(
          'BAD_REQUEST',
          `Two different names are needed; received ${JSON.stringify(names).slice(0, 200)}.`,
        );
      const decision: NameDecision = { id: randomUUID().replaceAll('-', ''), kind, names: pair, by: 'user' };
      // The newest of a pair counts.
      const before = (await decisions(tenant, datasetId)).filter((one) => one.names.join('\0') === pair.join('\0'));
      await store.deleteNotes(
        tenant,
        datasetId,
        'decision',
        before.map(({ id }) => id),
      );
      const value = { kind, names: [...pair], by: 'user' };
      await store.putNotes(tenant, datasetId, 'decision', [{ key: decision.id, value }]);
      return decision;
    },
    undo: async (tenant, datasetId, id) => (await store.deleteNotes(tenant, datasetId, 'decision', [id])) > 0,
    async clear(tenant, datasetId) {
      await refuseWhileBuilt(store, tenant, datasetId);
      return store.clearGraph(tenant, datasetId);
    },
    close: () => desk.close(),
  };
}

/** @throws EngineError GRAPH_BUSY */
async function refuseWhileBuilt(store: KnowledgeStore, tenant: string, datasetId: string): Promise<void> {
  if ((await store.findBuild(tenant, datasetId))?.state === 'RUNNING') throw busy(datasetId);
}

/** The chunks that a graph names. @throws EngineError BAD_REQUEST for those that the dataset does not have, with the place of each */
async function chunksOf(
  store: KnowledgeStore,
  tenant: string,
  datasetId: string,
  { named }: GivenReading,
): Promise<ReadonlyMap<string, ChunkRecord>> {
  const ids = [...new Set(named.flatMap(({ chunks }) => chunks))];
  const found = await chunksOfDataset(store, tenant, datasetId, ids);
  const problems = new Problems();
  for (const { at: place, chunks } of named) {
    for (const [at, id] of chunks.entries()) {
      const why = `the dataset has no chunk "${id.slice(0, 100)}"; leave it out, or name one`;
      if (!found.has(id)) problems.add(`${place}: chunks[${at}]`, why);
    }
  }
  problems.throwIfAny();
  return found;
}

/** The refusal of what a build is in the way of. */
export function busy(datasetId: string): EngineError {
  const message = `The graph of the dataset "${datasetId}" is being built; wait until it is done, or cancel it.`;
  return new EngineError('GRAPH_BUSY', message, { retryable: true });
}

function boundedLimit(limit: number): number {
  return Math.max(1, Math.min(MAX_LIMIT, Math.floor(limit)));
}

/** Passages with their texts, as many as fit; what was deleted meanwhile is left out. */
async function hitsOf(
  parts: BaseParts,
  tenant: string,
  found: readonly FoundPassageOfGraph[],
  { limit, maxTokens, signal }: { readonly limit: number; readonly maxTokens: number; readonly signal: AbortSignal },
): Promise<readonly GraphHit[]> {
  const best = new Map<string, FoundPassageOfGraph>();
  for (const one of found) if (!best.has(one.chunkId)) best.set(one.chunkId, one);
  const wanted = [...best.values()].slice(0, SPARE * limit);
  const chunks = await availableChunks(
    parts,
    tenant,
    wanted.map(({ chunkId }) => chunkId),
    signal,
  );
  const hits: GraphHit[] = [];
  let tokens = 0;
  for (const { chunkId, score, why } of wanted) {
    const one = chunks.get(chunkId);
    if (one === undefined || hits.length === limit) continue;
    tokens += one.chunk.tokens;
    if (tokens > maxTokens && hits.length > 0) break;
    hits.push({ ...one, score, why });
  }
  return hits;
}
