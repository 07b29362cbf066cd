/** When work in the background is looked for. */
import {
  catchError,
  defer,
  EMPTY,
  exhaustMap,
  ignoreElements,
  merge,
  type Observable,
  of,
  repeat,
  tap,
  timer,
} from 'rxjs';
import { requireObject, requireWhole } from '../operators/invalid-option.js';

/** What {@link lookAgain} looks by. */
export interface LookAgainOptions {
  /** Emits when there may be more to do. */
  readonly news$: Observable<unknown>;
  /** Milliseconds after which is looked without news. */
  readonly pollMs: number;
  /** Called with the error of a look, which is over then. */
  readonly onError: (error: unknown) => void;
}

/**
 * Looks for work at once, with each news, and after each `pollMs`: one look at a time. News that come during a look make it begin again when it is over,
 * however many they were, since it may have passed what they are about. Emits nothing, never ends by itself.
 *
 * ```text
 * news      --n-----nn--------
 * looks     l|                     (at once)
 *             l---!------          (! fails: is over, onError)
 *                   l----|l--|     (nn came during it: once more)
 * result    ------------------
 * ```
 *
 * Errors: those of `news$`. Unsubscribing ends the look at work.
 *
 * @throws EngineError OPTION_INVALID for `pollMs` that is no whole number of at least 1
 */
export function lookAgain(look: () => Observable<unknown>, options: LookAgainOptions): Observable<never> {
  requireObject('lookAgain', 'options', options);
  const { news$, pollMs, onError } = options;
  requireWhole('lookAgain', 'pollMs', pollMs, 1);
  return defer(() => {
    let isNews = false;
    const noted$ = news$.pipe(
      tap(() => {
        isNews = true;
      }),
    );
    const look$ = defer(() => {
      isNews = false;
      return look();
    }).pipe(
      catchError((error: unknown) => {
        onError(error);
        return EMPTY;
      }),
      repeat({ delay: () => (isNews ? of(undefined) : EMPTY) }),
    );
    return merge(timer(0, pollMs), noted$).pipe(
      exhaustMap(() => look$),
      ignoreElements(),
    );
  });
}
