/** Which names and web pages the server answers to: those of `own-pages.ts`, in words for its operator. */
import type { IncomingHttpHeaders } from 'node:http';
import { foreignRequest } from '../../own-pages.js';

/** Why a server without keys refuses a request; undefined when it does not. */
export function refusalOf(
  { host, origin, 'sec-fetch-site': site }: IncomingHttpHeaders,
  allowedOrigins: readonly string[],
): string | undefined {
  switch (foreignRequest({ host, origin, site: site as string | undefined }, allowedOrigins)) {
    case 'name':
      return 'This server has no API keys and answers to loopback names only, such as localhost. Set RUNNEL_API_KEYS to use it under another name.';
    case 'page':
      return 'This server has no API keys and answers to its own pages only. Name other origins in RUNNEL_CORS_ORIGINS.';
    default:
      return undefined;
  }
}
