import type { Observable } from 'rxjs';
import { EngineError } from '../../errors.js';
import { runInThread } from '../../threads/run-in-thread.js';
import type { Page, PageRequest } from './page.js';

/** Seconds that reading a page may take; most take less than one. */
const TIMEOUT_SECONDS = 20;

/**
 * Reads a web page in a thread of its own, as {@link runInThread} does its jobs.
 *
 * Errors: `TOOL_FAILED` for a page that needs more than 20 seconds or 320 MB, or that cannot be parsed.
 */
export function readPage(request: PageRequest, { timeoutMs = TIMEOUT_SECONDS * 1000 } = {}): Observable<Page> {
  return runInThread<Page>({
    file: new URL('./page-thread', import.meta.url),
    data: request,
    timeoutMs,
    unable: (why) => new EngineError('TOOL_FAILED', `the page cannot be read: ${why}`),
  });
}
