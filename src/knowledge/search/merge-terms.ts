/** The terms of several segments as those of one: a portion at a time, with nothing but its bytes, so that a thread can do it. */
import { compareKeys } from './memory-index-storage.js';
import { type TermBlock, type TermPostings, termBlocks, termsOf } from './postings.js';

/** The terms of some segments from one term on and below another one. */
export interface TermPortion {
  readonly from: string;
  /** @default no bound */
  readonly below: string | undefined;
  /** In their order; passages ascend with the segments. */
  readonly segments: readonly TermSource[];
}

/** What a segment has of a portion. */
export interface TermSource {
  /** Its blocks that may hold some of the terms, one behind another: one piece, which goes from thread to thread at the price of a copy. */
  readonly bytes: Uint8Array;
  /** Bytes of each block. */
  readonly lengths: readonly number[];
  /** New places of its passages by their old ones; -1 of those that are gone. */
  readonly places: Int32Array;
}

/** Blocks of a portion, as one piece of bytes. */
export interface MergedBlocks {
  readonly bytes: Uint8Array;
  /** In the order of their terms; `length` in bytes. */
  readonly blocks: readonly { readonly first: string; readonly length: number }[];
}

/** Merges the terms of a portion without a pause: for a thread that has nothing else to do. */
export function mergeTermPortion(portion: TermPortion): MergedBlocks {
  const made = [...termBlocks(mergedTerms(portion))];
  return {
    bytes: Buffer.concat(made.map(({ bytes }) => bytes)),
    blocks: made.map(({ first, bytes }) => ({ first, length: bytes.length })),
  };
}

/** The blocks of what `mergeTermPortion` made. */
export function* blocksOfPortion({ bytes, blocks }: MergedBlocks): Generator<TermBlock> {
  let from = 0;
  for (const { first, length } of blocks) {
    yield { first, bytes: bytes.subarray(from, from + length) };
    from += length;
  }
}

/** The terms of a portion, ascending, with the new places of passages that are left; terms without any are left out. */
export function* mergedTerms({ from, below, segments }: TermPortion): Generator<TermPostings> {
  const readers = segments.map((source) => ({ terms: termsIn(source, from, below), places: source.places }));
  const heads = readers.map(({ terms }) => terms.next());
  for (;;) {
    let least: string | undefined;
    for (const { done, value } of heads) {
      if (done !== true && (least === undefined || compareKeys(value.term, least) < 0)) least = value.term;
    }
    if (least === undefined) return;
    const ordinals: number[] = [];
    const counts: number[] = [];
    for (const [at, { terms, places }] of readers.entries()) {
      const head = heads[at] as IteratorResult<TermPostings, undefined>;
      if (head.done === true || head.value.term !== least) continue;
      const { ordinals: old, counts: own } = head.value;
      for (let item = 0; item < old.length; item += 1) {
        const place = places[old[item] as number] ?? -1;
        if (place < 0) continue;
        ordinals.push(place);
        counts.push(own[item] as number);
      }
      heads[at] = terms.next();
    }
    if (ordinals.length > 0) yield { term: least, ordinals, counts };
  }
}

function* termsIn(
  { bytes, lengths }: TermSource,
  from: string,
  below: string | undefined,
): Generator<TermPostings, undefined> {
  let at = 0;
  for (const length of lengths) {
    for (const found of termsOf(bytes.subarray(at, at + length))) {
      if (below !== undefined && compareKeys(found.term, below) >= 0) return;
      if (compareKeys(found.term, from) >= 0) yield found;
    }
    at += length;
  }
}
