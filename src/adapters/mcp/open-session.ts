/** A session with an MCP server: opened by subscribing, closed by unsubscribing. */
import { setTimeout as delay } from 'node:timers/promises';
import type {
  CallToolResult,
  Client,
  JSONRPCMessage,
  ListToolsResult,
  RequestOptions,
  SSEClientTransport,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { noop, Observable } from 'rxjs';
import type { JsonObject } from '../../json.js';
import { within } from '../../operators/within.js';
import type { TraceContext } from '../../trace-context.js';
import { createGuardedFetch, type GuardedFetchOptions } from '../egress/guarded-fetch.js';
import { CONNECTION_LOST } from './mcp-failures.js';
import type { LocalServer, RemoteServer, ServerSettings } from './mcp-settings.js';

/** An open session. */
export interface McpSession {
  /** The server, or the program, has gone away. */
  readonly isBroken: boolean;
  listTools(cursor: string | undefined, options: RequestOptions): Promise<ListToolsResult>;
  callTool(name: string, args: JsonObject, options: RequestOptions): Promise<CallToolResult>;
}

/** How a session is opened. */
export interface OpenOptions {
  readonly headers: Readonly<Record<string, string>>;
  readonly trace: TraceContext;
  readonly egress: Pick<GuardedFetchOptions, 'allowPrivateNetwork' | 'resolver' | 'trustedCertificates'>;
  /** Called with every session that is being closed, so that the caller can wait for it. */
  readonly onClosing: (closed: Promise<void>) => void;
}

/** Milliseconds that closing may take, those until a killed program is gone, and between two looks at whether it is. */
const CLOSE_MS = 3_000;
const KILLED_MS = 2_000;
const LOOK_MS = 10;
/** Bytes of one message of a program. */
const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;
/** Bytes of the stream that answers one request, and of one that answers all of a session. */
const MAX_STREAM_BYTES = 4 * MAX_MESSAGE_BYTES;
const MAX_SESSION_BYTES = 4 * MAX_STREAM_BYTES;
/** Milliseconds for one request that keeps reporting progress. */
export const MAX_CALL_MS = 600_000;

interface Link {
  readonly transport: Parameters<Client['connect']>[0];
  /** Ends the session by its protocol. */
  leave(): Promise<void>;
  /** Ends it in any case; done when nothing of it is left. */
  cut(): void | Promise<void>;
}

/**
 * Opens a session: emits it once, and stays open until it is unsubscribed. Closing ends the session by its protocol within
 * 3 seconds, and then closes every socket and kills the program; it is closed when the program is gone.
 *
 * Errors: those of the library and of `createGuardedFetch`.
 */
export function openSession(server: ServerSettings, options: OpenOptions): Observable<McpSession> {
  return new Observable((subscriber) => {
    const abort = new AbortController();
    const opening = open(server, options, abort.signal);
    opening.then(
      ({ session }) => subscriber.next(session),
      (error: unknown) => subscriber.error(error),
    );
    return () => {
      abort.abort();
      options.onClosing(opening.then(({ close }) => close(), noop));
    };
  });
}

async function open(server: ServerSettings, options: OpenOptions, signal: AbortSignal) {
  const { Client } = await import('@modelcontextprotocol/client');
  const link = server.type === 'stdio' ? await startProgram(server) : await reachServer(server, options);
  const client = new Client({ name: 'runnel', version: '1' }, { capabilities: {} });
  let isBroken = false;
  client.onclose = () => {
    isBroken = true;
  };
  try {
    // Nothing was started so far.
    signal.throwIfAborted();
    const timeout = server.timeout * 1000;
    await connected(timeout, signal, client.connect(link.transport, { timeout, signal }));
  } catch (error) {
    await closeWithin(link);
    throw error;
  }
  const session: McpSession = {
    get isBroken() {
      return isBroken;
    },
    listTools: (cursor, request) =>
      client.request({ method: 'tools/list', params: cursor === undefined ? {} : { cursor } }, request),
    // Not `callTool`, which compiles schemas of the server into code.
    callTool: (name, args, request) =>
      client.request({ method: 'tools/call', params: { name, arguments: args } }, request),
  };
  return { session, close: () => closeWithin(link) };
}

/** The library starts its timeout after the first answer of an event stream, which may never come. */
async function connected(timeoutMs: number, signal: AbortSignal, work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const cutShort = new Promise<never>((_, reject) => {
    const late = Object.assign(new Error('connecting took too long'), { code: 'REQUEST_TIMEOUT' });
    timer = setTimeout(() => reject(late), timeoutMs);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
  try {
    await Promise.race([work, cutShort]);
  } finally {
    clearTimeout(timer);
    // The rejection of the promise that lost the race is ignored.
    work.catch(noop);
    cutShort.catch(noop);
  }
}

async function closeWithin({ leave, cut }: Link): Promise<void> {
  await within(CLOSE_MS, leave().catch(noop), undefined);
  await cut();
}

async function startProgram({ command, args, env, cwd }: LocalServer): Promise<Link> {
  const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio');
  const transport = new StdioClientTransport({
    command,
    args,
    env,
    stderr: 'ignore',
    maxBufferSize: MAX_MESSAGE_BYTES,
    ...(cwd === undefined ? {} : { cwd }),
  });
  const start = transport.start.bind(transport);
  let pid: number | null = null;
  transport.start = async () => {
    await start();
    // The transport forgets it as soon as it closes, which may be long before the program ends.
    pid = transport.pid;
  };
  return { transport, leave: () => transport.close(), cut: () => (pid === null ? undefined : endProgram(pid)) };
}

/** Kills a program, and waits until the system has it no more. */
async function endProgram(pid: number): Promise<void> {
  const until = performance.now() + KILLED_MS;
  while (isKilled(pid) && performance.now() < until) await delay(LOOK_MS);
}

/** Whether there was still a program to be killed. */
function isKilled(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGKILL');
  } catch {
    return false;
  }
}

async function reachServer(server: RemoteServer, { headers, trace, egress }: OpenOptions): Promise<Link> {
  const { SSEClientTransport, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
  const maxStreamBytes = server.type === 'sse' ? MAX_SESSION_BYTES : MAX_STREAM_BYTES;
  const guarded = createGuardedFetch({
    ...egress,
    trace,
    fixedUrl: server.url,
    maxBytes: MAX_MESSAGE_BYTES,
    maxStreamBytes,
  });
  const url = new URL(server.url);
  const options = { requestInit: { headers }, fetch: guarded.fetch as typeof fetch };
  const link =
    server.type === 'sse'
      ? overEvents(new SSEClientTransport(url, options))
      : overRequests(new StreamableHTTPClientTransport(url, { ...options, fetch: withoutListening(guarded.fetch) }));
  const cut = (): void => {
    guarded.close();
    void link.transport.close();
  };
  return { ...link, cut };
}

/** A server that drops the one stream it answers on has dropped the session, too. */
function overEvents(transport: SSEClientTransport): Omit<Link, 'cut'> {
  transport.onerror = (error) => {
    if (error.message.startsWith('SSE error:')) void transport.close();
  };
  return { transport, leave: async () => {} };
}

function overRequests(transport: StreamableHTTPClientTransport): Omit<Link, 'cut'> {
  const noticesSent = ownRequestStreams(transport);
  return {
    transport,
    leave: async () => {
      await noticesSent();
      await transport.terminateSession();
    },
  };
}

/**
 * Answers in place of the server that there is no stream for unsolicited messages: this client has no listener for them,
 * and it would cost a second connection. A stream that broke off is still taken up again.
 */
function withoutListening(send: ReturnType<typeof createGuardedFetch>['fetch']): typeof fetch {
  const answer: typeof send = async (url, request = {}) => {
    const isListening = request.method === 'GET' && !new Headers(request.headers).has('last-event-id');
    return isListening ? new Response(null, { status: 405 }) : send(url, request);
  };
  return answer as typeof fetch;
}

/** What the library adds to a message of its own accord. */
type SendOptions = Parameters<StreamableHTTPClientTransport['send']>[1];

/**
 * Makes a transport close the stream of a request as soon as its cancellation is sent, and answer a request whose stream ends
 * without an answer; of its own accord the library waits for either until the time is over.
 *
 * Gives a function that resolves when every notification is on its way: they must not be lost when the transport is closed
 * next.
 */
function ownRequestStreams(transport: StreamableHTTPClientTransport): () => Promise<void> {
  const open = new Map<string | number, AbortController>();
  const notices = new Set<Promise<void>>();
  const send = transport.send.bind(transport);
  let problem: string | undefined;
  transport.onerror = (error) => {
    problem = /^SSE stream disconnected: EngineError: (.*)$/s.exec(error.message)?.[1] ?? problem;
  };
  transport.onmessage = (message) => {
    if (!('method' in message) && message.id !== undefined) open.delete(message.id);
  };
  const request = (message: JSONRPCMessage, id: string | number, options: SendOptions): Promise<void> => {
    const abort = new AbortController();
    open.set(id, abort);
    const onRequestStreamEnd = (): void => {
      if (!open.delete(id)) return;
      const error = { code: -32_000, message: problem ?? CONNECTION_LOST };
      transport.onmessage?.({ jsonrpc: '2.0', id, error });
    };
    return send(message, { ...options, requestSignal: abort.signal, onRequestStreamEnd });
  };
  const notify = (message: JSONRPCMessage, options: SendOptions): Promise<void> => {
    const sent = send(message, options).finally(() => notices.delete(sent));
    notices.add(sent);
    sent.catch(noop);
    return sent;
  };
  transport.send = (message, options) => {
    if (Array.isArray(message) || !('method' in message)) return send(message, options);
    if ('id' in message && message.id !== undefined) return request(message, message.id, options);
    if (message.method === 'notifications/cancelled') {
      const { requestId } = (message.params ?? {}) as { readonly requestId?: string | number };
      if (requestId !== undefined) open.get(requestId)?.abort();
    }
    return notify(message, options);
  };
  return async () => {
    await Promise.allSettled([...notices]);
  };
}
