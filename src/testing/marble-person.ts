import { EMPTY, map, type Observable, take } from 'rxjs';
import type { Question } from '../compose/resume.js';
import { EngineError } from '../errors.js';
import { type MarbleScheduler, type MarbleValues, playDiagrams, type SubscriptionFrames } from './marble.js';

/** A letter of a person: the answer to every question, or a function that gives the answer to one; undefined leaves it open. */
export type MarbleAnswer = unknown | ((question: Question) => unknown);

/** A person who answers what a run asks. */
export interface MarblePerson {
  /** The questions that were put, and when, in virtual milliseconds. */
  readonly asked: readonly { readonly questions: readonly Question[]; readonly frame: number }[];
  /** When each diagram was played. */
  readonly subscriptions: readonly SubscriptionFrames[][];
  /** Answers by address, once; nothing when no diagram is left. */
  answer(questions: readonly Question[]): Observable<Readonly<Record<string, unknown>>>;
}

/**
 * A person whose nth answer is the first letter of the nth diagram; one who has no diagram left never answers.
 *
 * ```text
 * question  ?
 * diagram   ---y|      { y: true }
 * answer    ---y
 * ```
 *
 * @throws EngineError OPTION_INVALID
 */
export function marblePerson(
  scheduler: MarbleScheduler,
  diagrams: readonly string[],
  values: MarbleValues<MarbleAnswer> = {},
): MarblePerson {
  const error = new EngineError('CONFLICT', 'The person of the test does not answer.');
  const answers = playDiagrams('marblePerson', scheduler, diagrams, values, error);
  const asked: { questions: readonly Question[]; frame: number }[] = [];
  return {
    asked,
    subscriptions: answers.map(({ subscriptions }) => subscriptions),
    answer(questions) {
      asked.push({ questions, frame: scheduler.now() });
      const answer = answers[asked.length - 1];
      if (answer === undefined) return EMPTY;
      return answer.values$.pipe(
        take(1),
        map((value) => Object.fromEntries(questions.flatMap((question) => answerTo(question, value)))),
      );
    },
  };
}

function answerTo(question: Question, value: unknown): [string, unknown][] {
  const answer: unknown = typeof value === 'function' ? value(question) : value;
  return answer === undefined ? [] : [[question.address, answer]];
}
