/** How long a model may take: for its first piece, between two, and in all. */
import { type MonoTypeOperatorFunction, Observable, throwError, timeout, timer } from 'rxjs';
import { EngineError } from '../../errors.js';
import { requireOptions, requireWhole } from '../../operators/invalid-option.js';

/** Milliseconds; what is absent has no limit. */
export interface AnswerLimits {
  /** Until the first piece of the answer. */
  readonly firstTokenMs?: number;
  /** Between two pieces. */
  readonly silenceMs?: number;
  /** From the request to the end of the answer. */
  readonly totalMs?: number;
}

/** Refuses limits that are none. @throws EngineError OPTION_INVALID */
export function checkLimits(owner: string, limits: AnswerLimits): void {
  requireOptions(owner, limits, ['firstTokenMs', 'silenceMs', 'totalMs']);
  for (const [name, ms] of Object.entries(limits)) requireWhole(owner, `limits.${name}`, ms as number, 1);
}

/**
 * Errors when an answer takes longer than it may; the connection then is closed.
 *
 * ```text
 * source         -----a--b--------|
 * firstTokenMs   ---|                   5 > 3
 * result         ---#
 *
 * source         -a--b--------|
 * silenceMs      -  --  ---|            8 > 3
 * result         -a--b---#
 *
 * source         -a--b--c--d--|
 * totalMs        --------|
 * result         -a--b--c#
 * ```
 *
 * Errors: MODEL_UNAVAILABLE, retryable, naming the limit and `owner`.
 */
export function answerLimits<T>(owner: string, limits: AnswerLimits): MonoTypeOperatorFunction<T> {
  const { firstTokenMs, silenceMs, totalMs } = limits;
  return (source) => {
    const tooLate = (what: string, ms: number): EngineError =>
      new EngineError('MODEL_UNAVAILABLE', `The model of "${owner}" ${what} within ${ms} ms.`, { retryable: true });
    const first = firstTokenMs ?? silenceMs;
    const paced =
      first === undefined
        ? source
        : source.pipe(
            timeout<T, Observable<never>>({
              first,
              ...(silenceMs !== undefined && { each: silenceMs }),
              with: ({ seen }) =>
                throwError(() =>
                  seen === 0 ? tooLate('gave nothing', first) : tooLate('gave nothing more', silenceMs ?? 0),
                ),
            }),
          );
    return totalMs === undefined ? paced : endedBy(paced, () => tooLate('did not end its answer', totalMs), totalMs);
  };
}

/** A source that errors when it has not completed in time. */
function endedBy<T>(source: Observable<T>, late: () => EngineError, ms: number): Observable<T> {
  return new Observable((subscriber) => {
    subscriber.add(timer(ms).subscribe(() => subscriber.error(late())));
    return source.subscribe(subscriber);
  });
}
