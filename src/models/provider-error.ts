import { EngineError } from '../errors.js';
import { isJsonObject, type JsonObject, parseJson } from '../json.js';

/** Characters of a provider's own message that are passed on. */
const MAX_MESSAGE = 500;

/** Where a call goes, for messages; `secrets` are texts that must never appear in one. */
export interface CallTarget {
  readonly model: string;
  /** Origin and path of the endpoint, without credentials. */
  readonly endpoint: string;
  readonly secrets: readonly string[];
}

/** Status and headers of an answer that is an error. */
export interface RefusedAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

/** Whether another attempt may help after this HTTP status. */
function isRetryableStatus(status: number): boolean {
  return status === 408 || status === 409 || status === 425 || status === 429 || (status >= 500 && status <= 599);
}

/**
 * The error for an answer with a status other than 2xx.
 *
 * `MODEL_UNAVAILABLE`, retryable, for 408, 409, 425, 429 and 5xx; `MODEL_REQUEST` for the others.
 */
export function refusal(target: CallTarget, answer: RefusedAnswer, now: number = Date.now()): EngineError {
  const { status, headers, body } = answer;
  const retryable = isRetryableStatus(status);
  const waitMs = readRetryAfter(headers, now);
  const message = `${nameOf(target)} answered ${status}: ${quoted(providerMessage(body), target)}.${remedy(status)}`;
  return new EngineError(retryable ? 'MODEL_UNAVAILABLE' : 'MODEL_REQUEST', message, {
    retryable,
    details: { status, ...(waitMs !== undefined && { retryAfterMs: waitMs }) },
  });
}

/**
 * The error for an `error` object inside an answer of status 200, which some providers send when they fail midway.
 *
 * `statuses`: the statuses that such errors would have had as answers, by their code or type.
 */
export function reportedError(
  target: CallTarget,
  error: unknown,
  statuses: Readonly<Record<string, number>> = {},
): EngineError {
  const code = isJsonObject(error) ? reportedStatus(error, statuses) : Number.NaN;
  const retryable = isRetryableStatus(code);
  const message = `${nameOf(target)} reported an error: ${quoted(errorText(error), target)}.`;
  return new EngineError(retryable ? 'MODEL_UNAVAILABLE' : 'MODEL_REQUEST', message, {
    retryable,
    ...(Number.isInteger(code) && { details: { status: code } }),
  });
}

function reportedStatus({ code, type, status }: JsonObject, statuses: Readonly<Record<string, number>>): number {
  const word = isText(code) ? String(code) : String(type);
  return Object.hasOwn(statuses, word) ? (statuses[word] as number) : Number(code ?? status);
}

/** The error for a connection that could not be made, or fell silent before an answer: `MODEL_UNAVAILABLE`, retryable. */
export function unreachable(target: CallTarget, cause: unknown): EngineError {
  return networkError(target, 'could not be reached', cause);
}

/** The error for a connection that broke or fell silent when `bytes` of the answer had arrived: `MODEL_UNAVAILABLE`, retryable. */
export function brokenOff(target: CallTarget, cause: unknown, bytes: number): EngineError {
  return networkError(target, `broke off after ${bytes} bytes of its answer`, cause);
}

function networkError(target: CallTarget, what: string, cause: unknown): EngineError {
  if (EngineError.is(cause)) return cause;
  const code = isCoded(cause) ? cause.code : '';
  if (code === 'UND_ERR_INVALID_ARG') {
    return new EngineError('MODEL_REQUEST', `${nameOf(target)} cannot be called: ${quoted(textOf(cause), target)}.`);
  }
  const isOurs = code === 'UND_ERR_DESTROYED' || code === 'UND_ERR_CLOSED';
  return new EngineError('MODEL_UNAVAILABLE', `${nameOf(target)} ${what}: ${reason(code, cause, target)}.`, {
    retryable: !isOurs,
    // No `cause`: undici's errors may carry the request, and with it the key.
    ...(code !== '' && { details: { network: code } }),
  });
}

/** The error for an answer that makes no sense: `MODEL_RESPONSE`, not retryable. */
export function unusable(target: CallTarget, what: string): EngineError {
  return new EngineError('MODEL_RESPONSE', `${nameOf(target)} ${quoted(what, target)}.`);
}

/** How long the provider asked to wait, in milliseconds, if `error` has that detail. */
export function retryAfterMs(error: unknown): number | undefined {
  if (!EngineError.is(error) || !isJsonObject(error.details)) return undefined;
  const value = error.details.retryAfterMs;
  return typeof value === 'number' ? value : undefined;
}

function nameOf(target: CallTarget): string {
  return `Model "${target.model}" at ${target.endpoint}`;
}

function remedy(status: number): string {
  if (status === 401 || status === 403) return " Check the provider's key.";
  if (status === 404) return ' Check the model name and the base URL.';
  if (status === 429) return ' Wait, raise max_retries, or lower MAX_CONCURRENT_CHATS.';
  return '';
}

/** How many milliseconds an answer asks to wait: RFC 9110 section 10.2.3 (seconds or a date), and the `retry-after-ms` of OpenAI and Azure. */
export function readRetryAfter(headers: RefusedAnswer['headers'], now: number): number | undefined {
  const precise = Number(first(headers['retry-after-ms']) ?? Number.NaN);
  if (precise >= 0) return precise;
  const value = first(headers['retry-after'])?.trim();
  if (value === undefined || value === '') return undefined;
  const ms = /^\d+(\.\d+)?$/.test(value) ? Number(value) * 1000 : Date.parse(value) - now;
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined;
}

function first(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}

function providerMessage(body: string): string {
  const parsed = parseJson(body);
  return isJsonObject(parsed) ? errorText(parsed.error ?? parsed) : body;
}

function errorText(error: unknown): string {
  if (typeof error === 'string') return error;
  if (!isJsonObject(error)) return '';
  const key = ['message', 'detail', 'msg', 'error', 'type', 'code'].find((name) => isText((error as JsonObject)[name]));
  return key === undefined ? JSON.stringify(error) : String(error[key]);
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}

const SILENT = 'it was silent for too long; raise LLM_TIMEOUT_SECONDS if it needs more time';

/** Why a server could not be reached, by the code of the error, and what to do. */
const REASONS: Readonly<Record<string, string>> = {
  UND_ERR_HEADERS_TIMEOUT: SILENT,
  UND_ERR_BODY_TIMEOUT: SILENT,
  UND_ERR_CONNECT_TIMEOUT: 'connecting took too long; check the base URL',
  ECONNREFUSED: 'the connection was refused (ECONNREFUSED); check that the server is running there',
  ENOTFOUND: 'the host name is unknown (ENOTFOUND); check the base URL',
};

function reason(code: string, cause: unknown, target: CallTarget): string {
  const known = Object.hasOwn(REASONS, code) ? REASONS[code] : undefined;
  return known ?? quoted([textOf(cause), code && `(${code})`].filter(Boolean).join(' '), target);
}

function textOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

function isCoded(thrown: unknown): thrown is { code: string } {
  return typeof thrown === 'object' && thrown !== null && 'code' in thrown && typeof thrown.code === 'string';
}

/** A text of a provider, prepared for a message: one line, bounded, no secrets, no full stop of its own. */
function quoted(text: string, target: CallTarget): string {
  let clean = text;
  for (const secret of target.secrets) clean = clean.replaceAll(secret, '***');
  clean = clean.replace(/\s+/g, ' ').trim().replace(/\.$/, '');
  if (clean === '') return 'without a message';
  return clean.length > MAX_MESSAGE ? `${clean.slice(0, MAX_MESSAGE)}…` : clean;
}
