import { defer, type Observable, of, throwError, VirtualTimeScheduler } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { EngineError } from '../../src/errors.js';
import { doubling, type RetryWithOptions, retry, retryWith } from '../../src/operators/retry-with.js';
import { marbles } from '../support/scheduler.js';

const busy = new EngineError('MODEL_UNAVAILABLE', 'busy', { retryable: true });
const refused = new EngineError('MODEL_REQUEST', 'refused');

const policy = {
  attempts: 3,
  delayMs: () => 2,
  isRetryable: (error) => EngineError.is(error) && error.retryable,
} satisfies RetryWithOptions;

/** A source whose attempts are, in turn, those given; the last one repeats. */
function attempts<T>(...sources: readonly Observable<T>[]): Observable<T> {
  let next = 0;
  return defer(() => sources[Math.min(next++, sources.length - 1)] as Observable<T>);
}

describe('retryWith', () => {
  it('passes on a source that does not fail', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source$ = cold('-a-b|');
      const sourceSubs = '  ^---!';
      const expected = '    -a-b|';

      expectObservable(source$.pipe(retryWith(policy))).toBe(expected);
      expectSubscriptions(source$.subscriptions).toBe(sourceSubs);
    }));

  it('subscribes again, after the delay, when nothing was emitted', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const first$ = cold('  -#       ', undefined, busy);
      const firstSubs = '    ^!       ';
      const second$ = cold('    -a-b| ');
      const secondSubs = '   ---^---! ';
      const expected = '     ----a-b| ';

      expectObservable(attempts(first$, second$).pipe(retryWith(policy))).toBe(expected);
      expectSubscriptions(first$.subscriptions).toBe(firstSubs);
      expectSubscriptions(second$.subscriptions).toBe(secondSubs);
    }));

  it('gives up with the last error after as many attempts as it may make', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source$ = cold(' -#       ', undefined, busy);
      //                        -#
      //                           -#
      const sourceSubs = ['  ^!       ', '---^!', '------^!'];
      const expected = '     -------# ';

      expectObservable(source$.pipe(retryWith(policy))).toBe(expected, undefined, busy);
      expectSubscriptions(source$.subscriptions).toBe(sourceSubs);
    }));

  it('does not retry an attempt that has emitted', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source$ = cold('-a-#', undefined, busy);
      const sourceSubs = '  ^--!';
      const expected = '    -a-#';

      expectObservable(source$.pipe(retryWith(policy))).toBe(expected, undefined, busy);
      expectSubscriptions(source$.subscriptions).toBe(sourceSubs);
    }));

  it('retries an attempt that has emitted when told to', () =>
    marbles(({ cold, expectObservable }) => {
      const first$ = cold('  -a#       ', undefined, busy);
      const second$ = cold('     -a-b| ');
      const expected = '     -a---a-b| ';

      const result$ = attempts(first$, second$).pipe(retryWith({ ...policy, afterEmission: true }));

      expectObservable(result$).toBe(expected);
    }));

  it('does not retry a failure that trying again cannot mend', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source$ = cold('-#', undefined, refused);
      const sourceSubs = '  ^!';
      const expected = '    -#';

      expectObservable(source$.pipe(retryWith(policy))).toBe(expected, undefined, refused);
      expectSubscriptions(source$.subscriptions).toBe(sourceSubs);
    }));

  it('tells delayMs which attempt failed, and why', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source$ = cold(' #     ', undefined, busy);
      //                      #
      //                        #
      const sourceSubs = ['  (^!)  ', '-(^!)', '---(^!)'];
      const expected = '     ---#  ';
      const delayMs = (attempt: number, error: unknown) => (error === busy ? attempt : 100);

      expectObservable(source$.pipe(retryWith({ ...policy, delayMs }))).toBe(expected, undefined, busy);
      expectSubscriptions(source$.subscriptions).toBe(sourceSubs);
    }));

  it('clears the delay when unsubscribed while waiting', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source$ = cold('-#    ', undefined, busy);
      const unsub = '       ^-!   ';
      const sourceSubs = '  ^!    ';
      const expected = '    ---   ';

      expectObservable(source$.pipe(retryWith(policy)), unsub).toBe(expected);
      expectSubscriptions(source$.subscriptions).toBe(sourceSubs);
    }));

  it('retries a source that fails synchronously', () =>
    marbles(({ expectObservable }) => {
      const source$ = attempts<string>(
        throwError(() => busy),
        of('a'),
      );
      const expected = '    --(a|)';

      expectObservable(source$.pipe(retryWith(policy))).toBe(expected);
    }));

  it('counts anew for every subscription', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source$ = cold(' -#       ', undefined, busy);
      const early = '        ^        ';
      const late = '         --^      ';
      const sourceSubs = ['  ^!       ', '--^!', '---^!', '-----^!'];
      const earlyExpected = '----#    ';
      const lateExpected = ' ------#  ';

      const result$ = source$.pipe(retryWith({ ...policy, attempts: 2 }));

      expectObservable(result$, early).toBe(earlyExpected, undefined, busy);
      expectObservable(result$, late).toBe(lateExpected, undefined, busy);
      expectSubscriptions(source$.subscriptions).toBe(sourceSubs);
    }));

  it('waits on the scheduler it is given', () =>
    marbles(({ cold, expectObservable }) => {
      const own = new VirtualTimeScheduler();
      const source$ = cold('-#   ', undefined, busy);
      const expected = '    -----';

      // A scheduler that nobody flushes never lets the delay end.
      expectObservable(source$.pipe(retryWith({ ...policy, scheduler: own }))).toBe(expected);
    }));

  it.each([
    { what: 'a thrown isRetryable', options: { isRetryable: thrower }, message: 'thrown' },
    { what: 'a thrown delayMs', options: { delayMs: thrower }, message: 'thrown' },
  ])('fails with $what', ({ options, message }) =>
    marbles(({ cold, expectObservable }) => {
      const source$ = cold('-#', undefined, busy);
      const expected = '    -#';

      expectObservable(source$.pipe(retryWith({ ...policy, ...options }))).toBe(
        expected,
        undefined,
        new Error(message),
      );
    }),
  );

  it.each([-1, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31])('refuses a delay of %s ms', (delayMs) =>
    marbles(({ cold, expectObservable }) => {
      const source$ = cold('-#', undefined, busy);
      const expected = '    -#';
      const error = new EngineError(
        'OPTION_INVALID',
        `retryWith: "delayMs" must be a function giving 0 to 2147483647; received ${delayMs}.`,
      );

      expectObservable(source$.pipe(retryWith({ ...policy, delayMs: () => delayMs }))).toBe(expected, undefined, error);
    }),
  );

  it('retries without a bound, with delays that double up to the longest', () =>
    marbles(({ cold, expectObservable }) => {
      const again$ = cold('  #', undefined, busy);
      const last$ = cold('   (a|)');
      const source$ = attempts(again$, again$, again$, again$, last$);
      const expected = '     1ms 2ms 3ms 3ms (a|)';

      const { attempts: _, ...unbounded } = policy;
      expectObservable(source$.pipe(retryWith({ ...unbounded, delayMs: doubling(1, 3) }))).toBe(expected);
    }));

  it('reports each failure that is followed by another attempt', () =>
    marbles(({ cold, expectObservable, flush }) => {
      const reported: number[] = [];
      const source$ = cold('-#', undefined, busy);

      expectObservable(source$.pipe(retryWith({ ...policy, onRetry: (_, attempt) => reported.push(attempt) }))).toBe(
        '-------#',
        undefined,
        busy,
      );
      flush();
      expect(reported).toEqual([1, 2]);
    }));

  it.each([
    { what: 'the last attempt succeeds', last: ' a|', expected: '---a|', error: undefined },
    { what: 'the last attempt fails', last: '    #', expected: ' ---#', error: busy },
  ])('ends the delay when the signal is aborted, and $what', ({ last, expected, error }) =>
    marbles(({ cold, expectObservable }) => {
      const closing = new AbortController();
      const abort$ = cold('---a|');
      const source$ = attempts<string>(cold('-#', undefined, busy), cold(last, undefined, busy));

      abort$.subscribe(() => closing.abort());
      const result$ = source$.pipe(retryWith({ ...policy, delayMs: () => 1_000, signal: closing.signal }));
      expectObservable(result$).toBe(expected, undefined, error);
    }),
  );

  it.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])('refuses %s attempts', (count) => {
    expect(() => retryWith({ ...policy, attempts: count })).toThrowError(
      expect.objectContaining({ code: 'OPTION_INVALID', message: expect.stringContaining(String(count)) }),
    );
  });
});

describe('retry', () => {
  const now = { ...policy, delayMs: () => 0 };
  const failing = (...errors: readonly Error[]) => {
    const left = [...errors];
    return async (): Promise<string> => {
      const error = left.shift();
      if (error !== undefined) throw error;
      return 'done';
    };
  };

  it('resolves with what a later attempt gives', async () => {
    await expect(retry(failing(busy, busy), now)).resolves.toBe('done');
  });

  it('rejects with the last error', async () => {
    await expect(retry(failing(busy, busy, busy), now)).rejects.toBe(busy);
    await expect(retry(failing(refused), now)).rejects.toBe(refused);
  });
});

function thrower(): never {
  throw new Error('thrown');
}
