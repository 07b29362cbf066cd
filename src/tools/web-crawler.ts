import { catchError, concatMap, type Observable, of, throwError } from 'rxjs';
import type { EgressResponse } from '../adapters/egress/egress-client.js';
import { isHtml } from '../adapters/egress/read-body.js';
import { BROWSER_HEADERS } from '../adapters/egress/request-headers.js';
import { toolFailed } from '../adapters/failures.js';
import { cutText } from '../documents/characters.js';
import { MAX_PAGE_TEXT, PAGE_FORMS, type Page, type PageRequest } from '../documents/pages/page.js';
import { readPage } from '../documents/pages/read-page.js';
import { EngineError, toEngineError } from '../errors.js';
import type { Json } from '../json.js';
import type { Threads } from '../threads/threads.js';
import { oneOf, queryArgument, text } from './fields.js';
import { defineTool, type ToolEvent, toolResult } from './tool.js';
import { ask } from './upstream.js';

const MAX_BYTES = 5 * 1024 * 1024;

/** Types of texts that are given as they are. */
const TEXTS = /^\s*(?:text\/|application\/(?:json|xml)\b|[a-z]+\/[\w.-]+\+(?:json|xml)\b)/i;

/**
 * Fetches one page and reads it in a thread of its own. The rules for addresses of authors apply.
 *
 * Errors: `TOOL_FAILED` for what is no URL, no text, or too much for its thread; those of `EgressClient`.
 */
export const webCrawler = defineTool({
  component: 'Crawler',
  name: 'web_crawler',
  summary: 'Fetches one web page and gives it as Markdown, HTML or its main text.',
  advice: 'Pass a whole address; of what it links to nothing is fetched.',
  arguments: { query: queryArgument('Address of the page, beginning with http:// or https://.') },
  params: {
    proxy: text('http://[user:password@]host:port; default none.'),
    extract_type: oneOf(
      PAGE_FORMS,
      'markdown',
      'What to give: cleaned html, the page as markdown, or the text of its article alone (content); default markdown.',
    ),
  },
  nodeDefaults: { query: '{sys.query}' },
  outputs: {
    formalized_content: { type: 'string', description: 'The page in the form that is wanted.' },
    json: { type: 'object', description: 'Its url, title, content as plain text, links, and the status.' },
  },
  timeoutSeconds: 600,
  call({ query }, call): Observable<ToolEvent> {
    const url = query.trim();
    if (url === '') return of(toolResult('', { formalized_content: '', json: {} }));
    if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) throw toolFailed('URL not valid');
    const { proxy, extract_type: form } = call.params;
    return ask(webCrawler, call, {
      url,
      headers: BROWSER_HEADERS,
      isForeign: true,
      proxy: proxy.trim(),
      timeoutSeconds: 60,
      attempts: 2,
      maxBytes: MAX_BYTES,
    }).pipe(
      concatMap((response) =>
        pageOf(response, form, call.services.threads).pipe(
          concatMap((page): ToolEvent[] => [
            ...(page.isCut ? [{ type: 'progress', message: 'The page was too large and was cut.' } as const] : []),
            resultOf(response, page),
          ]),
        ),
      ),
      catchError((error: unknown) => throwError(() => unexpected(error))),
    );
  },
});

/** RAGFlow's messages; errors of the address itself pass unchanged. */
function unexpected(error: unknown): EngineError {
  const { code, message, retryable, details } = toEngineError(error, 'TOOL_FAILED');
  if (code === 'URL_INVALID' || code === 'URL_BLOCKED') return new EngineError(code, message, { details });
  return new EngineError(code, `An unexpected error occurred: ${message}`, { retryable, details, cause: error });
}

function pageOf(response: EgressResponse, form: PageRequest['form'], threads?: Threads): Observable<Page> {
  const { contentType, url } = response;
  const type = contentType === '' ? 'text/html' : contentType;
  if (isHtml(type)) return readPage({ html: response.text(), url, form }, { threads });
  if (!TEXTS.test(type)) throw toolFailed(`what is there is no text but "${type.slice(0, 100)}"`);
  const whole = response.text();
  const content = cutText(whole, MAX_PAGE_TEXT);
  return of({ title: '', text: content, links: [], content, isCut: content.length < whole.length });
}

function resultOf({ status, url }: EgressResponse, { title, text: content, links, content: given }: Page): ToolEvent {
  const json: Json = { url, title, content, links: [...links], status };
  return toolResult(given, { formalized_content: given, json });
}
