import { Observable, throwError, timeout } from 'rxjs';
import { toolFailed } from '../results/failures.js';
import { startThread } from '../start-thread.js';
import type { Page, PageAnswer, PageRequest } from './page.js';

/** Seconds that reading a page may take; most take less than one. */
const TIMEOUT_SECONDS = 20;

/** Megabytes of a thread; articles of 5 MiB fit. */
const LIMITS = { maxOldGenerationSizeMb: 320, maxYoungGenerationSizeMb: 32, stackSizeMb: 4 };

/**
 * Reads a web page in a thread of its own: whatever a page is made of, it blocks nobody, has bounded time and memory, and
 * sees nothing of this process.
 *
 * Cold: one subscription is one thread; emits the page once. Unsubscribing ends the thread, whatever it does. Errors:
 * `TOOL_FAILED` for a page that needs more than 20 seconds or 320 MB, or that nobody could read.
 */
export function readPage(request: PageRequest, { timeoutMs = TIMEOUT_SECONDS * 1000 } = {}): Observable<Page> {
  return new Observable<Page>((subscriber) => {
    const thread = startThread(new URL('./page-thread', import.meta.url), { data: request, limits: LIMITS });
    thread.once('message', (answer: PageAnswer) => {
      if ('problem' in answer) subscriber.error(unreadable(answer.problem));
      else subscriber.next(answer.page);
      subscriber.complete();
    });
    thread.once('error', (error: Error & { readonly code?: string }) => {
      const isTooLarge = error.code === 'ERR_WORKER_OUT_OF_MEMORY';
      subscriber.error(unreadable(isTooLarge ? 'it takes too much memory' : error.message));
    });
    thread.once('exit', () => subscriber.error(unreadable('its thread ended early')));
    return () => {
      void thread.terminate();
    };
  }).pipe(
    timeout({ first: timeoutMs, with: () => throwError(() => unreadable(`it takes more than ${timeoutMs / 1000} s`)) }),
  );
}

function unreadable(why: string): Error {
  return toolFailed(`the page cannot be read: ${why}`);
}
