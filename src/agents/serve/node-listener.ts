/** Handlers of `Request` and `Response` for servers of Node. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { requireCallable } from '../../operators/invalid-option.js';

/**
 * Makes a listener for `http.createServer` of a handler. A client that leaves ends the body of its answer, and nothing else.
 *
 * @throws EngineError OPTION_INVALID
 */
export function nodeListener(
  handler: (request: Request) => Promise<Response>,
): (request: IncomingMessage, response: ServerResponse) => void {
  requireCallable('nodeListener', 'handler', handler);
  return (incoming, outgoing) => {
    answer(handler, incoming, outgoing).catch(() => {
      // The connection is gone, or the handler broke its promise never to fail.
      if (!outgoing.headersSent) outgoing.statusCode = 500;
      outgoing.destroy();
    });
  };
}

async function answer(
  handler: (request: Request) => Promise<Response>,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const { method = 'GET' } = incoming;
  const hasBody = method !== 'GET' && method !== 'HEAD';
  const body = hasBody ? (Readable.toWeb(incoming) as ReadableStream<Uint8Array>) : undefined;
  const request = requestOf(incoming, body);
  const response = await handler(request);
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  if (response.body === null) outgoing.end();
  else await pipeline(Readable.fromWeb(response.body as never), outgoing);
}

/** A request of Node as one that handlers know. */
export function requestOf(
  { method = 'GET', url = '/', headers }: IncomingMessage,
  body: ReadableStream<Uint8Array> | undefined,
): Request {
  const sent = new Headers();
  for (const [name, value] of Object.entries(headers)) {
    if (!name.startsWith(':') && value !== undefined) sent.set(name, Array.isArray(value) ? value.join(', ') : value);
  }
  const { ':authority': authority } = headers;
  if (typeof authority === 'string' && !sent.has('host')) sent.set('host', authority);
  const init = { method, headers: sent, ...(body !== undefined && { body, duplex: 'half' }) };
  return new Request(new URL(url, 'http://localhost'), init as RequestInit);
}
