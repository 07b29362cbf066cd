/** RAGFlow's JSON envelope: what every answer that is not a stream looks like. */
import { EngineError, errorCodeInfo, shownMessage } from '../errors.js';
import type { Json } from '../json.js';
import type { PageRequest } from '../records/repository.js';

/** An answer: `code` 0 is success, anything else a failure that `message` explains. */
export interface Envelope {
  readonly code: number;
  readonly message?: string;
  readonly data?: unknown;
  /** Length of a whole list, when `data` is a page of it. */
  readonly total?: number;
  /** Items that the page should have as well, but for their size. */
  readonly left_out?: number;
  readonly error?: string;
}

export function success(data: unknown): Envelope {
  return { code: 0, message: 'success', data };
}

/** A page of a list; when items had to be left out for their size, it says so. */
export function successPage(data: readonly unknown[], total: number, page: PageRequest): Envelope {
  return { code: 0, message: 'success', data, total, ...leftOut(data.length, total, page) };
}

/** Which items of a page were left out for their size, and how to get them; nothing when none were. */
export function leftOut(
  given: number,
  total: number,
  { offset, limit }: PageRequest,
  remedy = 'Ask for fewer at once with `page_size`.',
): Pick<Envelope, 'message' | 'left_out'> {
  const asked = Math.max(0, Math.min(limit, total - offset));
  if (given >= asked) return {};
  const left_out = asked - given;
  const message = `The page is full: ${left_out} of its ${asked} items are left out for their size. ${remedy}`;
  return { message, left_out };
}

/** A failure as clients may see it, and the HTTP status it goes with. */
export interface Failure {
  readonly status: number;
  /** When to try again, in seconds. */
  readonly retryAfterSeconds?: number;
  readonly body: Envelope;
}

/** Failures that are about HTTP itself; every other one is a business error, which RAGFlow answers with 200. */
const STATUS: ReadonlyMap<string, number> = new Map([
  ['UNAUTHENTICATED', 401],
  ['BODY_TOO_LARGE', 413],
  ['QUOTA_EXCEEDED', 403],
  ['INTERNAL', 500],
  // Proxies and clients try again by this status alone.
  ['STORE_UNAVAILABLE', 503],
]);

/**
 * Gives any thrown value the form in which clients may see it. The message of anything but an EngineError, or of
 * one not meant for clients, is not exposed.
 */
export function failureOf(thrown: unknown): Failure {
  const error = EngineError.is(thrown) ? thrown : new EngineError('INTERNAL', '');
  const { code, status = STATUS.get(error.code) ?? 200, message } = outside(error);
  const { retryAfterSeconds } = (error.details ?? {}) as Partial<HttpDetails>;
  return {
    status,
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    body: { code, message, ...dataOf(code, error.details) },
  };
}

/** An EngineError that is answered with an HTTP status other than its code's. */
export interface HttpDetails {
  readonly httpStatus: number;
  /** When to try again, in seconds. */
  readonly retryAfterSeconds?: number;
}

/** Code and message of an error as clients may see them. */
export function outside(error: EngineError): { code: number; status?: number; message: string } {
  const { envelope } = errorCodeInfo(error.code);
  const { details } = error;
  const hasStatus = typeof details === 'object' && details !== null && 'httpStatus' in details;
  return {
    code: envelope,
    message: shownMessage(error),
    ...(hasStatus ? { status: (details as HttpDetails).httpStatus } : {}),
  };
}

/** RAGFlow's habit: no data with 102, false with the other codes of its own, null with those borrowed from HTTP. */
function dataOf(code: number, details: unknown): { data?: Json } {
  if (typeof details === 'object' && details !== null) {
    if ('issues' in details) return { data: { issues: details.issues as Json } };
    if ('quota' in details) return { data: { quota: details.quota as Json } };
  }
  if (code === 102) return {};
  return { data: code < 200 ? false : null };
}

/** The answer to a path that does not exist. */
export function notFound(path: string): Failure {
  return { status: 404, body: { code: 404, message: `Not Found: ${path}`, data: null, error: 'Not Found' } };
}

/** Where RAGFlow's resources are. */
const RAGFLOW_PATH = /^\/api\/v1\/(?:datasets|chats)\//;

/**
 * The answer to a change whose path has an empty id; undefined for others. RAGFlow reads such a path without its empty part, which takes no changes, and
 * its clients know that by code 100.
 */
export function emptyId(method: string, path: string): Failure | undefined {
  const isEmpty = RAGFLOW_PATH.test(path) && (path.includes('//') || path.endsWith('/'));
  if (method === 'GET' || !isEmpty) return undefined;
  return { status: 200, body: { code: 100, data: null, message: "<MethodNotAllowed '405: Method Not Allowed'>" } };
}

/** The answer to a method that a path does not take. */
export function notAllowed(method: string, path: string, allowed: readonly string[]): Failure {
  const message = `${method} is not allowed for ${path}. Use ${allowed.join(' or ')}.`;
  return { status: 405, body: { code: 405, message, data: null, error: 'Method Not Allowed' } };
}
