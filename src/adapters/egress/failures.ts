/** Errors of requests to the outside. Nothing that may be a secret gets into a message: no path, query, header or body. */
import { EngineError, type ErrorCode } from '../../errors.js';

/** Longest part of a URL that is shown. */
const MAX_SHOWN = 120;

const URL_START = /^\s*([a-z][a-z0-9+.-]*:)?[/\\]{2}([^/\\?#]*)/i;

/** What went wrong, by the code of the error underneath. */
const REASONS: Readonly<Record<string, string>> = {
  ENOTFOUND: 'its name cannot be resolved',
  EAI_AGAIN: 'its name cannot be resolved for the moment',
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was closed',
  EPIPE: 'the connection was closed',
  UND_ERR_SOCKET: 'the connection was closed',
  ETIMEDOUT: 'it could not be connected to in time',
  EHOSTUNREACH: 'there is no way to its address',
  ENETUNREACH: 'there is no way to its address',
  Z_BUF_ERROR: 'its compressed answer ends too early',
  Z_DATA_ERROR: 'its answer is not compressed as it claims to be',
  HTTPParserError: 'the answer is no valid HTTP',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'the answer is no valid HTTP',
};

/** Failures that the same request would meet again: certificates, and answers that break the rules. */
const LASTING =
  /^(?:CERT_|ERR_TLS|ERR_SSL|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|HTTPParserError|UND_ERR_RES_|UND_ERR_INVALID|Z_DATA_)/;

/**
 * A URL as messages show it: scheme, host and port. Works on anything, for what cannot be parsed is what is complained about.
 */
export function describeUrl(text: string): string {
  const match = URL_START.exec(text);
  if (match === null) return 'a text that is not shown';
  const [, scheme = '', authority = ''] = match;
  const host = authority.slice(authority.lastIndexOf('@') + 1);
  return JSON.stringify(`${scheme.toLowerCase()}//${host}`.slice(0, MAX_SHOWN));
}

/** A failure of a request: what was asked of whom, what happened. */
export function egressError(code: ErrorCode, asked: string, problem: string, retryable = false): EngineError {
  return new EngineError(code, `${asked}: ${problem}.`, { retryable });
}

/**
 * Gives whatever broke an exchange as an `EngineError`; one that already is passes unchanged.
 *
 * Messages of other libraries are left out, as they may quote what was sent; their codes are in `details.reason`.
 */
export function exchangeFailure(thrown: unknown, asked: string): EngineError {
  if (EngineError.is(thrown)) return thrown;
  const reason = codeOf(thrown);
  if (reason === 'UND_ERR_HEADERS_OVERFLOW') {
    return egressError('EGRESS_TOO_LARGE', asked, 'the headers of the answer are larger than allowed');
  }
  const known = REASONS[reason] ?? 'the request failed';
  const shown = reason === '' ? known : `${known} (${reason})`;
  return new EngineError('EGRESS_FAILED', `${asked}: ${shown}.`, {
    retryable: !LASTING.test(reason),
    details: { reason },
  });
}

/** The code of an error; of several attempts to connect, that of the last. */
export function codeOf(thrown: unknown): string {
  if (thrown instanceof AggregateError && thrown.errors.length > 0) return codeOf(thrown.errors.at(-1));
  if (!(thrown instanceof Error)) return '';
  // undici gives this one no code.
  if (thrown.name === 'HTTPParserError') return thrown.name;
  return 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : '';
}
