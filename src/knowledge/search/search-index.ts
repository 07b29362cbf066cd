/** The index of a dataset: what is added, taken out, and found. */
import { EngineError } from '../../errors.js';
import { requireObject, requireWhole } from '../../operators/invalid-option.js';
import { LoopSlices } from '../../operators/loop-slices.js';
import type { LoopTurns } from '../../operators/loop-turns.js';
import { SharedReads } from '../../operators/shared-reads.js';
import type { IndexChange, IndexScope, IndexStorage, SegmentEntry } from '../../records/index-storage.js';
import { openWords, type Words } from '../words/words.js';
import { buildSegment } from './build-segment.js';
import { DenseVectors, type DenseVectorsOptions } from './dense-vectors.js';
import { expandedQuestion, expandedTerms, type TermTable } from './expand-terms.js';
import { createRowCache, IndexView, type RowCache } from './index-view.js';
import { LinkGraph } from './link-graph.js';
import { mergeSegments } from './merge-segments.js';
import type { MergedBlocks, TermPortion } from './merge-terms.js';
import { type MetadataFilter, metadataTest } from './metadata-filter.js';
import type { Passage, PassageHead, SearchHit } from './passage.js';
import { type SearchWork, searchPassages } from './search-passages.js';
import { DEFAULT_SETTINGS, type SearchSettings } from './search-settings.js';
import { bodyKey, GONE, HIDDEN, loadSegment, ROWS, type Segment, segmentsBefore } from './segment.js';
import { type SegmentThreads, writeSegmentRows } from './segment-rows.js';

/** Where an index is, and how it is used. */
export interface SearchIndexOptions {
  readonly storage: IndexStorage;
  readonly tenant: string;
  readonly dataset: string;
  /** @default a new one; several indexes may share it */
  readonly words?: Words | undefined;
  /** Shared by the indexes of a process, so that searches which come at once do not hold it until the last is done. @default none */
  readonly turns?: LoopTurns | undefined;
  /** Shared by the indexes of a process: slices of what is added and merged, one in a turn of the event loop. @default its own */
  readonly slices?: LoopSlices | undefined;
  /** Takes passages apart and merges terms elsewhere, where those are many. Where it fails that is done in slices. @default all is */
  readonly threads?: SegmentThreads | undefined;
  /** @default {@link DEFAULT_SETTINGS} */
  readonly settings?: SearchSettings | undefined;
  /** Translations of terms. @default that of the package */
  readonly terms?: TermTable | undefined;
  /** Vectors of a model. @default none */
  readonly vectors?: DenseVectorsOptions | undefined;
  /** Told of failures of merging, which is tried again with the next change, and of `threads`. @default none is told */
  readonly onError?: ((error: unknown) => void) | undefined;
  /** Rows that are kept for the next search; several indexes may share it. @default one of its own, with 32 MiB of postings and 32 MiB of words of passages */
  readonly cache?: RowCache | undefined;
}

/** One question. */
export interface SearchQuery {
  /** UTF-16 units beyond 8,192 are not read. */
  readonly question: string;
  /** Hits at most; at least 1. @default 10 */
  readonly limit?: number;
  /** Ids of documents that count. @default all */
  readonly documents?: readonly string[] | undefined;
  /** Which passages count by their metadata. @default all */
  readonly filter?: MetadataFilter | undefined;
  /** Any other rule for passages that count. @default none */
  readonly accepts?: ((passage: PassageHead) => boolean) | undefined;
  /** @default those of the index */
  readonly settings?: SearchSettings | undefined;
  /** Terms that mean the same, by which the question is expanded. @default those of the index */
  readonly terms?: TermTable | undefined;
}

/** See {@link openSearchIndex}. */
export interface SearchIndex {
  /** Adds passages; they are found once the promise is fulfilled. All of a call of up to 2,048 are added, or none. */
  add(passages: readonly Passage[], signal?: AbortSignal): Promise<void>;
  /** Takes passages out; ids that are not there are no error. */
  remove(ids: readonly string[]): Promise<void>;
  /** Shows passages or hides them, from searches and from statistics. */
  setAvailable(ids: readonly string[], isAvailable: boolean): Promise<void>;
  /** The best passages; none for a question without words. Errors: OPTION_INVALID, those of the storage and of the embedder. */
  search(query: SearchQuery, signal?: AbortSignal): Promise<SearchHit[]>;
  /** Stores vectors of a model; see {@link DenseVectors}. Errors: OPTION_INVALID without `vectors`, EMBEDDING_MISMATCH. */
  setVectors(vectors: ReadonlyMap<string, readonly number[]>): Promise<void>;
  /** Ids of passages without a vector of the model, hidden ones included; none without `vectors`. At most `limit`. */
  missingVectors(limit: number): Promise<string[]>;
  /** Ids of passages whose terms another version made; add them again. At most `limit`. */
  outdated(limit: number): Promise<string[]>;
  /** Passages that it finds, as of its last call: nothing is read. */
  readonly found: number;
  /** Passages whose vectors its last search missed, so that it found by words alone; 0 without `vectors`. */
  readonly lacking: number;
  /** How much there is. */
  size(): Promise<{ readonly passages: number; readonly available: number; readonly segments: number }>;
  /** Waits until nothing is merged. */
  settled(): Promise<void>;
  /** Deletes everything. */
  clear(): Promise<void>;
}

/** Passages of one segment when many are added at once. */
const SEGMENT_PASSAGES = 2_048;
/** Segments of about one size that become one. */
const MERGE_AT = 4;
/** Share of passages that are gone at which a segment is written anew. */
const GONE_SHARE = 0.2;
/** Times a change, or a search, is tried again when another process was faster. */
const MAX_ATTEMPTS = 20;
/** A segment that was not listed for so long never will be. */
const SWEEP_AFTER_MS = 3_600_000;
const MAX_QUESTION = 8_192;
const CACHE_BYTES = 32 * 1_048_576;
const MAX_ID = 200;
/** UTF-16 units of passages that are taken apart in slices of this thread: some 10 ms. */
const MAX_IN_PLACE = 16_384;

/**
 * Opens the index of a dataset; an index that is not there yet is empty.
 *
 * Several processes may use one storage: each sees the changes of the others with its next call. What a search gives depends on the passages that are there
 * and available, never on the order in which they came or on others that were there before.
 *
 * @throws EngineError OPTION_INVALID for an empty tenant or dataset.
 */
export function openSearchIndex(options: SearchIndexOptions): SearchIndex {
  requireObject('openSearchIndex', 'options', options);
  for (const name of ['tenant', 'dataset'] as const) {
    if (options[name] === '') throw new EngineError('OPTION_INVALID', `openSearchIndex: "${name}" must not be empty.`);
  }
  return new StoredSearchIndex(options);
}

class StoredSearchIndex implements SearchIndex {
  readonly #storage: IndexStorage;
  readonly #scope: IndexScope;
  readonly #words: Words;
  readonly #slices: LoopSlices;
  readonly #options: SearchIndexOptions;
  readonly #cache: RowCache;
  readonly #links = new LinkGraph();
  readonly #dense: DenseVectors | undefined;
  /** Searches that come at once look together for what others have changed. */
  readonly #looks = new SharedReads<number>();
  #generation = -1;
  #view: IndexView;
  /** Changes, one after the other. */
  #changes: Promise<unknown> = Promise.resolve();
  /** Reads of the state; each begins behind what it is asked for. */
  readonly #loads = new SharedReads<IndexView>();
  #merging: Promise<void> | undefined;
  /** What the last merge has made, so that it is not read again. */
  #merged: Segment | undefined;

  constructor(options: SearchIndexOptions) {
    const { storage, tenant, dataset, words, cache = createRowCache(CACHE_BYTES, CACHE_BYTES) } = options;
    this.#options = options;
    this.#storage = storage;
    this.#scope = { tenant, dataset };
    this.#words = words ?? openWords();
    this.#slices = options.slices ?? new LoopSlices();
    this.#cache = cache;
    this.#view = new IndexView(storage, this.#scope, this.#cache, []);
    const { vectors, onError } = options;
    this.#dense = vectors && new DenseVectors(storage, this.#scope, { onError, ...vectors });
  }

  get found(): number {
    return this.#view.live;
  }

  get lacking(): number {
    return this.#dense?.lacking ?? 0;
  }

  async add(passages: readonly Passage[], signal?: AbortSignal): Promise<void> {
    for (const { id } of passages) {
      if (id === '' || id.length > MAX_ID) {
        throw new EngineError(
          'OPTION_INVALID',
          `search: an id must have 1 to ${MAX_ID} characters; received ${id.length}.`,
        );
      }
    }
    const newest = [...new Map(passages.map((passage) => [passage.id, passage])).values()];
    for (let from = 0; from < newest.length; from += SEGMENT_PASSAGES) {
      const part = newest.slice(from, from + SEGMENT_PASSAGES);
      const entry = await this.#segmentOf(part, signal);
      const ids = part.map(({ id }) => id);
      try {
        await this.#change((view) => {
          // Listed by an attempt whose answer was lost.
          if (view.segments.some((segment) => segment.id === entry.id)) return undefined;
          return { add: [entry], flags: flagged(view, ids, (flag) => flag | GONE) };
        });
      } catch (error) {
        await this.#storage.erase(this.#scope, entry.id).catch(() => undefined);
        throw error;
      }
      await this.#eraseBodies(ids, entry.id);
    }
    this.#mergeLater();
  }

  /** Writes a segment: what takes long is made by a thread, where there are any that can. */
  async #segmentOf(passages: readonly Passage[], signal: AbortSignal | undefined): Promise<SegmentEntry> {
    const { threads, tenant } = this.#options;
    const length = passages.reduce((sum, { text }) => sum + text.length, 0);
    if (threads !== undefined && length > MAX_IN_PLACE) {
      const made = await threads.makeRows(tenant, passages, signal).catch((error: unknown) => {
        signal?.throwIfAborted();
        this.#options.onError?.(error);
      });
      if (made !== undefined) return writeSegmentRows(this.#storage, this.#scope, made, this.#slices);
    }
    const slices = this.#slices;
    return buildSegment(this.#storage, this.#scope, passages, { words: this.#words, slices, signal });
  }

  async remove(ids: readonly string[]): Promise<void> {
    await this.#change((view) => ({ flags: flagged(view, ids, (flag) => flag | GONE) }));
    await this.#eraseBodies(ids, undefined);
    await this.#dense?.erase(ids);
    this.#mergeLater();
  }

  async setAvailable(ids: readonly string[], isAvailable: boolean): Promise<void> {
    await this.#change((view) => ({
      flags: flagged(view, ids, (flag) => (isAvailable ? flag & ~HIDDEN : flag | HIDDEN)),
    }));
  }

  async search(query: SearchQuery, signal?: AbortSignal): Promise<SearchHit[]> {
    const { limit = 10, settings = this.#options.settings ?? DEFAULT_SETTINGS } = query;
    requireWhole('search', 'limit', limit, 1);
    const question = query.question.slice(0, MAX_QUESTION);
    const expansions = settings.expandTerms ? expandedTerms(question, query.terms ?? this.#options.terms) : [];
    const [first, [analysed, ...extra]] = await Promise.all([
      this.#refreshed(),
      this.#words.analyse([question, ...expansions.map(({ text }) => text)]),
    ]);
    signal?.throwIfAborted();
    if (analysed === undefined || (analysed.terms.length === 0 && extra.length === 0)) return [];
    const expanded = expandedQuestion(expansions, extra);
    let view = first;
    for (let attempt = 1; ; attempt += 1) {
      const work = { view, question: analysed, expanded, settings, links: this.#links, limit };
      const hits = await this.#searchIn(work, question, query, signal);
      if (!view.isOutdated || attempt >= MAX_ATTEMPTS) return hits;
      // Segments were merged, or passages taken out, while their rows were read: what was found lacks passages.
      const newest = await this.#refreshed();
      signal?.throwIfAborted();
      if (newest === view) return hits;
      view = newest;
    }
  }

  async #searchIn(
    work: Omit<SearchWork, 'accepts' | 'dense'>,
    question: string,
    query: SearchQuery,
    signal: AbortSignal | undefined,
  ): Promise<SearchHit[]> {
    const { view } = work;
    const accepts = acceptance(view, query);
    const dense = await this.#dense?.search(view, question, signal);
    const { turns } = this.#options;
    const search = () => searchPassages({ ...work, accepts, dense });
    const hits = await (turns === undefined ? search() : turns.do(search, signal));
    signal?.throwIfAborted();
    return hits;
  }

  async setVectors(vectors: ReadonlyMap<string, readonly number[]>): Promise<void> {
    if (this.#dense === undefined) {
      throw new EngineError(
        'OPTION_INVALID',
        'setVectors: the index was opened without "vectors"; name the model there.',
      );
    }
    await this.#dense.store(vectors);
  }

  async missingVectors(limit: number): Promise<string[]> {
    return (await this.#dense?.missing(await this.#refreshed(), limit)) ?? [];
  }

  async outdated(limit: number): Promise<string[]> {
    const { segments } = await this.#refreshed();
    const old: string[] = [];
    for (const { heads, flags } of segments) {
      for (const [ordinal, { id, version }] of heads.entries()) {
        if (old.length >= limit) return old;
        if (version !== this.#words.version && ((flags[ordinal] ?? 0) & GONE) === 0) old.push(id);
      }
    }
    return old;
  }

  async size() {
    const { segments, live } = await this.#refreshed();
    const passages = segments.reduce(
      (sum, { flags }) => sum + flags.reduce((kept, flag) => kept + ((flag & GONE) ^ 1), 0),
      0,
    );
    return { passages, available: live, segments: segments.length };
  }

  async settled(): Promise<void> {
    while (this.#merging !== undefined) await this.#merging;
  }

  async clear(): Promise<void> {
    await this.settled();
    await this.#storage.clear(this.#scope);
    this.#dense?.forget();
    this.#generation = -1;
  }

  /** The newest view; segments that are known are not read again. */
  async #refreshed(): Promise<IndexView> {
    const generation = await this.#looks.read('generation', () => this.#storage.generation(this.#scope));
    if (generation === this.#generation) return this.#view;
    return this.#loads.read('state', () => this.#load());
  }

  async #load(): Promise<IndexView> {
    for (let attempt = 1; ; attempt += 1) {
      const { generation, segments: entries } = await this.#storage.state(this.#scope);
      if (generation === this.#generation) return this.#view;
      const known = new Map(this.#view.segments.map((segment) => [segment.id, segment]));
      if (this.#merged !== undefined) known.set(this.#merged.id, this.#merged);
      const segments: Segment[] = [];
      for (const entry of entries) {
        const segment = known.get(entry.id);
        segments.push(
          segment === undefined
            ? await loadSegment(this.#storage, this.#scope, entry)
            : { ...segment, flags: entry.flags },
        );
      }
      const isWhole = segments.every((segment) => segment.isWhole);
      // A segment that another process dropped while it was read is no part of the newest state.
      if (!isWhole && attempt < MAX_ATTEMPTS && (await this.#storage.generation(this.#scope)) !== generation) continue;
      this.#view = new IndexView(this.#storage, this.#scope, this.#cache, segments);
      this.#generation = generation;
      if (entries.some(({ id }) => id === this.#merged?.id)) this.#merged = undefined;
      return this.#view;
    }
  }

  /** Commits what `make` says for the newest view; tries again when another process was faster. */
  #change(make: (view: IndexView) => IndexChange | undefined): Promise<void> {
    const work = async (): Promise<void> => {
      for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
        const view = await this.#refreshed();
        const change = make(view);
        if (change === undefined || isEmpty(change)) return;
        if (await this.#storage.commit(this.#scope, this.#generation, change)) return;
      }
      throw new EngineError(
        'CONFLICT',
        `The index of dataset "${this.#scope.dataset}" was changed by others ${MAX_ATTEMPTS} times in a row; try again.`,
      );
    };
    const done = this.#changes.then(work);
    this.#changes = done.catch(() => undefined);
    return done;
  }

  /** Words of passages that are gone are not kept until their segment is merged. */
  async #eraseBodies(ids: readonly string[], except: string | undefined): Promise<void> {
    const { segments } = await this.#refreshed();
    for (const { id, ordinals, flags } of segments) {
      if (id === except) continue;
      const keys = ids.flatMap((one) => {
        const ordinal = ordinals.get(one);
        return ordinal !== undefined && ((flags[ordinal] ?? 0) & GONE) !== 0 ? [bodyKey(ordinal)] : [];
      });
      if (keys.length > 0) await this.#storage.erase(this.#scope, id, { kind: ROWS.bodies, keys });
    }
  }

  #mergeLater(): void {
    if (this.#merging !== undefined) return;
    const merge = async (): Promise<void> => {
      try {
        while (await this.#mergeOnce());
        await this.#storage.sweep(this.#scope, segmentsBefore(Date.now() - SWEEP_AFTER_MS));
      } catch (error) {
        this.#options.onError?.(error);
      } finally {
        this.#merging = undefined;
      }
    };
    this.#merging = merge();
  }

  /** Merges what is due; gives whether anything was. */
  async #mergeOnce(): Promise<boolean> {
    const due = dueSegments((await this.#refreshed()).segments);
    if (due.length === 0) return false;
    const { threads } = this.#options;
    const mergeTerms = threads && ((portion: TermPortion) => this.#mergedIn(threads, portion));
    const merged = await mergeSegments(this.#storage, this.#scope, due, { slices: this.#slices, mergeTerms });
    const entry = merged && { id: merged.id, flags: merged.flags };
    this.#merged = merged;
    const drop = due.map(({ id }) => id);
    let isDone = false;
    await this.#change((view) => {
      if (view.segments.some(({ id }) => id === entry?.id)) return undefined;
      isDone = due.every((segment) => isUnchanged(segment, view));
      return isDone ? { add: entry === undefined ? [] : [entry], drop } : undefined;
    });
    if (isDone || entry === undefined) return true;
    // What changed meanwhile is merged anew, with the change.
    this.#merged = undefined;
    await this.#storage.erase(this.#scope, entry.id);
    return true;
  }

  /** Merges terms in a thread; undefined where none can. */
  #mergedIn(threads: SegmentThreads, portion: TermPortion): Promise<MergedBlocks | undefined> {
    return threads.mergeTerms(this.#options.tenant, portion).catch((error: unknown) => {
      this.#options.onError?.(error);
      return undefined;
    });
  }
}

function isEmpty({ add = [], drop = [], flags = [] }: IndexChange): boolean {
  return add.length + drop.length + flags.length === 0;
}

function isUnchanged(merged: Segment, view: IndexView): boolean {
  const now = view.segments.find(({ id }) => id === merged.id);
  return now !== undefined && Buffer.compare(now.flags, merged.flags) === 0;
}

/** Segments whose flags change when those of some passages do; passages that are gone stay as they are. */
function flagged(view: IndexView, ids: readonly string[], change: (flag: number) => number): SegmentEntry[] {
  return view.segments.flatMap(({ id, ordinals, flags }) => {
    let changed: Uint8Array | undefined;
    for (const one of ids) {
      const ordinal = ordinals.get(one);
      const flag = ordinal === undefined ? GONE : (flags[ordinal] ?? 0);
      if (ordinal === undefined || (flag & GONE) !== 0 || change(flag) === flag) continue;
      changed ??= flags.slice();
      changed[ordinal] = change(flag);
    }
    return changed === undefined ? [] : [{ id, flags: changed }];
  });
}

/** Segments that are to become one: as soon as there are four of about a size, or one of which much is gone. */
function dueSegments(segments: readonly Segment[]): readonly Segment[] {
  const goneIn = ({ flags }: Segment): number => flags.reduce((sum, flag) => sum + (flag & GONE), 0);
  const worn = segments.filter((segment) => goneIn(segment) > segment.heads.length * GONE_SHARE);
  if (worn.length > 0) return worn.slice(0, MERGE_AT);
  const bySize = new Map<number, Segment[]>();
  for (const segment of segments) {
    const size = Math.floor(Math.log(Math.max(1, segment.heads.length)) / Math.log(MERGE_AT));
    const list = bySize.get(size) ?? [];
    bySize.set(size, list);
    list.push(segment);
    if (list.length === MERGE_AT) return list;
  }
  return [];
}

function acceptance(view: IndexView, query: SearchQuery): ((passage: number) => boolean) | undefined {
  const { documents, filter, accepts } = query;
  const fits = filter === undefined ? undefined : metadataTest(filter);
  if (documents === undefined && fits === undefined && accepts === undefined) return undefined;
  const wanted = documents === undefined ? undefined : new Set(documents);
  return (passage) => {
    const head = view.head(passage);
    if (wanted !== undefined && !wanted.has(head.documentId)) return false;
    return (fits === undefined || fits(head.metadata)) && (accepts === undefined || accepts(head));
  };
}
