/** Methods and headers of requests, also after redirects. */
import { validateHeaderName, validateHeaderValue } from 'node:http';
import { EngineError } from '../../errors.js';
import { readTraceContext, type TraceContext } from '../../trace-context.js';
import { ACCEPT_ENCODING } from './read-body.js';

/** Headers by name, in lower case. */
export type Headers = Readonly<Record<string, string>>;

/** Headers that belong to one connection and not to what is sent over it. */
export const HOP_HEADERS: ReadonlySet<string> = new Set(
  'connection keep-alive proxy-authenticate proxy-authorization proxy-connection te trailer transfer-encoding upgrade'.split(
    ' ',
  ),
);

/** Are worked out from the request; documents that carry them, or those of a connection, along are not refused. */
const OWN = new Set([...HOP_HEADERS, 'accept-encoding', 'content-length', 'expect', 'host', 'http2-settings']);

/** What another origin may see; everything else may be a credential, whatever it is called. */
const HARMLESS = new Set(['accept', 'accept-encoding', 'accept-language', 'content-type', 'traceparent', 'user-agent']);

/** What is added to the headers of a caller. */
export interface HeaderDefaults {
  readonly userAgent: string;
  /** What is malformed is left out. @default none */
  readonly trace?: TraceContext;
}

/**
 * The headers of the first request: the caller's without those that are not his to set, and the client's own.
 *
 * Errors: `OPTION_INVALID` for a name or value that HTTP does not allow; values are not shown.
 */
export function requestHeaders(given: Headers, { userAgent, trace = {} }: HeaderDefaults): Headers {
  const headers = new Map([
    ['accept', '*/*'],
    ['user-agent', userAgent],
  ]);
  for (const [name, value] of Object.entries(readTraceContext({ ...trace }))) headers.set(name, value);
  for (const [name, value] of Object.entries(given)) {
    const key = name.trim().toLowerCase();
    if (OWN.has(key)) continue;
    headers.set(key, checked(key, value.trim()));
  }
  headers.set('accept-encoding', ACCEPT_ENCODING);
  return Object.fromEntries(headers);
}

function only(headers: Headers, isKept: (name: string) => boolean): Headers {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => isKept(name)));
}

function checked(name: string, value: string): string {
  try {
    validateHeaderName(name);
    validateHeaderValue(name, value);
  } catch {
    const shown = JSON.stringify(name.slice(0, 60));
    const problem = `Header ${shown} cannot be sent: its name or value has characters that HTTP does not allow.`;
    throw new EngineError('OPTION_INVALID', problem);
  }
  return value;
}

/** A request that may be redirected. */
export interface Redirectable {
  readonly method: HttpMethod;
  readonly headers: Headers;
  readonly body: string | Uint8Array | undefined;
}

/** Where an answer redirects to, as it is written there; undefined when it is no redirect. */
export function redirectLocation(status: number, location: string | undefined): string | undefined {
  const isRedirect = status === 301 || status === 302 || status === 303 || status === 307 || status === 308;
  return isRedirect && location !== '' ? location : undefined;
}

/**
 * The request that follows a redirect, by the rules of the Fetch standard: 303 asks with GET, so do 301 and 302 after POST;
 * 307 and 308 repeat the request. Another origin gets only headers that are harmless.
 */
export function redirected(request: Redirectable, status: number, isSameOrigin: boolean): Redirectable {
  const headers = isSameOrigin ? request.headers : only(request.headers, (name) => HARMLESS.has(name));
  const { method } = request;
  const asksAgain = status === 303 ? method !== 'GET' && method !== 'HEAD' : status < 303 && method === 'POST';
  if (!asksAgain) return { ...request, headers };
  return { method: 'GET', headers: only(headers, (name) => !name.startsWith('content-')), body: undefined };
}

/** The methods that are sent to the outside. */
export const HTTP_METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

/** A method of {@link HTTP_METHODS}. */
export type HttpMethod = (typeof HTTP_METHODS)[number];

/** Headers of a usual browser, for sites that give other clients another page. */
export const BROWSER_HEADERS = {
  'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36',
  accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
  'accept-language': 'en-US,en;q=0.9',
} as const;
