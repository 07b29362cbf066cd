import { EngineError } from '../../errors.js';
import { requireObject } from '../../operators/invalid-option.js';
import { LoopSlices } from '../../operators/loop-slices.js';
import { LoopTurns } from '../../operators/loop-turns.js';
import type { IndexStorage } from '../../records/index-storage.js';
import type { Threads } from '../../threads/threads.js';
import { createRowCache } from '../search/index-view.js';
import { openSearchIndex, type SearchIndex } from '../search/search-index.js';
import { DEFAULT_SETTINGS, type SearchSettings } from '../search/search-settings.js';
import type { SegmentThreads } from '../search/segment-rows.js';
import { openWords } from '../words/words.js';
import type { KnowledgeJobs } from './jobs.js';
import type { PassageIndex, PassageIndexes, PassageModel } from './ports.js';

/** Where indexes are, and how many are held. */
export interface SearchIndexesOptions {
  readonly storage: IndexStorage;
  /** Indexes that are held open; the one that was not used for the longest time is forgotten. @default 16 */
  readonly maxOpen?: number | undefined;
  /** How searches that come at once take turns. @default slices of 8 ms, with a turn of the event loop between them */
  readonly turns?: LoopTurns | undefined;
  /** Where many passages are taken apart, and terms merged. @default in slices of this thread */
  readonly threads?: Threads | undefined;
  /** Told of failures of work in the background, which is tried again. @default none is told */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/** Bytes of postings, and of words of passages, that all indexes together keep for the next search: those of 10,000 passages. */
export const TERM_BYTES = 16 * 1_048_576;
export const BODY_BYTES = 32 * 1_048_576;

/** Largest share that the vectors of a model can be given beside the words. */
const MAX_VECTOR_SHARE = 0.95;

/** The indexes of datasets by words, n-grams and, where a dataset has a model, its vectors; see {@link openSearchIndex}. */
export function createSearchIndexes(options: SearchIndexesOptions): PassageIndexes {
  requireObject('createSearchIndexes', 'options', options, 'an object with "storage"');
  const { storage, maxOpen = 16, turns = new LoopTurns(), threads, onError } = options;
  const words = openWords();
  const slices = new LoopSlices();
  const ofSegments = threads && segmentThreads(threads);
  const cache = createRowCache(TERM_BYTES, BODY_BYTES);
  /** In the order of their last use. */
  const opened = new Map<string, SearchIndex>();
  const leaving = new Set<Promise<void>>();
  const indexOf = (tenant: string, dataset: string, model: PassageModel | undefined): SearchIndex => {
    const key = JSON.stringify([tenant, dataset, model?.name]);
    const known = opened.get(key);
    opened.delete(key);
    const vectors = model && { model: model.name, embedder: model.embedder };
    const options = {
      ...{ storage, tenant, dataset, words, turns, slices, threads: ofSegments },
      vectors,
      onError,
      cache,
    };
    const index = known ?? openSearchIndex(options);
    opened.set(key, index);
    const [oldest] = opened.keys();
    if (opened.size > maxOpen && oldest !== undefined) forget(oldest);
    return index;
  };
  /** Work in the background of one that is forgotten is waited for, too. */
  const forget = (key: string): void => {
    const index = opened.get(key);
    opened.delete(key);
    if (index === undefined) return;
    const work = index.settled().finally(() => leaving.delete(work));
    leaving.add(work);
  };
  return {
    open: (tenant, datasetId, model) => passageIndex(() => indexOf(tenant, datasetId, model), model),
    async settled() {
      await Promise.all([...leaving, ...[...opened.values()].map((index) => index.settled())]);
    },
    sizes: () => ({
      open: opened.size,
      passages: [...opened.values()].reduce((sum, { found }) => sum + found, 0),
      lacking: [...opened.values()].reduce((sum, { lacking }) => sum + lacking, 0),
    }),
    async drop(tenant, datasetId) {
      await indexOf(tenant, datasetId, undefined).clear();
      const ofDataset = JSON.stringify([tenant, datasetId]).slice(0, -1);
      for (const key of opened.keys()) if (key.startsWith(ofDataset)) opened.delete(key);
    },
  };
}

function segmentThreads(threads: Threads): SegmentThreads {
  const job = async <J extends 'segment' | 'merge'>(
    tenant: string,
    ...[name, given, signal]: [J, KnowledgeJobs[J][0], AbortSignal]
  ): Promise<KnowledgeJobs[J][1]> => {
    // Searches need nothing of it.
    const { knowledgeJob } = await import('./jobs.js');
    const own = threads.forTenant?.(tenant) ?? threads;
    return knowledgeJob(name, given, { name: 'passages', threads: own, signal });
  };
  return {
    makeRows: (tenant, passages, signal = NEVER) => job(tenant, 'segment', { passages }, signal),
    mergeTerms: (tenant, portion) => job(tenant, 'merge', portion, NEVER),
  };
}

const NEVER = new AbortController().signal;

function passageIndex(index: () => SearchIndex, model: PassageModel | undefined): PassageIndex {
  return {
    add: (passages, signal) => index().add(passages, signal),
    remove: (ids) => index().remove(ids),
    setAvailable: (ids, available) => index().setAvailable(ids, available),
    async search({ question, limit, documentIds, vectorShare, terms }, signal) {
      const settings = settingsWith(vectorShare);
      const hits = await index().search(
        { question, limit, documents: documentIds, ...(settings && { settings }), ...(terms && { terms }) },
        signal,
      );
      return hits.map(({ id, similarity, parts }) => ({ id, score: similarity, scores: { ...parts } }));
    },
    async setVectors(vectors) {
      if (model === undefined) throw new EngineError('INTERNAL', 'An index without a model was given vectors.');
      await index().setVectors(vectors);
    },
  };
}

/** The default settings with another share of the vectors of the model. */
function settingsWith(vectorShare: number | undefined): SearchSettings | undefined {
  if (vectorShare === undefined) return undefined;
  const share = Math.min(MAX_VECTOR_SHARE, Math.max(0, vectorShare));
  return { ...DEFAULT_SETTINGS, weights: { ...DEFAULT_SETTINGS.weights, vector: share / (1 - share) } };
}
