import type { Observable } from 'rxjs';
import { EngineError } from '../../errors.js';
import type { Threads } from '../../threads/threads.js';
import { documentJob } from '../document-jobs.js';
import type { Page, PageRequest } from './page.js';

export interface ReadPageOptions {
  /** @default a thread of its own */
  readonly threads?: Threads | undefined;
  /** @default that of the threads */
  readonly timeoutMs?: number;
}

/**
 * Reads a web page in a thread.
 *
 * Errors: `TOOL_FAILED` for a page that needs more time or memory than a thread has, or that cannot be parsed; `LIMIT_REACHED` when too
 * many wait.
 */
export function readPage(request: PageRequest, options: ReadPageOptions = {}): Observable<Page> {
  return documentJob('page', request, {
    ...options,
    unable: (why) => new EngineError('TOOL_FAILED', `the page cannot be read: ${why}`),
  });
}
