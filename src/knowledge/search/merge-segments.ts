/** Several segments as one. */
import type { IndexScope, IndexStorage } from '../../records/index-storage.js';
import { compareKeys } from './memory-index-storage.js';
import { blocksOfPortion, type MergedBlocks, mergedTerms, type TermPortion, type TermSource } from './merge-terms.js';
import { type TermBlock, TermBlockWriter } from './postings.js';
import {
  blockPlace,
  bodyKey,
  GONE,
  newSegmentId,
  ROWS,
  type Segment,
  type StoredHead,
  segmentOf,
  sharing,
  type WorkSlices,
  writeSegment,
} from './segment.js';

/** Blocks of a portion, those of all segments counted: half a megabyte, some 50 ms of a thread. */
const BLOCKS_A_PORTION = 64;
/** Bytes of a portion that is merged in place where there are threads: some 2 ms. */
const MAX_IN_PLACE = 16_384;
/** Terms that are merged in place between two looks at the clock. */
const TERMS_A_LOOK = 32;
/** Bodies that are copied in one call. */
const BODIES_A_STEP = 128;
/** Heads between two looks at the clock. */
const HEADS_A_LOOK = 64;

/** How segments are merged. */
export interface MergeOptions {
  /** Turns that the work takes. */
  readonly slices: WorkSlices;
  /** Merges terms elsewhere; gives undefined where it cannot. @default they are merged in slices */
  readonly mergeTerms?: ((portion: TermPortion) => Promise<MergedBlocks | undefined>) | undefined;
}

/** A place of a segment that is merged, and where it goes. */
interface Moved {
  readonly segment: Segment;
  /** New places by old ones; -1 of passages that are gone. */
  readonly places: Int32Array;
}

/**
 * Writes some segments as one, without the passages that are gone; gives undefined when none is left. A search finds the same as if the passages that
 * are left had been added together, in this order.
 *
 * Terms are merged portion by portion, so that memory has a bound; what was found in passages is copied inside the storage.
 */
export async function mergeSegments(
  storage: IndexStorage,
  scope: IndexScope,
  segments: readonly Segment[],
  options: MergeOptions,
): Promise<Segment | undefined> {
  const { slices } = options;
  const share = sharing();
  const heads: StoredHead[] = [];
  const flags: number[] = [];
  const moved: Moved[] = [];
  for (const segment of segments) {
    const places = new Int32Array(segment.heads.length).fill(-1);
    for (const [ordinal, head] of segment.heads.entries()) {
      if (ordinal % HEADS_A_LOOK === 0 && slices.isOver) await slices.next();
      const flag = segment.flags[ordinal] ?? 0;
      if ((flag & GONE) !== 0) continue;
      flags.push(flag);
      places[ordinal] = heads.push(share(head)) - 1;
    }
    moved.push({ segment, places });
  }
  if (heads.length === 0) return undefined;
  const id = newSegmentId();
  for (const one of moved) await copyBodies(storage, scope, one, id);
  const blocks = mergedBlocks(storage, scope, moved, options);
  const source = { id, heads, flags: Uint8Array.from(flags), bodies: [], blocks };
  const entry = await writeSegment(storage, scope, source, slices);
  return segmentOf({ ...entry, heads, isWhole: true });
}

async function copyBodies(
  storage: IndexStorage,
  scope: IndexScope,
  { segment, places }: Moved,
  to: string,
): Promise<void> {
  for (let from = 0; from < places.length; from += BODIES_A_STEP) {
    const keys = new Map<string, string>();
    for (const [at, place] of places.subarray(from, from + BODIES_A_STEP).entries()) {
      if (place >= 0) keys.set(bodyKey(from + at), bodyKey(place));
    }
    if (keys.size > 0) await storage.copy(scope, { from: segment.id, to }, ROWS.bodies, keys);
  }
}

async function* mergedBlocks(
  storage: IndexStorage,
  scope: IndexScope,
  moved: readonly Moved[],
  { slices, mergeTerms }: MergeOptions,
): AsyncGenerator<TermBlock> {
  for (const { from, below } of portionsOf(moved.map(({ segment }) => segment.blocks))) {
    const segments = await Promise.all(moved.map((one) => readSource(storage, scope, one, from, below)));
    const portion = { from, below, segments };
    const bytes = segments.reduce((sum, { bytes: { length } }) => sum + length, 0);
    const made = bytes > MAX_IN_PLACE ? await mergeTerms?.(portion) : undefined;
    yield* made === undefined ? mergedInPlace(portion, slices) : blocksOfPortion(made);
  }
}

/** Ranges of terms that have about as many blocks each. */
function portionsOf(outlines: readonly (readonly string[])[]): readonly Pick<TermPortion, 'from' | 'below'>[] {
  const firsts = outlines.flat().sort(compareKeys);
  const bounds = firsts.filter((_, at) => at > 0 && at % BLOCKS_A_PORTION === 0);
  return ['', ...new Set(bounds)].map((from, at, all) => ({ from, below: all[at + 1] }));
}

async function readSource(
  storage: IndexStorage,
  scope: IndexScope,
  { segment: { id, blocks }, places }: Moved,
  from: string,
  below: string | undefined,
): Promise<TermSource> {
  const behind = below === undefined ? blocks.length : blockPlace(blocks, below) + 1;
  const keys = blocks.slice(Math.max(0, blockPlace(blocks, from)), behind);
  const rows = await storage.read(scope, id, ROWS.terms, keys);
  const read = keys.map((key) => rows.get(key) ?? NO_BYTES);
  return { bytes: Buffer.concat(read), lengths: read.map(({ length }) => length), places };
}

const NO_BYTES = new Uint8Array();

async function* mergedInPlace(portion: TermPortion, slices: WorkSlices): AsyncGenerator<TermBlock> {
  const writer = new TermBlockWriter();
  let terms = 0;
  for (const term of mergedTerms(portion)) {
    terms += 1;
    if (terms % TERMS_A_LOOK === 0 && slices.isOver) await slices.next();
    const block = writer.add(term);
    if (block !== undefined) yield block;
  }
  const last = writer.finish();
  if (last !== undefined) yield last;
}
