/** Requests of tools to their services, with bounds of time, size and attempts. */
import { concatMap, map, type Observable, of, throwError } from 'rxjs';
import type { EgressRequest, EgressResponse } from '../adapters/egress/egress-client.js';
import { quoteResponse, toolFailed } from '../adapters/failures.js';
import { ownValue } from '../dsl/json-copy.js';
import { EngineError } from '../errors.js';
import { isJsonObject, type Json, type JsonObject, parseJson } from '../json.js';
import { readRetryAfter, retryAfterMs } from '../models/provider-error.js';
import { doubling, retryWith } from '../operators/retry-with.js';
import type { AnyTool, ToolCall } from './tool.js';
import { requireService, settingOf, type ToolServices } from './tool-services.js';

/** A request of a tool. */
export interface UpstreamRequest extends Pick<EgressRequest, 'url' | 'method' | 'headers' | 'body' | 'proxy'> {
  /** Added to the URL; undefined values are left out. */
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  /** Sent as JSON. */
  readonly json?: Json;
  /** Sent as a urlencoded form. */
  readonly form?: Readonly<Record<string, string>>;
  /** Seconds for one attempt. */
  readonly timeoutSeconds: number;
  /** Attempts in all where the document does not say; 1: never again. */
  readonly attempts: number;
  /** @default 8 MiB */
  readonly maxBytes?: number;
  /** The host comes from the document or a model and not from us or the operator: the address policy applies. @default false */
  readonly isForeign?: boolean;
  /** Texts that no error may contain, such as keys. @default none */
  readonly secrets?: readonly string[];
  /** Statuses that count as an answer although they are no success. @default none */
  readonly accepts?: (status: number) => boolean;
}

/** The tool; its timeout bounds the wait for another attempt. */
type Asking = Pick<AnyTool, 'component' | 'name'> & Partial<Pick<AnyTool, 'timeoutSeconds'>>;

/** What a request takes from the call that it belongs to. */
type AskingCall = Pick<ToolCall, 'services' | 'retries' | 'trace' | 'random' | 'now'>;

const MAX_BYTES = 8 * 1024 * 1024;
const BACKOFF_MS = 200;
const MAX_BACKOFF_MS = 3_000;
/** Longest wait that an upstream may ask for, in milliseconds, where the tool has that much time; a longer one is a failure. */
const MAX_RETRY_AFTER_MS = 30_000;

/** Where a tool's fixed upstream is: what the operator set for its name, else `usual`; without a slash at the end. */
export function baseUrlOf(tool: Pick<AnyTool, 'component' | 'name'>, services: ToolServices, usual: string): string {
  const names = [tool.name.toLowerCase(), tool.component.toLowerCase()];
  const urls = Object.entries(services.tools?.baseUrls ?? {});
  const [, set = usual] = urls.find(([name]) => names.includes(name.trim().toLowerCase())) ?? [];
  return set.replace(/\/+$/, '');
}

/**
 * The key of a call: the parameter of that name, else the environment variable.
 *
 * @throws EngineError TOOL_FAILED naming both when neither is set.
 */
export function requireKey<K extends string>(
  { params, services }: { readonly params: Readonly<Record<K, string>>; readonly services: ToolServices },
  param: K,
  variable: string,
): string {
  const key = params[param].trim() || settingOf(services, variable);
  if (key === undefined) throw toolFailed(`there is no key; set "${param}" or the environment variable ${variable}`);
  return key;
}

/**
 * Asks an upstream. Emits its answer once, when the status is a success (or accepted).
 *
 * Network errors, 429 and 5xx are tried again, as often as the document says or else `attempts`: after what `Retry-After` asks
 * for, or 200 ms doubling up to 3 s with full jitter. Errors: `TOOL_FAILED` with the status and the upstream's own message;
 * those of `EgressClient`; `CONFIG_INVALID` without an HTTP client.
 */
export function ask(tool: Asking, call: AskingCall, request: UpstreamRequest): Observable<EgressResponse> {
  const http = requireService(call.services, 'http', `Tool "${tool.name}"`);
  const { retries, trace } = call;
  const attempts = retries?.attempts ?? request.attempts;
  const maxWaitMs = Math.min(MAX_RETRY_AFTER_MS, (tool.timeoutSeconds ?? Number.POSITIVE_INFINITY) * 1000);
  const asked: EgressRequest = {
    url: withQuery(request.url, request.query),
    method: request.method ?? 'GET',
    ...contentOf(request),
    timeoutMs: request.timeoutSeconds * 1000,
    maxBytes: request.maxBytes ?? MAX_BYTES,
    isFixedByOperator: request.isForeign !== true,
    ...(request.proxy === undefined || request.proxy === '' ? {} : { proxy: request.proxy }),
    ...trace,
  };
  return http.fetch(asked).pipe(
    concatMap((response) => {
      const { status } = response;
      if ((status >= 200 && status < 300) || request.accepts?.(status) === true) return of(response);
      return throwError(() => refused(response, request.secrets, { now: call.now(), maxWaitMs }));
    }),
    retryWith({
      attempts,
      delayMs: (attempt, error) =>
        retryAfterMs(error) ?? retries?.delayMs ?? call.random() * doubling(BACKOFF_MS, MAX_BACKOFF_MS)(attempt),
    }),
  );
}

/** As {@link ask}, and reads the answer as JSON; an answer that is none is an error that is not tried again. */
export function askJson(tool: Asking, call: AskingCall, request: UpstreamRequest): Observable<Json> {
  const headers = { accept: 'application/json', ...request.headers };
  return ask(tool, call, { ...request, headers }).pipe(map(jsonOf));
}

/** The body as JSON. @throws EngineError TOOL_FAILED when it is none. */
export function jsonOf(response: Pick<EgressResponse, 'text'>): Json {
  const answer = parseJson(response.text());
  if (answer === undefined) throw toolFailed('the answer is not valid JSON');
  return answer;
}

/** The answer as an object. @throws EngineError TOOL_FAILED when it is none. */
export function objectOf(answer: Json): JsonObject {
  if (isJsonObject(answer)) return answer;
  throw toolFailed('the answer is not a JSON object');
}

/**
 * A list of an answer; empty when it is not there. @throws EngineError TOOL_FAILED when it, or the answer, is something
 * else.
 */
export function listIn(answer: Json, name: string): readonly Json[] {
  const list = ownValue(objectOf(answer), name) ?? [];
  if (Array.isArray(list)) return list;
  throw toolFailed(`the ${JSON.stringify(name)} of the answer is no list`);
}

/** Own text of an object at a key; empty for everything that is no text or number. */
export function textAt(value: Json | undefined, key: string): string {
  const found = ownValue(value, key);
  if (typeof found === 'number') return String(found);
  return typeof found === 'string' ? found : '';
}

/** Own number of an object at a key; undefined when there is none. */
export function numberAt(value: Json | undefined, key: string): number | undefined {
  const found = ownValue(value, key);
  return typeof found === 'number' ? found : undefined;
}

/** Own list of an object at a key; undefined when there is none. */
export function listAt(value: Json | undefined, key: string): readonly Json[] | undefined {
  const found = ownValue(value, key);
  return Array.isArray(found) ? found : undefined;
}

function withQuery(url: string, query: UpstreamRequest['query']): string {
  const pairs = Object.entries(query ?? {}).filter(([, value]) => value !== undefined);
  if (pairs.length === 0) return url;
  const parameters = new URLSearchParams(pairs.map(([name, value]): [string, string] => [name, String(value)]));
  return `${url}${url.includes('?') ? '&' : '?'}${parameters}`;
}

function contentOf({ json, form, body, headers = {} }: UpstreamRequest): Pick<EgressRequest, 'body' | 'headers'> {
  const typed = (type: string, text: string) => ({ headers: { 'content-type': type, ...headers }, body: text });
  if (json !== undefined) return typed('application/json', JSON.stringify(json));
  if (form !== undefined) return typed('application/x-www-form-urlencoded', new URLSearchParams(form).toString());
  return body === undefined ? { headers } : { headers, body };
}

function refused(
  response: EgressResponse,
  secrets: UpstreamRequest['secrets'],
  { now, maxWaitMs }: { readonly now: number; readonly maxWaitMs: number },
): EngineError {
  const { status } = response;
  const waitMs = readRetryAfter(response.headers, now);
  const isTooLong = waitMs !== undefined && waitMs >= maxWaitMs;
  const why = quoteResponse(messageOf(response), secrets);
  const when = isTooLong ? ` (it asks to wait ${Math.ceil(waitMs / 1000)} seconds)` : '';
  const message = `the service answered with status ${status}${when}${why === '' ? '' : `: ${why}`}`;
  return new EngineError('TOOL_FAILED', message, {
    retryable: (status === 429 || status >= 500) && !isTooLong,
    details: { status, ...(waitMs !== undefined && { retryAfterMs: waitMs }) },
  });
}

/** The upstream's message about a refusal: the usual fields of a JSON body, or the beginning of a plain text. */
function messageOf(response: EgressResponse): string {
  const body = response.text();
  const parsed = parseJson(body);
  if (parsed === undefined) return response.contentType.startsWith('text/plain') ? body : '';
  const error = isJsonObject(parsed) ? (parsed.error ?? parsed.detail ?? parsed.message ?? '') : '';
  const words = isJsonObject(error) ? (error.message ?? error.error ?? '') : error;
  return typeof words === 'string' ? words : '';
}
