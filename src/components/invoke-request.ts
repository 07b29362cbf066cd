/** From the parameters of an Invoke and the values of its run to a request. */
import { z } from 'zod';
import type { EgressRequest } from '../adapters/egress/egress-client.js';
import { HTTP_METHODS, type HttpMethod } from '../adapters/egress/request-headers.js';
import { parseReference } from '../dsl/reference.js';
import { renderValue } from '../dsl/render-value.js';
import { EngineError } from '../errors.js';
import type { Activation } from '../graph/node.js';
import { isJsonObject, type Json, parseJson } from '../json.js';
import { entered } from '../tools/fields.js';
import { traceContextOf } from '../trace-context.js';
import { nodeParams, nullishFlag, optionalJson, optionalText, withDefault } from './base-params.js';
import type { TextReader } from './values/text-reader.js';

const variable = z.looseObject({
  key: optionalText.describe('Name of the argument; one without a name is left out.'),
  ref: optionalText.describe('Reference to its value, whose type is preserved in JSON.'),
  value: optionalJson.describe('Its value where the reference has none; references in it are replaced. Default: "".'),
});

/** What a document says of an Invoke. */
export const invokeParams = nodeParams({
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

/** The output of {@link invokeParams}. */
export type InvokeParams = z.output<typeof invokeParams>;

function toMethod(given: unknown): unknown {
  return typeof given === 'string' ? given.trim().toUpperCase() || 'GET' : (given ?? 'GET');
}

const CONTENT_TYPES = { json: 'application/json', formdata: 'application/x-www-form-urlencoded' } as const;

/** Arguments by name, in the order of the document. */
type Arguments = ReadonlyMap<string, Json>;

/**
 * Makes the request of one activation: references in the URL, in header values, in the proxy and in arguments are replaced.
 *
 * GET and HEAD send the arguments as query, the other methods as body. Redirects are answers, as in RAGFlow.
 * Errors: `NODE_FAILED` for headers that are no JSON object; `REFERENCE_UNRESOLVED` for a node that does not exist.
 */
export function invokeRequest(params: InvokeParams, activation: Activation, reader: TextReader): EgressRequest {
  const { method, datatype, timeout } = params;
  const url = withScheme(reader.read(params.url));
  const given = readHeaders(params.headers, activation, reader);
  const values = readArguments(params.variables, activation, reader);
  const proxy = withScheme(reader.read(params.proxy));
  const isQuery = method === 'GET' || method === 'HEAD';
  const body = isQuery ? undefined : bodyOf(values, datatype, method);
  return {
    url: isQuery ? withQuery(url, formText(values)) : url,
    method,
    // A node that runs again after a recovery sends the same key, so that the server recognises the repetition.
    headers: withMissing(given, {
      'idempotency-key': activation.token,
      ...(body !== undefined && { 'content-type': CONTENT_TYPES[datatype] }),
    }),
    timeoutMs: timeout * 1000,
    followRedirects: false,
    ...(body === undefined ? {} : { body }),
    ...(proxy === '' ? {} : { proxy }),
    ...traceContextOf(activation),
  };
}

/** An address without a scheme is one of `http`; a scheme alone is no address. Control characters in values are escaped. */
function withScheme(written: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is escaped
  const text = written.trim().replace(/[\u0000-\u001f\u007f]/g, encodeURIComponent);
  if (/^(?:https?:?\/*)?$/i.test(text)) return '';
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`;
}

/** The JSON is read before its texts, so that no value can add a header of its own. */
function readHeaders(written: Json, { node }: Activation, reader: TextReader): Record<string, string> {
  const headers = typeof written === 'string' ? parseHeaders(written) : written;
  if (headers === undefined || !(headers === null || isJsonObject(headers))) {
    const message = `Node "${node}": headers must be a JSON object such as {"X-Name": "value"}.`;
    throw new EngineError('NODE_FAILED', message, { node });
  }
  const entries = Object.entries(headers ?? {}).filter(([, value]) => value !== null);
  return Object.fromEntries(entries.map(([name, value]) => [name, reader.textFor(value)]));
}

function parseHeaders(text: string): Json | undefined {
  return text.trim() === '' ? null : parseJson(text);
}

/** The value of the reference; the fixed value where that is null. An output that its node does not have is an empty text. */
function readArguments(variables: InvokeParams['variables'], activation: Activation, reader: TextReader): Arguments {
  const values = new Map<string, Json>();
  for (const { key, ref, value = '' } of variables) {
    if (key === '') continue;
    const lookup = ref === '' ? undefined : activation.lookup(ref);
    if (lookup?.status === 'found' && lookup.value !== null) {
      values.set(key, lookup.value);
      continue;
    }
    const reference = parseReference(ref);
    const isUndeclared = lookup?.status === 'undeclared';
    if (reference !== undefined && (isUndeclared || (value === '' && lookup?.status === 'unresolved'))) {
      reader.unresolved(reference, lookup);
    }
    values.set(key, isUndeclared ? '' : typeof value === 'string' ? reader.read(value) : (value ?? ''));
  }
  return values;
}

function bodyOf(values: Arguments, datatype: InvokeParams['datatype'], method: HttpMethod): string | undefined {
  // Servers may refuse a DELETE with a body, so it has one only when there are arguments.
  if (values.size === 0 && (method === 'DELETE' || datatype === 'formdata')) return undefined;
  return datatype === 'formdata' ? formText(values) : jsonText(values);
}

/** A text that holds JSON is inserted as it is, so that numbers too long for a double are not rounded. */
function jsonText(values: Arguments): string {
  const fields = [...values].map(([key, value]) => {
    const isWritten = typeof value === 'string' && parseJson(value) !== undefined;
    return `${JSON.stringify(key)}:${isWritten ? value.trim() : JSON.stringify(value)}`;
  });
  return `{${fields.join(',')}}`;
}

/** A list is one field for each item, as HTML forms have it. */
function formText(values: Arguments): string {
  const fields = new URLSearchParams();
  for (const [key, value] of values) {
    const items: readonly Json[] = Array.isArray(value) ? value : [value];
    for (const item of items) fields.append(key, renderValue(item));
  }
  return fields.toString();
}

/** A query that the URL has already is not changed. */
function withQuery(url: string, query: string): string {
  if (query === '') return url;
  const [address = ''] = url.split('#', 1);
  const joint = !address.includes('?') ? '?' : /[?&]$/.test(address) ? '' : '&';
  return `${address}${joint}${query}`;
}

/** Headers with those added that are not among them, in any case. */
function withMissing(headers: Record<string, string>, usual: Record<string, string>): Record<string, string> {
  const names = new Set(Object.keys(headers).map((name) => name.trim().toLowerCase()));
  return { ...headers, ...Object.fromEntries(Object.entries(usual).filter(([name]) => !names.has(name))) };
}
