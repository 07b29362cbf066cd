import type { JSONRPCMessage, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { CONNECTION_LOST } from './mcp-failures.js';

/** What the library adds to a message of its own accord. */
type SendOptions = Parameters<StreamableHTTPClientTransport['send']>[1];

/**
 * Makes a transport close the stream of a request as soon as its cancellation is sent, and answer a request whose stream ends
 * without an answer; of its own accord the library waits for either until the time is over.
 *
 * Gives a function that resolves when every notification is on its way: they must not be lost when the transport is closed next.
 */
export function ownRequestStreams(transport: StreamableHTTPClientTransport): () => Promise<void> {
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
    sent.catch(ignore);
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

function ignore(): void {}
