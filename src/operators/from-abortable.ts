import { firstValueFrom, fromEvent, map, Observable, type Subscriber, takeUntil } from 'rxjs';
import { invalidOption } from './invalid-option.js';

/**
 * Why a signal of {@link fromAbortable} was aborted: always this one error, named `AbortError` as `fetch` expects.
 *
 * Shared, because creating one with its stack for every abort costs ten times the rest of the teardown.
 */
export const UNSUBSCRIBED = new DOMException('The subscription to this work has ended.', 'AbortError');

/**
 * Runs work that takes an AbortSignal, a promise or an async iterable, as an Observable that stops it when unsubscribed.
 *
 * ```text
 * work      ----v               (a promise)
 * result    ----(v|)
 *
 * work      --a--b--c--|        (an async iterable)
 * unsub     ------!
 * result    --a--b-             (signal aborted, then `return()` called)
 * ```
 *
 * The one place where promises become Observables. Cold: each subscription calls `work` once, with its own signal. The signal
 * is aborted, with {@link UNSUBSCRIBED}, only when the work is cut short, for an abort costs far more than a completion;
 * work that must release something at its end does so itself. What the work throws or rejects with is the error; whatever
 * it does after being unsubscribed is ignored, and never becomes an unhandled rejection.
 *
 * An async iterable is asked for its next item only when `ready` gave undefined or what it gave has settled: so a reader that falls
 * behind slows the source down, down to the socket that it reads.
 *
 * Errors: those of the work; `OPTION_INVALID` when it returned neither a promise nor an async iterable.
 */
export function fromAbortable<T>(
  work: (signal: AbortSignal) => PromiseLike<T> | AsyncIterable<T>,
  ready?: () => PromiseLike<void> | undefined,
): Observable<T> {
  return new Observable((subscriber) => {
    const controller = new AbortController();
    const result = work(controller.signal);
    if (isAsyncIterable(result)) {
      subscribeToIterable(result, subscriber, controller, ready);
    } else if (isPromiseLike(result)) {
      subscribeToPromise(result, subscriber, controller);
    } else {
      throw invalidOption('fromAbortable', 'work', 'a function that returns a promise or an async iterable', result);
    }
  });
}

/** The way back: the first value of a source as a promise, which is unsubscribed and rejects with the signal's reason on an abort. */
export async function firstValue<T>(source$: Observable<T>, signal?: AbortSignal): Promise<T> {
  if (signal === undefined) return firstValueFrom(source$);
  signal.throwIfAborted();
  const aborted$ = fromEvent(signal, 'abort').pipe(
    map((): never => {
      throw signal.reason;
    }),
  );
  return firstValueFrom(source$.pipe(takeUntil(aborted$)));
}

function subscribeToPromise<T>(promise: PromiseLike<T>, subscriber: Subscriber<T>, controller: AbortController): void {
  let isSettled = false;
  subscriber.add(() => {
    if (!isSettled) controller.abort(UNSUBSCRIBED);
  });
  promise.then(
    (value) => {
      // Before `next`: a reader that takes one value unsubscribes within it, and finished work is not aborted.
      isSettled = true;
      subscriber.next(value);
      subscriber.complete();
    },
    (error: unknown) => {
      isSettled = true;
      subscriber.error(error);
    },
  );
}

function subscribeToIterable<T>(
  items: AsyncIterable<T>,
  subscriber: Subscriber<T>,
  controller: AbortController,
  ready: (() => PromiseLike<void> | undefined) | undefined,
): void {
  const iterator = items[Symbol.asyncIterator]();
  let isSettled = false;
  subscriber.add(() => {
    if (isSettled) return;
    // Abort first: a generator answers `return()` only after the step it waits in, which the abort ends.
    controller.abort(UNSUBSCRIBED);
    close(iterator);
  });
  const pump = async (): Promise<void> => {
    try {
      while (!subscriber.closed) {
        const { done, value } = await iterator.next();
        if (done) {
          isSettled = true;
          subscriber.complete();
          return;
        }
        subscriber.next(value);
        const pause = ready?.();
        if (pause !== undefined) await pause;
      }
    } catch (error) {
      isSettled = true;
      subscriber.error(error);
    }
  };
  void pump();
}

/** Lets an iterator clean up; there is no subscriber left to report the result to. */
function close(iterator: AsyncIterator<unknown>): void {
  const ignore = (): void => {};
  try {
    iterator.return?.().then(ignore, ignore);
  } catch {
    // A `return` that throws instead of rejecting.
  }
}

function isAsyncIterable(value: unknown): value is AsyncIterable<never> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}

function isPromiseLike(value: unknown): value is PromiseLike<never> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}
