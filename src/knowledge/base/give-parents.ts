/** Passages in place of the parts that were found of them. */
import type { ChunkRecord } from '../../records/knowledge.js';
import type { KnowledgeStore } from '../../records/knowledge-store.js';

/** A part of a passage that a search found. */
export interface FoundPart {
  /** Id of the chunk that the part is. */
  readonly id: string;
  /** Where it stands in the text of the document, in UTF-16 units. */
  readonly start: number;
  readonly end: number;
  /** From 1; null when the document has none. */
  readonly page: number | null;
}

/** What of a hit is read and changed. */
export interface PartedHit {
  readonly chunk: ChunkRecord;
  /** The parts by which the passage was found, the best first; absent where it was found by itself. */
  readonly matches?: readonly FoundPart[] | undefined;
}

/** Chunks that are read in one go. */
const BATCH = 500;
/** Parts of one passage that are told. */
const MAX_PARTS = 20;

/**
 * Gives each passage whose parts were found once, in the place of its best part and with its similarity; the parts are told in `matches`. A part that a user
 * wrote anew, or whose passage is not stored any more, is given as it is.
 */
export async function withParents<H extends PartedHit>(
  store: Pick<KnowledgeStore, 'findChunks'>,
  tenant: string,
  hits: readonly H[],
  signal: AbortSignal,
): Promise<readonly H[]> {
  const wanted = new Set(hits.flatMap(({ chunk }) => (isPart(chunk) ? chunk.parent.first : [])));
  if (wanted.size === 0) return hits;
  const texts = await textsOf(store, tenant, [...wanted], signal);
  const given: H[] = [];
  const matches = new Map<string, FoundPart[]>();
  for (const hit of hits) {
    const { chunk } = hit;
    const text = isPart(chunk) ? texts.get(chunk.parent.first) : undefined;
    if (!isPart(chunk) || text === undefined) {
      given.push(hit);
      continue;
    }
    const { first, text: _, ...parent } = chunk.parent;
    const part = { id: chunk.id, start: chunk.start, end: chunk.end, page: chunk.page };
    const known = matches.get(first);
    if (known !== undefined) {
      if (known.length < MAX_PARTS) known.push(part);
      continue;
    }
    const own = [part];
    matches.set(first, own);
    const page = parent.positions[0]?.[0] ?? null;
    const { pageStarts: __, ...rest } = chunk;
    given.push({ ...hit, chunk: { ...rest, ...parent, text, page }, matches: own });
  }
  return given;
}

/** Which passage a hit gives: several searches may find different parts of one. */
export function passageIdOf({ chunk, matches }: PartedHit): string {
  return matches === undefined ? chunk.id : (chunk.parent?.first ?? chunk.id);
}

type PartRecord = ChunkRecord & {
  readonly parent: NonNullable<ChunkRecord['parent']>;
  readonly start: number;
  readonly end: number;
};

function isPart(chunk: ChunkRecord): chunk is PartRecord {
  return chunk.parent !== undefined && chunk.start !== null && chunk.end !== null;
}

async function textsOf(
  store: Pick<KnowledgeStore, 'findChunks'>,
  tenant: string,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const texts = new Map<string, string>();
  for (let at = 0; at < ids.length; at += BATCH) {
    for (const { id, parent } of await store.findChunks(tenant, ids.slice(at, at + BATCH))) {
      if (parent?.text !== undefined) texts.set(id, parent.text);
    }
    signal.throwIfAborted();
  }
  return texts;
}
