/** Published agents and tools of the server as tools of an MCP server, over streamable HTTP. */
import { z } from 'zod';
import { EngineError } from '../../errors.js';
import { createId } from '../../hosting/ids.js';
import { badArgument } from '../../hosting/refusals.js';
import { isJsonObject, type JsonObject } from '../../json.js';
import { outside } from '../envelope.js';
import { whenLeft } from '../http/client-left.js';
import { type HttpExchange, type RouteGroup, route } from '../http/route.js';
import type { ServerParts } from '../server-parts.js';
import { listAgentTools } from './agent-tools.js';
import { callAgent } from './call-agent.js';
import type { ListToolsResult, NodeIncomingMessageLike, ServerContext } from './mcp-server-library.js';

/** The codes of JSON-RPC for what is refused before anything runs. */
const INVALID_PARAMS = -32_602;
const INTERNAL = -32_603;

/** For clients, which see no agents before something is published. */
const INSTRUCTIONS =
  'Tools are the published agents of this Runnel server, and tools of its own such as weather. To make an agent a tool, publish it: POST /api/v1/agents/{id}/publish.';

/** Made once for each server, because a cancellation comes with another request than the call. */
export function mcpRoutes(): RouteGroup {
  const calls = new RunningCalls();
  // All but POST are answered with 405, as the protocol requires of a server without sessions.
  const other = { summary: 'Answers 405: there are no sessions', answers: 'any' } as const;
  const post = {
    summary: 'Takes one message of JSON-RPC',
    takes: z.looseObject({ jsonrpc: z.literal('2.0'), method: z.string() }),
    answers: 'any',
  } as const;
  return {
    name: 'mcp',
    description:
      'Published agents, and tools of the server, as tools of an MCP server (streamable HTTP, without sessions).',
    routes: (['GET', 'POST', 'DELETE'] as const).map((method) =>
      route(`${method} /mcp`, {
        ...(method === 'POST' ? post : other),
        handle: ({ exchange }, parts) => serve(parts, calls, exchange),
      }),
    ),
  };
}

async function serve(parts: ServerParts, calls: RunningCalls, exchange: HttpExchange): Promise<void> {
  const { req, res, request, state } = exchange;
  const body: unknown = request.method === 'POST' ? request.body : undefined;
  if (Array.isArray(body))
    throw badArgument('Send one message at a time; batches are not part of the protocol any more.');
  // Loaded with the first call: a server that does not serve MCP need not wait for it.
  const { createMcpHandler, toNodeHandler } = await import('./mcp-server-library.js');
  const session = exchange.get('mcp-session-id');
  if (isJsonObject(body)) handleSession(calls, exchange, session, body);
  const gone = new AbortController();
  whenLeft(exchange, () => gone.abort());
  const context: Serving = { parts, calls, tenant: state.tenant, session, headers: req.headers, gone: gone.signal };
  const whenBroken = (error: Error): void =>
    parts.logger.warn({ err: error }, 'a message of an MCP client was refused');
  // One per request, because each has its own tenant. Nothing is published, so subscriptions are not allowed.
  const handler = createMcpHandler(() => createAgentServer(context), {
    onerror: whenBroken,
    keepAliveMs: parts.config.ssePingMs,
    maxSubscriptions: 0,
  });
  exchange.respond = false;
  await toNodeHandler(handler, { onerror: whenBroken })(req as NodeIncomingMessageLike, res, body);
}

/** What goes beyond the one message: a session id for a new client, and the cancellation of a call of another request. */
function handleSession(
  calls: RunningCalls,
  exchange: HttpExchange,
  session: string,
  { method, params }: JsonObject,
): void {
  if (method === 'initialize') exchange.res.setHeader('Mcp-Session-Id', createId());
  if (method !== 'notifications/cancelled' || session === '' || !isJsonObject(params)) return;
  const { requestId } = params;
  if (typeof requestId !== 'string' && typeof requestId !== 'number') return;
  calls.cancel({ tenant: exchange.state.tenant, session, request: requestId });
}

interface Serving {
  readonly parts: ServerParts;
  readonly calls: RunningCalls;
  readonly tenant: string;
  readonly session: string;
  readonly headers: HttpExchange['headers'];
  /** Aborted when the connection closes: the answer can go nowhere else. */
  readonly gone: AbortSignal;
}

async function createAgentServer(serving: Serving) {
  const { ProtocolError, Server } = await import('./mcp-server-library.js');
  const { parts, tenant } = serving;
  const refused = (thrown: unknown): Error => {
    const error = EngineError.is(thrown) ? thrown : new EngineError('INTERNAL', '');
    if (error !== thrown) parts.logger.error({ err: thrown }, 'a call of an MCP client crashed');
    return new ProtocolError(error === thrown ? INVALID_PARAMS : INTERNAL, outside(error).message);
  };
  const server = new Server(
    { name: 'runnel', version: '1' },
    { capabilities: { tools: {} }, instructions: INSTRUCTIONS },
  );
  server.setRequestHandler('tools/list', async ({ params }) => {
    try {
      // The library's type has lists that may be changed.
      return (await listAgentTools(parts.stores.agents, tenant, params?.cursor)) as unknown as ListToolsResult;
    } catch (error) {
      throw refused(error);
    }
  });
  server.setRequestHandler('tools/call', async ({ params }, context) => {
    try {
      return await call(serving, params.name, (params.arguments ?? {}) as JsonObject, context);
    } catch (error) {
      throw refused(error);
    }
  });
  return server;
}

function call(
  { parts, calls, tenant, session, headers, gone }: Serving,
  tool: string,
  args: JsonObject,
  { mcpReq }: ServerContext,
) {
  const { id, signal, notify, _meta } = mcpReq;
  const progressToken = _meta?.progressToken;
  return calls.run({ tenant, session: session || createId(), request: id }, (cancelled) => {
    const onProgress = (progress: number, message: string): void => {
      const params = { progressToken: progressToken as string | number, progress, message };
      notify({ method: 'notifications/progress', params }).catch(() => {});
    };
    return callAgent(parts, {
      tenant,
      tool,
      args,
      headers,
      signal: AbortSignal.any([gone, signal, cancelled]),
      ...(progressToken === undefined ? {} : { onProgress }),
    });
  });
}

/** Identifies a call for a cancellation, which comes with a request of its own. */
interface CallAddress {
  readonly tenant: string;
  /** What was given to the client when it introduced itself; only running calls are stored under it. */
  readonly session: string;
  readonly request: string | number;
}

/** Running calls that can be cancelled by another request. */
class RunningCalls {
  readonly #calls = new Map<string, AbortController>();

  /** Runs a call with a signal that {@link cancel} aborts. */
  async run<T>(address: CallAddress, work: (cancelled: AbortSignal) => Promise<T>): Promise<T> {
    const key = keyOf(address);
    const abort = new AbortController();
    this.#calls.set(key, abort);
    try {
      return await work(abort.signal);
    } finally {
      // A client that uses a number twice has put another call in this place.
      if (this.#calls.get(key) === abort) this.#calls.delete(key);
    }
  }

  /** Does nothing when there is no such call. */
  cancel(address: CallAddress): void {
    this.#calls.get(keyOf(address))?.abort();
  }
}

function keyOf({ tenant, session, request }: CallAddress): string {
  return JSON.stringify([tenant, session, request]);
}
