import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Socket, type Server as TcpServer } from 'node:net';
import { firstValueFrom } from 'rxjs';
import { onTestFinished } from 'vitest';
import type { EgressClient, EgressRequest, EgressResponse } from '../../../../src/adapters/egress/egress-client.js';
import { TEST_CERTIFICATE, TEST_KEY } from './certificate.js';

/** A server on the loopback address; it goes with the test that started it. */
export interface TestServer {
  readonly origin: string;
  readonly port: number;
  /** Requests so far, as `GET /path`. */
  readonly asked: readonly string[];
  readonly server: Server;
}

/** Starts an HTTP server. */
export async function serve(listener: RequestListener): Promise<TestServer> {
  const asked: string[] = [];
  const server = createServer(recording(asked, listener));
  const port = await listen(server);
  onTestFinished(() => server.closeAllConnections());
  return { origin: `http://127.0.0.1:${port}`, port, asked, server };
}

/** Starts an HTTPS server with the test certificate. */
export async function serveSecurely(listener: RequestListener): Promise<TestServer> {
  const asked: string[] = [];
  const server = createSecureServer({ key: TEST_KEY, cert: TEST_CERTIFICATE }, recording(asked, listener));
  const port = await listen(server);
  onTestFinished(() => server.closeAllConnections());
  return { origin: `https://127.0.0.1:${port}`, port, asked, server };
}

/** Starts a server that speaks for itself from the first byte of a connection on. */
export async function serveRaw(
  speak: (socket: Socket) => void,
): Promise<{ readonly origin: string; readonly port: number }> {
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    speak(socket);
  });
  const port = await listen(server);
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  return { origin: `http://127.0.0.1:${port}`, port };
}

/** The body of a request as text. */
export async function textOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString('utf8');
}

/** One answer. */
export function ask(client: EgressClient, request: EgressRequest): Promise<EgressResponse> {
  return firstValueFrom(client.fetch(request));
}

/** What a promise is rejected with. @throws Error when it is not. */
export async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error('nothing failed');
}

function recording(asked: string[], listener: RequestListener): RequestListener {
  return (request, response) => {
    asked.push(`${request.method} ${request.url}`);
    // A client that goes away in the middle is part of these tests.
    response.on('error', () => {});
    listener(request, response);
  };
}

async function listen(server: Server | TcpServer): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
  });
  return (server.address() as AddressInfo).port;
}
