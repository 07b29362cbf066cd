/** The proxy that checks and forwards all requests of a browser, with its lists of domains. */
import { once } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  request as openRequest,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { noop } from 'rxjs';
import { EngineError } from '../../errors.js';
import { invalidOption } from '../../operators/invalid-option.js';
import { type DialOptions, dial, type Resolver, resolveHost } from '../egress/dial.js';
import { exchangeFailure } from '../egress/failures.js';
import { HOP_HEADERS } from '../egress/request-headers.js';
import { checkUrl, hostOf, portOf } from '../egress/url-policy.js';

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
  /** Called with why something was refused or failed, a sentence without paths, queries or sent data, and with the host. */
  readonly onRefused: (reason: string, host: string | undefined) => void;
}

/** What a connection to a server needs. */
export interface Upstream {
  readonly url: URL;
  readonly socket: Socket;
}

/**
 * The only route of a browser to the network: a proxy on loopback that judges each URL and each address by the rules of the
 * egress client, and connects to exactly the address that was checked. Every request (of a page, a frame, a worker, a script, a
 * WebSocket, a redirect) passes it.
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
    clients.add(client.on('error', noop).once('close', () => clients.delete(client)));
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
  await once(server.listen(0, '127.0.0.1'), 'listening');
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
      const target = { host: hostOf(url), port: portOf(url), addresses, isTls: false, trusted: undefined };
      const socket = await connect({ ...target, signal });
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

function close(server: Server, clients: Iterable<Duplex>): void {
  server.close();
  for (const client of clients) client.destroy();
}

/**
 * Sends a plain request of a browser over a connection made for it, and the answer back as it comes.
 *
 * `failed` is called when the server breaks off before its answer.
 */
function forwardRequest(
  request: IncomingMessage,
  response: ServerResponse,
  { url, socket }: { readonly url: URL; readonly socket: Socket },
  failed: (error: unknown) => void,
): void {
  const { method = 'GET', headers } = request;
  const passed = Object.entries(headers).filter(([name]) => !HOP_HEADERS.has(name));
  const upstream = openRequest({
    method,
    path: `${url.pathname}${url.search}`,
    headers: { ...Object.fromEntries(passed), host: url.host, connection: 'close' },
    createConnection: () => socket,
    setHost: false,
  });
  upstream.once('error', (error) => {
    socket.destroy();
    failed(error);
  });
  upstream.once('response', (answer) => {
    const end = (): void => {
      socket.destroy();
      response.destroy();
    };
    response.once('close', () => socket.destroy());
    answer.once('error', end);
    response.writeHead(answer.statusCode ?? 502, passedOn(answer.rawHeaders));
    answer.pipe(response);
  });
  upstream.once('upgrade', (_answer, upgraded) => {
    upgraded.destroy();
    response.destroy();
  });
  request.once('error', () => socket.destroy());
  request.pipe(upstream);
}

/** Headers as they came, in pairs, so that several cookies stay several. */
function passedOn(rawHeaders: readonly string[]): string[] {
  const passed: string[] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const [name = '', value = ''] = [rawHeaders[at], rawHeaders[at + 1]];
    if (!HOP_HEADERS.has(name.toLowerCase())) passed.push(name, value);
  }
  return passed;
}

/** Domains that pages may be loaded from, with everything below them; an empty list lets all through. */
export type DomainList = readonly string[];

/**
 * The domains of a text (commas or spaces between them) or a list, in lower case and as URLs write them; undefined for what
 * is none.
 */
export function readDomains(given: string | readonly string[]): DomainList | undefined {
  const parts = (typeof given === 'string' ? given.split(/[\s,]+/) : given).map((part) => part.trim()).filter(Boolean);
  const domains = parts.map(domainOf);
  return domains.includes(undefined) ? undefined : (domains as string[]);
}

/** As {@link readDomains}. @throws EngineError OPTION_INVALID for what is no domain. */
export function requireDomains(owner: string, name: string, given: string | readonly string[]): DomainList {
  const domains = readDomains(given);
  if (domains !== undefined) return domains;
  throw invalidOption(owner, name, 'a list of domains such as "example.org"', given);
}

/** @throws EngineError URL_BLOCKED for a host that one of the lists leaves out. */
export function checkDomain(url: URL, lists: readonly DomainList[]): void {
  const host = hostOf(url);
  const isListed = (list: DomainList): boolean =>
    list.length === 0 || list.some((domain) => host === domain || host.endsWith(`.${domain}`));
  if (lists.every(isListed)) return;
  throw new EngineError(
    'URL_BLOCKED',
    `URL "${url.protocol}//${host.slice(0, 100)}" is not allowed: its domain is not one of those that this browser may open.`,
  );
}

/** `*.example.org` is `example.org`, which stands for everything below it as well. */
function domainOf(text: string): string | undefined {
  const bare = text.replace(/^\*?\./, '');
  const isPlain = /^[\p{L}\p{N}_.-]{1,253}$|^\[[\da-f:.]{2,45}\]$/iu.test(bare);
  return isPlain && URL.canParse(`http://${bare}/`) ? hostOf(new URL(`http://${bare}/`)) : undefined;
}
