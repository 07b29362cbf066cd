/** Vectors of a model, beside the index: they arrive later, and count as soon as every passage that can be found has one. */
import { createHash } from 'node:crypto';
import { EngineError } from '../../errors.js';
import type { Embedder } from '../../models/single-answer.js';
import type { IndexScope, IndexStorage } from '../../records/index-storage.js';
import type { IndexView } from './index-view.js';
import { quantize } from './ngrams.js';
import type { DenseSearch } from './search-passages.js';
import { GONE } from './segment.js';

/** The model whose vectors are used. */
export interface DenseVectorsOptions {
  /** Its name: vectors of different models are never compared. */
  readonly model: string;
  /** Makes the vector of a question. */
  readonly embedder: Embedder;
  /** Passages up to which all are compared; beyond it, the first by words. @default 20,000 */
  readonly maxExact?: number | undefined;
}

const KIND = 'vectors';
const PAGE = 512;
const MAX_EXACT = 20_000;
/** Nearest passages that become candidates. */
const NEAREST = 100;

/** See the head of this file. Vectors are kept as int8, a quarter of their bytes; cosines change by less than 0.01. */
export class DenseVectors {
  readonly #storage: IndexStorage;
  readonly #scope: IndexScope;
  readonly #options: DenseVectorsOptions;
  readonly #segment: string;
  /** Vectors by id, once they were read. */
  #vectors: Map<string, Int8Array> | undefined;

  constructor(storage: IndexStorage, scope: IndexScope, options: DenseVectorsOptions) {
    this.#storage = storage;
    this.#scope = scope;
    this.#options = options;
    this.#segment = `vectors-${createHash('sha256').update(options.model).digest('hex').slice(0, 32)}`;
  }

  /** Keeps vectors by the ids of their passages. @throws EngineError EMBEDDING_MISMATCH for vectors of different lengths */
  async store(vectors: ReadonlyMap<string, readonly number[]>): Promise<void> {
    const known = await this.#read();
    for (const [id, vector] of vectors) this.#requireSize(known, id, vector.length);
    const rows = [...vectors].map(([id, vector]) => ({ key: id, vector: quantize(vector) }));
    for (let from = 0; from < rows.length; from += PAGE) {
      const part = rows.slice(from, from + PAGE);
      await this.#storage.write(
        this.#scope,
        this.#segment,
        part.map(({ key, vector }) => ({ kind: KIND, key, bytes: new Uint8Array(vector.buffer) })),
      );
      for (const { key, vector } of part) known.set(key, vector);
    }
  }

  /** Forgets the vectors of passages that are gone. */
  async erase(ids: readonly string[]): Promise<void> {
    await this.#storage.erase(this.#scope, this.#segment, { kind: KIND, keys: ids });
    for (const id of ids) this.#vectors?.delete(id);
  }

  forget(): void {
    this.#vectors = undefined;
  }

  /** Ids of passages without a vector. */
  async missing({ segments }: IndexView, limit: number): Promise<string[]> {
    this.forget();
    const vectors = await this.#read();
    const ids = segments.flatMap(({ heads, flags }) =>
      heads.flatMap(({ id }, ordinal) => (((flags[ordinal] ?? 0) & GONE) !== 0 || vectors.has(id) ? [] : [id])),
    );
    return ids.slice(0, limit);
  }

  /** What a search compares; undefined as long as a passage that counts has no vector. */
  async search(view: IndexView, question: string, signal: AbortSignal | undefined): Promise<DenseSearch | undefined> {
    if (view.live === 0) return undefined;
    const vectors = await this.#read();
    const live: number[] = [];
    for (let passage = 0; passage < view.size; passage += 1) if (view.counts[passage] === 1) live.push(passage);
    if (live.some((passage) => !vectors.has(view.head(passage).id))) return undefined;
    const [vector = []] = await this.#options.embedder.embed([question], { signal });
    this.#requireSize(vectors, 'the question', vector.length);
    const cosineOf = (passage: number): number => cosine(vector, vectors.get(view.head(passage).id) as Int8Array);
    const isExact = live.length <= (this.#options.maxExact ?? MAX_EXACT);
    const all = isExact ? new Map(live.map((passage) => [passage, cosineOf(passage)])) : undefined;
    const idOf = (passage: number): string => view.head(passage).id;
    const nearest = [...(all ?? [])]
      .sort(([left, one], [right, other]) => other - one || (idOf(left) < idOf(right) ? -1 : 1))
      .slice(0, NEAREST);
    return {
      nearest: nearest.map(([passage]) => passage),
      cosines: async (passages) =>
        new Map(passages.map((passage) => [passage, all?.get(passage) ?? cosineOf(passage)])),
    };
  }

  #requireSize(known: ReadonlyMap<string, Int8Array>, what: string, size: number): void {
    for (const { length } of known.values()) {
      if (length === size) return;
      throw new EngineError(
        'EMBEDDING_MISMATCH',
        `The vector of ${what} has ${size} numbers, those of dataset "${this.#scope.dataset}" have ${length}: model "${this.#options.model}" was changed behind its name. Give it another name, so that all vectors are made anew.`,
      );
    }
  }

  async #read(): Promise<Map<string, Int8Array>> {
    if (this.#vectors !== undefined) return this.#vectors;
    const vectors = new Map<string, Int8Array>();
    let after: string | undefined;
    for (;;) {
      const rows = await this.#storage.list(this.#scope, this.#segment, KIND, { after, limit: PAGE });
      for (const { key, bytes } of rows)
        vectors.set(
          key,
          Int8Array.from(bytes, (byte) => (byte << 24) >> 24),
        );
      if (rows.length < PAGE) break;
      after = rows.at(-1)?.key;
    }
    this.#vectors = vectors;
    return vectors;
  }
}

function cosine(question: readonly number[], passage: Int8Array): number {
  let product = 0;
  let left = 0;
  let right = 0;
  for (let at = 0; at < passage.length; at += 1) {
    const one = question[at] as number;
    const other = passage[at] as number;
    product += one * other;
    left += one * one;
    right += other * other;
  }
  return left === 0 || right === 0 ? 0 : product / Math.sqrt(left * right);
}
