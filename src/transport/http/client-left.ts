/** Clients that leave before they have their answer. */
import { lastValueFrom, Observable, takeUntil } from 'rxjs';
import type { HttpExchange } from './route.js';

type Answer = Pick<HttpExchange, 'res'>;

/** Calls `leave` when the client has left: at once for one that left before, as 'close' does not come again. Gives what takes that back. */
export function whenLeft({ res }: Answer, leave: () => void): () => void {
  if (res.destroyed) {
    leave();
    return () => {};
  }
  res.once('close', leave);
  return () => void res.off('close', leave);
}

/** Emits once when the client has left, and completes. */
export function clientLeft(exchange: Answer): Observable<void> {
  return new Observable((subscriber) =>
    whenLeft(exchange, () => {
      subscriber.next();
      subscriber.complete();
    }),
  );
}

/**
 * What work gives in the end for a client that waits for it; undefined for one that left, with whom the work ends.
 *
 * ```text
 * work$     ---------a|
 * left      -----!
 * result    -----(undefined)
 * ```
 */
export function forClient<T>(exchange: Answer, work$: Observable<T>): Promise<T | undefined> {
  return lastValueFrom(work$.pipe(takeUntil(clientLeft(exchange))), { defaultValue: undefined });
}
