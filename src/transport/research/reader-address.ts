/** The address under which a client reached this server. */
import type { AddressRange } from '../../settings/access.js';
import { isWithin, type Origin } from '../access/client-address.js';

/** Names and addresses with an optional port; nothing that could begin a path. */
const HOST = /^(?:[a-z0-9._-]{1,253}|\[[0-9a-f:.]{2,45}\])(?::\d{1,5})?$/i;

/** What of a request says how the server was reached. */
export type Reached = Origin & { readonly protocol: string; readonly host: string };

/**
 * Such as `https://runnel.example/`, with a slash at the end: as the request has it or, where its peer is a trusted proxy, as that says in `X-Forwarded-Proto` and
 * `X-Forwarded-Host`. Of several values the last counts, for those before may be forged; what is no scheme of the web or no host is left out.
 */
export function readerAddress({ socket, headers, protocol, host }: Reached, proxies: readonly AddressRange[]): string {
  const isTrusted = isWithin(socket.remoteAddress ?? '', proxies);
  const said = (name: string): string =>
    isTrusted ? ([headers[name] ?? []].flat().join(',').split(',').at(-1) ?? '').trim() : '';
  const scheme = said('x-forwarded-proto').toLowerCase();
  const name = said('x-forwarded-host');
  const isKnown = scheme === 'http' || scheme === 'https';
  const address = `${isKnown ? scheme : protocol}://${HOST.test(name) ? name : host}/`;
  // A port may be too large.
  return URL.canParse(address) ? address : `${protocol}://${host}/`;
}
