/** Questions that lead on: a model asks them, the graph answers each around its entities. */
import { catchError, concatMap, defer, from, map, mergeMap, type Observable, of, toArray } from 'rxjs';
import { askTwice } from '../calls/ask-twice.js';
import { followUpsCall } from '../calls/follow-ups.js';
import type { GraphModel } from '../calls/graph-model.js';
import type { FoundPassageOfGraph } from '../search/found-passages.js';
import type { SearchBudget } from './search-budget.js';

/** What a search goes on from, and with. */
export interface DriftOptions {
  readonly question: string;
  /** What reports say, the best first. */
  readonly points: readonly string[];
  readonly model: GraphModel;
  readonly budget: SearchBudget;
  /** Passages around the entities that a question names. Its errors are those of the search. */
  readonly local: (question: string) => Observable<readonly FoundPassageOfGraph[]>;
  /** Beginnings of the texts of passages, in their order. */
  readonly texts: (passages: readonly FoundPassageOfGraph[]) => Observable<readonly string[]>;
}

/** Where it led. */
export interface Drifted {
  /** In the order in which they were asked. */
  readonly questions: readonly string[];
  /** Each with its question. */
  readonly passages: readonly FoundPassageOfGraph[];
  readonly isDegraded: boolean;
}

/** Rounds of questions. */
const MAX_ROUNDS = 2;
/** Searches at once. */
const CONCURRENT_SEARCHES = 4;
/** Points, and passages of a question, that the model is told. */
const MAX_POINTS = 10;
const TOLD_PASSAGES = 2;
/** What passages are worth beside those of the question itself. */
const FOLLOWED = 0.9;

interface State extends Drifted {
  readonly findings: readonly string[];
  readonly missing: readonly string[];
}

/**
 * Asks for questions that lead on and searches for them, twice at most; emits once.
 *
 * ```text
 * questions  --q|        --r|
 * searches      --s|        --t|
 * result     ------------------((s + t)|)
 * ```
 *
 * It ends before when there is no room for another call, no new question, or no answer of use. Cold: unsubscribing closes the connection.
 */
export function drift(options: DriftOptions): Observable<Drifted> {
  const { points } = options;
  const begin: State = {
    questions: [],
    passages: [],
    findings: points.slice(0, MAX_POINTS),
    missing: [],
    isDegraded: false,
  };
  return round(options, begin, 1).pipe(
    map(({ questions, passages, isDegraded }) => ({ questions, passages, isDegraded })),
  );
}

function round(options: DriftOptions, state: State, at: number): Observable<State> {
  const { question, model, budget } = options;
  const { findings, missing } = state;
  return askTwice(model, followUpsCall({ question, findings, missing }), budget).pipe(
    // The model cannot be reached: what was found stands.
    catchError(() => of({ state: 'unusable' } as const)),
    concatMap((end) => {
      if (end.state !== 'answered') return of({ ...state, isDegraded: state.isDegraded || end.state === 'unusable' });
      const known = new Set([question, ...state.questions].map(sameText));
      const fresh = end.value.filter((one) => !known.has(sameText(one)));
      if (fresh.length === 0) return of(state);
      return searched(options, state, fresh).pipe(
        concatMap((next) => (at === MAX_ROUNDS ? of(next) : round(options, next, at + 1))),
      );
    }),
  );
}

/** Searches for questions, side by side; what they found is in their order. */
function searched({ local, texts }: DriftOptions, state: State, questions: readonly string[]): Observable<State> {
  return from(questions.map((question, place) => ({ question, place }))).pipe(
    mergeMap(
      ({ question, place }) =>
        defer(() => local(question)).pipe(
          concatMap((passages) =>
            texts(passages.slice(0, TOLD_PASSAGES)).pipe(map((told) => ({ question, place, passages, told }))),
          ),
        ),
      CONCURRENT_SEARCHES,
    ),
    toArray(),
    map((found) => {
      const inOrder = found.sort((a, b) => a.place - b.place);
      return {
        ...state,
        questions: [...state.questions, ...questions],
        passages: [
          ...state.passages,
          ...inOrder.flatMap(({ question, passages }) =>
            passages.map(({ score, why, ...one }) => ({ ...one, score: FOLLOWED * score, why: { ...why, question } })),
          ),
        ],
        findings: [...state.findings, ...inOrder.flatMap(({ told }) => told)],
        missing: inOrder.flatMap(({ question, passages }) => (passages.length === 0 ? [question] : [])),
      };
    }),
  );
}

function sameText(text: string): string {
  return text.trim().toLowerCase();
}
