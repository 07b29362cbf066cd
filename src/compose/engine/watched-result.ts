/** Sees how an activation ends, for its observers. */
import { isObservable, Observable } from 'rxjs';
import type { NodeResult } from '../../graph/activation.js';
import type { NodeEvent } from '../../graph/node-events.js';
import type { StepWatch } from './watch.js';

/**
 * The result of an activation, with its failure, its question and its stop told to `watch`; what it gave was told where it came from.
 *
 * ```text
 * result     --e--(settled|)      told: ended, unless the value was told before
 * result     --e--(interrupt|)    told: interrupted
 * result     --e--x               told: error
 * result     --e--!               told: closed
 * ```
 */
export function watchedResult(watch: StepWatch, work: () => NodeResult): NodeResult {
  let result: NodeResult;
  try {
    result = work();
  } catch (error) {
    watch.error(error);
    throw error;
  }
  return watchedEnd(watch, result);
}

/** The same for the result of work that did not throw. */
export function watchedEnd(watch: StepWatch, result: NodeResult): NodeResult {
  if ((result as { readonly type?: unknown }).type === 'settled') {
    watch.ended();
    return result;
  }
  if (isObservable(result)) return watchedEvents(watch, result as Observable<NodeEvent>);
  if (typeof (result as { readonly then?: unknown }).then === 'function') {
    return watchedPromise(watch, result as PromiseLike<NodeEvent>) as NodeResult;
  }
  told(watch, result as NodeEvent);
  return result;
}

function told(watch: StepWatch, { type }: NodeEvent): void {
  if (type === 'settled') watch.ended();
  else if (type === 'interrupt') watch.interrupted();
}

function watchedEvents(watch: StepWatch, events: Observable<NodeEvent>): Observable<NodeEvent> {
  return new Observable((subscriber) => {
    subscriber.add(() => watch.closed());
    subscriber.add(
      events.subscribe({
        next: (event) => {
          told(watch, event);
          subscriber.next(event);
        },
        error: (error: unknown) => {
          watch.error(error);
          subscriber.error(error);
        },
        complete: () => subscriber.complete(),
      }),
    );
  });
}

function watchedPromise(watch: StepWatch, result: PromiseLike<NodeEvent>): Observable<NodeEvent> {
  return watchedEvents(
    watch,
    new Observable((subscriber) => {
      result.then(
        (event) => subscriber.next(event),
        (error: unknown) => subscriber.error(error),
      );
    }),
  );
}
