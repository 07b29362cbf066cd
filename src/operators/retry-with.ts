/** The one way to try again after a failure: an operator, and `retry` for work that is a promise. */
import {
  defer,
  fromEvent,
  lastValueFrom,
  type MonoTypeOperatorFunction,
  type Observable,
  race,
  retry as resubscribe,
  type SchedulerLike,
  tap,
  throwError,
  timer,
} from 'rxjs';
import { EngineError } from '../errors.js';
import { invalidOption, requireWhole } from './invalid-option.js';

/** Node's timers hold 31 bits; a longer delay would fire at once. */
const MAX_DELAY_MS = 2 ** 31 - 1;

/** What to retry, how often and when. */
export interface RetryWithOptions {
  /** How many attempts in all, the first included; a whole number of at least 1 (1 = never retry). @default no bound */
  readonly attempts?: number;
  /** Milliseconds to wait after attempt number `attempt` (from 1) failed with `error`; 0 to 2^31 - 1. */
  readonly delayMs: (attempt: number, error: unknown) => number;
  /** Whether another attempt may help after attempt number `attempt` failed with `error`. @default as an EngineError says */
  readonly isRetryable?: (error: unknown, attempt: number) => boolean;
  /** Receives each failure that is followed by another attempt, before the delay. */
  readonly onRetry?: (error: unknown, attempt: number) => void;
  /** When aborted, the delay ends at once and the attempt after it is the last one. @default never aborted */
  readonly signal?: AbortSignal;
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
  const { attempts, isRetryable = mayHelp, onRetry, afterEmission = false, signal } = options;
  if (attempts !== undefined) requireWhole('retryWith', 'attempts', attempts, 1);
  return (source) =>
    defer(() => {
      let hasEmitted = false;
      return source.pipe(
        tap(() => {
          hasEmitted = true;
        }),
        resubscribe({
          ...(attempts !== undefined && { count: attempts - 1 }),
          delay: (error: unknown, attempt) => {
            const isFinal = (hasEmitted && !afterEmission) || signal?.aborted;
            if (isFinal || !isRetryable(error, attempt)) return throwError(() => error);
            onRetry?.(error, attempt);
            return wait(options, attempt, error);
          },
        }),
      );
    });
}

/**
 * Does `work`, again as long as {@link RetryWithOptions} allow; resolves with what the attempt that succeeded gave.
 *
 * @throws the error of the last attempt, unchanged.
 */
export async function retry<T>(work: () => PromiseLike<T>, options: RetryWithOptions): Promise<T> {
  let first: { readonly error: unknown } | undefined;
  try {
    // Nearly always it succeeds at once, for which nothing needs to be wired.
    return await work();
  } catch (error) {
    first = { error };
  }
  const attempt = (): PromiseLike<T> => {
    const failed = first;
    first = undefined;
    return failed === undefined ? work() : Promise.reject(failed.error);
  };
  return lastValueFrom(defer(attempt).pipe(retryWith(options)));
}

/** A delay that starts at `firstMs` and doubles with each attempt, up to `maxMs`. */
export function doubling(firstMs: number, maxMs: number): (attempt: number) => number {
  return (attempt) => Math.min(maxMs, firstMs * 2 ** (attempt - 1));
}

const mayHelp = (error: unknown): boolean => EngineError.is(error) && error.retryable;

function wait({ delayMs, scheduler, signal }: RetryWithOptions, attempt: number, error: unknown): Observable<unknown> {
  const ms = delayMs(attempt, error);
  if (!(ms >= 0 && ms <= MAX_DELAY_MS)) {
    throw invalidOption('retryWith', 'delayMs', `a function giving 0 to ${MAX_DELAY_MS}`, ms);
  }
  const delay$ = scheduler === undefined ? timer(ms) : timer(ms, scheduler);
  return signal === undefined ? delay$ : race<unknown[]>(delay$, fromEvent(signal, 'abort'));
}
