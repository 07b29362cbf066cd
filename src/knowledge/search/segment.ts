/** A segment of an index: how its rows are made, and what of it stays in memory. */
import { randomUUID } from 'node:crypto';
import { isJsonObject, type Json, parseJson } from '../../json.js';
import type { LoopSlices } from '../../operators/loop-slices.js';
import type { IndexRow, IndexScope, IndexStorage, SegmentEntry } from '../../records/index-storage.js';
import { compareKeys } from './memory-index-storage.js';
import type { PassageHead } from './passage.js';
import { type TermBlock, type TermPostings, termBlocks } from './postings.js';

/** Bits of the flags of a passage. */
export const GONE = 1;
export const HIDDEN = 2;

/** Kinds of rows. */
export const ROWS = { terms: 'terms', heads: 'heads', bodies: 'bodies', outline: 'outline' } as const;

/** Passages whose heads share a row. */
const HEADS_A_ROW = 128;
/** Bytes of rows that are written in one step: a few milliseconds of an embedded database. */
const STEP_BYTES = 12 * 1_024;
/** Rows of heads, and of bodies, that are read in one step. */
const HEAD_ROWS_A_STEP = 4;
const BODIES_A_STEP = 32;

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
  readonly heads: readonly StoredHead[];
  readonly flags: Uint8Array;
  /** Bodies in the order of places. */
  readonly bodies: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
  /** Terms ascending by their bytes. */
  readonly terms: AsyncIterable<TermPostings> | Iterable<TermPostings>;
}

/** Ids of segments that were begun before a time, in milliseconds, are below this text. Vectors are kept under ids that are above. */
export function segmentsBefore(time: number): string {
  return `s${Math.max(0, time).toString(36).padStart(9, '0')}`;
}

/** The turns of the event loop that long work takes. */
export type WorkSlices = Pick<LoopSlices, 'isOver' | 'next'>;

/** Writes the rows of a new segment, a few at a time; it counts from the commit of the entry that is given. */
export async function writeSegment(
  storage: Pick<IndexStorage, 'write'>,
  scope: IndexScope,
  { heads, flags, bodies, terms }: SegmentSource,
  slices: WorkSlices,
): Promise<SegmentEntry> {
  const id = `${segmentsBefore(Date.now())}${randomUUID().replaceAll('-', '')}`;
  const writer = rowWriter((rows) => storage.write(scope, id, rows), slices);
  const blocks: string[] = [];
  for await (const { first, bytes } of blocksOf(terms, slices)) {
    blocks.push(first);
    await writer.add({ kind: ROWS.terms, key: first, bytes });
  }
  let ordinal = 0;
  for await (const bytes of bodies) {
    await writer.add({ kind: ROWS.bodies, key: bodyKey(ordinal), bytes });
    ordinal += 1;
  }
  for (let from = 0; from < heads.length; from += HEADS_A_ROW) {
    const rows = heads.slice(from, from + HEADS_A_ROW).map(packHead);
    await writer.add({ kind: ROWS.heads, key: bodyKey(from), bytes: Buffer.from(JSON.stringify(rows)) });
  }
  await writer.add({ kind: ROWS.outline, key: '', bytes: Buffer.from(JSON.stringify(blocks)) });
  await writer.flush();
  return { id, flags };
}

async function* blocksOf(terms: SegmentSource['terms'], slices: WorkSlices): AsyncGenerator<TermBlock> {
  if (Symbol.iterator in terms) {
    yield* termBlocks(terms);
    return;
  }
  // In portions: blocks are made of terms that are there.
  let portion: TermPostings[] = [];
  for await (const term of terms) {
    portion.push(term);
    if (portion.length < 2_000) continue;
    yield* termBlocks(portion);
    portion = [];
    await slices.next();
  }
  yield* termBlocks(portion);
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
  const [outline, heads] = await Promise.all([
    storage.read(scope, id, ROWS.outline, ['']),
    readAll(storage, scope, id, ROWS.heads, HEAD_ROWS_A_STEP),
  ]);
  const blocks = textsOf(readJson(outline.get('')));
  const share = sharing();
  const loaded = heads.flatMap(({ bytes }) => listOf(readJson(bytes)).map((packed) => share(unpackHead(packed))));
  const ordinals = new Map(loaded.map((head, ordinal) => [head.id, ordinal]));
  const isWhole = outline.size > 0 && loaded.length === flags.length;
  return { id, blocks, flags, heads: loaded, ordinals, isWhole };
}

/** The bodies of a segment in the order of places; those that were erased are absent. */
export async function* bodiesOf(
  storage: IndexStorage,
  scope: IndexScope,
  segment: string,
): AsyncGenerator<{ readonly key: string; readonly bytes: Uint8Array }> {
  let after: string | undefined;
  for (;;) {
    const rows = await storage.list(scope, segment, ROWS.bodies, { after, limit: BODIES_A_STEP });
    yield* rows;
    if (rows.length < BODIES_A_STEP) return;
    after = rows.at(-1)?.key;
  }
}

async function readAll(storage: IndexStorage, scope: IndexScope, segment: string, kind: string, limit: number) {
  const all: IndexRow[] = [];
  for (;;) {
    const rows = await storage.list(scope, segment, kind, { after: all.at(-1)?.key, limit });
    all.push(...rows);
    if (rows.length < limit) return all;
  }
}

/** The key of the block that holds a term, if any does: the last block that begins at or before it. */
export function blockOf(blocks: readonly string[], term: string): string | undefined {
  let low = 0;
  let high = blocks.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareKeys(blocks[middle] as string, term) <= 0) low = middle + 1;
    else high = middle;
  }
  return blocks[low - 1];
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
function sharing(): (head: StoredHead) => StoredHead {
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
