import { createRowCache } from '../search/index-view.js';
import { createMemoryIndexStorage } from '../search/memory-index-storage.js';
import { openSearchIndex, type SearchIndex } from '../search/search-index.js';
import type { SearchSettings } from '../search/search-settings.js';
import {
  type Difference,
  MEASURES,
  type Measure,
  type Measures,
  meanMeasures,
  measuresOf,
  pairedBootstrap,
} from './metrics.js';
import { openPipeline, type PipelineName } from './pipelines.js';
import type { Collection } from './read-collection.js';

/** What became of one question. */
export interface QuestionResult {
  readonly id: string;
  readonly text: string;
  readonly measures: Measures;
  /** Documents that were found, best first, with their similarities. */
  readonly found: readonly { readonly id: string; readonly similarity: number }[];
  readonly ms: number;
}

/** What became of all questions. */
export interface CollectionResult {
  readonly documents: number;
  readonly means: Measures;
  readonly questions: readonly QuestionResult[];
  /** Milliseconds: of the index, and of a question. */
  readonly times: { readonly index: number; readonly p50: number; readonly p99: number };
}

/** Told how far the work is. */
export type Progress = (step: 'documents' | 'questions', done: number, all: number) => void;

/** How a collection is evaluated. */
export interface EvaluationOptions {
  readonly onProgress?: Progress | undefined;
  /** How documents are found; see `openPipeline`. @default 'default' */
  readonly pipeline?: PipelineName | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Documents that a question is given, as deep as MAP is computed. */
const DEPTH = 1_000;
/** Documents that are added before progress is told. */
const STEP = 1_024;

/** An index of the documents of a collection, and how long it took. */
export interface IndexedCollection {
  readonly collection: Collection;
  readonly index: SearchIndex;
  readonly ms: number;
}

/** Puts the documents of a collection into an index in memory, each as one passage. */
export async function indexCollection(
  collection: Collection,
  { onProgress, signal }: EvaluationOptions = {},
): Promise<IndexedCollection> {
  const { documents } = collection;
  const index = openSearchIndex({
    storage: createMemoryIndexStorage(),
    tenant: 'evaluation',
    dataset: 'collection',
    // All of it stays in memory anyway.
    cache: createRowCache(256 * 1_048_576, 256 * 1_048_576),
  });
  const startedAt = performance.now();
  for (let from = 0; from < documents.length; from += STEP) {
    const part = documents.slice(from, from + STEP);
    await index.add(
      part.map((document) => ({ ...document, documentId: document.id })),
      signal,
    );
    onProgress?.('documents', from + part.length, documents.length);
  }
  await index.settled();
  return { collection, index, ms: performance.now() - startedAt };
}

/** Asks all questions of a collection, one after the other. A document with the id of the question is never a result. */
export async function evaluateCollection(
  { collection, index, ms }: IndexedCollection,
  settings: SearchSettings,
  { onProgress, pipeline = 'default', signal }: EvaluationOptions = {},
): Promise<CollectionResult> {
  const questions: QuestionResult[] = [];
  const search = await openPipeline(pipeline, { index, settings, documents: collection.documents });
  for (const { id, text, judged } of collection.questions) {
    signal?.throwIfAborted();
    const startedAt = performance.now();
    const accepts = (passage: { readonly id: string }): boolean => passage.id !== id;
    const hits = await search({ question: text, limit: DEPTH, accepts }, signal);
    const taken = performance.now() - startedAt;
    const found = hits.map((hit) => ({ id: hit.id, similarity: hit.similarity }));
    questions.push({
      id,
      text,
      found,
      ms: taken,
      measures: measuresOf(
        found.map((one) => one.id),
        judged,
      ),
    });
    if (questions.length % 50 === 0) onProgress?.('questions', questions.length, collection.questions.length);
  }
  const sorted = questions.map((one) => one.ms).sort((left, right) => left - right);
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return {
    documents: collection.documents.length,
    means: meanMeasures(questions.map(({ measures }) => measures)),
    questions,
    times: { index: ms, p50: at(0.5), p99: at(0.99) },
  };
}

/** One question that two configurations answer differently well. */
export interface ChangedQuestion {
  readonly id: string;
  readonly text: string;
  /** nDCG@10 of both. */
  readonly ours: number;
  readonly theirs: number;
}

/** How one result compares with another one of the same questions. */
export interface Comparison {
  readonly differences: Readonly<Record<Measure, Difference>>;
  /** Questions whose nDCG@10 changed, the greatest losses first. */
  readonly changed: readonly ChangedQuestion[];
  /** Measures that are lower with 95 % certainty. */
  readonly regressions: readonly Measure[];
}

/** Measures whose loss is a regression; the others follow from them. */
const DECISIVE: readonly Measure[] = ['ndcg@10', 'map'];

/** Compares two results by a paired bootstrap over their questions; see {@link pairedBootstrap}. */
export function compareResults(ours: CollectionResult, theirs: CollectionResult): Comparison {
  const pairs = MEASURES.map((name): [Measure, Difference] => [
    name,
    pairedBootstrap(
      ours.questions.map(({ measures }) => measures[name]),
      theirs.questions.map(({ measures }) => measures[name]),
    ),
  ]);
  const differences = Object.fromEntries(pairs) as Record<Measure, Difference>;
  const changed = ours.questions.flatMap(({ id, text, measures }, at): ChangedQuestion[] => {
    const own = measures['ndcg@10'];
    const other = theirs.questions[at]?.measures['ndcg@10'] ?? 0;
    return own === other ? [] : [{ id, text, ours: own, theirs: other }];
  });
  changed.sort((left, right) => left.ours - left.theirs - (right.ours - right.theirs) || (left.id < right.id ? -1 : 1));
  return { differences, changed, regressions: DECISIVE.filter((name) => differences[name].high < 0) };
}

/** The result as lines of TREC: `question Q0 document rank score tag`; scores fall strictly, so that every reader has the same order. */
export function* trecLines({ questions }: CollectionResult, tag: string): Generator<string> {
  for (const { id, found } of questions) {
    for (const [at, one] of found.entries()) {
      yield `${id} Q0 ${one.id} ${at + 1} ${(found.length - at + one.similarity / 2).toFixed(6)} ${tag}\n`;
    }
  }
}
