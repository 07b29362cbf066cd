import { firstValueFrom, fromEvent, map, merge, NEVER } from 'rxjs';
import { runInThread } from '../threads/run-in-thread.js';
import type { Section } from './content.js';
import { refuse } from './failure.js';

/** What the thread of a document reads. */
export interface MarkdownRequest {
  readonly markdown: string;
  readonly page: { readonly header: string; readonly footer: string };
}

/** Milliseconds that reading may take; what is not made to be slow takes far less than one second. */
const TIMEOUT_MS = 20_000;

/**
 * Reads Markdown in a thread: the parser takes quadratic time and more for texts that are made to be slow, such as `_a_a_a…`.
 *
 * Rejects as `readMarkdown`, with `DOCUMENT_NOT_WRITTEN` for more than 20 seconds, and with the reason of the signal.
 */
export function readInThread(request: MarkdownRequest, signal?: AbortSignal): Promise<readonly Section[]> {
  const sections$ = runInThread<readonly Section[]>({
    file: new URL('./markdown-thread', import.meta.url),
    data: request,
    timeoutMs: TIMEOUT_MS,
    unable: refuse,
  });
  const stopped$ = signal === undefined ? NEVER : fromEvent(signal, 'abort').pipe(map(() => stop(signal)));
  return firstValueFrom(merge(sections$, stopped$));
}

function stop({ reason }: AbortSignal): never {
  throw reason;
}
