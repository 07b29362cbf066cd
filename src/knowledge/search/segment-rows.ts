/** What threads do for an index, where it holds no other work up: they make a segment as one message, and merge terms; the process reads and writes. */
import type { IndexRow, IndexScope, IndexStorage, SegmentEntry } from '../../records/index-storage.js';
import type { Words } from '../words/words.js';
import { buildSegment } from './build-segment.js';
import type { MergedBlocks, TermPortion } from './merge-terms.js';
import type { Passage } from './passage.js';
import { rowWriter, type WorkSlices } from './segment.js';

/** The rows of a segment that is not written yet. Their bytes are one piece, which goes from thread to thread at the price of a copy. */
export interface SegmentRows extends SegmentEntry {
  /** In the order in which they are written; `length` in bytes. */
  readonly rows: readonly { readonly kind: string; readonly key: string; readonly length: number }[];
  readonly bytes: Uint8Array;
}

/** What is done in threads; a rejected promise says that none can be had, or why it failed. */
export interface SegmentThreads {
  /** See {@link makeSegmentRows}. */
  makeRows(tenant: string, passages: readonly Passage[], signal?: AbortSignal): Promise<SegmentRows>;
  /** See {@link mergeTermPortion}. */
  mergeTerms(tenant: string, portion: TermPortion): Promise<MergedBlocks>;
}

/** Takes passages apart without a pause: for a thread that has nothing else to do. The rows are those that `buildSegment` writes. */
export async function makeSegmentRows(passages: readonly Passage[], words: Words): Promise<SegmentRows> {
  const made: IndexRow[] = [];
  const collected = {
    write: async (_scope: IndexScope, _id: string, rows: readonly IndexRow[]) => void made.push(...rows),
  };
  const { id, flags } = await buildSegment(collected, NO_SCOPE, passages, { words, slices: NO_SLICES });
  const rows = made.map(({ kind, key, bytes }) => ({ kind, key, length: bytes.length }));
  return { id, flags, rows, bytes: Buffer.concat(made.map(({ bytes }) => bytes)) };
}

const NO_SCOPE: IndexScope = { tenant: '', dataset: '' };
const NO_SLICES: WorkSlices = { isOver: false, next: async () => {} };

/** Writes such rows, a few at a time; the segment counts from the commit of the entry that is given. */
export async function writeSegmentRows(
  storage: Pick<IndexStorage, 'write'>,
  scope: IndexScope,
  { id, flags, rows, bytes }: SegmentRows,
  slices: WorkSlices,
): Promise<SegmentEntry> {
  const writer = rowWriter((some) => storage.write(scope, id, some), slices);
  let from = 0;
  for (const { kind, key, length } of rows) {
    await writer.add({ kind, key, bytes: bytes.subarray(from, from + length) });
    from += length;
  }
  await writer.flush();
  return { id, flags };
}
