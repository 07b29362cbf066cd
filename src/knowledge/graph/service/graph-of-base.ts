/** The graphs of the datasets of a knowledge base: searched, shown, corrected, cleared. */
import { randomUUID } from 'node:crypto';
import { EngineError } from '../../../errors.js';
import type { ChunkRecord } from '../../../records/knowledge.js';
import type { KnowledgeStore } from '../../../records/knowledge-store.js';
import type { BaseParts } from '../../base/parts.js';
import type { KnowledgeHits, KnowledgeQuery } from '../../base/retrieval.js';
import { availableChunks } from '../../base/retrieval.js';
import { Problems } from '../given/problems.js';
import type { GivenReading } from '../given/read-given.js';
import type { GraphAnswers, GraphAsk, ToldEntity } from '../graph-answers.js';
import type { NameDecision } from '../graph-records.js';
import type { GraphFindings, GraphHit, GraphQuery } from '../graph-search.js';
import type { KnowledgeGraphs } from '../knowledge-graphs.js';
import type { FoundPassageOfGraph } from '../search/found-passages.js';
import { createDatasetRules } from './dataset-rules.js';
import { findGiven, replaceGiven } from './given-store.js';
import { createHeldGraphs, type HeldGraphs, pairOf } from './held-graphs.js';
import type { GraphDesk } from './open-desk.js';
import { createOwnAliases } from './own-aliases.js';

/** What graphs are made of. */
export interface KnowledgeGraphsOptions {
  readonly parts: BaseParts;
  readonly desk: GraphDesk;
  /** The search by words that a walk begins with. */
  readonly search: (tenant: string, query: KnowledgeQuery, signal: AbortSignal) => Promise<KnowledgeHits>;
}

const MAX_LIMIT = 100;
const MAX_TOKENS = 8_000;
/** Passages of a graph that are looked at for each that is given: some may be too long. */
const SPARE = 3;
const MAX_DECISIONS = 10_000;

/** The graphs of a knowledge base. */
export function createKnowledgeGraphs({ parts, desk, search }: KnowledgeGraphsOptions): KnowledgeGraphs {
  const { store, indexes } = parts;
  const held = createHeldGraphs({ store, indexes, desk });
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
      const found = await foundIn({ held, store, search }, tenant, query, signal);
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

/** Chunks that are looked up at once. */
const CHUNKS = 200;

/** The chunks that a graph names. @throws EngineError BAD_REQUEST for those that the dataset does not have, with the place of each */
async function chunksOf(
  store: KnowledgeStore,
  tenant: string,
  datasetId: string,
  { named }: GivenReading,
): Promise<ReadonlyMap<string, ChunkRecord>> {
  const ids = [...new Set(named.flatMap(({ chunks }) => chunks))];
  const found = new Map<string, ChunkRecord>();
  for (let at = 0; at < ids.length; at += CHUNKS)
    for (const chunk of await store.findChunks(tenant, ids.slice(at, at + CHUNKS)))
      if (chunk.datasetId === datasetId) found.set(chunk.id, chunk);
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

/** What was found before texts are read. */
interface Found {
  readonly passages: readonly FoundPassageOfGraph[];
  readonly findings: Omit<GraphFindings, 'hits'>;
}

/** What searches are made with. */
interface SearchWork extends Pick<KnowledgeGraphsOptions, 'search'> {
  readonly held: HeldGraphs;
  readonly store: KnowledgeStore;
}

async function foundIn(
  { held, store, search }: SearchWork,
  tenant: string,
  query: GraphQuery,
  signal: AbortSignal,
): Promise<Found> {
  const { kind, question, datasetIds, level } = query;
  const limit = SPARE * boundedLimit(query.limit ?? 8);
  const parts: Found[] = [];
  for (const datasetId of [...new Set(datasetIds)]) {
    signal.throwIfAborted();
    const asks = await asksOf(kind, { question, limit, level, between: query.between }, async () => {
      const { hits } = await search(
        tenant,
        { question, datasetIds: [datasetId], pageSize: 50, similarityThreshold: 0 },
        signal,
      );
      return hits.map(({ chunk, similarity }) => ({ chunkId: chunk.id, score: similarity }));
    });
    let own: Found | undefined;
    for (const ask of asks) {
      const answer = await held.ask(tenant, datasetId, ask);
      if (answer !== undefined)
        own = joined(kind, [...(own === undefined ? [] : [own]), foundOf(kind, answer, datasetId)]);
    }
    if (own !== undefined) parts.push(own);
    else if ((await store.findDataset(tenant, datasetId)) === undefined)
      throw new EngineError('NOT_FOUND', `There is no dataset "${datasetId}".`);
  }
  if (parts.length > 0) return joined(kind, parts);
  const message = `None of the datasets ${JSON.stringify(datasetIds)} has a graph; build one first.`;
  throw new EngineError('GRAPH_MISSING', message);
}

/** The questions to one graph that a search is made of. */
async function asksOf(
  kind: GraphQuery['kind'],
  { question, limit, level, between }: Pick<GraphQuery, 'question' | 'level' | 'between'> & { readonly limit: number },
  byWords: () => Promise<readonly { readonly chunkId: string; readonly score: number }[]>,
): Promise<readonly GraphAsk[]> {
  switch (kind) {
    case 'local':
      return [{ kind, question, limit }];
    case 'global':
      return [{ kind, question, level, limit }];
    case 'drift':
      return [
        { kind: 'global', question, level, limit },
        { kind: 'local', question, limit },
      ];
    case 'path':
      return [{ kind, question, between }];
    case 'rank':
      return [{ kind, question, found: await byWords(), limit }];
  }
}

type Answer = GraphAnswers['local' | 'rank' | 'path' | 'global'];

function foundOf(kind: GraphQuery['kind'], answer: GraphAnswers[GraphAsk['kind']], datasetId: string): Found {
  const given = answer as Partial<GraphAnswers['path'] & GraphAnswers['global']> & Answer;
  const { entities, paths = [], points = [], read, of } = given;
  const passages = 'passages' in answer ? answer.passages : paths.flatMap(passagesOfPath);
  const findings = {
    kind,
    entities: entities.map(({ id, name, type, description }: ToldEntity) => ({
      id,
      name,
      type,
      description,
      datasetId,
    })),
    paths: paths.map(({ steps }) => steps),
    points,
    read: { done: read ?? passages.length, of: of ?? passages.length },
    isStale: false,
    spent: { calls: 0, tokens: 0 },
  };
  return { passages, findings };
}

/** Each step of a way by the passage that shows it; those of better ways first. */
function passagesOfPath({ steps, chunks }: GraphAnswers['path']['paths'][number], rank: number): FoundPassageOfGraph[] {
  const entities = [...new Set(steps.flatMap(({ from, to }) => [from, to]))];
  return chunks.flatMap((chunkId) =>
    chunkId === undefined ? [] : [{ chunkId, score: 1 / (1 + rank), why: { entities, steps } }],
  );
}

function joined(kind: GraphQuery['kind'], parts: readonly Found[]): Found {
  const [first, ...others] = parts as readonly [Found, ...Found[]];
  if (others.length === 0) return first;
  const all = parts.map(({ findings }) => findings);
  const sum = (of: (one: (typeof all)[number]) => number): number => all.reduce((total, one) => total + of(one), 0);
  const entities = new Map(all.flatMap((one) => one.entities).map((one) => [`${one.datasetId} ${one.id}`, one]));
  const findings = {
    kind,
    entities: [...entities.values()],
    paths: all.flatMap(({ paths }) => paths),
    points: all.flatMap(({ points }) => points).sort((a, b) => b.rating - a.rating),
    read: { done: sum(({ read }) => read.done), of: sum(({ read }) => read.of) },
    isStale: all.some(({ isStale }) => isStale),
    spent: { calls: sum(({ spent }) => spent.calls), tokens: sum(({ spent }) => spent.tokens) },
  };
  return { passages: parts.flatMap(({ passages }) => passages).sort((a, b) => b.score - a.score), findings };
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
