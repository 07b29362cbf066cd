import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { type Reach, refuseAddress } from './address-policy.js';
import { blocked, hostOf } from './url-policy.js';

/** Gives all IP addresses of a name; rejects, or gives none, when there is no such name. */
export type Resolver = (host: string) => Promise<readonly string[]>;

/** Asks the operating system, as other programs on the machine do. */
export const resolveWithSystem: Resolver = async (host) => {
  const found = await lookup(host, { all: true });
  return found.map(({ address }) => address);
};

/** How a host is looked up and judged. */
export interface ResolveOptions {
  readonly resolver: Resolver;
  readonly reach: Reach;
  /** Names the URL in messages. */
  readonly what: string;
}

/**
 * The addresses that may be connected to for a URL that `checkUrl` accepted. One refused address among several refuses the host.
 *
 * A name is asked for once, and the connection must go to what was answered: nothing can change in between.
 * Errors: `URL_BLOCKED`; those of the resolver; `ENOTFOUND` as the code of an Error for a name without addresses.
 */
export async function resolveHost(url: URL, options: ResolveOptions): Promise<readonly string[]> {
  const host = hostOf(url);
  const addresses = isIP(host) === 0 ? await options.resolver(host) : [host];
  if (addresses.length === 0) throw Object.assign(new Error('no address'), { code: 'ENOTFOUND' });
  for (const address of addresses) {
    const refusal = refuseAddress(address, options.reach);
    if (refusal !== undefined) throw blocked(options.what, url, refusal);
  }
  return addresses;
}
