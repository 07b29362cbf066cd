/**
 * Which names and web pages a server answers to.
 *
 * A server without keys trusts every client that reaches it, and any web page reaches loopback: directly with a request across origins, or
 * under its own name by DNS rebinding. So such a server answers to loopback names only, and only to its own pages. Pictures and links of
 * other pages come without an origin; browsers mark them.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { isLoopbackName } from '../../settings/access.js';

/** The name in a `Host` header; undefined when there is none or it is malformed. */
function hostNameOf(header: string | undefined): string | undefined {
  const match = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?$/i.exec(header ?? '');
  return match?.[1];
}

/** Why a server without keys refuses a request; undefined when it does not. */
export function refusalOf(
  { host, origin, 'sec-fetch-site': site }: IncomingHttpHeaders,
  allowedOrigins: readonly string[],
): string | undefined {
  const name = hostNameOf(host);
  if (name === undefined || !isLoopbackName(name)) {
    return 'This server has no API keys and answers to loopback names only, such as localhost. Set RUNNEL_API_KEYS to use it under another name.';
  }
  if (origin === undefined && site !== 'cross-site' && site !== 'same-site') return undefined;
  if (origin !== undefined && (allowedOrigins.includes(origin) || isSameOrigin(origin, host as string)))
    return undefined;
  return 'This server has no API keys and answers to its own pages only. Name other origins in RUNNEL_CORS_ORIGINS.';
}

/** The port counts, the scheme does not: a proxy on the same machine may add TLS. */
function isSameOrigin(origin: string, host: string): boolean {
  const match = /^https?:\/\/(.+)$/i.exec(origin);
  return match?.[1]?.toLowerCase() === host.toLowerCase();
}
