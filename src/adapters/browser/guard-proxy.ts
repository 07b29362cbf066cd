import { createServer, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { EngineError } from '../../errors.js';
import { type DialOptions, dial } from '../egress/dial.js';
import { exchangeFailure } from '../egress/failures.js';
import { type Resolver, resolveHost } from '../egress/resolve-host.js';
import { checkUrl, hostOf } from '../egress/url-policy.js';
import { checkDomain, type DomainList } from './domain-list.js';
import { forwardRequest } from './forward-request.js';

/** Opens a connection whose addresses are decided. */
export type Dial = (options: DialOptions) => Promise<Socket>;

/** What a guarding proxy lets through. */
export interface GuardOptions {
  /** Lets pages reach private and loopback addresses, but no metadata services. */
  readonly allowPrivateNetwork: boolean;
  readonly resolver: Resolver;
  /** A host must be in every list. */
  readonly domains: readonly DomainList[];
  /** @default a connection to one of the addresses that were judged */
  readonly dial?: Dial | undefined;
  /** Connections of the browser at once; a further one is closed. */
  readonly maxConnections: number;
  /** Bytes of all answers together; then every connection is closed, and later ones too. */
  readonly maxBytes: number;
  /** Hears why something was refused or failed, a sentence without paths, queries or what was sent, and whose host it was. */
  readonly onRefused: (reason: string, host: string | undefined) => void;
}

/** What a connection to a server needs. */
export interface Upstream {
  readonly url: URL;
  readonly socket: Socket;
}

/**
 * The one way of a browser to the network: a proxy on loopback that judges each URL and each address by the rules of the
 * egress client, and connects to the very address that was judged. Whatever asks (a page, a frame, a worker, a script, a
 * WebSocket, a redirect) comes through here.
 *
 * Plain requests are forwarded one connection each; `CONNECT` (https, WebSockets) becomes a tunnel. Aborting `signal` closes
 * the proxy and all that goes through it at once.
 */
export async function startGuardProxy(options: GuardOptions, signal: AbortSignal): Promise<{ readonly port: number }> {
  signal.throwIfAborted();
  const server = createServer();
  const clients = new Set<Duplex>();
  const open = createOpener(options, clients);
  server.maxConnections = options.maxConnections;
  server.on('connection', (client: Socket) => {
    clients.add(client.on('error', ignore).once('close', () => clients.delete(client)));
  });
  server.on('request', (request, response) => {
    const target = request.url ?? '';
    const failed = (error: unknown): void => {
      const { status, text } = refuse(error, target, options);
      if (response.headersSent) response.destroy();
      else response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(text);
    };
    if (!target.startsWith('http://')) failed(unfit());
    else open(target, request.socket).then((upstream) => forwardRequest(request, response, upstream, failed), failed);
  });
  server.on('connect', (request, client, head) => {
    const target = AUTHORITY.test(request.url ?? '') ? `https://${request.url}/` : '';
    const failed = (error: unknown): void => {
      const { status, text } = refuse(error, target, options);
      const size = Buffer.byteLength(text);
      if (client.writable) client.end(`HTTP/1.1 ${status} Refused\r\ncontent-length: ${size}\r\n\r\n${text}`);
    };
    open(target, client).then(({ socket }) => tunnel(client, socket, head), failed);
  });
  server.on('upgrade', (_request, client) => client.destroy());
  signal.addEventListener('abort', () => close(server, clients), { once: true });
  await listening(server);
  if (signal.aborted) close(server, clients);
  signal.throwIfAborted();
  return { port: (server.address() as AddressInfo).port };
}

/** `host:port` of a CONNECT and nothing else. */
const AUTHORITY = /^(?:\[[\da-f:.]+\]|[^\s/\\@?#:[\]]+):\d{1,5}$/i;

/** Judges and connects; what it opens ends with the client that asked. */
function createOpener(options: GuardOptions, clients: ReadonlySet<Duplex>) {
  const { resolver, domains, allowPrivateNetwork, maxBytes, dial: connect = dial, onRefused } = options;
  const reach = allowPrivateNetwork ? 'private' : 'public';
  let bytes = 0;
  const count = (chunk: Buffer): void => {
    const before = bytes;
    bytes += chunk.length;
    if (bytes <= maxBytes) return;
    if (before <= maxBytes)
      onRefused(`The pages have loaded more than ${maxBytes} bytes; no more is loaded.`, undefined);
    for (const client of clients) client.destroy();
  };
  return async (target: string, client: Duplex): Promise<Upstream> => {
    if (bytes > maxBytes) throw new EngineError('EGRESS_TOO_LARGE', 'The pages have loaded more than they may.');
    const url = checkUrl(target, { reach });
    checkDomain(url, domains);
    const ending = new AbortController();
    const end = (): void => ending.abort();
    if (client.destroyed) end();
    else client.once('close', end);
    const { signal } = ending;
    try {
      const addresses = await resolveHost(url, { resolver, reach, what: 'URL' });
      signal.throwIfAborted();
      const isTls = false;
      const socket = await connect({
        host: hostOf(url),
        port: portOf(url),
        addresses,
        isTls,
        trusted: undefined,
        signal,
      });
      // One client connection carries several plain requests, one after the other.
      socket.once('close', () => client.removeListener('close', end));
      return { url, socket: socket.on('data', count) };
    } catch (error) {
      client.removeListener('close', end);
      throw exchangeFailure(error, url.origin);
    }
  };
}

function tunnel(client: Duplex, socket: Socket, head: Buffer): void {
  client.write('HTTP/1.1 200 Connection established\r\n\r\n');
  if (head.length > 0) socket.write(head);
  const end = (): void => {
    client.destroy();
    socket.destroy();
  };
  client.once('close', end).on('error', end);
  socket.once('close', end).on('error', end);
  client.pipe(socket);
  socket.pipe(client);
}

function refuse(
  error: unknown,
  target: string,
  { onRefused }: GuardOptions,
): { readonly status: number; readonly text: string } {
  const { code, message } = exchangeFailure(error, 'A request of the page');
  onRefused(message, URL.canParse(target) ? new URL(target).hostname : undefined);
  return { status: code === 'EGRESS_FAILED' ? 502 : 403, text: message };
}

function unfit(): EngineError {
  return new EngineError('URL_INVALID', 'URL cannot be used: its scheme is not http or https.');
}

function portOf({ protocol, port }: URL): number {
  if (port !== '') return Number(port);
  return protocol === 'https:' ? 443 : 80;
}

function listening(server: Server): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
}

function close(server: Server, clients: Iterable<Duplex>): void {
  server.close();
  for (const client of clients) client.destroy();
}

function ignore(): void {}
