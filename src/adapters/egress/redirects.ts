import type { HttpMethod } from './http-method.js';
import { bodilessHeaders, type Headers, harmlessHeaders } from './request-headers.js';

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
  const headers = isSameOrigin ? request.headers : harmlessHeaders(request.headers);
  const { method } = request;
  const asksAgain = status === 303 ? method !== 'GET' && method !== 'HEAD' : status < 303 && method === 'POST';
  if (!asksAgain) return { ...request, headers };
  return { method: 'GET', headers: bodilessHeaders(headers), body: undefined };
}
