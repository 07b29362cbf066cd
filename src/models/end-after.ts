import { type MonoTypeOperatorFunction, mergeMap, takeUntil, timer } from 'rxjs';
import { EngineError } from '../errors.js';

/**
 * Ends a model call that takes too long, however lively it is.
 *
 * ```text
 * timeoutMs 5
 * source    --a--b--c--
 * sub       ^----!
 * result    --a--#
 * ```
 *
 * Errors: `MODEL_UNAVAILABLE`, not retryable: what took this long once takes this long twice.
 */
export function endAfter<T>(timeoutMs: number, model: string): MonoTypeOperatorFunction<T> {
  return (source) =>
    source.pipe(
      takeUntil(
        timer(timeoutMs).pipe(
          mergeMap((): never => {
            throw new EngineError(
              'MODEL_UNAVAILABLE',
              `Model "${model}" was still answering after ${timeoutMs} ms; the call was ended.`,
            );
          }),
        ),
      ),
    );
}
