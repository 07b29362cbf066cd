/** A check of what an agent is asked, beside its model. */
import {
  catchError,
  concat,
  concatMap,
  defer,
  EMPTY,
  from,
  ignoreElements,
  type MonoTypeOperatorFunction,
  merge,
  type Observable,
  of,
  tap,
  throwError,
} from 'rxjs';
import { EngineError } from '../../errors.js';
import { contentText } from '../../models/content-parts.js';
import type { ChatMessage, UserMessage } from '../../models/messages.js';
import type { AgentView } from '../loop/agent-view.js';
import { type AgentMiddleware, defineMiddleware } from '../loop/middleware.js';
import {
  answerOf,
  type GuardResult,
  type GuardTrip,
  type GuardVerdict,
  replacementFor,
  requireGuard,
  Tripped,
  verdictOf,
} from './guard.js';

/** What a guard of inputs looks at. */
export interface GuardedInput {
  /** The text of the new messages, joined by empty lines. */
  readonly text: string;
  /** What users have said since the newest answer. */
  readonly messages: readonly UserMessage[];
}

/** See {@link guardInput}. */
export interface GuardInputOptions {
  /** Unique among the middlewares of an agent. @default 'guardInput' */
  readonly name?: string;
  /** The answer in place of a refused question. @default GUARD_TRIPPED */
  readonly replacement?: string;
  /** Whether the model is asked only after the check. @default false: both at the same time */
  readonly wait?: boolean;
}

/**
 * Checks what users say, while the model is at work on it: at the beginning, and in rounds in which live inputs have joined.
 *
 * ```text
 * check     ------(ok)               check     ---(trip)
 * model     -a--b----c--|            model     -a-!
 * result    ------(ab)c-|            result    ---#            (or the replacement)
 * ```
 *
 * Nothing of the answer leaves before the check has passed. A trip unsubscribes the model. Errors: GUARD_TRIPPED with the name of the guard and the
 * reason, also when the check itself fails; LIMIT_REACHED when more than 100,000 pieces of an answer wait for it.
 *
 * @param check gives undefined when all is well, `{ reason, replacement? }` when not; promises have `view.signal`
 * @throws EngineError OPTION_INVALID
 */
export function guardInput(
  check: (input: GuardedInput, view: AgentView) => GuardResult,
  options: GuardInputOptions = {},
): AgentMiddleware<number> {
  requireGuard('guardInput', check, options, ['name', 'replacement', 'wait']);
  const { name = 'guardInput', replacement, wait = false } = options;
  return defineMiddleware<number>({
    name,
    holdsForHelpers: true,
    // The round whose inputs have passed: further tries of its model need no check.
    initial: () => 0,
    wrapModel(request, next, view) {
      const messages = newMessages(view.messages);
      if (messages.length === 0 || view.own === view.round) return next(request);
      const text = messages.map(({ content }) => contentText(content)).join('\n\n');
      const verdict$ = verdictOf(name, () => check({ text, messages }, view)).pipe(
        tap((verdict) => {
          if (verdict === undefined) view.setOwn(view.round);
        }),
      );
      const refused = (trip: GuardTrip) => defer(() => of(answerOf(replacementFor({ name, replacement }, trip, view))));
      return next(request).pipe(passedBy(verdict$, refused, wait));
    },
  });
}

/** What users have said since the newest answer. */
function newMessages(messages: readonly ChatMessage[]): UserMessage[] {
  const start = messages.findLastIndex(({ role }) => role === 'assistant') + 1;
  return messages.slice(start).filter((message) => message.role === 'user');
}

/** Pieces that wait for a check. */
const MAX_HELD = 100_000;

/**
 * Holds a stream back until a check has passed; see {@link guardInput} for a picture.
 *
 * @param refused what comes in place of a stream that was refused
 * @param wait whether the source is subscribed to only behind the check
 */
export function passedBy<T>(
  verdict$: Observable<GuardVerdict>,
  refused: (trip: GuardTrip) => Observable<T>,
  wait: boolean,
): MonoTypeOperatorFunction<T> {
  return (source) =>
    defer(() => {
      const held: T[] = [];
      let hasPassed = false;
      const passed$ = verdict$.pipe(
        concatMap((verdict) => {
          if (verdict !== undefined) throw new Tripped(verdict);
          hasPassed = true;
          return from(held.splice(0));
        }),
      );
      const pieces$ = source.pipe(
        concatMap((piece) => {
          if (hasPassed) return of(piece);
          if (held.length >= MAX_HELD) throw tooMany();
          held.push(piece);
          return EMPTY;
        }),
      );
      const both$ = wait ? concat(passed$.pipe(ignoreElements()), source) : merge(passed$, pieces$);
      return both$.pipe(
        catchError((thrown: unknown) => (thrown instanceof Tripped ? refused(thrown.trip) : throwError(() => thrown))),
      );
    });
}

function tooMany(): EngineError {
  const message = `More than ${MAX_HELD} pieces of an answer wait for the check of what was asked. Make the check faster, or ask the model behind it (wait: true).`;
  return new EngineError('LIMIT_REACHED', message);
}
