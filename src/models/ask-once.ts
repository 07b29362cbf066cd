import { firstValueFrom, Observable, takeUntil } from 'rxjs';
import { fromAbortable } from '../operators/from-abortable.js';
import { retryWith } from '../operators/retry-with.js';
import { endAfter } from './end-after.js';
import type { Provider } from './provider.js';
import { type RetryPolicy, retryOptions } from './retry-policy.js';

/** How one question is asked. */
export interface CallOptions {
  /** Ends the call at once. */
  readonly signal?: AbortSignal | undefined;
  /** Sent with every request of the call, such as `traceContextOf` gives. @default none */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** Whom to ask, and how often. */
export interface AskOptions {
  readonly provider: Provider;
  readonly model: string;
  readonly retry?: RetryPolicy | undefined;
}

/**
 * Asks a provider for one value, with the retries and the time limit of chat calls.
 *
 * Aborting `signal` closes the connection at once, or ends the wait, and rejects with the signal's reason.
 */
export function askOnce<T>(
  options: AskOptions,
  work: (signal: AbortSignal) => Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  const { provider, model, retry = {} } = options;
  const answer$ = fromAbortable(work).pipe(endAfter(provider.timeoutMs, model), retryWith(retryOptions(retry)));
  return firstValueFrom(signal === undefined ? answer$ : answer$.pipe(takeUntil(abortOf(signal))));
}

/** Errors with the signal's reason when it is aborted. */
function abortOf(signal: AbortSignal): Observable<never> {
  return new Observable((subscriber) => {
    const fail = (): void => subscriber.error(signal.reason);
    if (signal.aborted) {
      fail();
      return;
    }
    signal.addEventListener('abort', fail, { once: true });
    subscriber.add(() => signal.removeEventListener('abort', fail));
  });
}
