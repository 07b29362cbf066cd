import {
  defer,
  type MonoTypeOperatorFunction,
  type Observable,
  retry,
  type SchedulerLike,
  tap,
  throwError,
  timer,
} from 'rxjs';
import { invalidOption, requireWhole } from './invalid-option.js';

/** Node's timers hold 31 bits; a longer delay would fire at once. */
const MAX_DELAY_MS = 2 ** 31 - 1;

/** What to retry, how often and when. */
export interface RetryWithOptions {
  /** How many attempts in all, the first included; a whole number of at least 1 (1 = never retry). */
  readonly attempts: number;
  /** Milliseconds to wait after attempt number `attempt` (from 1) failed with `error`; 0 to 2^31 - 1. */
  readonly delayMs: (attempt: number, error: unknown) => number;
  /** Whether another attempt may help after `error`. */
  readonly isRetryable: (error: unknown) => boolean;
  /** Retries an attempt that had already emitted, so that a reader sees its values again. @default false */
  readonly afterEmission?: boolean;
  /** Where delays run. @default RxJS's timers */
  readonly scheduler?: SchedulerLike;
}

/**
 * Subscribes again after a retryable failure, as long as the failed attempt had emitted nothing.
 *
 * ```text
 * attempt 1  --#
 * delayMs      ---|
 * attempt 2       --a--b|
 * result     -------a--b|
 *
 * attempt 1  --a--#             (half an answer cannot be taken back)
 * result     --a--#
 * ```
 *
 * When attempts run out, or the failure is not retryable, the last error passes unchanged. What `delayMs` or `isRetryable`
 * throws takes its place, as does `OPTION_INVALID` for a delay out of range.
 *
 * @throws EngineError `OPTION_INVALID` at construction.
 */
export function retryWith<T>(options: RetryWithOptions): MonoTypeOperatorFunction<T> {
  const { attempts, delayMs, isRetryable, afterEmission = false, scheduler } = options;
  requireWhole('retryWith', 'attempts', attempts, 1);
  return (source) =>
    defer(() => {
      let hasEmitted = false;
      return source.pipe(
        tap(() => {
          hasEmitted = true;
        }),
        retry({
          count: attempts - 1,
          delay: (error: unknown, attempt) => {
            if ((hasEmitted && !afterEmission) || !isRetryable(error)) return throwError(() => error);
            return wait(delayMs(attempt, error), scheduler);
          },
        }),
      );
    });
}

function wait(delayMs: number, scheduler: SchedulerLike | undefined): Observable<unknown> {
  if (!(delayMs >= 0 && delayMs <= MAX_DELAY_MS)) {
    throw invalidOption('retryWith', 'delayMs', `a function giving 0 to ${MAX_DELAY_MS}`, delayMs);
  }
  return scheduler === undefined ? timer(delayMs) : timer(delayMs, scheduler);
}
