import { concat, concatMap, from, type Observable, of } from 'rxjs';
import { z } from 'zod';
import type { EgressResponse } from '../adapters/egress/egress-client.js';
import { isHtml } from '../adapters/egress/read-body.js';
import { HTTP_METHODS } from '../adapters/egress/request-headers.js';
import { htmlToText } from '../documents/reading/html-to-text.js';
import { EngineError } from '../errors.js';
import { type NodeEvent, type Outputs, settled, warning } from '../graph/node-events.js';
import type { Json } from '../json.js';
import { fromAbortable } from '../operators/from-abortable.js';
import { retryWith } from '../operators/retry-with.js';
import { baseParams, entered, nullishFlag, optionalJson, optionalText, withDefault } from './base-params.js';
import { defineComponent } from './component.js';
import { invokeRequest } from './invoke-request.js';
import { serviceOf } from './services.js';
import { createTextReader, outputOf, referencedOutputs } from './values/text-reader.js';

const variable = z.looseObject({
  key: optionalText.describe('Name of the argument; one without a name is left out.'),
  ref: optionalText.describe('Reference to its value, whose type is preserved in JSON.'),
  value: optionalJson.describe('Its value where the reference has none; references in it are replaced. Default: "".'),
});

const params = z.looseObject({
  ...baseParams,
  url: z.string().trim().min(1, 'must not be empty').describe('Address; references in it are replaced.'),
  method: z
    .preprocess(toMethod, z.enum(HTTP_METHODS))
    .describe(`${HTTP_METHODS.join(', ')}, in any case; default GET.`),
  headers: z
    .json()
    .optional()
    .transform((given) => given ?? null)
    .describe('A JSON object, or its text; references in its values are replaced. Default: none.'),
  variables: withDefault(z.array(variable), []).describe(
    'Arguments {key, ref, value}: the query of GET and HEAD, the body of the others. Default: none.',
  ),
  datatype: z
    .preprocess(
      (given) => (typeof given === 'string' ? given.toLowerCase() : given) || 'json',
      z.enum(['json', 'formdata']),
    )
    .describe('The body: json (texts that hold JSON are sent as JSON) or formdata (urlencoded). Default: json.'),
  timeout: z
    .preprocess(entered, z.number().int().min(1).max(86_400).default(60))
    .describe('Seconds for one attempt, the body included. Default: 60.'),
  proxy: optionalText.describe('http://[user:password@]host:port; references are replaced. Default: none.'),
  clean_html: nullishFlag.describe('Gives the text of a web page instead of its source. Default: false.'),
  max_retries: z
    .preprocess(entered, z.coerce.number().int().min(0).max(100).default(0))
    .describe('Attempts after the first that failed or took too long. Default: 0.'),
  delay_after_error: z
    .preprocess(entered, z.coerce.number().min(0).max(86_400).default(2))
    .describe('Seconds between two attempts. Default: 2.'),
  outputs: z
    .looseObject({})
    .nullish()
    .describe('Names of outputs; `status` and `headers` are given when they stand here. Default: result alone.'),
});

/** Parameters of {@link invoke}. */
export type InvokeParams = z.output<typeof params>;

/**
 * Calls a server; its answer is the output, whatever the status.
 *
 * The whole node ends after 600 seconds unless `COMPONENT_EXEC_TIMEOUT_INVOKE` is set. Errors: those of
 * `EgressClient.fetch`, of which only `EGRESS_TIMEOUT` and `EGRESS_FAILED` are tried again; `NODE_FAILED` for bad headers;
 * `CONFIG_INVALID` for a run without an HTTP client.
 */
export const invoke = defineComponent<InvokeParams>({
  type: 'Invoke',
  summary: 'Calls a server over HTTP and gives its answer.',
  thoughts: 'Waiting for the server to answer.',
  params,
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
    return (activation) => {
      const reader = createTextReader(activation);
      const http = serviceOf(activation, 'http');
      const request = invokeRequest(given, activation, reader);
      const answer$ = http.fetch(request).pipe(
        retryWith({ attempts: retries + 1, delayMs: () => delaySeconds * 1000, isRetryable }),
        concatMap((response): Observable<NodeEvent> => {
          if (isCleaned !== true || !isHtml(response.contentType)) {
            return of(settled(outputsOf(response, response.text())));
          }
          return fromAbortable(() => cleanPage(response.text())).pipe(
            concatMap(({ text, isCut }) => {
              const result = settled(outputsOf(response, text));
              return isCut ? of<NodeEvent[]>(warning('The page was too large and was cut.'), result) : of(result);
            }),
          );
        }),
      );
      return reader.warnings.length === 0 ? answer$ : concat(from(reader.warnings), answer$);
    };
  },
});

/** References in texts, and those of arguments without a fixed value. */
function needs({ url, headers, proxy, variables }: InvokeParams): string[] {
  const texts = [url, proxy, typeof headers === 'string' ? headers : JSON.stringify(headers)];
  const named = variables.flatMap(({ ref, value }) => (isEmpty(value) ? outputOf(ref) : []));
  const written = variables.flatMap(({ value }) => (typeof value === 'string' ? [value] : []));
  return [...new Set([...referencedOutputs([...texts, ...written]), ...named])];
}

function isEmpty(value: Json | undefined): boolean {
  return value === undefined || value === null || value === '';
}

function isRetryable(error: unknown): boolean {
  return EngineError.is(error) && error.retryable;
}

function toMethod(given: unknown): unknown {
  return typeof given === 'string' ? given.trim().toUpperCase() || 'GET' : (given ?? 'GET');
}

/** Most markup of a page that is parsed: nested elements cost the square of their number. */
const MAX_MARKS = 50_000;

/** The readable part of a web page. */
export interface CleanPage {
  readonly text: string;
  /** The page had more markup than is parsed, and ends early. */
  readonly isCut: boolean;
}

/**
 * The text of a page without scripts, styles, comments and tags; headings, lists and tables as Markdown.
 *
 * Errors: those of `htmlToText`; `NODE_FAILED` for elements nested deeper than the stack.
 */
export async function cleanPage(html: string): Promise<CleanPage> {
  const end = endOfMarks(html);
  try {
    return { text: await htmlToText(html.slice(0, end), 'answer of the server'), isCut: end < html.length };
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new EngineError('NODE_FAILED', 'The page is nested too deeply to be cleaned; set clean_html to false.');
  }
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
