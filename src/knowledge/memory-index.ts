import { setImmediate as nextTurn } from 'node:timers/promises';
import { EngineError } from '../errors.js';
import type { Embedder } from '../models/single-answer.js';
import { invalidOption, requireOptions, requireWhole } from '../operators/invalid-option.js';
import { componentFunction } from './component-function.js';
import { documentTest } from './document-filter.js';
import { embedBatched } from './embed-batched.js';
import { createKeywordIndex, type KeywordEntry, type KeywordIndex } from './keyword-index.js';
import { type KnowledgeDocument, metadataText, withScore, withSubIndexes } from './knowledge-document.js';
import type {
  DocumentFilter,
  DocumentIndexer,
  DocumentRetriever,
  IndexFunction,
  RetrieveFunction,
  RetrieveOptions,
  WaitOptions,
} from './ports.js';
import { byScore } from './rank.js';
import { requireDocuments, requireText } from './require-input.js';

/** How documents are stored and searched. */
export interface MemoryIndexOptions {
  /** Makes the vectors of texts and queries. @default none, so that words alone count */
  readonly embedder?: Embedder;
  /** Share of the words in a score, 0 to 1; the rest is that of the vectors. @default 0.5, without an embedder 1 */
  readonly keywordWeight?: number;
  /** Documents that a search gives unless it says otherwise. @default 10 */
  readonly topK?: number;
  /** Documents at most; all vectors are compared in each search. @default 20_000 */
  readonly maxDocuments?: number;
  /** UTF-16 units of all texts together at most. @default 33_554_432 */
  readonly maxCharacters?: number;
  /** @default 'memoryIndex' */
  readonly name?: string;
}

const OPTIONS = ['embedder', 'keywordWeight', 'topK', 'maxDocuments', 'maxCharacters', 'name'];

/** Which documents are taken out: those with one of the ids, or those that fit the filter, but none of `except`. */
export interface RemoveRequest {
  readonly ids?: readonly string[];
  readonly filter?: DocumentFilter;
  /** Ids that stay. @default none */
  readonly except?: readonly string[];
}

/** See {@link memoryIndex}. */
export interface MemoryIndex {
  /** Stores documents. Errors: `LIMIT_REACHED`, `EMBEDDING_MISMATCH`, those of the embedder; then nothing is stored. */
  readonly index: DocumentIndexer;
  /** Finds documents. Errors: `EMBEDDING_MISMATCH`, `OPTION_INVALID`, those of the embedder. */
  readonly retrieve: DocumentRetriever;
  /** The stored documents with these ids, in their order; those that are not there are left out. */
  get(ids: readonly string[], options?: WaitOptions): Promise<KnowledgeDocument[]>;
  /** Takes out documents and says how many. */
  remove(request: RemoveRequest): Promise<number>;
  /** Documents that are stored. */
  readonly size: number;
}

/** Hits by words that are scored; the best of any more are among them. */
const MAX_HITS = 1_024;

/** Documents that are added before other work of the process has its turn. */
const SLICE = 50;

/**
 * An index in the memory of this process: an indexer and a retriever over the same documents.
 *
 * A score is 0 to 1: the share of the query's words that a document holds, rare words counting more, and the cosine of the vectors (at
 * least 0), weighted by `keywordWeight`. Words are those of knowledge bases: stems of English, words and pairs of letters of Chinese, none that say nothing. A document that shares no word with the query and no direction with its vector is not found.
 * Equal scores are in the order of ids. Documents that come with a `denseVector` keep it; others get theirs from the embedder. A query of
 * white space finds nothing.
 *
 * Writes take effect in the order of their calls, and a document with a known id replaces the former one. `index` of a call must be the name of this one.
 *
 * @throws EngineError OPTION_INVALID.
 */
export function memoryIndex(options: MemoryIndexOptions = {}): MemoryIndex {
  requireOptions('memoryIndex', options, OPTIONS);
  const { name = 'memoryIndex', topK = 10, maxDocuments = 20_000, maxCharacters = 32 * 1_048_576 } = options;
  requireWhole('memoryIndex', 'topK', topK, 1);
  requireWhole('memoryIndex', 'maxDocuments', maxDocuments, 1);
  requireWhole('memoryIndex', 'maxCharacters', maxCharacters, 1);
  requireShare(options);
  const store = new Store(name, { maxDocuments, maxCharacters });
  const index: IndexFunction = async (documents, call = {}) => {
    const { subIndexes = [], signal, embedder = options.embedder } = call;
    requireName(name, call.index);
    requireDocuments(name, documents);
    signal?.throwIfAborted();
    const placed = documents.map((document) => withScore(withSubIndexes(document, subIndexes), undefined));
    await store.put(placed, vectorsOf(name, placed, embedder, signal), signal);
    return placed.map(({ id }) => id);
  };
  const retrieve: RetrieveFunction = async (query, call = {}) => {
    requireText(name, 'query', query);
    requireName(name, call.index);
    const { signal, embedder = options.embedder } = call;
    signal?.throwIfAborted();
    const most = call.topK ?? topK;
    requireWhole(name, 'topK', most, 1);
    if (query.trim() === '') return [];
    const share = embedder === undefined ? 1 : (options.keywordWeight ?? 0.5);
    const [vector] =
      share === 1 || embedder === undefined ? [] : await embedBatched(embedder).embed([query], { signal });
    const terms = share === 0 ? [] : await store.termsOf(query);
    signal?.throwIfAborted();
    return byScore(store.search(terms, vector, share, call), { topK: most, scoreThreshold: call.scoreThreshold });
  };
  return {
    index: componentFunction(name, 'indexer', index),
    retrieve: componentFunction(name, 'retriever', retrieve),
    async get(ids, { signal } = {}) {
      signal?.throwIfAborted();
      return ids.flatMap((id) => store.documentOf(id) ?? []);
    },
    remove: async (request) => await store.remove(request),
    get size() {
      return store.size;
    },
  };
}

function requireShare({ keywordWeight, embedder }: MemoryIndexOptions): void {
  if (keywordWeight === undefined) return;
  if (!(keywordWeight >= 0 && keywordWeight <= 1)) {
    throw invalidOption('memoryIndex', 'keywordWeight', 'a number from 0 to 1', keywordWeight);
  }
  if (keywordWeight < 1 && embedder === undefined) {
    throw invalidOption(
      'memoryIndex',
      'keywordWeight',
      '1 without an embedder, as there are no vectors',
      keywordWeight,
    );
  }
}

function requireName(name: string, index: string | undefined): void {
  if (index !== undefined && index !== name) throw invalidOption(name, 'index', `"${name}", its only index,`, index);
}

/** A vector per document, of length 1; undefined where there is none. */
async function vectorsOf(
  name: string,
  documents: readonly KnowledgeDocument[],
  embedder: Embedder | undefined,
  signal: AbortSignal | undefined,
): Promise<(Float32Array | undefined)[]> {
  const missing = documents.filter(({ denseVector }) => denseVector === undefined);
  const made =
    embedder === undefined || missing.length === 0
      ? []
      : await embedBatched(embedder, { name: `${name}: embedder` }).embed(
          missing.map(({ text }) => text),
          { signal },
        );
  let next = 0;
  return documents.map(({ denseVector }) => {
    const vector = denseVector ?? made[next++];
    return vector && unit(vector);
  });
}

/** A vector of length 1 in the same direction; zeros stay zeros. */
function unit(vector: readonly number[]): Float32Array {
  const length = Math.sqrt(vector.reduce((sum, number) => sum + number * number, 0));
  return Float32Array.from(vector, (number) => (length === 0 ? 0 : number / length));
}

interface Entry {
  readonly document: KnowledgeDocument;
  readonly words: KeywordEntry;
  readonly vector: Float32Array | undefined;
}

interface Bounds {
  readonly maxDocuments: number;
  readonly maxCharacters: number;
}

/** The documents with their words and vectors. */
class Store {
  readonly #name: string;
  readonly #bounds: Bounds;
  readonly #entries = new Map<string, Entry>();
  readonly #words: KeywordIndex = createKeywordIndex();
  #characters = 0;
  /** Entries with a vector; the first one decides how long all are. */
  #vectors = 0;
  #dimensions = 0;
  /** Settles when the last write has ended. */
  #written: Promise<unknown> = Promise.resolve();

  constructor(name: string, bounds: Bounds) {
    this.#name = name;
    this.#bounds = bounds;
  }

  get size(): number {
    return this.#entries.size;
  }

  documentOf(id: string): KnowledgeDocument | undefined {
    return this.#entries.get(id)?.document;
  }

  /** The vectors are waited for in the line of writes: so calls take effect in their order, and embedders still work side by side. */
  put(
    documents: readonly KnowledgeDocument[],
    vectorsToCome: Promise<readonly (Float32Array | undefined)[]>,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    // Its failure is that of the call, which may come to it later.
    vectorsToCome.catch(() => undefined);
    return this.#write(async () => {
      const vectors = await vectorsToCome;
      signal?.throwIfAborted();
      // Of two documents with one id in a call the last one counts.
      const entries = new Map(documents.map((document, at) => [document.id, entryOf(document, vectors[at])]));
      this.#requireRoom(entries);
      this.#requireDimensions(entries);
      const all = [...entries.values()];
      for (let at = 0; at < all.length; at += SLICE) {
        if (at > 0) await nextTurn();
        const slice = all.slice(at, at + SLICE);
        await this.#words.add(slice.map(({ words }) => words));
        for (const entry of slice) {
          this.#take(entry.document.id);
          this.#give(entry);
        }
      }
    });
  }

  remove({ ids, filter, except = [] }: RemoveRequest): Promise<number> {
    return this.#write(async () => {
      const kept = new Set(except);
      const fits = documentTest(filter);
      const candidates = ids ?? (fits === undefined ? [] : [...this.#entries.keys()]);
      let removed = 0;
      for (const id of new Set(candidates)) {
        const document = this.documentOf(id);
        if (document === undefined || kept.has(id) || fits?.(document) === false) continue;
        this.#take(id);
        this.#words.remove(id);
        removed += 1;
      }
      return removed;
    });
  }

  /** The words of a query as documents are found by them. */
  termsOf(query: string): Promise<readonly string[]> {
    return this.#words.termsOf(query);
  }

  /** The documents that have something in common with a query, each with its score. */
  search(
    terms: readonly string[],
    vector: readonly number[] | undefined,
    share: number,
    { subIndex, filter }: RetrieveOptions,
  ): KnowledgeDocument[] {
    if (vector !== undefined && this.#vectors > 0 && vector.length !== this.#dimensions) {
      throw this.#mismatch(`the query has ${vector.length}`);
    }
    const fits = documentTest(filter);
    const accepts = ({ document }: Entry): boolean =>
      (subIndex === undefined || (document.subIndexes?.includes(subIndex) ?? false)) && (fits?.(document) ?? true);
    const accepted = new Map([...this.#entries].filter(([, entry]) => accepts(entry)));
    const scores = new Map<string, number>();
    const hits =
      terms.length === 0 ? [] : this.#words.search({ terms, topK: MAX_HITS, accepts: (id) => accepted.has(id) });
    for (const { id, similarity } of hits) scores.set(id, similarity * share);
    if (vector !== undefined) {
      const direction = unit(vector);
      for (const [id, entry] of accepted) {
        const cosine = entry.vector === undefined ? 0 : Math.min(1, dot(entry.vector, direction));
        if (cosine > 0) scores.set(id, (scores.get(id) ?? 0) + cosine * (1 - share));
      }
    }
    return [...scores].flatMap(([id, score]) => {
      const entry = score > 0 ? accepted.get(id) : undefined;
      return entry === undefined ? [] : [withScore(entry.document, score)];
    });
  }

  /** One after the other, so that what a call stores is not mixed with what another one does. */
  async #write<T>(work: () => Promise<T>): Promise<T> {
    const before = this.#written;
    const done = before.then(work, work);
    this.#written = done.catch(() => undefined);
    return await done;
  }

  #take(id: string): void {
    const entry = this.#entries.get(id);
    if (entry === undefined) return;
    this.#entries.delete(id);
    this.#characters -= entry.document.text.length;
    if (entry.vector !== undefined) this.#vectors -= 1;
  }

  #give(entry: Entry): void {
    this.#entries.set(entry.document.id, entry);
    this.#characters += entry.document.text.length;
    if (entry.vector === undefined) return;
    this.#vectors += 1;
    this.#dimensions = entry.vector.length;
  }

  #requireRoom(entries: ReadonlyMap<string, Entry>): void {
    let documents = this.size;
    let characters = this.#characters;
    for (const [id, { document }] of entries) {
      const known = this.documentOf(id);
      if (known === undefined) documents += 1;
      characters += document.text.length - (known?.text.length ?? 0);
    }
    const { maxDocuments, maxCharacters } = this.#bounds;
    if (documents > maxDocuments) throw this.#full(`${documents} documents`, `${maxDocuments} are allowed`);
    if (characters > maxCharacters) throw this.#full(`${characters} characters`, `${maxCharacters} are allowed`);
  }

  #requireDimensions(entries: ReadonlyMap<string, Entry>): void {
    let replaced = 0;
    for (const id of entries.keys()) if (this.#entries.get(id)?.vector !== undefined) replaced += 1;
    let dimensions = this.#vectors > replaced ? this.#dimensions : undefined;
    for (const [id, { vector }] of entries) {
      dimensions ??= vector?.length;
      if (vector === undefined || vector.length === dimensions) continue;
      throw this.#mismatch(`document "${id}" has ${vector.length}`, dimensions);
    }
  }

  #full(would: string, allowed: string): EngineError {
    const message = `Index "${this.#name}" would hold ${would}; ${allowed}. Remove documents, raise the bound or use a store.`;
    return new EngineError('LIMIT_REACHED', message);
  }

  #mismatch(what: string, dimensions = this.#dimensions): EngineError {
    return new EngineError(
      'EMBEDDING_MISMATCH',
      `The vectors of index "${this.#name}" have ${dimensions} numbers, but ${what}. Use the model that made the others, or index all anew.`,
    );
  }
}

function entryOf(document: KnowledgeDocument, vector: Float32Array | undefined): Entry {
  const name = metadataText(document, 'title') ?? metadataText(document, 'fileName') ?? '';
  return { document, vector, words: { id: document.id, content: document.text, name } };
}

function dot(left: Float32Array, right: Float32Array): number {
  let sum = 0;
  for (let at = 0; at < left.length; at += 1) sum += (left[at] as number) * (right[at] as number);
  return sum;
}
