/**
 * Which passages hold a term, as bytes. Terms stand one after another in blocks, so that a rare term is no row of its own:
 *
 * ```text
 * block = entry…        entry = term, number of passages, bytes of the postings, postings
 * postings = posting…   posting = (distance to the passage before x 2 + 1 for a single occurrence) [, occurrences]
 * ```
 */
import { ByteReader, ByteWriter } from './bytes.js';

/** Bytes after which a block is closed. A term that is in many passages makes a larger one. */
const BLOCK_BYTES = 8_192;

/** Passages that hold a term: their places in the segment, ascending, and how often each holds it. */
export interface TermPostings {
  readonly term: string;
  readonly ordinals: ArrayLike<number>;
  readonly counts: ArrayLike<number>;
}

/** A closed block. */
export interface TermBlock {
  /** Its first term, which is the key of its row. */
  readonly first: string;
  readonly bytes: Uint8Array;
}

/** Where the postings of a term are in a block. */
export interface FoundPostings {
  readonly bytes: Uint8Array;
  readonly from: number;
  readonly to: number;
  /** Passages, those that are gone or not available included. */
  readonly count: number;
}

/** Makes blocks of terms that come in ascending order. */
export function* termBlocks(terms: Iterable<TermPostings>): Generator<TermBlock> {
  let writer = new ByteWriter();
  let first: string | undefined;
  for (const { term, ordinals, counts } of terms) {
    first ??= term;
    writer.text(term);
    writer.number(ordinals.length);
    const postings = encodePostings(ordinals, counts);
    writer.number(postings.length);
    writer.raw(postings);
    if (writer.length < BLOCK_BYTES) continue;
    yield { first, bytes: writer.finish() };
    writer = new ByteWriter();
    first = undefined;
  }
  if (first !== undefined) yield { first, bytes: writer.finish() };
}

function encodePostings(ordinals: ArrayLike<number>, counts: ArrayLike<number>): Uint8Array {
  const writer = new ByteWriter();
  let last = -1;
  for (let at = 0; at < ordinals.length; at += 1) {
    const ordinal = ordinals[at] as number;
    const count = counts[at] as number;
    writer.number((ordinal - last - 1) * 2 + (count === 1 ? 1 : 0));
    if (count !== 1) writer.number(count);
    last = ordinal;
  }
  return writer.finish();
}

/** Looks a term up in a block; terms are compared as bytes, so nothing is decoded on the way. */
export function findTerm(block: Uint8Array, term: string): FoundPostings | undefined {
  const wanted = Buffer.from(term);
  const reader = new ByteReader(block);
  while (!reader.isAtEnd) {
    const length = reader.number();
    const isWanted = length === wanted.length && startsWith(block, reader.at, wanted);
    reader.at += length;
    const count = reader.number();
    const size = reader.number();
    const from = reader.at;
    if (isWanted) return { bytes: block, from, to: from + size, count };
    reader.at = from + size;
  }
  return undefined;
}

function startsWith(bytes: Uint8Array, at: number, wanted: Uint8Array): boolean {
  for (let index = 0; index < wanted.length; index += 1) if (bytes[at + index] !== wanted[index]) return false;
  return true;
}

/** All terms of a block, in order, with their postings. */
export function* termsOf(block: Uint8Array): Generator<TermPostings> {
  const reader = new ByteReader(block);
  while (!reader.isAtEnd) {
    const term = reader.text();
    const count = reader.number();
    const size = reader.number();
    const found = { bytes: block, from: reader.at, to: reader.at + size, count };
    reader.at += size;
    yield { term, ...decodePostings(found) };
  }
}

/** The postings as numbers. */
export function decodePostings({ bytes, from, to, count }: FoundPostings): {
  readonly ordinals: Uint32Array;
  readonly counts: Uint32Array;
} {
  const ordinals = new Uint32Array(count);
  const counts = new Uint32Array(count);
  const reader = new ByteReader(bytes, from, to);
  let last = -1;
  for (let at = 0; at < count && !reader.isAtEnd; at += 1) {
    const head = reader.number();
    last += (head >>> 1) + 1;
    ordinals[at] = last;
    counts[at] = head % 2 === 1 ? 1 : reader.number();
  }
  return { ordinals, counts };
}
