/**
 * Which names and web pages a server without keys answers to.
 *
 * It trusts every client that reaches it, and any web page reaches loopback: directly with a request across origins, or under its own name by DNS
 * rebinding. So such a server answers to loopback names only, and only to its own pages. Pictures and links of other pages come without an origin;
 * browsers mark them.
 */

/** What a request says of where it comes from: headers of HTTP, undefined for those that it lacks. */
export interface AskedFrom {
  readonly host: string | undefined;
  readonly origin: string | undefined;
  /** `Sec-Fetch-Site`. */
  readonly site: string | undefined;
}

/** What is wrong with a request: it used another name of the machine, or it is that of another site's page. */
export type ForeignRequest = 'name' | 'page';

/** Whether a host name (without port) always means this machine, whatever a DNS server answers. */
export function isLoopbackName(name: string): boolean {
  const host = name.toLowerCase().replace(/^\[|\]$/g, '');
  return host === 'localhost' || host === '::1' || /^127(?:\.(?:25[0-5]|2[0-4]\d|1?\d?\d)){3}$/.test(host);
}

/** Why a server without keys refuses a request; undefined when it does not. Pages of `allowedOrigins` are as its own. */
export function foreignRequest(
  { host, origin, site }: AskedFrom,
  allowedOrigins: readonly string[],
): ForeignRequest | undefined {
  const name = hostNameOf(host);
  if (name === undefined || !isLoopbackName(name)) return 'name';
  if (origin === undefined) return site === 'cross-site' || site === 'same-site' ? 'page' : undefined;
  return allowedOrigins.includes(origin) || isSameOrigin(origin, host as string) ? undefined : 'page';
}

/** The name in a `Host` header; undefined when there is none or it is malformed. */
function hostNameOf(header: string | undefined): string | undefined {
  const match = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?$/i.exec(header ?? '');
  return match?.[1];
}

/** The port counts, the scheme does not: a proxy on the same machine may add TLS. */
function isSameOrigin(origin: string, host: string): boolean {
  const match = /^https?:\/\/(.+)$/i.exec(origin);
  return match?.[1]?.toLowerCase() === host.toLowerCase();
}
