/** What a search reads: the segments of an index at one moment, and the rows that it needs of them. */
import type { IndexScope, IndexStorage } from '../../records/index-storage.js';
import { ByteCache } from './byte-cache.js';
import { decodePostings, type FoundPostings, findTerm, renewedBlock } from './postings.js';
import { blockOf, bodyKey, GONE, HIDDEN, ROWS, type Segment, type StoredHead } from './segment.js';

/** Rows of a storage, kept for the next search. */
export interface RowCache {
  readonly terms: ByteCache<Uint8Array>;
  readonly bodies: ByteCache<Uint8Array>;
}

/** Makes an empty cache. Sizes in bytes. */
export function createRowCache(termBytes: number, bodyBytes: number): RowCache {
  return { terms: new ByteCache(termBytes), bodies: new ByteCache(bodyBytes) };
}

/** Postings of a term in all segments, and in how many passages that count it is. */
export interface TermMatches {
  readonly parts: readonly { readonly base: number; readonly postings: FoundPostings }[];
  readonly passages: number;
}

/** Segments with what is read of them. Passages have numbers: their places in all segments, one segment behind the other. */
export class IndexView {
  readonly segments: readonly Segment[];
  /** Number of the first passage of each segment. */
  readonly bases: readonly number[];
  /** Of all passages, those that are gone included. */
  readonly size: number;
  /** Passages that count. */
  readonly live: number;
  /** Mean number of terms of the passages that count; at least 1. */
  readonly averageLength: number;
  /** Terms of each passage; 0 for those that do not count. */
  readonly lengths: Uint32Array;
  /** 1 for passages that count. */
  readonly counts: Uint8Array;
  /** Of each segment, whether all of its passages count. */
  readonly #whole: readonly boolean[];
  readonly #norms = new Map<string, Float64Array>();
  readonly #storage: IndexStorage;
  readonly #scope: IndexScope;
  readonly #cache: RowCache;
  #isOutdated = false;

  constructor(storage: IndexStorage, scope: IndexScope, cache: RowCache, segments: readonly Segment[]) {
    this.#storage = storage;
    this.#scope = scope;
    this.#cache = cache;
    this.segments = segments;
    const bases: number[] = [];
    let size = 0;
    for (const { heads } of segments) {
      bases.push(size);
      size += heads.length;
    }
    this.bases = bases;
    this.size = size;
    this.lengths = new Uint32Array(size);
    this.counts = new Uint8Array(size);
    let live = 0;
    let total = 0;
    for (const [at, { heads, flags }] of segments.entries()) {
      const base = bases[at] as number;
      for (const [ordinal, { length }] of heads.entries()) {
        if (isOut(flags[ordinal])) continue;
        this.counts[base + ordinal] = 1;
        this.lengths[base + ordinal] = length;
        live += 1;
        total += length;
      }
    }
    this.#whole = segments.map(({ heads, flags }) => heads.every((_, ordinal) => !isOut(flags[ordinal])));
    this.live = live;
    this.averageLength = live === 0 ? 1 : Math.max(total / live, 1);
  }

  /** Whether rows were asked for that are not there any more: what was read of it lacks passages. */
  get isOutdated(): boolean {
    return this.#isOutdated;
  }

  /** What the occurrences of a term are set against in BM25, for each passage: `k1` times 1, or more for a passage that is longer than the mean. */
  lengthNorms(k1: number, b: number): Float64Array {
    const key = `${k1} ${b}`;
    const known = this.#norms.get(key);
    if (known !== undefined) return known;
    const norms = Float64Array.from(this.lengths, (length) => k1 * (1 - b + (b * length) / this.averageLength));
    // Settings are few; those of an evaluation come one after the other.
    if (this.#norms.size >= MAX_NORMS) this.#norms.clear();
    this.#norms.set(key, norms);
    return norms;
  }

  /** The head of a passage. */
  head(passage: number): StoredHead {
    const at = this.#segmentOf(passage);
    return (this.segments[at] as Segment).heads[passage - (this.bases[at] as number)] as StoredHead;
  }

  /** The number of a passage that counts. */
  numberOf(id: string): number | undefined {
    for (const [at, { ordinals }] of this.segments.entries()) {
      const ordinal = ordinals.get(id);
      if (ordinal === undefined) continue;
      const number = (this.bases[at] as number) + ordinal;
      if (this.counts[number] === 1) return number;
    }
    return undefined;
  }

  /** Postings of terms; those that no passage holds that counts are absent. */
  async matches(terms: Iterable<string>): Promise<Map<string, TermMatches>> {
    const wanted = [...new Set(terms)];
    const blocks = await Promise.all(this.segments.map((segment) => this.#blocks(segment, wanted)));
    const found = new Map<string, TermMatches>();
    for (const term of wanted) {
      const parts = blocks.flatMap((held, at) => {
        const block = held.get(term);
        const postings = block === undefined ? undefined : findTerm(block, term);
        return postings === undefined ? [] : [{ at, base: this.bases[at] as number, postings }];
      });
      let passages = 0;
      for (const { at, base, postings } of parts) {
        passages += this.#whole[at] === true ? postings.count : countLive(this.counts, base, postings);
      }
      if (passages > 0) found.set(term, { parts, passages });
    }
    return found;
  }

  /** Bodies of passages, by their numbers; a body that was erased meanwhile is absent. */
  async bodies(passages: readonly number[]): Promise<Map<number, Uint8Array>> {
    const found = new Map<number, Uint8Array>();
    const missing = this.segments.map((): { readonly key: string; readonly passage: number }[] => []);
    for (const passage of passages) {
      const at = this.#segmentOf(passage);
      const key = bodyKey(passage - (this.bases[at] as number));
      const cached = this.#cache.bodies.get(`${(this.segments[at] as Segment).id}/${key}`);
      if (cached === undefined) missing[at]?.push({ key, passage });
      else found.set(passage, cached);
    }
    const reads = missing.map(async (rows, at) => {
      if (rows.length === 0) return;
      const { id } = this.segments[at] as Segment;
      const keys = rows.map(({ key }) => key);
      const read = await this.#storage.read(this.#scope, id, ROWS.bodies, keys);
      for (const { key, passage } of rows) {
        const bytes = read.get(key);
        if (bytes === undefined) {
          this.#isOutdated = true;
          continue;
        }
        this.#cache.bodies.set(`${id}/${key}`, bytes, bytes.length);
        found.set(passage, bytes);
      }
    });
    await Promise.all(reads);
    return found;
  }

  /** The block for each term that a segment may hold. */
  async #blocks({ id, blocks }: Segment, terms: readonly string[]): Promise<Map<string, Uint8Array>> {
    const keys = new Map<string, string>();
    for (const term of terms) {
      const key = blockOf(blocks, term);
      if (key !== undefined) keys.set(term, key);
    }
    const held = new Map<string, Uint8Array>();
    const missing = new Set<string>();
    for (const key of new Set(keys.values())) {
      const cached = this.#cache.terms.get(`${id}/${key}`);
      if (cached === undefined) missing.add(key);
      else held.set(key, cached);
    }
    if (missing.size > 0) {
      const read = await this.#storage.read(this.#scope, id, ROWS.terms, [...missing]);
      if (read.size < missing.size) this.#isOutdated = true;
      for (const [key, stored] of read) {
        const bytes = renewedBlock(stored);
        this.#cache.terms.set(`${id}/${key}`, bytes, bytes.length);
        held.set(key, bytes);
      }
    }
    return new Map([...keys].flatMap(([term, key]) => (held.has(key) ? [[term, held.get(key) as Uint8Array]] : [])));
  }

  #segmentOf(passage: number): number {
    let at = this.bases.length - 1;
    while (at > 0 && (this.bases[at] as number) > passage) at -= 1;
    return at;
  }
}

const MAX_NORMS = 4;

function isOut(flag = 0): boolean {
  return (flag & (GONE | HIDDEN)) !== 0;
}

/** Passages of postings that count. */
function countLive(counts: Uint8Array, base: number, postings: FoundPostings): number {
  const { ordinals } = decodePostings(postings);
  let live = 0;
  for (const ordinal of ordinals) live += counts[base + ordinal] as number;
  return live;
}
