import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { EngineError } from '../../errors.js';
import { checkId } from '../../hosting/ids.js';
import { noSuchAgent } from '../../hosting/refusals.js';
import { LOCAL_TENANT } from '../../settings/access.js';
import { type Callers, tokenOf } from '../access/callers.js';
import { type Failure, failureOf, notFound } from '../envelope.js';
import { checkOrigin, type GuardOptions } from '../http/guards.js';
import type { ServerParts } from '../server-parts.js';
import { hasAgent, LiveConnection, type LiveConnectionOptions, placeConnection } from './live-connection.js';
import { CLOSE } from './server-frames.js';

/** The subprotocol of live connections. */
const SUBPROTOCOL = 'ragflow.agent.v1';

/** How a browser, which cannot set headers, sends its key: a second subprotocol, which is never echoed. */
const BEARER = /^bearer\.([A-Za-z0-9_-]+)$/;

const PATH = /^\/api\/v1\/agents\/([^/]+)\/live\/?$/;
const CHAT_PATH = /^\/api\/v1\/chat\/live\/?$/;
const RUNS_PATH = /^\/api\/v1\/runs\/live\/?$/;

/** How long clients have to answer a close before their sockets are ended. */
const CLOSE_TIMEOUT_MS = 1_000;

export interface LiveServerOptions {
  readonly parts: ServerParts;
  readonly guard: GuardOptions;
}

/** All live connections of the server. */
export class LiveServer {
  readonly #options: LiveServerOptions;
  readonly #sockets: WebSocketServer;
  readonly #connections = new Set<LiveConnection>();
  #isClosing = false;

  constructor(options: LiveServerOptions) {
    this.#options = options;
    this.#sockets = new WebSocketServer({
      noServer: true,
      maxPayload: options.parts.config.frameBytes,
      perMessageDeflate: false,
      handleProtocols: (offered) => (offered.has(SUBPROTOCOL) ? SUBPROTOCOL : false),
    });
  }

  /** What is open at this moment. */
  get load(): { readonly webSockets: number; readonly followedOverWebSockets: number } {
    let followed = 0;
    for (const connection of this.#connections) followed += connection.following;
    return { webSockets: this.#connections.size, followedOverWebSockets: followed };
  }

  /** Answers a request to change to WebSocket; errors are answered as HTTP. */
  async upgrade(request: IncomingMessage, socket: Socket, head: Buffer): Promise<void> {
    // Until `ws` has the socket, nothing else listens for errors.
    const ignore = (): void => {};
    socket.on('error', ignore);
    try {
      const admitted = await this.#admit(request, socket);
      socket.off('error', ignore);
      this.#sockets.handleUpgrade(request, socket, head, (client) =>
        this.#open(client, { request, socket, ...admitted }),
      );
    } catch (error) {
      refuse(socket, error instanceof NoSuchPath ? notFound(error.message) : failureOf(error));
    }
  }

  /** Ends all connections: their clients are to attach again, here or elsewhere. */
  async close(): Promise<void> {
    this.#isClosing = true;
    const clients = [...this.#sockets.clients];
    for (const connection of this.#connections) {
      connection.closeWhenQuiet(CLOSE.restart, 'the server restarts; attach again', CLOSE_TIMEOUT_MS);
    }
    const hurry = setTimeout(() => {
      for (const client of clients) client.terminate();
    }, 2 * CLOSE_TIMEOUT_MS);
    await Promise.all(clients.map((client) => new Promise((resolve) => client.once('close', resolve))));
    clearTimeout(hurry);
  }

  #open(client: WebSocket, about: Omit<LiveConnectionOptions, 'parts'>): void {
    const connection = new LiveConnection(client, { ...about, parts: this.#options.parts });
    this.#connections.add(connection);
    client.once('close', () => this.#connections.delete(connection));
    connection.start();
  }

  /** @throws EngineError FORBIDDEN, UNAUTHENTICATED, LIMIT_REACHED. */
  async #admit(
    request: IncomingMessage,
    socket: Socket,
  ): Promise<Pick<LiveConnectionOptions, 'kind' | 'agentId' | 'tenant'>> {
    const { parts, guard } = this.#options;
    const { kind, agentId, query } = readAddress(request.url ?? '/');
    if (this.#isClosing) throw refusal('LIMIT_REACHED', 'The server takes no more connections; try again later.', 503);
    checkOrigin(guard, request.headers);
    const tenant = await tenantOf(request, query, parts.callers);
    if (tenant !== undefined && agentId !== undefined && !(await hasAgent(parts, tenant, agentId))) {
      throw refusal('NOT_FOUND', noSuchAgent(agentId), 404);
    }
    // A connection that has not said yet whose it is waits among the strangers.
    if (tenant !== undefined && !placeConnection(parts, tenant, socket)) {
      throw refusal('LIMIT_REACHED', parts.shares.webSockets.refusal(tenant, 'connections'), 503);
    }
    return { kind, agentId, tenant };
  }
}

/** Its message is the path. */
class NoSuchPath extends Error {}

/** What an address is for. */
interface LiveAddress extends Pick<LiveConnectionOptions, 'kind' | 'agentId'> {
  readonly query: URLSearchParams;
}

/** @throws NoSuchPath unless it is the address of an agent's live connection, or of one of those that are for no agent. */
function readAddress(address: string): LiveAddress {
  const [path = '', text = ''] = address.split('?', 2);
  const query = new URLSearchParams(text);
  if (CHAT_PATH.test(path)) return { kind: 'chat', agentId: undefined, query };
  if (RUNS_PATH.test(path)) return { kind: 'runs', agentId: undefined, query };
  const id = PATH.exec(path)?.[1];
  try {
    if (id !== undefined) return { kind: 'agent', agentId: checkId('agent_id', decodeURIComponent(id)), query };
  } catch {
    // No id at all, then.
  }
  throw new NoSuchPath(path);
}

function refusal(code: 'LIMIT_REACHED' | 'NOT_FOUND', message: string, httpStatus: number): EngineError {
  return new EngineError(code, message, { details: { httpStatus } });
}

/** The tenant of a connection; undefined until the client authenticates. @throws EngineError UNAUTHENTICATED, LIMIT_REACHED (HTTP 429). */
async function tenantOf(
  request: IncomingMessage,
  query: URLSearchParams,
  callers: Callers,
): Promise<string | undefined> {
  for (const name of ['token', 'access_token', 'authorization', 'api_key']) {
    // Addresses end up in logs and histories.
    if (query.has(name)) throw new EngineError('UNAUTHENTICATED', 'Keys in the address are not taken.');
  }
  if (!callers.hasKeys) return LOCAL_TENANT;
  const token = tokenOf(request.headers.authorization) ?? bearerOf(request.headers['sec-websocket-protocol']);
  if (token === undefined) return undefined;
  const caller = await callers.find(request, token);
  if (caller === undefined) throw new EngineError('UNAUTHENTICATED', 'Invalid access token');
  return caller.tenant;
}

function bearerOf(header: string | undefined): string | undefined {
  for (const protocol of (header ?? '').split(',')) {
    const encoded = BEARER.exec(protocol.trim())?.[1];
    if (encoded !== undefined) return Buffer.from(encoded, 'base64url').toString('utf8');
  }
  return undefined;
}

function refuse(socket: Duplex, { status, body }: Failure): void {
  const text = JSON.stringify(body);
  socket.end(
    [
      `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
      'Connection: close',
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(text)}`,
      '',
      text,
    ].join('\r\n'),
  );
}
