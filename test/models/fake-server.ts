import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** One request as it arrived. */
export interface Arrived {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies freely.
  readonly body: any;
  readonly socketPort: number | undefined;
}

export type Handler = (response: ServerResponse, arrived: Arrived, count: number) => void | Promise<void>;

/** A real HTTP server for one test; gone with it. */
export async function startServer(handler: Handler): Promise<{ url: string; arrived: Arrived[] }> {
  const arrived: Arrived[] = [];
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    const text = Buffer.concat(parts).toString('utf8');
    const { url = '', headers, socket } = request;
    arrived.push({ path: url, headers, body: text && JSON.parse(text), socketPort: socket.remotePort });
    await handler(response, arrived.at(-1) as Arrived, arrived.length);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, arrived };
}

/** Server-sent events, one per frame, with the end mark. */
export function sse(...frames: unknown[]): string {
  return `${frames.map((frame) => `data: ${JSON.stringify(frame)}\n\n`).join('')}data: [DONE]\n\n`;
}

/** A frame whose first choice has this delta. */
export function frame(delta: unknown, finishReason: string | null = null): unknown {
  return { id: 'chat-1', object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: finishReason }] };
}

export function answerStream(response: ServerResponse, text: string): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' }).end(text);
}

export function answerJson(
  response: ServerResponse,
  body: unknown,
  status = 200,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}
