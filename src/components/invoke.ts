import { concatMap, map, type Observable, of } from 'rxjs';
import type { EgressResponse } from '../adapters/egress/egress-client.js';
import { isHtml } from '../adapters/egress/read-body.js';
import { documentJob, threadsOf } from '../documents/document-jobs.js';
import { EngineError } from '../errors.js';
import { type NodeEvent, type Outputs, settled, warning } from '../graph/node-events.js';
import { retryWith } from '../operators/retry-with.js';
import type { Threads } from '../threads/threads.js';
import { entered } from '../tools/fields.js';
import { defineComponent } from './component.js';
import { type InvokeParams, invokeParams, invokeRequest } from './invoke-request.js';
import { serviceOf } from './services.js';
import { outputOf, readingTexts, referencedOutputs } from './values/text-reader.js';

/**
 * Calls a server; its answer is the output, whatever the status.
 *
 * The whole node ends after 600 seconds unless `COMPONENT_EXEC_TIMEOUT_INVOKE` is set. Errors: those of
 * `EgressClient.fetch`, of which only `EGRESS_TIMEOUT` and `EGRESS_FAILED` are tried again; `NODE_FAILED` for bad headers;
 * `CONFIG_INVALID` for a run without an HTTP client.
 */
export const invoke = defineComponent<InvokeParams>({
  type: 'Invoke',
  group: 'web',
  summary: 'Calls a server over HTTP and gives its answer.',
  thoughts: 'Waiting for the server to answer.',
  params: invokeParams,
  outputs: {
    result: { type: 'string', description: 'The body of the answer as text.' },
    status: { type: 'number', description: 'Status of the answer; only when the node declares this output.' },
    headers: { type: 'object', description: 'Headers by lower-case name; only when the node declares this output.' },
  },
  timeoutSeconds: 600,
  needs,
  create(given) {
    const { clean_html: isCleaned, outputs, max_retries: retries, delay_after_error: delaySeconds } = given;
    const extra = ['status', 'headers'].filter((name) => Object.hasOwn(outputs ?? {}, name));
    const outputsOf = ({ status, headers }: EgressResponse, result: string): Outputs => {
      const all: Outputs = { status, headers };
      return { result, ...Object.fromEntries(extra.map((name) => [name, all[name] ?? null])) };
    };
    return readingTexts((reader, activation) => {
      const http = serviceOf(activation, 'http');
      const request = invokeRequest(given, activation, reader);
      return http.fetch(request).pipe(
        retryWith({ attempts: retries + 1, delayMs: () => delaySeconds * 1000 }),
        concatMap((response): Observable<NodeEvent> => {
          if (isCleaned !== true || !isHtml(response.contentType)) {
            return of(settled(outputsOf(response, response.text())));
          }
          return cleanPage(response.text(), threadsOf(activation.services)).pipe(
            concatMap(({ text, isCut }) => {
              const result = settled(outputsOf(response, text));
              return isCut ? of<NodeEvent[]>(warning('The page was too large and was cut.'), result) : of(result);
            }),
          );
        }),
      );
    });
  },
});

/** References in texts, and those of arguments without a fixed value. */
function needs({ url, headers, proxy, variables }: InvokeParams): string[] {
  const texts = [url, proxy, typeof headers === 'string' ? headers : JSON.stringify(headers)];
  const named = variables.flatMap(({ ref, value }) => (entered(value) === undefined ? outputOf(ref) : []));
  const written = variables.flatMap(({ value }) => (typeof value === 'string' ? [value] : []));
  return [...new Set([...referencedOutputs([...texts, ...written]), ...named])];
}

/** Most markup of a page that is parsed: nested elements cost the square of their number. */
const MAX_MARKS = 50_000;

/**
 * The text of a page without scripts, styles, comments and tags; headings, lists and tables as Markdown. Read in a thread.
 *
 * `isCut`: the page had more markup than is parsed, and ends early. Errors: those of `htmlToText`; `NODE_FAILED` for a page that needs
 * more time or memory than a thread has; `LIMIT_REACHED` when too many wait.
 */
export function cleanPage(
  html: string,
  threads?: Threads,
): Observable<{ readonly text: string; readonly isCut: boolean }> {
  const end = endOfMarks(html);
  const unable = (why: string) =>
    new EngineError('NODE_FAILED', `The page cannot be cleaned: ${why}; set clean_html to false.`);
  const given = { html: html.slice(0, end), name: 'answer of the server' };
  return documentJob('text', given, { threads, unable }).pipe(map((text) => ({ text, isCut: end < html.length })));
}

/** Where the first mark too many begins. */
function endOfMarks(html: string): number {
  let marks = 0;
  for (let at = html.indexOf('<'); at !== -1; at = html.indexOf('<', at + 1)) {
    marks += 1;
    if (marks > MAX_MARKS) return at;
  }
  return html.length;
}
