import { Observable, throwError, timeout } from 'rxjs';
import { startThread } from './start-thread.js';

/** Megabytes of a thread; articles of 5 MiB fit. */
const LIMITS = { maxOldGenerationSizeMb: 320, maxYoungGenerationSizeMb: 32, stackSizeMb: 4 };

/** A job for a thread. */
export interface ThreadJob {
  /** URL of the thread's module without its ending; the module posts one {@link ThreadAnswer}. */
  readonly file: URL;
  /** What the thread finds as its `workerData`. */
  readonly data: unknown;
  readonly timeoutMs: number;
  /** The error for a job that cannot be done, and why. */
  readonly unable: (why: string) => Error;
}

/** The answer of a thread. */
export type ThreadAnswer<T> = { readonly value: T } | { readonly problem: string };

/**
 * Runs one job in a thread of its own: it cannot block the event loop, has bounded time and memory (320 MB), and sees
 * nothing of this process.
 *
 * Cold: one subscription is one thread; emits the answer once. Unsubscribing terminates the thread. Errors with what
 * `unable` gives.
 */
export function runInThread<T>({ file, data, timeoutMs, unable }: ThreadJob): Observable<T> {
  return new Observable<T>((subscriber) => {
    const thread = startThread(file, { data, limits: LIMITS });
    thread.once('message', (answer: ThreadAnswer<T>) => {
      if ('problem' in answer) subscriber.error(unable(answer.problem));
      else subscriber.next(answer.value);
      subscriber.complete();
    });
    thread.once('error', (error: Error & { readonly code?: string }) => {
      const isTooLarge = error.code === 'ERR_WORKER_OUT_OF_MEMORY';
      subscriber.error(unable(isTooLarge ? 'it takes too much memory' : error.message));
    });
    thread.once('exit', () => subscriber.error(unable('its thread ended early')));
    return () => {
      void thread.terminate();
    };
  }).pipe(
    timeout({ first: timeoutMs, with: () => throwError(() => unable(`it takes more than ${timeoutMs / 1000} s`)) }),
  );
}
