/** How well researches, by sub-questions or by a plan, find the passages of a test collection, answer its questions, and what that takes. */
import {
  concatMap,
  defer,
  from,
  last,
  lastValueFrom,
  map,
  mergeMap,
  type Observable,
  takeUntil,
  tap,
  toArray,
} from 'rxjs';
import type { StageModel } from '../../chat/stages/stage-result.js';
import type { Json } from '../../json.js';
import type {
  CollectionResult,
  EvaluationOptions,
  IndexedCollection,
} from '../../knowledge/evaluation/evaluate-collection.js';
import { meanMeasures, measuresOf } from '../../knowledge/evaluation/metrics.js';
import type { JudgedQuestion } from '../../knowledge/evaluation/read-collection.js';
import type { SearchSettings } from '../../knowledge/search/search-settings.js';
import { fromAbortable } from '../../operators/from-abortable.js';
import { Budget, type CallPrice, type Spent } from '../calls/budget.js';
import type { ResearchPlace } from '../deep/deep-ports.js';
import { runDeepSearch } from '../deep/deep-search.js';
import type { Depth } from '../deep/depths.js';
import { answerOf, EMPTY_PICTURE, foldResearch, type ResearchPicture } from '../deep/fold-research.js';
import { rankEvidence } from '../evidence/rank-evidence.js';
import { runPlannedResearch } from '../plan/plan-research.js';
import type { ResearchEvent, ResearchFinal } from '../research-events.js';
import { answerF1, exactMatch } from './score-research.js';

/** How questions are researched. */
export interface DeepEvaluationOptions extends EvaluationOptions {
  /** Undefined: rules alone. */
  readonly model: StageModel | undefined;
  readonly depth: Depth;
  /** Whether each question is researched by a plan, which no person sees. @default false */
  readonly isPlanned?: boolean | undefined;
  readonly settings: SearchSettings;
  readonly price?: CallPrice | undefined;
  /** Milliseconds before the second attempt of a call. @default 250 */
  readonly retryMs?: number | undefined;
}

/** What one research gave. */
export interface DeepAnswer {
  readonly id: string;
  readonly report: string;
  /** The finding that nothing else waits for, where there is one; else the report. */
  readonly answer: string;
  readonly outcome: string;
  readonly spent: Spent;
  /** Undefined where the collection tells no answer. */
  readonly exact: number | undefined;
  readonly f1: number | undefined;
  /** Whether the report says that there is no answer. */
  readonly isRefused: boolean;
  readonly unsupported: number;
}

/** See {@link evaluateDeep}. */
export interface DeepResult extends CollectionResult {
  readonly answers: readonly DeepAnswer[];
}

/** Questions that are researched at the same time. */
const AT_ONCE = 4;
/** The tools of plans: a collection has one place. */
const SEARCHES = ['kb_search', 'deep_search'];

/** Researches all questions of a collection. A document with the id of the question is never evidence. */
export async function evaluateDeep(indexed: IndexedCollection, options: DeepEvaluationOptions): Promise<DeepResult> {
  const { collection, ms } = indexed;
  const { onProgress, signal } = options;
  const asked = [...collection.questions, ...(collection.unanswerable ?? [])];
  let done = 0;
  const all$ = from(asked.map((question, at) => ({ question, at }))).pipe(
    mergeMap(
      ({ question, at }) => researched(indexed, question, options).pipe(map((result) => ({ ...result, at }))),
      AT_ONCE,
    ),
    tap(() => {
      done += 1;
      if (done % 10 === 0 || done === asked.length) onProgress?.('questions', done, asked.length);
    }),
    toArray(),
  );
  const results = await lastValueFrom(signal === undefined ? all$ : all$.pipe(takeUntil(abortOf(signal))), {
    defaultValue: [],
  });
  signal?.throwIfAborted();
  const inOrder = [...results].sort((a, b) => a.at - b.at);
  const questions = inOrder.slice(0, collection.questions.length).map(({ question }) => question);
  const times = questions.map((one) => one.ms).sort((a, b) => a - b);
  const timeAt = (share: number): number => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0;
  return {
    documents: collection.documents.length,
    means: meanMeasures(questions.map(({ measures }) => measures)),
    questions,
    times: { index: ms, p50: timeAt(0.5), p99: timeAt(0.99) },
    answers: inOrder.map(({ answer }) => answer),
  };
}

function abortOf(signal: AbortSignal): Observable<never> {
  return fromAbortable(
    (own) =>
      new Promise<never>((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true, signal: own });
      }),
  );
}

interface Folded {
  readonly picture: ResearchPicture;
  readonly final: ResearchFinal | undefined;
}

function researched(indexed: IndexedCollection, question: JudgedQuestion, options: DeepEvaluationOptions) {
  return defer(() => {
    const { model, depth, isPlanned = false, price, retryMs } = options;
    const startedAt = performance.now();
    const budget = new Budget(depth.budget, { price });
    const journal = { find: (): Json | undefined => undefined, keep: () => {} };
    const places = [placeOf(indexed, question, options)];
    const ports = { asking: { model, budget, journal, retryMs }, now: Date.now };
    const { text } = question;
    const events$ = isPlanned
      ? runPlannedResearch(
          { question: text, depth, clarifies: false, waits: false, form: 'answer' },
          { ...ports, tools: new Map(SEARCHES.map((name) => [name, places])) },
        )
      : runDeepSearch({ question: text, depth }, { ...ports, places });
    let folded: Folded = { picture: EMPTY_PICTURE, final: undefined };
    return events$.pipe(
      tap((event) => {
        folded = fold(folded, event);
      }),
      last(),
      concatMap(() => [resultOf(question, folded, performance.now() - startedAt, budget)]),
    );
  });
}

function fold({ picture, final }: Folded, event: ResearchEvent): Folded {
  return { picture: foldResearch(picture, event), final: event.type === 'final' ? event : final };
}

/** The index of the collection as a place to search. */
function placeOf(
  { collection, index }: IndexedCollection,
  { id }: JudgedQuestion,
  { settings }: DeepEvaluationOptions,
): ResearchPlace {
  const documents = new Map(collection.documents.map((one) => [one.id, one]));
  const accepts = (passage: { readonly id: string }): boolean => passage.id !== id;
  return {
    where: 'kb',
    find: (question, most) =>
      fromAbortable((signal) => index.search({ question, limit: most, settings, accepts }, signal)).pipe(
        map((hits) =>
          hits.flatMap((hit) => {
            const document = documents.get(hit.id);
            if (document === undefined) return [];
            const { title, text } = document;
            return [
              { id: hit.id, where: 'kb' as const, source: title === '' ? hit.id : title, text, score: hit.similarity },
            ];
          }),
        ),
      ),
  };
}

function resultOf(
  { id, text, judged, answers }: JudgedQuestion,
  { picture, final }: Folded,
  ms: number,
  budget: Budget,
) {
  const ranked = rankEvidence(picture, final?.sources ?? []);
  const scores = new Map(picture.evidence.map((one) => [one.id, one.score]));
  const report = final?.report ?? '';
  const answer = answerOf(picture) ?? report;
  const isRefused = final?.outcome === 'unanswerable';
  const isJudged = answers !== undefined && answers.length > 0;
  return {
    question: {
      id,
      text,
      found: ranked.map((one) => ({ id: one, similarity: scores.get(one) ?? 0 })),
      ms,
      measures: measuresOf(ranked, judged),
    },
    answer: {
      id,
      report,
      answer,
      outcome: final?.outcome ?? 'unanswerable',
      spent: budget.spent,
      exact: isJudged ? exactMatch(answer, answers) : undefined,
      f1: isJudged ? answerF1(answer, answers) : undefined,
      isRefused,
      unsupported: final?.unsupported ?? 0,
    },
  };
}
