/** Graphs that users give, as they are stored: replaced as a whole, so that readers have the old one or the new one. */
import { randomUUID } from 'node:crypto';
import type { JsonObject } from '../../../json.js';
import { type ContributionRecord, textHash } from '../../../records/graph-store.js';
import type { ChunkRecord } from '../../../records/knowledge.js';
import type { KnowledgeStore } from '../../../records/knowledge-store.js';
import type { Contribution } from '../facts.js';
import type { GivenContributions } from '../given/given-contributions.js';

/** The graph of users that counts. */
export interface GivenHead {
  /** Of the whole; another one is another graph. */
  readonly version: string;
  /** Notes that hold what names no chunk. */
  readonly notes: number;
}

/** Kinds of notes: which version counts, all versions that were begun. */
const CURRENT = 'given';
const BEGUN = 'given-begun';
const KEY = 'current';
/** Records of one statement. */
const ROWS = 100;
const NOTES = 10;
/** Versions of a dataset that are looked at: others are left by processes that were lost. */
const MAX_BEGUN = 100;
/** Milliseconds after which a version that does not count is what a lost process left. */
const LOST_MS = 3_600_000;

/** Layer of contributions, and kind of notes, of a version. */
export function givenLayer(version: string): string {
  return `given:${version}`;
}

/** The version of contributions of users; undefined for those of other layers. */
export function givenVersion(layer: string): string | undefined {
  return layer.startsWith('given:') ? layer.slice('given:'.length) : undefined;
}

/** Which graph of users a dataset has. */
export async function findGiven(
  store: KnowledgeStore,
  tenant: string,
  datasetId: string,
): Promise<GivenHead | undefined> {
  const [head] = await store.listNotes(tenant, datasetId, CURRENT, undefined, 1);
  if (head === undefined) return undefined;
  const { version, notes } = head.value;
  return { version: String(version), notes: Number(notes) };
}

/** What of it names no chunk. */
export async function readLoose(
  store: KnowledgeStore,
  tenant: string,
  datasetId: string,
  { version }: GivenHead,
): Promise<Contribution> {
  const all: Contribution[] = [];
  let after: string | undefined;
  for (;;) {
    const notes = await store.listNotes(tenant, datasetId, givenLayer(version), after, NOTES);
    // It was checked when it was given, and there is much of it.
    for (const { value } of notes) all.push(value as unknown as Contribution);
    if (notes.length < NOTES) break;
    after = notes.at(-1)?.key;
  }
  return { mentions: all.flatMap(({ mentions }) => mentions), relations: all.flatMap(({ relations }) => relations) };
}

/**
 * Stores a graph in place of the one before. A version is written beside it, counts from one statement on, and then the other is deleted; what lost processes
 * left goes with it.
 */
export async function replaceGiven(
  { store, now }: { readonly store: KnowledgeStore; readonly now: () => number },
  { tenant, datasetId }: { readonly tenant: string; readonly datasetId: string },
  { byChunk, loose }: GivenContributions,
  chunks: ReadonlyMap<string, ChunkRecord>,
): Promise<GivenHead> {
  const version = randomUUID().replaceAll('-', '');
  const before = await findGiven(store, tenant, datasetId);
  await store.putNotes(tenant, datasetId, BEGUN, [{ key: version, value: { at: now() } }]);
  const layer = givenLayer(version);
  const records = [...byChunk].flatMap(([id, contribution]): ContributionRecord[] => {
    const chunk = chunks.get(id);
    if (chunk === undefined) return [];
    const { documentId, text } = chunk;
    const body = contribution as unknown as JsonObject;
    return [{ chunkId: id, documentId, layer, version, textHash: textHash(text), body }];
  });
  for (let at = 0; at < records.length; at += ROWS)
    await store.putContributions(tenant, datasetId, records.slice(at, at + ROWS));
  const notes = loose.map((value, at) => ({
    key: String(at).padStart(6, '0'),
    value: value as unknown as JsonObject,
  }));
  for (let at = 0; at < notes.length; at += NOTES)
    await store.putNotes(tenant, datasetId, layer, notes.slice(at, at + NOTES));
  const head = { version, notes: notes.length };
  await store.putNotes(tenant, datasetId, CURRENT, [{ key: KEY, value: head }]);
  const begun = await store.listNotes(tenant, datasetId, BEGUN, undefined, MAX_BEGUN);
  for (const { key, value } of begun) {
    const isLost = typeof value.at !== 'number' || value.at < now() - LOST_MS;
    if (key === version || (key !== before?.version && !isLost)) continue;
    await store.deleteContributions(tenant, datasetId, givenLayer(key));
    await store.deleteNotes(tenant, datasetId, givenLayer(key));
    await store.deleteNotes(tenant, datasetId, BEGUN, [key]);
  }
  return head;
}
