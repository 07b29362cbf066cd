import { merge, type Observable, take } from 'rxjs';
import type { RunHelpers } from 'rxjs/testing';
import { describe, expect, it } from 'vitest';
import { fromAbortable, UNSUBSCRIBED } from '../../src/operators/from-abortable.js';
import { marbles } from '../support/scheduler.js';

/** A thenable in virtual time: settles as the Observable does, and stops listening to it when aborted. */
function settling(work$: Observable<string>, signal: AbortSignal): PromiseLike<string> {
  const settle = (resolve: (value: string) => void, reject: (error: unknown) => void): void => {
    const listening = work$.subscribe({ next: resolve, error: reject });
    signal.addEventListener('abort', () => listening.unsubscribe());
  };
  // biome-ignore lint/suspicious/noThenProperty: a promise would leave virtual time
  return { then: settle } as unknown as PromiseLike<string>;
}

/** An Observable of a promise that settles as `cold(diagram)` does, and the signals it was given. */
function abortable(cold: RunHelpers['cold'], diagram: string, error?: unknown) {
  const work$ = cold(diagram, undefined, error);
  const signals: AbortSignal[] = [];
  const result$ = fromAbortable((signal) => {
    signals.push(signal);
    return settling(work$, signal);
  });
  return { work$, signals, result$ };
}

describe('fromAbortable', () => {
  it('emits what the promise resolves to, then completes', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const { work$, result$ } = abortable(cold, '---(v|)');
      const workSubs = '                          ^--!   ';
      const expected = '                          ---(v|)';

      expectObservable(result$).toBe(expected);
      expectSubscriptions(work$.subscriptions).toBe(workSubs);
    }));

  it('fails with what the promise rejects with', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const { work$, result$ } = abortable(cold, '---#', new Error('refused'));
      const workSubs = '                          ^--!';
      const expected = '                          ---#';

      expectObservable(result$).toBe(expected, undefined, new Error('refused'));
      expectSubscriptions(work$.subscriptions).toBe(workSubs);
    }));

  it('fails with what the work throws', () =>
    marbles(({ expectObservable }) => {
      const result$ = fromAbortable(() => {
        throw new Error('thrown');
      });

      expectObservable(result$).toBe('#', undefined, new Error('thrown'));
    }));

  it('aborts the work, with the shared reason, when unsubscribed early', () => {
    const seen: AbortSignal[][] = [];
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const { work$, signals, result$ } = abortable(cold, '------(v|)');
      seen.push(signals);
      const unsub = '                             ^--!      ';
      const expected = '                          ----      ';

      expectObservable(result$, unsub).toBe(expected);
      expectSubscriptions(work$.subscriptions).toBe(unsub);
    });
    expect(seen.flat().map((signal) => signal.reason)).toEqual([UNSUBSCRIBED]);
  });

  it('emits at once when the work is already done, and does not abort what is finished', () => {
    const seen: AbortSignal[][] = [];
    marbles(({ cold, expectObservable }) => {
      const { signals, result$ } = abortable(cold, '(v|)');
      seen.push(signals);
      const expected = '                          (v|)';

      expectObservable(result$.pipe(take(1))).toBe(expected);
    });
    expect(seen.flat().map((signal) => signal.aborted)).toEqual([false]);
  });

  it('starts the work again, with a signal of its own, for every subscription', () => {
    const seen: AbortSignal[][] = [];
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const { work$, signals, result$ } = abortable(cold, '--(v|)');
      seen.push(signals);
      const workSubs = ['                         ^-!   ', '^-!'];
      const expected = '                          --(vv|)';

      expectObservable(merge(result$, result$)).toBe(expected);
      expectSubscriptions(work$.subscriptions).toBe(workSubs);
    });
    expect(new Set(seen.flat()).size).toBe(2);
  });
});
