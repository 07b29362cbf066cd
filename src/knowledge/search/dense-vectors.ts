/** Vectors of a model, beside the index: they arrive later, and count as soon as every passage that can be found has one. */
import { createHash } from 'node:crypto';
import { EngineError } from '../../errors.js';
import type { Embedder } from '../../models/single-answer.js';
import { type IndexScope, type IndexStorage, type NearestVectors, VECTOR_ROWS } from '../../records/index-storage.js';
import { bestPassages } from './bm25.js';
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
  /** Passages up to which all are compared; beyond it the first by words, and the nearest where the storage has an index of them. @default 20,000 */
  readonly maxExact?: number | undefined;
  /** Told when the storage cannot build its index of them. @default none is told */
  readonly onError?: ((error: unknown) => void) | undefined;
}

const PAGE = 512;
const MAX_EXACT = 20_000;
/** Nearest passages that become candidates. */
const NEAREST = 100;
/** After a look for vectors that other processes have stored, and after building an index of them has failed. */
const LOOK_MS = 1_000;
const BUILD_MS = 600_000;

/** The vectors of the passages of a view, by their numbers. */
interface VectorTable {
  readonly view: IndexView;
  readonly vectors: readonly (Int8Array | undefined)[];
  /** Lengths of the vectors. */
  readonly norms: Float32Array;
}

/** See the head of this file. Vectors are kept as int8, a quarter of their bytes; cosines change by less than 0.01. */
export class DenseVectors {
  readonly #storage: IndexStorage;
  readonly #scope: IndexScope;
  readonly #options: DenseVectorsOptions;
  readonly #segment: string;
  /** Vectors by id, once they were read. */
  #vectors: Map<string, Int8Array> | undefined;
  /** Of the view that was searched last; none after a change. */
  #table: VectorTable | undefined;
  #lacking = 0;
  #looksAgainAt = 0;
  #buildsAgainAt = 0;

  constructor(storage: IndexStorage, scope: IndexScope, options: DenseVectorsOptions) {
    this.#storage = storage;
    this.#scope = scope;
    this.#options = options;
    this.#segment = `vectors-${createHash('sha256').update(options.model).digest('hex').slice(0, 32)}`;
  }

  /** Passages that count and had no vector when the last search looked for them. */
  get lacking(): number {
    return this.#lacking;
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
        part.map(({ key, vector }) => ({ kind: VECTOR_ROWS, key, bytes: new Uint8Array(vector.buffer) })),
      );
      for (const { key, vector } of part) known.set(key, vector);
    }
    this.#table = undefined;
  }

  /** Forgets the vectors of passages that are gone. */
  async erase(ids: readonly string[]): Promise<void> {
    await this.#storage.erase(this.#scope, this.#segment, { kind: VECTOR_ROWS, keys: ids });
    for (const id of ids) this.#vectors?.delete(id);
    this.#table = undefined;
  }

  forget(): void {
    this.#vectors = undefined;
    this.#table = undefined;
    this.#lacking = 0;
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
    const table = await this.#tableOf(view);
    if (table === undefined) return undefined;
    const [vector = []] = await this.#options.embedder.embed([question], { signal });
    this.#requireSize(await this.#read(), 'the question', vector.length);
    const norm = Math.hypot(...vector);
    const cosineOf = (passage: number): number => cosine(vector, norm, table, passage);
    const isExact = view.live <= (this.#options.maxExact ?? MAX_EXACT);
    return {
      nearest: isExact ? nearestIn(view, cosineOf) : await this.#nearest(view, vector, norm),
      usual: usualCosine(view, cosineOf),
      cosines: async (passages) => new Map(passages.map((passage) => [passage, cosineOf(passage)])),
    };
  }

  /** By the index that the storage has of its vectors; none as long as it has none. */
  async #nearest(view: IndexView, vector: readonly number[], norm: number): Promise<number[]> {
    const { nearestVectors } = this.#storage;
    if (nearestVectors === undefined || norm === 0) return [];
    const unit = vector.map((value) => value / norm);
    const ids = await nearestVectors.nearest(this.#scope, this.#segment, { vector: unit, limit: NEAREST });
    if (ids !== undefined) return ids.flatMap((id) => view.numberOf(id) ?? []);
    this.#buildLater(nearestVectors);
    return [];
  }

  /** Searches go on by words meanwhile. What fails is tried again, for it depends on the rights and the memory of a server. */
  #buildLater(index: NearestVectors): void {
    if (Date.now() < this.#buildsAgainAt) return;
    this.#buildsAgainAt = Number.POSITIVE_INFINITY;
    index
      .build(this.#scope, this.#segment)
      .catch((error: unknown) => this.#options.onError?.(error))
      .finally(() => {
        this.#buildsAgainAt = Date.now() + BUILD_MS;
      });
  }

  /** The vectors of a view, or undefined when one is missing; those that other processes have stored meanwhile are looked for. */
  async #tableOf(view: IndexView): Promise<VectorTable | undefined> {
    if (this.#table?.view === view) return this.#table;
    const known = await this.#read();
    const lacking: string[] = [];
    for (let passage = 0; passage < view.size; passage += 1) {
      if (view.counts[passage] === 1 && !known.has(view.head(passage).id)) lacking.push(view.head(passage).id);
    }
    this.#lacking = lacking.length;
    if (lacking.length > 0) {
      if (Date.now() < this.#looksAgainAt) return undefined;
      this.#looksAgainAt = Date.now() + LOOK_MS;
      for (let from = 0; from < lacking.length; from += PAGE) {
        const part = lacking.slice(from, from + PAGE);
        const rows = await this.#storage.read(this.#scope, this.#segment, VECTOR_ROWS, part);
        for (const [key, bytes] of rows) known.set(key, vectorOf(bytes));
        if (rows.size < part.length) return undefined;
      }
      this.#lacking = 0;
    }
    const vectors: (Int8Array | undefined)[] = new Array(view.size);
    const norms = new Float32Array(view.size);
    for (let passage = 0; passage < view.size; passage += 1) {
      const vector = view.counts[passage] === 1 ? known.get(view.head(passage).id) : undefined;
      vectors[passage] = vector;
      norms[passage] = vector === undefined ? 0 : normOf(vector);
    }
    this.#table = { view, vectors, norms };
    return this.#table;
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
      const rows = await this.#storage.list(this.#scope, this.#segment, VECTOR_ROWS, { after, limit: PAGE });
      for (const { key, bytes } of rows) vectors.set(key, vectorOf(bytes));
      if (rows.length < PAGE) break;
      after = rows.at(-1)?.key;
    }
    this.#vectors = vectors;
    return vectors;
  }
}

/** Passages that are looked at for what is usual, and cosines of 0 that are counted beside them: few passages tell little. */
const USUAL_SAMPLE = 1_000;
const USUAL_PRIOR = 10;

/** How near to a question passages are that have nothing to do with it, 0 to 1: models differ in that between 0 and 0.5. */
function usualCosine(view: IndexView, cosineOf: (passage: number) => number): number {
  const step = Math.max(1, Math.floor(view.size / USUAL_SAMPLE));
  let sum = 0;
  let count = USUAL_PRIOR;
  for (let passage = 0; passage < view.size; passage += step) {
    if (view.counts[passage] !== 1) continue;
    sum += cosineOf(passage);
    count += 1;
  }
  return Math.max(0, sum / count);
}

/** The nearest of all passages; equal ones in the order of their ids. */
function nearestIn(view: IndexView, cosineOf: (passage: number) => number): number[] {
  const cosines = new Float64Array(view.size);
  // Moved above 0, which stands for passages that do not count.
  for (let passage = 0; passage < view.size; passage += 1) {
    if (view.counts[passage] === 1) cosines[passage] = 2 + cosineOf(passage);
  }
  return bestPassages(view, cosines, NEAREST);
}

function vectorOf(bytes: Uint8Array): Int8Array {
  // Copied: the rows of a page share the buffer of its answer, which would stay as long as one of them.
  return new Int8Array(bytes);
}

function normOf(vector: Int8Array): number {
  let sum = 0;
  for (let at = 0; at < vector.length; at += 1) sum += (vector[at] as number) ** 2;
  return Math.sqrt(sum);
}

function cosine(question: readonly number[], norm: number, { vectors, norms }: VectorTable, passage: number): number {
  const vector = vectors[passage];
  const length = norm * (norms[passage] as number);
  if (vector === undefined || length === 0) return 0;
  let product = 0;
  for (let at = 0; at < vector.length; at += 1) product += (question[at] as number) * (vector[at] as number);
  return product / length;
}
