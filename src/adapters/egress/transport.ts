/** One HTTP request on the wire, over undici. */
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { noop } from 'rxjs';
import type { Client } from 'undici';
import { type DialOptions, dial, secure } from './dial.js';
import { egressError } from './failures.js';
import type { HttpMethod } from './request-headers.js';
import { hostOf, portOf } from './url-policy.js';

/** Bytes that the headers of an answer may have in all. */
const MAX_HEADER_BYTES = 65_536;

/** A checked URL and the addresses that its host may be connected to. */
export interface Destination {
  readonly url: URL;
  readonly addresses: readonly string[];
}

/** One request on the wire; everything about it is decided. */
export interface Hop extends Destination {
  readonly method: HttpMethod;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | undefined;
  readonly proxy: Destination | undefined;
  readonly trusted: readonly string[] | undefined;
  /** The request in messages. */
  readonly asked: string;
}

/** The head of an answer, and its body as it comes. */
export interface WireAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Readable;
  /** Closes the connection, whatever is left to read. */
  close(): void;
}

/** Puts one request on the wire. Rejects when no answer comes; aborting `signal` closes the connection at once. */
export type Transport = (hop: Hop, signal: AbortSignal) => Promise<WireAnswer>;

/**
 * One connection per request, over undici: nothing of a request is left for the next one, and stopping one closes exactly its
 * own socket. Through a proxy, `http` goes as an absolute request line and `https` as a tunnel.
 */
export const sendOverOwnConnection: Transport = async (hop, signal) => {
  // Loaded on first use: a process without outgoing requests does not load the library.
  const undici = await import('undici');
  signal.throwIfAborted();
  const makeClient = (origin: string, socket: Socket): Client =>
    new undici.Client(origin, {
      connect: once(socket),
      maxHeaderSize: MAX_HEADER_BYTES,
      // The caller bounds the time of the whole request by aborting the signal.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  const { proxy, url } = hop;
  const socket = await connect(hop, signal, makeClient);
  const isPlainProxied = proxy !== undefined && url.protocol === 'http:';
  const client = makeClient((isPlainProxied ? proxy.url : url).origin, socket);
  const close = (): void => {
    socket.destroy();
    client.destroy().catch(noop);
  };
  try {
    const { statusCode, headers, body } = await client.request({
      method: hop.method,
      path: isPlainProxied ? `${url.origin}${pathOf(url)}` : pathOf(url),
      headers: { host: url.host, ...hop.headers, ...(isPlainProxied ? proxyCredentials(proxy.url) : {}) },
      body: hop.body ?? null,
      reset: true,
      signal,
    });
    if (statusCode === 407 && proxy !== undefined) throw proxyRefusal(hop, statusCode);
    return { status: statusCode, headers, body, close };
  } catch (error) {
    close();
    throw error;
  }
};

/** Connects to the server, to the proxy for plain requests, or through the proxy's tunnel. */
async function connect(
  hop: Hop,
  signal: AbortSignal,
  makeClient: (origin: string, socket: Socket) => Client,
): Promise<Socket> {
  const { proxy, url, trusted } = hop;
  const socket = await dial(dialOptions(proxy ?? hop, trusted, signal));
  if (proxy === undefined || url.protocol === 'http:') return socket;
  const client = makeClient(proxy.url.origin, socket);
  try {
    const host = `${url.hostname}:${url.port || 443}`;
    const tunnel = await client.connect({ path: host, headers: { host, ...proxyCredentials(proxy.url) }, signal });
    if (tunnel.statusCode !== 200) throw proxyRefusal(hop, tunnel.statusCode);
    return await secure(tunnel.socket, { host: hostOf(url), trusted, signal });
  } catch (error) {
    socket.destroy();
    throw error;
  } finally {
    client.close().catch(noop);
  }
}

function dialOptions({ url, addresses }: Destination, trusted: Hop['trusted'], signal: AbortSignal): DialOptions {
  const isTls = url.protocol === 'https:';
  return { host: hostOf(url), port: portOf(url), addresses, isTls, trusted, signal };
}

type ConnectCallback = (...given: [null, Socket] | [Error, null]) => void;

/** Gives the socket to the client that it was made for; a client that lost it must not connect by itself. */
function once(socket: Socket): (options: unknown, callback: ConnectCallback) => void {
  let isGiven = false;
  return (_options, callback) => {
    const isUsable = !isGiven && !socket.destroyed;
    isGiven = true;
    const lost = (): Error => Object.assign(new Error('the connection is closed'), { code: 'ECONNRESET' });
    // Not at once: undici does not notice a connection that is there before it has finished asking for it.
    queueMicrotask(() => (isUsable ? callback(null, socket) : callback(lost(), null)));
  };
}

function proxyCredentials({ username, password }: URL): Record<string, string> {
  if (username === '' && password === '') return {};
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { 'proxy-authorization': `Basic ${Buffer.from(pair).toString('base64')}` };
}

function proxyRefusal({ asked }: Hop, status: number): Error {
  return egressError('EGRESS_FAILED', asked, `the proxy answered with status ${status}`, status >= 500);
}

function pathOf({ pathname, search }: URL): string {
  return `${pathname}${search}`;
}
