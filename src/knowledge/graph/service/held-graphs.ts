/** Brings what is stored of a graph to the desk that holds it in memory. */
import type { ContributionHead, GraphNote } from '../../../records/graph-store.js';
import type { KnowledgeStore } from '../../../records/knowledge-store.js';
import type { PassageIndexes } from '../../base/ports.js';
import {
  DESCRIPTION_NOTE,
  MAX_DESCRIBED,
  readDescription,
  type WrittenDescription,
} from '../by-model/written-description.js';
import { type GraphLayer, MAX_NAME } from '../facts.js';
import type { GraphAnswers, GraphAsk } from '../graph-answers.js';
import type { NameDecision } from '../graph-records.js';
import type { ContributionKey, StoredContribution } from '../graph-session.js';
import { readContribution } from '../read-contribution.js';
import { MAX_WRITTEN, REPORT_NOTE, readWritten, type WrittenReport } from '../reports/written-report.js';
import { aliasesOfTerms } from '../rules/aliases-of-terms.js';
import { findGiven, type GivenHead, givenVersion, readLoose } from './given-store.js';
import type { GraphDesk } from './open-desk.js';

/** What graphs are read from, and where they are held. */
export interface HeldGraphsOptions {
  readonly store: KnowledgeStore;
  readonly indexes: Pick<PassageIndexes, 'generation'>;
  readonly desk: GraphDesk;
}

/** Graphs in memory that are as what is stored. */
export interface HeldGraphs {
  /** Answers a question about the graph of a dataset; undefined where nothing contributes to one. */
  ask<A extends GraphAsk>(tenant: string, datasetId: string, ask: A): Promise<GraphAnswers[A['kind']] | undefined>;
}

/** Heads and contributions of one statement; a run waits for one of them before its log is written. */
const HEADS = 1_000;
const CONTRIBUTIONS = 100;
const NOTES = 500;
const WRITTEN = 50;
/** Decisions and aliases that count. */
const MAX_NOTES = 20_000;

/** Loads graphs when they are asked for, and after a change what is different. */
export function createHeldGraphs({ store, indexes, desk }: HeldGraphsOptions): HeldGraphs {
  /** The revision that the desk holds, and how many contributions there are. */
  const held = new Map<string, { readonly revision: string; readonly size: number }>();
  const loads = new Map<string, Promise<number>>();

  const load = async (tenant: string, datasetId: string, graph: string): Promise<number> => {
    const revision = await revisionOf(tenant, datasetId);
    const known = held.get(graph);
    if (known !== undefined && revision !== undefined && known.revision === revision) return known.size;
    const given = await findGiven(store, tenant, datasetId);
    const keys = await keysOf(tenant, datasetId, given);
    const { decisions, aliases } = await notesOf(tenant, datasetId);
    const reports = await writtenOf(tenant, datasetId, REPORTS);
    const descriptions = await writtenOf(tenant, datasetId, DESCRIPTIONS);
    const missing = await desk.answer({ do: 'begin', graph, keys, decisions, aliases, reports, descriptions });
    if (given !== undefined && missing.some(({ chunkId }) => chunkId === '')) {
      const loose = { ...LOOSE, version: given.version, ...(await readLoose(store, tenant, datasetId, given)) };
      await desk.answer({ do: 'put', graph, contributions: [loose] });
    }
    const chunks = [...new Set(missing.flatMap(({ chunkId }) => (chunkId === '' ? [] : [chunkId])))];
    for (let from = 0; from < chunks.length; from += CONTRIBUTIONS) {
      const records = await store.readContributions(tenant, datasetId, chunks.slice(from, from + CONTRIBUTIONS));
      const contributions = records.flatMap((record): StoredContribution[] => {
        const { chunkId, documentId, version, textHash, body } = record;
        const layer = layerOf(record.layer, given);
        return layer === undefined
          ? []
          : [{ chunkId, documentId, version, layer, textHash, ...readContribution(body) }];
      });
      await desk.answer({ do: 'put', graph, contributions });
    }
    if (revision !== undefined) held.set(graph, { revision, size: keys.length });
    return keys.length;
  };
  const revisionOf = async (tenant: string, datasetId: string): Promise<string | undefined> => {
    if (indexes.generation === undefined) return undefined;
    const [generation, revision] = await Promise.all([
      indexes.generation(tenant, datasetId),
      store.graphRevision(tenant, datasetId),
    ]);
    return `${generation} ${revision}`;
  };
  const keysOf = async (
    tenant: string,
    datasetId: string,
    given: GivenHead | undefined,
  ): Promise<ContributionKey[]> => {
    const keys: ContributionKey[] = [];
    if (given !== undefined && given.notes > 0) keys.push({ ...LOOSE, version: given.version });
    let last: ContributionHead | undefined;
    for (;;) {
      const heads = await store.contributionHeads(tenant, datasetId, last, HEADS);
      for (const { chunkId, layer: stored, version, textHash } of heads) {
        const layer = layerOf(stored, given);
        if (layer !== undefined) keys.push({ chunkId, layer, version, textHash });
      }
      last = heads.at(-1);
      if (heads.length < HEADS) return keys;
    }
  };
  const notesOf = async (tenant: string, datasetId: string) => {
    const decisions: NameDecision[] = [];
    const aliases: (readonly [string, string])[] = [];
    for (const kind of ['decision', 'alias'] as const) {
      let after: string | undefined;
      while (decisions.length + aliases.length < MAX_NOTES) {
        const notes = await store.listNotes(tenant, datasetId, kind, after, NOTES);
        for (const { key, value } of notes) {
          if (kind === 'alias') {
            if (pairOf([value.entity, value.alias]) !== undefined)
              aliases.push([value.entity as string, value.alias as string]);
            continue;
          }
          const names = pairOf(value.names);
          if (names === undefined) continue;
          decisions.push({
            id: key,
            names,
            kind: value.kind === 'apart' ? 'apart' : 'same',
            by: value.by === 'model' ? 'model' : 'user',
          });
        }
        after = notes.at(-1)?.key;
        if (notes.length < NOTES) break;
      }
    }
    const dataset = await store.findDataset(tenant, datasetId);
    return { decisions, aliases: [...aliases, ...aliasesOfTerms(dataset ?? {})] };
  };
  /** What a model wrote, by the kind of its notes. */
  const writtenOf = async <T>(
    tenant: string,
    datasetId: string,
    { kind, read, most }: WrittenNotes<T>,
  ): Promise<readonly T[]> => {
    const found: T[] = [];
    let after: string | undefined;
    while (found.length < most) {
      const notes = await store.listNotes(tenant, datasetId, kind, after, WRITTEN);
      for (const note of notes) {
        const written = read(note);
        if (written !== undefined) found.push(written);
      }
      after = notes.at(-1)?.key;
      if (notes.length < WRITTEN) break;
    }
    return found;
  };
  const loaded = (tenant: string, datasetId: string, graph: string): Promise<number> => {
    const known = loads.get(graph);
    if (known !== undefined) return known;
    const loading = load(tenant, datasetId, graph).finally(() => loads.delete(graph));
    loads.set(graph, loading);
    return loading;
  };
  return {
    async ask<A extends GraphAsk>(tenant: string, datasetId: string, ask: A) {
      const graph = JSON.stringify([tenant, datasetId]);
      for (let attempt = 0; attempt < 3; attempt += 1) {
        if ((await loaded(tenant, datasetId, graph)) === 0) return undefined;
        const answer = await desk.answer({ do: 'ask', graph, ask });
        if (answer !== undefined) return answer as GraphAnswers[A['kind']];
        // The desk has let go of it meanwhile.
        held.delete(graph);
      }
      return undefined;
    },
  };
}

/** Notes of one kind that a model wrote, and how many count. */
interface WrittenNotes<T> {
  readonly kind: string;
  readonly read: (note: GraphNote) => T | undefined;
  readonly most: number;
}

const REPORTS: WrittenNotes<WrittenReport> = { kind: REPORT_NOTE, read: readWritten, most: MAX_WRITTEN };
const DESCRIPTIONS: WrittenNotes<WrittenDescription> = {
  ...{ kind: DESCRIPTION_NOTE, read: readDescription, most: MAX_DESCRIBED },
};

/** Of what names no chunk. */
const LOOSE = { chunkId: '', documentId: '', layer: 'given' } as const;

/** The layer of a stored contribution; undefined for one of users that is of another version than the one that counts. */
function layerOf(stored: string, given: GivenHead | undefined): GraphLayer | undefined {
  const version = givenVersion(stored);
  if (version === undefined) return stored as GraphLayer;
  return version === given?.version ? 'given' : undefined;
}

/** Two names, sorted; undefined for what is none. */
export function pairOf(value: unknown): readonly [string, string] | undefined {
  if (!Array.isArray(value) || value.length !== 2) return undefined;
  const [left, right] = value as unknown[];
  const isName = (one: unknown): one is string =>
    typeof one === 'string' && one.trim() !== '' && one.length <= MAX_NAME;
  if (!isName(left) || !isName(right)) return undefined;
  return left < right ? [left, right] : [right, left];
}
