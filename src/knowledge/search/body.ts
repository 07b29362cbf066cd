/**
 * What the index keeps of the words of a passage, as bytes:
 *
 * ```text
 * body = n-gram vector (1,024), number of terms, hash of each term (4 each), number of steps, step…, term…
 * step = index of the term x 4 + distance to the place before (0 to 3)
 * ```
 *
 * Questions look terms up by hashes, so the terms themselves are decoded for the few passages whose words are asked for.
 */
import { ByteReader, ByteWriter } from './bytes.js';
import { NGRAM_DIMENSIONS } from './ngrams.js';

/** Farther apart is all the same for what is asked about neighbours. */
const MAX_STEP = 3;

/** A term as a number of 32 bits: FNV-1a over UTF-16 units. */
export function termHash(term: string): number {
  let hash = 2_166_136_261;
  for (let at = 0; at < term.length; at += 1) hash = Math.imul(hash ^ term.charCodeAt(at), 16_777_619);
  return hash >>> 0;
}

/** The bytes of a body: terms in the order of the text with their places, ascending. */
export function encodeBody(terms: readonly string[], places: readonly number[], ngrams: Int8Array): Uint8Array {
  const indexes = new Map<string, number>();
  for (const term of terms) if (!indexes.has(term)) indexes.set(term, indexes.size);
  const writer = new ByteWriter();
  writer.raw(new Uint8Array(ngrams.buffer, ngrams.byteOffset, ngrams.length));
  writer.number(indexes.size);
  const hashes = Buffer.alloc(4 * indexes.size);
  for (const [term, index] of indexes) hashes.writeUInt32LE(termHash(term), 4 * index);
  writer.raw(hashes);
  writer.number(terms.length);
  let last = 0;
  for (const [at, term] of terms.entries()) {
    const place = places[at] as number;
    writer.number((indexes.get(term) as number) * 4 + Math.min(place - last, MAX_STEP));
    last = place;
  }
  for (const term of indexes.keys()) writer.text(term);
  return writer.finish();
}

/** The vector of the letters of a passage. */
export function ngramsOf(body: Uint8Array): Int8Array {
  return new Int8Array(body.buffer, body.byteOffset, Math.min(NGRAM_DIMENSIONS, body.byteLength));
}

/**
 * Where some terms, given by their hashes, are in a passage: places by hash, ascending; terms that it does not hold are absent. Empty when it holds fewer
 * than `least` of them.
 */
export function placesOf(body: Uint8Array, wanted: ReadonlySet<number>, least = 1): Map<number, number[]> {
  const reader = new ByteReader(body, NGRAM_DIMENSIONS);
  const count = reader.number();
  const found = new Map<number, number[]>();
  const lists: (number[] | undefined)[] = [];
  for (let index = 0, at = reader.at; index < count; index += 1, at += 4) {
    const low = (body[at] as number) | ((body[at + 1] as number) << 8) | ((body[at + 2] as number) << 16);
    const hash = (low | ((body[at + 3] as number) << 24)) >>> 0;
    if (!wanted.has(hash)) continue;
    const places: number[] = [];
    found.set(hash, places);
    lists[index] = places;
  }
  if (found.size < least) return new Map();
  reader.at += 4 * count;
  const steps = reader.number();
  let place = 0;
  for (let at = 0; at < steps; at += 1) {
    const step = reader.number();
    place += step & 3;
    const index = step >>> 2;
    if (index < lists.length) lists[index]?.push(place);
  }
  return found;
}

/** How many terms a passage has, each counted once. */
export function termCountOf(body: Uint8Array): number {
  return openBody(body).count;
}

/** The words of a passage: its terms, each once, and the text as indexes into them. */
export function wordsOfBody(body: Uint8Array): { readonly terms: readonly string[]; readonly sequence: Uint32Array } {
  const { reader, count } = openBody(body);
  const sequence = new Uint32Array(reader.number());
  for (let at = 0; at < sequence.length; at += 1) sequence[at] = reader.number() >>> 2;
  return { terms: Array.from({ length: count }, () => reader.text()), sequence };
}

/** A reader behind the hashes. */
function openBody(body: Uint8Array): { readonly reader: ByteReader; readonly count: number } {
  const reader = new ByteReader(body, NGRAM_DIMENSIONS);
  const count = reader.number();
  reader.at += 4 * count;
  return { reader, count };
}
