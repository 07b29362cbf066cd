import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { refuseAddress } from './address-policy.js';
import { blocked, hostOf } from './url-policy.js';

/** Gives all IP addresses of a name; rejects, or gives none, when there is no such name. */
export type Resolver = (host: string) => Promise<readonly string[]>;

/** Asks the operating system, as other programs on the machine do. */
export const resolveWithSystem: Resolver = async (host) => {
  const found = await lookup(host, { all: true });
  return found.map(({ address }) => address);
};

/** A name is asked for once per connection, and the connection goes to what was answered: nothing can change in between. */
export interface ResolveOptions {
  readonly resolver: Resolver;
  readonly allowPrivateNetwork: boolean;
  /** The operator fixed this host, so its addresses are not judged. */
  readonly isFixed: boolean;
  /** Names the URL in messages. */
  readonly what: string;
}

/**
 * The addresses that may be connected to for a URL that `checkUrl` accepted. One refused address among several refuses the host.
 *
 * Errors: `URL_BLOCKED`; those of the resolver; `ENOTFOUND` as the code of an Error for a name without addresses.
 */
export async function resolveHost(url: URL, options: ResolveOptions): Promise<readonly string[]> {
  const host = hostOf(url);
  const addresses = isIP(host) === 0 ? await options.resolver(host) : [host];
  if (addresses.length === 0) throw Object.assign(new Error('no address'), { code: 'ENOTFOUND' });
  if (options.isFixed) return addresses;
  for (const address of addresses) {
    const refusal = refuseAddress(address, options.allowPrivateNetwork);
    if (refusal !== undefined) throw blocked(options.what, url, refusal);
  }
  return addresses;
}
