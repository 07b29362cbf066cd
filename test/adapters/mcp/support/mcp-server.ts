/** MCP servers for tests: the SDK's over streamable HTTP with sessions, and a small one of our own over SSE. */
import { randomUUID } from 'node:crypto';
import type { Server as HttpServer, IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { NodeStreamableHTTPServerTransport } from '@modelcontextprotocol/node';
import { type CallToolResult, Server, type ServerContext } from '@modelcontextprotocol/server';
import type { JsonObject } from '../../../../src/json.js';
import { serve, textOf } from '../../egress/support/servers.js';

/** What a tool of a test server does. */
export type Behaviour = (args: JsonObject, context: ServerContext) => CallToolResult | Promise<CallToolResult>;

/** A tool of a test server. */
export interface TestTool {
  readonly description?: string;
  readonly inputSchema?: JsonObject;
  readonly annotations?: { readonly readOnlyHint?: boolean; readonly idempotentHint?: boolean };
  readonly run: Behaviour;
}

export interface TestMcpServer {
  readonly url: string;
  /** Ids of sessions that are open. */
  readonly sessions: ReadonlySet<string>;
  /** Sessions that were opened so far. */
  readonly opened: () => number;
  /** Most that were open at once. */
  readonly mostOpen: () => number;
  /** Headers of every request. */
  readonly headers: IncomingMessage['headers'][];
  readonly asked: readonly string[];
  /** Resolves when no socket is open. */
  readonly quiet: () => Promise<void>;
  /** Forgets every session, as a restart does. */
  restart(): void;
}

export const said = (text: string): CallToolResult => ({ content: [{ type: 'text', text }] });

/** A tool that says its arguments. */
export const ECHO: TestTool = {
  description: 'Says it again.',
  inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
  run: ({ text }) => said(`echo: ${text}`),
};

/** The server of a list of tools. */
export function toolServer(tools: Readonly<Record<string, TestTool>>): Server {
  const server = new Server({ name: 'test', version: '1' }, { capabilities: { tools: {} } });
  server.setRequestHandler('tools/list', () => ({
    tools: Object.entries(tools).map(([name, { description, annotations, inputSchema = { type: 'object' } }]) => ({
      name,
      ...(description === undefined ? {} : { description }),
      ...(annotations === undefined ? {} : { annotations }),
      inputSchema: inputSchema as { type: 'object' },
    })),
  }));
  server.setRequestHandler('tools/call', ({ params }, context) => {
    const tool = tools[params.name];
    if (tool === undefined) throw new Error(`no tool ${params.name}`);
    return tool.run((params.arguments ?? {}) as JsonObject, context);
  });
  return server;
}

/** Starts a server over streamable HTTP; it goes with the test. */
export async function startMcpServer(
  tools: Readonly<Record<string, TestTool>>,
  before: (request: IncomingMessage, response: ServerResponse) => boolean = () => false,
): Promise<TestMcpServer> {
  const transports = new Map<string, NodeStreamableHTTPServerTransport>();
  const headers: IncomingMessage['headers'][] = [];
  let opened = 0;
  let mostOpen = 0;
  const open = async (): Promise<NodeStreamableHTTPServerTransport> => {
    const transport = new NodeStreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (id) => {
        opened += 1;
        transports.set(id, transport);
        mostOpen = Math.max(mostOpen, transports.size);
      },
      onsessionclosed: (id) => {
        transports.delete(id);
      },
    });
    await toolServer(tools).connect(transport);
    return transport;
  };
  const listener: RequestListener = async (request, response) => {
    headers.push(request.headers);
    if (before(request, response)) return;
    const id = request.headers['mcp-session-id'];
    const transport = typeof id === 'string' ? transports.get(id) : await open();
    if (transport === undefined) response.writeHead(404).end();
    else await transport.handleRequest(request, response);
  };
  const { origin, asked, server } = await serve(listener);
  return {
    url: `${origin}/mcp`,
    sessions: {
      has: (id: string) => transports.has(id),
      get size() {
        return transports.size;
      },
    } as ReadonlySet<string>,
    opened: () => opened,
    mostOpen: () => mostOpen,
    headers,
    asked,
    quiet: () => quiet(server),
    restart: () => transports.clear(),
  };
}

/** Starts a server of the older kind: answers come on one stream, requests go to the address that it names first. */
export async function startSseServer(
  tools: Readonly<Record<string, TestTool>>,
  endpoint: (origin: string) => string = () => '/messages',
): Promise<Pick<TestMcpServer, 'url' | 'asked' | 'headers' | 'quiet'> & { dropStreams(): void }> {
  const streams = new Set<ServerResponse>();
  const headers: IncomingMessage['headers'][] = [];
  let origin = '';
  const listener: RequestListener = async (request, response) => {
    headers.push(request.headers);
    if (request.method === 'GET') {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`event: endpoint\ndata: ${endpoint(origin)}\n\n`);
      streams.add(response);
      response.once('close', () => streams.delete(response));
      return;
    }
    const message = JSON.parse(await textOf(request)) as { id?: number; method: string; params: JsonObject };
    response.writeHead(202).end();
    if (message.id === undefined) return;
    const result = await answer(tools, message.method, message.params);
    const [stream] = streams;
    stream?.write(`event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', id: message.id, result })}\n\n`);
  };
  const started = await serve(listener);
  origin = started.origin;
  return {
    url: `${origin}/sse`,
    headers,
    asked: started.asked,
    quiet: () => quiet(started.server),
    dropStreams: () => {
      for (const stream of streams) stream.destroy();
    },
  };
}

async function answer(tools: Readonly<Record<string, TestTool>>, method: string, params: JsonObject): Promise<unknown> {
  if (method === 'initialize') {
    const capabilities = { tools: {} };
    return { protocolVersion: params.protocolVersion, capabilities, serverInfo: { name: 'sse', version: '1' } };
  }
  if (method === 'tools/list') {
    return {
      tools: Object.entries(tools).map(([name, { inputSchema = { type: 'object' } }]) => ({ name, inputSchema })),
    };
  }
  return tools[String(params.name)]?.run(params.arguments as JsonObject, undefined as never);
}

/** A connection that one side closed takes a moment to be gone on the other. */
export async function quiet(server: HttpServer): Promise<void> {
  const count = () =>
    new Promise<number>((resolve, reject) => server.getConnections((error, n) => (error ? reject(error) : resolve(n))));
  while ((await count()) > 0) await new Promise(setImmediate);
}
