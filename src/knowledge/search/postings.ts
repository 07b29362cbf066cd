/**
 * Which passages hold a term, as bytes. Terms stand one after another in blocks, so that a rare term is no row of its own:
 *
 * ```text
 * block    = 0, version, entry…
 * entry    = lengths of what the term shares with the one before and of its own end, end, number of passages, postings
 * postings = of one passage: its place x 2 + 1 for a single occurrence [, occurrences]
 *            of more:        bytes of the bits; bits = order (5), then of each passage the distance to the one before and its occurrences - 1
 * ```
 *
 * Numbers are those of `bytes.ts` and `bits.ts`. Blocks of the first version, which begin with the length of a term and so never with 0, are written anew when
 * they are read; merging segments stores them so.
 */
import { EngineError } from '../../errors.js';
import { BitWriter, bestOrder, MAX_NUMBER } from './bits.js';
import { ByteReader, ByteWriter } from './bytes.js';

/** Bytes after which a block is closed. A term that is in many passages makes a larger one. */
const BLOCK_BYTES = 8_192;
/** Of the form of a block. */
const VERSION = 2;
/** Bytes of the version and of the 0 before it. */
const BLOCK_HEAD = 2;
/** A length from which on the rest of it is a number of its own. */
const LONG = 15;

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
export class TermBlockWriter {
  readonly #blockBytes: number;
  readonly #bits = new BitWriter();
  #writer = new ByteWriter();
  #first: string | undefined;
  #last: Uint8Array = NO_BYTES;

  constructor(blockBytes: number = BLOCK_BYTES) {
    this.#blockBytes = blockBytes;
  }

  /** Gives the block that this term closes, if it does. */
  add({ term, ordinals, counts }: TermPostings): TermBlock | undefined {
    const writer = this.#writer;
    if (this.#first === undefined) {
      this.#first = term;
      this.#last = NO_BYTES;
      writer.raw(HEAD);
    }
    const bytes = Buffer.from(term);
    writeTerm(writer, bytes, this.#last);
    this.#last = bytes;
    writer.number(ordinals.length);
    if (ordinals.length === 1) writeSingle(writer, ordinals[0] as number, counts[0] as number);
    else {
      const postings = encodePostings(this.#bits, ordinals, counts);
      writer.number(postings.length);
      writer.raw(postings);
    }
    return writer.length < this.#blockBytes ? undefined : this.finish();
  }

  /** The block of the terms since the last one. */
  finish(): TermBlock | undefined {
    if (this.#first === undefined) return undefined;
    const block = { first: this.#first, bytes: this.#writer.finish() };
    this.#writer = new ByteWriter();
    this.#first = undefined;
    return block;
  }
}

/** The blocks of terms that come in ascending order. */
export function* termBlocks(terms: Iterable<TermPostings>, blockBytes?: number): Generator<TermBlock> {
  const writer = new TermBlockWriter(blockBytes);
  for (const term of terms) {
    const block = writer.add(term);
    if (block !== undefined) yield block;
  }
  const last = writer.finish();
  if (last !== undefined) yield last;
}

const NO_BYTES = new Uint8Array();
const HEAD = Uint8Array.of(0, VERSION);

function writeTerm(writer: ByteWriter, term: Uint8Array, last: Uint8Array): void {
  let shared = 0;
  while (shared < term.length && shared < last.length && term[shared] === last[shared]) shared += 1;
  const own = term.length - shared;
  writer.raw(Uint8Array.of(Math.min(shared, LONG) * 16 + Math.min(own, LONG)));
  if (shared >= LONG) writer.number(shared - LONG);
  if (own >= LONG) writer.number(own - LONG);
  writer.raw(term.subarray(shared));
}

function writeSingle(writer: ByteWriter, ordinal: number, count: number): void {
  writer.number(ordinal * 2 + (count === 1 ? 1 : 0));
  if (count !== 1) writer.number(count);
}

function encodePostings(bits: BitWriter, ordinals: ArrayLike<number>, counts: ArrayLike<number>): Uint8Array {
  const distances: number[] = [];
  let last = -1;
  for (let at = 0; at < ordinals.length; at += 1) {
    distances.push((ordinals[at] as number) - last - 1);
    last = ordinals[at] as number;
  }
  if (last >= MAX_NUMBER) throw new EngineError('INTERNAL', `A segment of more than ${MAX_NUMBER} passages.`);
  const order = bestOrder(distances);
  bits.bits(order, ORDER_BITS);
  for (const [at, distance] of distances.entries()) {
    bits.number(distance, order);
    bits.number(Math.min(counts[at] as number, MAX_NUMBER) - 1, 0);
  }
  return bits.finish();
}

const ORDER_BITS = 5;

/** A block in the form of today, in whichever it was stored. */
export function renewedBlock(block: Uint8Array): Uint8Array {
  if (block.length === 0 || block[0] === 0) return block;
  // One block again: the outline of the segment names no other.
  const [renewed] = termBlocks(firstVersionTerms(block), Number.POSITIVE_INFINITY);
  return renewed?.bytes ?? NO_BYTES;
}

function* firstVersionTerms(block: Uint8Array): Generator<TermPostings> {
  const reader = new ByteReader(block);
  while (!reader.isAtEnd) {
    const term = reader.text();
    const ordinals: number[] = [];
    const counts: number[] = [];
    let [left, last] = [reader.number(), -1];
    reader.number();
    for (; left > 0 && !reader.isAtEnd; left -= 1) {
      const head = reader.number();
      last += (head >>> 1) + 1;
      ordinals.push(last);
      counts.push(head % 2 === 1 ? 1 : reader.number());
    }
    yield { term, ordinals, counts };
  }
}

/**
 * Looks a term up in a block of {@link renewedBlock}. Terms are compared as bytes, and no more of them than what differs from the term before; terms ascend,
 * so the search ends where the wanted one would stand.
 */
export function findTerm(block: Uint8Array, term: string): FoundPostings | undefined {
  const wanted = Buffer.from(term);
  const reader = new ByteReader(block, BLOCK_HEAD);
  /** Bytes that the term before has in common with the wanted one. */
  let common = 0;
  while (!reader.isAtEnd) {
    const { shared, own } = readLengths(reader);
    if (shared < common) return undefined;
    if (shared === common) {
      let at = 0;
      while (at < own && common < wanted.length && block[reader.at + at] === wanted[common]) {
        at += 1;
        common += 1;
      }
      if (at === own && common === wanted.length) {
        reader.at += own;
        return readFound(reader);
      }
      // What stands there is behind the wanted one.
      if (at < own && (common === wanted.length || (block[reader.at + at] as number) > (wanted[common] as number))) {
        return undefined;
      }
    }
    reader.at += own;
    readFound(reader);
  }
  return undefined;
}

function readLengths(reader: ByteReader): { readonly shared: number; readonly own: number } {
  const lengths = reader.bytes[reader.at] ?? 0;
  reader.at += 1;
  const shared = lengths >>> 4;
  const own = lengths & LONG;
  return {
    shared: shared < LONG ? shared : LONG + reader.number(),
    own: own < LONG ? own : LONG + reader.number(),
  };
}

/** Reads past the postings of a term. */
function readFound(reader: ByteReader): FoundPostings {
  const count = reader.number();
  const size = count === 1 ? 0 : reader.number();
  const from = reader.at;
  if (count === 1) skipSingle(reader);
  else reader.at += size;
  return { bytes: reader.bytes, from, to: reader.at, count };
}

function skipSingle(reader: ByteReader): void {
  if (reader.number() % 2 === 0) reader.number();
}

/** All terms of a block in any form, in order, with their postings. */
export function* termsOf(block: Uint8Array): Generator<TermPostings> {
  const reader = new ByteReader(renewedBlock(block), BLOCK_HEAD);
  let last = Buffer.alloc(0);
  while (!reader.isAtEnd) {
    const { shared, own } = readLengths(reader);
    const term = Buffer.concat([last.subarray(0, shared), reader.raw(own)]);
    last = term;
    yield { term: term.toString(), ...decodePostings(readFound(reader)) };
  }
}

/** Room for postings that are decoded: at least as many numbers as there are passages. */
export interface PostingNumbers {
  readonly ordinals: Uint32Array;
  readonly counts: Uint32Array;
}

/** Makes room for postings. */
export function postingNumbers(count: number): PostingNumbers {
  return { ordinals: new Uint32Array(count), counts: new Uint32Array(count) };
}

/** The postings as numbers; behind their count `room` stays as it was. The hottest loop of a search, so bits are read in place. */
export function decodePostings(
  { bytes, from, to, count }: FoundPostings,
  room: PostingNumbers = postingNumbers(count),
): PostingNumbers {
  const { ordinals, counts } = room;
  if (count === 1) {
    const reader = new ByteReader(bytes, from, to);
    const head = reader.number();
    ordinals[0] = head >>> 1;
    counts[0] = head % 2 === 1 ? 1 : reader.number();
    return room;
  }
  const order = (bytes[from] as number) >>> (8 - ORDER_BITS);
  const step = 1 - (1 << order);
  let bit = from * 8 + ORDER_BITS;
  let last = -1;
  for (let at = 0; at < count; at += 1) {
    // 25 bits from here: a number of two parts has up to 24 zeros, and then up to 25 bits of its own.
    let window = bitsAt(bytes, bit);
    const zeros = Math.clz32(window);
    let length = 2 * zeros + 1 + order;
    if (length > WINDOW) {
      bit += zeros;
      window = bitsAt(bytes, bit);
      length -= zeros;
    }
    last += (window >>> (32 - length)) + step;
    ordinals[at] = last;
    bit += length;
    // Most terms occur once, which is a single bit that was read already.
    if (length < WINDOW && window << length < 0) {
      counts[at] = 1;
      bit += 1;
      continue;
    }
    window = bitsAt(bytes, bit);
    const more = Math.clz32(window);
    counts[at] = 2 * more < WINDOW ? window >>> (31 - 2 * more) : bitsAt(bytes, bit + more) >>> (31 - more);
    bit += 2 * more + 1;
  }
  return room;
}

/** Bits that a window holds for sure. */
const WINDOW = 25;

/** Bits of a list of bytes from one of them on, as a number of 32; behind the end there are zeros. */
function bitsAt(bytes: Uint8Array, bit: number): number {
  const at = bit >>> 3;
  const high = ((bytes[at] as number) << 24) | ((bytes[at + 1] as number) << 16);
  return (high | ((bytes[at + 2] as number) << 8) | (bytes[at + 3] as number)) << (bit & 7);
}
