/** A check of what an agent answers, while it is written and at its end. */
import {
  catchError,
  concat,
  concatMap,
  defer,
  EMPTY,
  from,
  type MonoTypeOperatorFunction,
  map,
  type Observable,
  of,
  tap,
  throwError,
} from 'rxjs';
import { EngineError } from '../../errors.js';
import type { AssistantMessage } from '../../models/messages.js';
import { firstValue } from '../../operators/from-abortable.js';
import { requireWhole } from '../../operators/invalid-option.js';
import type { AgentView } from '../loop/agent-view.js';
import { isRestart, RESTART } from '../loop/ask-model.js';
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

/** What a guard of outputs looks at. */
export interface GuardedOutput {
  /** The answer from its beginning, as far as it has come; its thoughts are not in it. */
  readonly text: string;
  /** Whether nothing more comes. */
  readonly isWhole: boolean;
}

/** See {@link guardOutput}. */
export interface GuardOutputOptions {
  /** Unique among the middlewares of an agent. @default 'guardOutput' */
  readonly name?: string;
  /** The answer in place of a refused one. @default GUARD_TRIPPED */
  readonly replacement?: string;
  /** New characters after which the text is checked again; Infinity: only the whole is checked, and nothing is live. @default 200 */
  readonly everyCharacters?: number;
  /** Characters behind which text is held back although it was checked, for what a check finds only in full. @default 100 */
  readonly holdBackCharacters?: number;
}

/**
 * Checks every answer of the model while it is written, and at its end; and the answer of the agent, where that is another text, such as that of a
 * tool whose result is returned directly.
 *
 * ```text
 * model     -a--b--c--d--|           every 2 pieces, 1 held back
 * check     ----x-----x--x                                  checked: ab, abcd, the whole
 * result    ----a-----(bc)(d|)
 *
 * model     -a--b--c--!
 * check     ----x-----(trip)
 * result    ----a-----#              (or R and the replacement: what came before it does not count)
 * ```
 *
 * A piece leaves when its text, and `holdBackCharacters` behind it, have passed a check; calls and thoughts keep their place among the texts. A trip
 * unsubscribes the model. Errors: GUARD_TRIPPED with the name of the guard and the reason, also when the check itself fails.
 *
 * @param check gives undefined when all is well, `{ reason, replacement? }` when not; promises have `view.signal`
 * @throws EngineError OPTION_INVALID
 */
export function guardOutput(
  check: (output: GuardedOutput, view: AgentView) => GuardResult,
  options: GuardOutputOptions = {},
): AgentMiddleware<string | undefined> {
  requireGuard('guardOutput', check, options, ['name', 'replacement', 'everyCharacters', 'holdBackCharacters']);
  const { name = 'guardOutput', replacement, everyCharacters = 200, holdBackCharacters = 100 } = options;
  if (everyCharacters !== Number.POSITIVE_INFINITY) requireWhole('guardOutput', 'everyCharacters', everyCharacters, 1);
  requireWhole('guardOutput', 'holdBackCharacters', holdBackCharacters, 0);
  return defineMiddleware<string | undefined>({
    name,
    holdsForHelpers: true,
    // The whole text that passed last.
    initial: () => undefined,
    wrapModel(request, next, view) {
      const verdict = (output: GuardedOutput): Observable<GuardVerdict> =>
        verdictOf(name, () => check(output, view)).pipe(
          tap((found) => {
            if (found === undefined && output.isWhole) view.setOwn(output.text);
          }),
        );
      const refused = (trip: GuardTrip, isLive: boolean): Observable<AssistantMessage> =>
        defer(() => {
          const text = replacementFor({ name, replacement }, trip, view);
          view.setOwn(text);
          return from(isLive ? [RESTART, answerOf(text)] : [answerOf(text)]);
        });
      return next(request).pipe(checkedText({ verdict, refused, everyCharacters, holdBackCharacters }));
    },
    afterAgent({ text }, view) {
      if (text === view.own || text === '') return undefined;
      const answer$ = verdictOf(name, () => check({ text, isWhole: true }, view)).pipe(
        map((trip) => (trip === undefined ? { text } : { text: replacementFor({ name, replacement }, trip, view) })),
      );
      return firstValue(answer$, view.signal);
    },
  });
}

/** How {@link checkedText} checks. */
export interface TextCheck {
  readonly everyCharacters: number;
  readonly holdBackCharacters: number;
  verdict(output: GuardedOutput): Observable<GuardVerdict>;
  /** What comes in place of a refused text; `isLive`: some of it has left. */
  refused(trip: GuardTrip, isLive: boolean): Observable<AssistantMessage>;
}

/** Pieces of an answer that wait for its checks. */
const MAX_HELD = 100_000;

/** Lets the pieces of an answer pass as far as their text was checked; see {@link guardOutput} for a picture. */
export function checkedText(options: TextCheck): MonoTypeOperatorFunction<AssistantMessage> {
  const { everyCharacters, holdBackCharacters, verdict, refused } = options;
  return (source) =>
    defer(() => {
      let held: { readonly piece: AssistantMessage; readonly end: number }[] = [];
      let text = '';
      let checked = 0;
      let isLive = false;
      const release = (until: number): Observable<AssistantMessage> => {
        const count = held.findIndex(({ end }) => end > until);
        const free = count === -1 ? held : held.slice(0, count);
        held = count === -1 ? [] : held.slice(count);
        if (free.length > 0) isLive = true;
        return from(free.map(({ piece }) => piece));
      };
      const pass = (isWhole: boolean): Observable<AssistantMessage> =>
        verdict({ text, isWhole }).pipe(
          concatMap((trip) => {
            if (trip !== undefined) throw new Tripped(trip);
            checked = text.length;
            return release(isWhole ? Number.POSITIVE_INFINITY : checked - holdBackCharacters);
          }),
        );
      const take = (piece: AssistantMessage): Observable<AssistantMessage> => {
        if (isRestart(piece)) {
          held = [];
          text = '';
          checked = 0;
          return of(piece);
        }
        text += piece.content;
        held.push({ piece, end: text.length });
        if (held.length > MAX_HELD) throw tooMany();
        return text.length - checked < everyCharacters ? EMPTY : pass(false);
      };
      return concat(
        source.pipe(concatMap(take)),
        defer(() => (text === '' ? release(Number.POSITIVE_INFINITY) : pass(true))),
      ).pipe(
        catchError((thrown: unknown) =>
          thrown instanceof Tripped ? refused(thrown.trip, isLive) : throwError(() => thrown),
        ),
      );
    });
}

function tooMany(): EngineError {
  const message = `More than ${MAX_HELD} pieces of an answer wait for its check. Check more often (everyCharacters).`;
  return new EngineError('LIMIT_REACHED', message);
}
