/** Brings what is stored of a graph to the desk that holds it in memory. */
import { addTo } from '../../../group-by.js';
import { Newest } from '../../../newest.js';
import { type ContributionHead, GRAPH_SHARDS, shardOf } from '../../../records/graph-store.js';
import type { KnowledgeStore } from '../../../records/knowledge-store.js';
import type { GraphLayer } from '../facts.js';
import type { GraphAnswers, GraphAsk } from '../graph-answers.js';
import type { ContributionKey, StoredContribution } from '../graph-session.js';
import { readContribution } from '../read-contribution.js';
import { findGiven, type GivenHead, givenVersion, readLoose } from './given-store.js';
import { readNotes } from './graph-notes.js';
import type { GraphDesk } from './open-desk.js';

/** What graphs are read from, and where they are held. */
export interface HeldGraphsOptions {
  readonly store: KnowledgeStore;
  readonly desk: GraphDesk;
}

/** Graphs in memory that are as what is stored. */
export interface HeldGraphs {
  /** Answers a question about the graph of a dataset; undefined where nothing contributes to one. */
  ask<A extends GraphAsk>(tenant: string, datasetId: string, ask: A): Promise<GraphAnswers[A['kind']] | undefined>;
}

/** What the desk holds of a graph. */
interface HeldGraph {
  /** Of the notes. */
  readonly revision: number;
  readonly given: GivenHead | undefined;
  /** Revisions of shards, 0 where there is none. */
  readonly shards: ReadonlyMap<number, number>;
  /** How many contributions there are of each shard. */
  readonly sizes: ReadonlyMap<number, number>;
}

/** All contributions that there are of some shards. */
type ShardKeys = ReadonlyMap<number, readonly ContributionKey[]>;

/** Which graph, and the graph of users that counts in it. */
interface GraphPlace {
  readonly tenant: string;
  readonly datasetId: string;
  readonly graph: string;
  readonly given: GivenHead | undefined;
}

/** A load of a graph: what asks before it has begun waits for it. */
interface Load {
  hasBegun: boolean;
  readonly done: Promise<number | undefined>;
}

/** Heads and contributions of one statement; a run waits for one of them before its log is written. */
const HEADS = 1_000;
const CONTRIBUTIONS = 100;
/** Keys of one message to the desk, or those of one shard. */
const KEYS = 5_000;
/** Shards from which on the heads of all are read, in fewer statements. */
const MANY_SHARDS = 16;
/** Graphs of which it is known what the desk holds; of others everything is compared. */
const MAX_KNOWN = 10_000;
const ATTEMPTS = 3;

/** Loads graphs when they are asked for, and after a change the shards that are different. */
export function createHeldGraphs({ store, desk }: HeldGraphsOptions): HeldGraphs {
  const held = new Newest<HeldGraph>({ maxCount: MAX_KNOWN });
  const loads = new Map<string, Load>();

  /** How many contributions there are; undefined when the desk has let go of the graph. */
  const load = async (tenant: string, datasetId: string, graph: string): Promise<number | undefined> => {
    // Before what they are of: a change in between is seen again the next time.
    const [revision, shards] = await Promise.all([
      store.graphRevision(tenant, datasetId),
      store.shardRevisions(tenant, datasetId),
    ]);
    const known = held.touch(graph);
    if (shards === undefined) {
      held.delete(graph);
      if (known !== undefined) await desk.answer({ do: 'drop', graph });
      return 0;
    }
    const hasNotes = known?.revision === revision;
    const given = hasNotes ? known.given : await findGiven(store, tenant, datasetId);
    const isWhole = known === undefined || known.given?.version !== given?.version;
    const changed = changedShards(isWhole ? undefined : known.shards, shards);
    if (hasNotes && changed.length === 0) return sum(known.sizes);
    const notes = hasNotes ? undefined : await readNotes(store, tenant, datasetId);
    if (!(await desk.answer({ do: 'begin', graph, isWhole, notes }))) return undefined;
    const place = { tenant, datasetId, graph, given };
    const keys = await keysOf(place, hasNotes ? changed : [LOOSE_SHARD, ...changed]);
    for (const some of inMessages(keys)) {
      const missing = await desk.answer({
        do: 'keep',
        graph,
        shards: [...some.keys()],
        keys: [...some.values()].flat(),
      });
      if (missing === undefined || !(await put(place, missing))) return undefined;
    }
    if (!(await desk.answer({ do: 'end', graph }))) return undefined;
    const sizes = new Map(known?.sizes);
    for (const [shard, own] of keys) sizes.set(shard, own.length);
    held.put(graph, { revision, given, shards, sizes });
    return sum(sizes);
  };
  const keysOf = async ({ tenant, datasetId, given }: GraphPlace, shards: readonly number[]): Promise<ShardKeys> => {
    const keys = new Map<number, ContributionKey[]>(shards.map((shard) => [shard, []]));
    if (keys.has(LOOSE_SHARD) && given !== undefined && given.notes > 0)
      addTo(keys, LOOSE_SHARD, { ...LOOSE, version: given.version });
    const add = ({ chunkId, documentId, layer: stored, version, textHash }: ContributionHead): void => {
      const layer = layerOf(stored, given);
      if (layer !== undefined) addTo(keys, shardOf(documentId), { chunkId, layer, version, textHash });
    };
    if (shards.length >= MANY_SHARDS) {
      await inPages((after) => store.contributionHeads(tenant, datasetId, after, HEADS), add);
      return keys;
    }
    for (const shard of shards)
      if (shard !== LOOSE_SHARD)
        await inPages((after) => store.shardHeads(tenant, datasetId, shard, after, HEADS), add);
    return keys;
  };
  /** Whether the desk still holds the graph. */
  const put = async (
    { tenant, datasetId, graph, given }: GraphPlace,
    missing: readonly ContributionKey[],
  ): Promise<boolean> => {
    if (given !== undefined && missing.some(({ chunkId }) => chunkId === '')) {
      const read = await readLoose(store, tenant, datasetId, given);
      const loose = { ...LOOSE, shard: LOOSE_SHARD, version: given.version, ...read };
      if (!(await desk.answer({ do: 'put', graph, contributions: [loose] }))) return false;
    }
    const chunks = [...new Set(missing.flatMap(({ chunkId }) => (chunkId === '' ? [] : [chunkId])))];
    for (let from = 0; from < chunks.length; from += CONTRIBUTIONS) {
      const records = await store.readContributions(tenant, datasetId, chunks.slice(from, from + CONTRIBUTIONS));
      const contributions = records.flatMap((record): StoredContribution[] => {
        const { chunkId, documentId, version, textHash, body } = record;
        const layer = layerOf(record.layer, given);
        const shard = shardOf(documentId);
        return layer === undefined
          ? []
          : [{ chunkId, documentId, shard, version, layer, textHash, ...readContribution(body) }];
      });
      if (!(await desk.answer({ do: 'put', graph, contributions }))) return false;
    }
    return true;
  };
  /** One load at a time; one that is under way may have read what has changed since. */
  const loaded = (tenant: string, datasetId: string, graph: string): Promise<number | undefined> => {
    const last = loads.get(graph);
    if (last?.hasBegun === false) return last.done;
    const own: Load = {
      hasBegun: false,
      done: Promise.resolve(last?.done.catch(() => undefined))
        .then(() => {
          own.hasBegun = true;
          return load(tenant, datasetId, graph);
        })
        .finally(() => {
          if (loads.get(graph) === own) loads.delete(graph);
        }),
    };
    loads.set(graph, own);
    return own.done;
  };
  return {
    async ask<A extends GraphAsk>(tenant: string, datasetId: string, ask: A) {
      const graph = JSON.stringify([tenant, datasetId]);
      for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
        const size = await loaded(tenant, datasetId, graph);
        if (size === 0) return undefined;
        const answer = size === undefined ? undefined : await desk.answer({ do: 'ask', graph, ask });
        if (answer !== undefined) return answer as GraphAnswers[A['kind']];
        // The desk has let go of it meanwhile.
        held.delete(graph);
      }
      return undefined;
    },
  };
}

/** Of what names no chunk. */
const LOOSE = { chunkId: '', documentId: '', layer: 'given' } as const;
/** Beside those of documents. */
const LOOSE_SHARD = -1;

/** The layer of a stored contribution; undefined for one of users that is of another version than the one that counts. */
function layerOf(stored: string, given: GivenHead | undefined): GraphLayer | undefined {
  const version = givenVersion(stored);
  if (version === undefined) return stored as GraphLayer;
  return version === given?.version ? 'given' : undefined;
}

/** @param known undefined: all */
function changedShards(known: ReadonlyMap<number, number> | undefined, now: ReadonlyMap<number, number>): number[] {
  const all = Array.from({ length: GRAPH_SHARDS }, (_, shard) => shard);
  return known === undefined ? all : all.filter((shard) => (known.get(shard) ?? 0) !== (now.get(shard) ?? 0));
}

async function inPages(
  read: (after: ContributionHead | undefined) => Promise<readonly ContributionHead[]>,
  add: (head: ContributionHead) => void,
): Promise<void> {
  let last: ContributionHead | undefined;
  for (;;) {
    const heads = await read(last);
    for (const head of heads) add(head);
    last = heads.at(-1);
    if (heads.length < HEADS) return;
  }
}

/** So many shards at a time as one message holds. */
function* inMessages(keys: ShardKeys): Generator<ShardKeys> {
  let some = new Map<number, readonly ContributionKey[]>();
  let size = 0;
  for (const [shard, own] of keys) {
    if (some.size > 0 && size + own.length > KEYS) {
      yield some;
      some = new Map();
      size = 0;
    }
    some.set(shard, own);
    size += own.length;
  }
  if (some.size > 0) yield some;
}

function sum(sizes: ReadonlyMap<number, number>): number {
  let all = 0;
  for (const size of sizes.values()) all += size;
  return all;
}
