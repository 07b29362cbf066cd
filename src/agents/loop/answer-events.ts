/** Where among the middlewares of an agent an answer becomes events. */
import { defer, filter, type MonoTypeOperatorFunction, merge, Subject, tap } from 'rxjs';
import type { AssistantMessage } from '../../models/messages.js';
import { isRestart, isUnfinished, joinAnswer, RESTART } from './ask-model.js';
import { type AgentMiddleware, type AnyMiddleware, defineMiddleware } from './middleware.js';

const ANSWER_EVENTS: unique symbol = Symbol('answer-events');

/**
 * Marks the place in the list of middlewares where an answer becomes events: they tell what has passed the `wrapModel` of the middlewares behind it,
 * and nothing of what those before it make of the answer. The agent goes on with what leaves the outermost one, as without it.
 *
 * ```text
 * use: [upper, answerEvents(), mask]
 *
 * model     --a-----b--|
 * mask      --*-----b--|        (behind the place)
 * events    --*-----b--|
 * upper     ----------(*B|)     (before it: what the conversation holds)
 * ```
 *
 * Without it events tell what leaves the outermost one. An answer that a middleware before the place gives by itself, without a call of the model, is
 * in the conversation alone. `afterModel` and `afterAgent` come behind the events in any case.
 */
export function answerEvents(): AgentMiddleware {
  const marker = defineMiddleware<undefined>({ name: 'answerEvents' });
  return Object.freeze({ ...marker, [ANSWER_EVENTS]: true }) as AgentMiddleware;
}

/** The marker among middlewares; undefined where none stands, or nothing before it changes answers. */
export function eventMarker(use: readonly AnyMiddleware[]): AnyMiddleware | undefined {
  const place = use.findIndex((middleware) => ANSWER_EVENTS in middleware);
  const outer = use.slice(0, Math.max(place, 0));
  return outer.some(({ wrapModel }) => wrapModel !== undefined) ? use[place] : undefined;
}

/** The two ends of what is told of one answer. */
export interface AnswerTelling {
  /** At the marker: tells the pieces that pass, and lets them pass. */
  readonly passing: MonoTypeOperatorFunction<AssistantMessage>;
  /** Outside of all middlewares: gives what was told in place of its source. `keep` gets the message of the source at its end. */
  toldFor(keep: (message: AssistantMessage) => void): MonoTypeOperatorFunction<AssistantMessage>;
}

/**
 * Tells the pieces of one answer at one place, and keeps its message from another.
 *
 * ```text
 * passing   --a--b-----c--|
 * source    --------(AB)--C|       (made of them)
 * told      --a--b-----c---|       keep: ABC
 *
 * passing   --a--#                 (the model fails, and is asked again)
 * passing        ---b--|
 * told      --a-----(Rb)-|         (R: what came before it does not count)
 * ```
 *
 * That an answer was dropped (`unfinished`) is told as well. Errors pass.
 */
export function answerTelling(): AnswerTelling {
  const told$ = new Subject<AssistantMessage>();
  let isEarlier = false;
  return {
    passing: (source) =>
      defer(() => {
        let isRepeated = isEarlier;
        return source.pipe(
          tap((piece) => {
            if (isRepeated) told$.next(RESTART);
            isRepeated = false;
            isEarlier = true;
            told$.next(piece);
          }),
        );
      }),
    toldFor: (keep) => (source) =>
      defer(() => {
        let kept: AssistantMessage[] = [];
        const own$ = source.pipe(
          tap({
            next: (piece) => {
              if (isRestart(piece)) kept = [];
              kept.push(piece);
            },
            complete: () => {
              keep(joinAnswer(kept));
              told$.complete();
            },
          }),
          filter((piece) => isUnfinished(piece)),
        );
        return merge(told$, own$);
      }),
  };
}
