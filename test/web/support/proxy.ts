/** A small proxy in front of servers: below a path prefix, with connections that a test can cut. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { onTestFinished } from 'vitest';

export interface ProxyOptions {
  /** Begins and does not end with `/`. @default none */
  readonly prefix?: string;
  /** Address of the server that a path, without the prefix, leads to. */
  readonly target: (path: string) => string;
  /** Whether WebSockets come through at this moment. @default always */
  readonly hasSockets?: () => boolean;
}

export interface Proxy {
  /** Ends with `/`. */
  readonly url: string;
  /** Requests for anything that is not below the prefix. */
  readonly strays: readonly string[];
  /** Breaks all connections, and refuses new ones until `mend` is called. */
  cut(): void;
  mend(): void;
}

export async function startProxy({ prefix = '', target, hasSockets = () => true }: ProxyOptions): Promise<Proxy> {
  const sockets = new Set<Duplex>();
  const strays: string[] = [];
  let isCut = false;
  const inner = (path = '/'): string | undefined => {
    if (path.startsWith(`${prefix}/`)) return path.slice(prefix.length);
    strays.push(path);
    return undefined;
  };
  const server = createServer((incoming, outgoing) => {
    const path = inner(incoming.url);
    if (path === undefined) outgoing.writeHead(404).end();
    else forward(incoming, outgoing, new URL(path, target(path)));
  });
  server.on('connection', (socket) => {
    if (isCut) socket.destroy();
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.on('upgrade', (incoming, socket, head) => {
    const path = inner(incoming.url);
    if (path === undefined || !hasSockets()) socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n');
    else tunnel(incoming, socket, head, new URL(path, target(path)));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cut = (): void => {
    isCut = true;
    for (const socket of sockets) socket.destroy();
  };
  onTestFinished(() => {
    cut();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const mend = (): void => {
    isCut = false;
  };
  return { url: `http://127.0.0.1:${port}${prefix}/`, strays, cut, mend };
}

function forward(incoming: IncomingMessage, outgoing: ServerResponse, to: URL): void {
  const asked = request(to, { method: incoming.method, headers: incoming.headers }, (answer) => {
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.on('error', () => outgoing.destroy());
    answer.pipe(outgoing);
  });
  asked.on('error', () => outgoing.destroy());
  outgoing.once('close', () => asked.destroy());
  incoming.pipe(asked);
}

function tunnel(incoming: IncomingMessage, socket: Duplex, head: Buffer, to: URL): void {
  const server = connect(Number(to.port), to.hostname, () => {
    const lines = [`GET ${to.pathname}${to.search} HTTP/1.1`];
    for (let at = 0; at < incoming.rawHeaders.length; at += 2) {
      lines.push(`${incoming.rawHeaders[at]}: ${incoming.rawHeaders[at + 1]}`);
    }
    server.write(`${lines.join('\r\n')}\r\n\r\n`);
    server.write(head);
    server.pipe(socket).pipe(server);
  });
  for (const [one, other] of [
    [server, socket],
    [socket, server],
  ] as const) {
    one.on('error', () => other.destroy());
    one.once('close', () => other.destroy());
  }
}
