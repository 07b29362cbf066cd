/** Asks a model within a budget, and once more when its answer is of no use. */
import { catchError, defer, map, type Observable, of, switchMap, tap, throwError } from 'rxjs';
import { EngineError } from '../../../errors.js';
import type { JsonObject } from '../../../json.js';
import { estimateTokens } from '../../../models/estimate-tokens.js';
import type { GraphModel, GraphModelQuestion } from './graph-model.js';

/** What a call took. */
export interface CallSpent {
  readonly prompt: number;
  readonly completion: number;
}

/** What calls may take together. It is asked before each, so what is spent is never more than one call above it. */
export interface CallBudget {
  /** Whether there is room for a call, which then is taken. Tokens; `completion` as it is expected. */
  take(expected: CallSpent): boolean;
  /** What was expected becomes what was spent. */
  settle(expected: CallSpent, spent: CallSpent): void;
}

/** A question with how its answer is read. */
export interface GraphCall<T> extends GraphModelQuestion {
  /** Tokens of a usual answer. */
  readonly expected: number;
  /** What an answer says; undefined for one that is of no use. */
  readonly read: (answer: JsonObject) => T | undefined;
}

/** How a question ended: with an answer, with two answers of no use, or before it was asked. */
export type CallEnd<T> =
  | { readonly state: 'answered'; readonly value: T }
  | { readonly state: 'unusable' }
  | { readonly state: 'no-room' };

/** Tokens that the schema of an answer takes in most prompts. */
const SCHEMA_TOKENS = 150;

/** Tokens of the prompt of a question. */
export function promptTokens({ task, input }: Pick<GraphModelQuestion, 'task' | 'input'>): number {
  return estimateTokens(task) + estimateTokens(JSON.stringify(input)) + SCHEMA_TOKENS;
}

/**
 * Asks a question; emits once how it ended. An answer of no use is asked for once more, if there is room for that. Cold: unsubscribing closes the connection.
 *
 * ```text
 * answers   --x  --a|         --x  --x|
 * result    -------(a|)       -------(unusable|)
 * ```
 *
 * Errors: those of the model, but MODEL_RESPONSE; what was sent is settled then, too.
 */
export function askTwice<T>(model: GraphModel, call: GraphCall<T>, budget: CallBudget): Observable<CallEnd<T>> {
  const { expected: completion, read, ...question } = call;
  const expected = { prompt: promptTokens(call), completion };
  const once = (): Observable<CallEnd<T>> =>
    defer(() => {
      if (!budget.take(expected)) return of<CallEnd<T>>({ state: 'no-room' });
      const settle = (spent: number): void => budget.settle(expected, { prompt: expected.prompt, completion: spent });
      return model.ask(question).pipe(
        tap((answer) => settle(estimateTokens(JSON.stringify(answer)))),
        map((answer): CallEnd<T> => {
          const value = read(answer);
          return value === undefined ? { state: 'unusable' } : { state: 'answered', value };
        }),
        catchError((error: unknown) => {
          settle(0);
          const isUnusable = EngineError.is(error) && error.code === 'MODEL_RESPONSE';
          return isUnusable ? of<CallEnd<T>>({ state: 'unusable' }) : throwError(() => error);
        }),
      );
    });
  return once().pipe(
    switchMap((first) =>
      first.state !== 'unusable'
        ? of(first)
        : once().pipe(map((second) => (second.state === 'no-room' ? first : second))),
    ),
  );
}
