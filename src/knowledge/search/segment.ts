/** A segment of an index: how its rows are made, and what of it stays in memory. */
import { randomUUID } from 'node:crypto';
import { isJsonObject, type Json, parseJson } from '../../json.js';
import type { LoopSlices } from '../../operators/loop-slices.js';
import type { IndexRow, IndexScope, IndexStorage, SegmentEntry } from '../../records/index-storage.js';
import { compareKeys } from './memory-index-storage.js';
import type { PassageHead } from './passage.js';
import type { TermBlock } from './postings.js';

/** Bits of the flags of a passage. */
export const GONE = 1;
export const HIDDEN = 2;

/** Kinds of rows. */
export const ROWS = { terms: 'terms', heads: 'heads', bodies: 'bodies', outline: 'outline' } as const;

/** Passages whose heads share a row. */
const HEADS_A_ROW = 128;
/** Bytes of rows that are written in one step: a few milliseconds of an embedded database. */
const STEP_BYTES = 12 * 1_024;
/** Rows of heads that are read in one step. */
const HEAD_ROWS_A_STEP = 4;

/** What stays in memory of a passage. */
export interface StoredHead extends PassageHead {
  /** Terms of the title, each once. */
  readonly titleTerms: readonly string[];
  /** What other passages may call this one: the terms of its title in order, with and without a bracketed end. */
  readonly names: readonly string[];
  /** First place of a part that is marked as an example, and the place behind it. */
  readonly example?: readonly [number, number] | undefined;
  /** Number of terms. */
  readonly length: number;
  /** Of the words that the passage was taken apart with. */
  readonly version: number;
}

/** A segment that searches read. */
export interface Segment {
  readonly id: string;
  readonly heads: readonly StoredHead[];
  /** Places of passages by id; of those that are gone, too. */
  readonly ordinals: ReadonlyMap<string, number>;
  /** First terms of the blocks, ascending. */
  readonly blocks: readonly string[];
  readonly flags: Uint8Array;
  /** Whether all was there when it was read; rows are deleted once another segment takes their place. */
  readonly isWhole: boolean;
}

/** The key of the body of a passage: keys are in the order of places. */
export function bodyKey(ordinal: number): string {
  return ordinal.toString(36).padStart(6, '0');
}

/** What a segment is written from. */
export interface SegmentSource {
  /** @default a new one, see {@link newSegmentId} */
  readonly id?: string;
  readonly heads: readonly StoredHead[];
  readonly flags: Uint8Array;
  /** Bodies in the order of places. */
  readonly bodies: Iterable<Uint8Array>;
  /** Blocks of terms ascending by their bytes. */
  readonly blocks: AsyncIterable<TermBlock> | Iterable<TermBlock>;
}

/** An id of which nothing is written yet. */
export function newSegmentId(): string {
  return `${segmentsBefore(Date.now())}${randomUUID().replaceAll('-', '')}`;
}

/** Ids of segments that were begun before a time, in milliseconds, are below this text. Vectors are kept under ids that are above. */
export function segmentsBefore(time: number): string {
  return `s${Math.max(0, time).toString(36).padStart(9, '0')}`;
}

/** The turns of the event loop that long work takes. */
export type WorkSlices = Pick<LoopSlices, 'isOver' | 'next'>;

/**
 * Writes the rows of a new segment, a few at a time; it counts from the commit of the entry that is given.
 *
 * @returns the entry, and the first terms of its blocks
 */
export async function writeSegment(
  storage: Pick<IndexStorage, 'write'>,
  scope: IndexScope,
  { id = newSegmentId(), heads, flags, bodies, blocks: made }: SegmentSource,
  slices: WorkSlices,
): Promise<SegmentEntry & Pick<Segment, 'blocks'>> {
  const writer = rowWriter((rows) => storage.write(scope, id, rows), slices);
  const blocks: string[] = [];
  for await (const { first, bytes } of made) {
    blocks.push(first);
    await writer.add({ kind: ROWS.terms, key: first, bytes });
  }
  let ordinal = 0;
  for (const bytes of bodies) {
    await writer.add({ kind: ROWS.bodies, key: bodyKey(ordinal), bytes });
    ordinal += 1;
  }
  for (let from = 0; from < heads.length; from += HEADS_A_ROW) {
    const rows = heads.slice(from, from + HEADS_A_ROW).map(packHead);
    await writer.add({ kind: ROWS.heads, key: bodyKey(from), bytes: Buffer.from(JSON.stringify(rows)) });
  }
  await writer.add({ kind: ROWS.outline, key: '', bytes: Buffer.from(JSON.stringify(blocks)) });
  await writer.flush();
  return { id, flags, blocks };
}

/** Gathers rows into steps of {@link STEP_BYTES}, and writes each. */
export function rowWriter(write: (rows: readonly IndexRow[]) => Promise<void>, slices: WorkSlices) {
  let rows: IndexRow[] = [];
  let bytes = 0;
  const flush = async (): Promise<void> => {
    if (rows.length > 0) await write(rows);
    rows = [];
    bytes = 0;
    await slices.next();
  };
  return {
    flush,
    async add(row: IndexRow): Promise<void> {
      rows.push(row);
      bytes += row.bytes.length;
      if (bytes >= STEP_BYTES) await flush();
      // Making rows is the larger part of the work.
      else if (slices.isOver) await slices.next();
    },
  };
}

/** Reads what stays in memory of a segment. */
export async function loadSegment(storage: IndexStorage, scope: IndexScope, entry: SegmentEntry): Promise<Segment> {
  const { id, flags } = entry;
  const outline = storage.read(scope, id, ROWS.outline, ['']);
  const share = sharing();
  const heads: StoredHead[] = [];
  let after: string | undefined;
  for (;;) {
    const rows = await storage.list(scope, id, ROWS.heads, { after, limit: HEAD_ROWS_A_STEP });
    // Page by page, so that a large segment does not hold the event loop.
    for (const { bytes } of rows) for (const packed of listOf(readJson(bytes))) heads.push(share(unpackHead(packed)));
    if (rows.length < HEAD_ROWS_A_STEP) break;
    after = rows.at(-1)?.key;
  }
  const named = await outline;
  const isWhole = named.size > 0 && heads.length === flags.length;
  return segmentOf({ id, flags, heads, blocks: textsOf(readJson(named.get(''))), isWhole });
}

/** A segment with the places of its passages by id. */
export function segmentOf(parts: Omit<Segment, 'ordinals'>): Segment {
  return { ...parts, ordinals: new Map(parts.heads.map(({ id }, ordinal) => [id, ordinal])) };
}

/** The key of the block that holds a term, if any does: the last block that begins at or before it. */
export function blockOf(blocks: readonly string[], term: string): string | undefined {
  return blocks[blockPlace(blocks, term)];
}

/** The place of the last block that begins at or before a term; -1 if none does. */
export function blockPlace(blocks: readonly string[], term: string): number {
  let low = 0;
  let high = blocks.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareKeys(blocks[middle] as string, term) <= 0) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

function packHead(head: StoredHead): readonly unknown[] {
  const { id, documentId, title, titleTerms, names, length, version, metadata, example = [] } = head;
  return [id, documentId, title, titleTerms, names, length, version, metadata, example];
}

function unpackHead(packed: Json): StoredHead {
  const [id, documentId, title, titleTerms, names, length, version, metadata, example] = listOf(packed);
  const [from, to] = listOf(example);
  return {
    id: String(id),
    documentId: String(documentId),
    title: String(title),
    titleTerms: textsOf(titleTerms),
    names: textsOf(names),
    length: Number(length),
    version: Number(version),
    metadata: isJsonObject(metadata) ? metadata : {},
    ...(from === undefined ? {} : { example: [Number(from), Number(to)] as const }),
  };
}

const NO_METADATA = {};

/** Gives heads one copy of what they have in common, as the passages of a document have: half of their memory. */
export function sharing(): (head: StoredHead) => StoredHead {
  const titles = new Map<string, StoredHead>();
  const documents = new Map<string, string>();
  return (head) => {
    const { metadata, version } = head;
    const key = `${version} ${head.title}`;
    const { title, titleTerms, names } = titles.get(key) ?? head;
    if (!titles.has(key)) titles.set(key, head);
    const documentId = documents.get(head.documentId) ?? head.documentId;
    documents.set(documentId, documentId);
    const own = Object.keys(metadata).length === 0 ? NO_METADATA : metadata;
    return { ...head, documentId, title, titleTerms, names, metadata: own };
  };
}

function readJson(bytes: Uint8Array | undefined): Json | undefined {
  if (bytes === undefined) return undefined;
  return parseJson(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString());
}

function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? (value as readonly Json[]) : [];
}

function textsOf(value: Json | undefined): readonly string[] {
  return listOf(value).map(String);
}
