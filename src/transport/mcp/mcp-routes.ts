import type { NodeIncomingMessageLike } from '@modelcontextprotocol/node';
import type { ListToolsResult, ServerContext } from '@modelcontextprotocol/server';
import { EngineError } from '../../errors.js';
import { createId } from '../../hosting/ids.js';
import { badArgument } from '../../hosting/refusals.js';
import { isJsonObject, type JsonObject } from '../../json.js';
import { outside } from '../envelope.js';
import type { HttpExchange, Routes } from '../http/types.js';
import type { ServerParts } from '../server-parts.js';
import { listAgentTools } from './agent-tools.js';
import { callAgent } from './call-agent.js';
import { RunningCalls } from './running-calls.js';

/** Methods of the address: all but POST are answered with 405, as the protocol asks of a server without sessions. */
export const MCP_METHODS = ['GET', 'POST', 'DELETE'] as const;

/** The codes of JSON-RPC for what is refused before anything runs. */
const INVALID_PARAMS = -32_602;
const INTERNAL = -32_603;

/** Published agents as tools of an MCP server, over streamable HTTP. */
export function mcpRoutes(parts: ServerParts): Routes {
  const calls = new RunningCalls();
  return (router) => {
    router.register('/mcp', [...MCP_METHODS], (exchange: HttpExchange) => serve(parts, calls, exchange));
  };
}

async function serve(parts: ServerParts, calls: RunningCalls, exchange: HttpExchange): Promise<void> {
  const { req, res, request, state } = exchange;
  const body: unknown = request.method === 'POST' ? request.body : undefined;
  if (Array.isArray(body))
    throw badArgument('Send one message at a time; batches are not part of the protocol any more.');
  // Loaded with the first call: a server that nobody asks this way need not wait for it.
  const [{ createMcpHandler }, { toNodeHandler }] = await Promise.all([
    import('@modelcontextprotocol/server'),
    import('@modelcontextprotocol/node'),
  ]);
  const session = exchange.get('mcp-session-id');
  if (isJsonObject(body)) heedMessage(calls, exchange, session, body);
  const gone = new AbortController();
  res.once('close', () => gone.abort());
  const context: Serving = { parts, calls, tenant: state.tenant, session, headers: req.headers, gone: gone.signal };
  const whenBroken = (error: Error): void =>
    parts.logger.warn({ err: error }, 'a message of an MCP client was refused');
  // One per request: whose agents are shown is known to nobody else. Nothing is published that could be listened to.
  const handler = createMcpHandler(() => createAgentServer(context), {
    onerror: whenBroken,
    keepAliveMs: parts.config.ssePingMs,
    maxSubscriptions: 0,
  });
  exchange.respond = false;
  await toNodeHandler(handler, { onerror: whenBroken })(req as NodeIncomingMessageLike, res, body);
}

/** What goes beyond the one message: a name for the client that introduces itself, and a call of another request. */
function heedMessage(
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
  /** Aborted when the client has gone: nobody else can get the answer. */
  readonly gone: AbortSignal;
}

async function createAgentServer(serving: Serving) {
  const { ProtocolError, Server } = await import('@modelcontextprotocol/server');
  const { parts, tenant } = serving;
  const refused = (thrown: unknown): Error => {
    const error = EngineError.is(thrown) ? thrown : new EngineError('INTERNAL', '');
    if (error !== thrown) parts.logger.error({ err: thrown }, 'a call of an MCP client crashed');
    return new ProtocolError(error === thrown ? INVALID_PARAMS : INTERNAL, outside(error).message);
  };
  const server = new Server({ name: 'runnel', version: '1' }, { capabilities: { tools: {} } });
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
  return calls.run({ tenant, session: session || createId(), request: id }, (abort) => {
    const stop = (): void => abort.abort();
    for (const one of [gone, signal]) {
      if (one.aborted) stop();
      one.addEventListener('abort', stop, { once: true });
    }
    const onProgress = (progress: number, message: string): void => {
      const params = { progressToken: progressToken as string | number, progress, message };
      notify({ method: 'notifications/progress', params }).catch(() => {});
    };
    return callAgent(parts, {
      tenant,
      tool,
      args,
      headers,
      signal: abort.signal,
      ...(progressToken === undefined ? {} : { onProgress }),
    });
  });
}
