import { connect as connectTcp, isIP, type LookupFunction, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';

/** Milliseconds to connect (and shake hands) within the time of the whole request. */
const CONNECT_TIMEOUT_MS = 10_000;

/** Where to connect, and how. */
export interface DialOptions {
  /** Name for the certificate and its request (SNI), or an address. */
  readonly host: string;
  readonly port: number;
  /** The connection goes to one of these and to nothing else. */
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

/** Answers whatever is asked with the addresses that were checked. */
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
    // Stays for good: an error of a socket that nobody listens to any more would end the process.
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
