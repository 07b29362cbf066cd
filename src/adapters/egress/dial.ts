/** Connections to checked addresses: resolving, dialling, TLS. */
import { lookup } from 'node:dns/promises';
import { connect as connectTcp, isIP, type LookupFunction, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import { blocked, hostOf, type Reach, refuseAddress } from './url-policy.js';

/** Milliseconds to connect (and shake hands) within the time of the whole request. */
const CONNECT_TIMEOUT_MS = 10_000;

/** Where to connect, and how. */
export interface DialOptions {
  /** Name for the certificate and its request (SNI), or an address. */
  readonly host: string;
  readonly port: number;
  /** The connection goes to one of these only. */
  readonly addresses: readonly string[];
  readonly isTls: boolean;
  /** PEM certificates to trust; absent: those of Node. */
  readonly trusted: readonly string[] | undefined;
  /** Ends the connection at once, also while it is being made. */
  readonly signal: AbortSignal;
}

/** Opens a connection whose addresses are already decided. Rejects with the error of the socket. */
export function dial(options: DialOptions): Promise<Socket> {
  const { host, port, addresses, isTls } = options;
  const target = { host, port, lookup: pinned(addresses) };
  return opened(isTls ? connectTls({ ...target, ...tlsOptions(options) }) : connectTcp(target), options);
}

/** Starts TLS inside of a connection that a proxy made. */
export function secure(over: Duplex, options: Pick<DialOptions, 'host' | 'trusted' | 'signal'>): Promise<Socket> {
  return opened(connectTls({ socket: over, host: options.host, ...tlsOptions(options) }), { ...options, isTls: true });
}

function tlsOptions({ host, trusted }: Pick<DialOptions, 'host' | 'trusted'>) {
  return {
    // An address must not stand in SNI; certificates are checked against `host` in either case.
    servername: isIP(host) === 0 ? host : '',
    ALPNProtocols: ['http/1.1'],
    ...(trusted === undefined ? {} : { ca: [...trusted] }),
  };
}

/** Answers every lookup with the addresses that were checked. */
function pinned(addresses: readonly string[]): LookupFunction {
  const all = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_host, { all: wantsAll }, callback) => {
    const [first] = all;
    if (wantsAll === true || first === undefined) callback(null, all);
    else callback(null, first.address, first.family);
  };
}

function opened(socket: Socket, { signal, isTls }: Pick<DialOptions, 'signal' | 'isTls'>): Promise<Socket> {
  return new Promise((resolve, reject) => {
    // Never removed: an error of a socket without a listener would end the process.
    socket.on('error', reject);
    socket.once('close', () => reject(Object.assign(new Error('closed'), { code: 'ECONNRESET' })));
    socket.setTimeout(CONNECT_TIMEOUT_MS, () => {
      socket.destroy(Object.assign(new Error('connecting took too long'), { code: 'ETIMEDOUT' }));
    });
    socket.once(isTls ? 'secureConnect' : 'connect', () => {
      socket.setTimeout(0);
      resolve(socket);
    });
    const stop = (): void => {
      socket.destroy();
    };
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
}

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
 * The addresses that may be connected to for a URL that `checkUrl` accepted. One refused address among several refuses the
 * host.
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
