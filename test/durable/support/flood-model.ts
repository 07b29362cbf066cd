/** A server of OpenAI's streaming chat completions that never stops talking. */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

const PIECE = `data: ${JSON.stringify({
  choices: [{ index: 0, delta: { content: 'x'.repeat(2_000) }, finish_reason: null }],
})}\n\n`;

/** Base URL of a server that answers with a piece of 2 KB each millisecond, or as fast as its caller reads. */
export async function startFloodModel({ isTorrent }: { readonly isTorrent: boolean }): Promise<string> {
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    if (isTorrent) pour(response);
    else drip(response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

function pour(response: ServerResponse): void {
  if (response.destroyed) return;
  if (response.write(PIECE)) setImmediate(() => pour(response));
  else response.once('drain', () => pour(response));
}

function drip(response: ServerResponse): void {
  const timer = setInterval(() => {
    if (response.destroyed) clearInterval(timer);
    else if (!response.writableNeedDrain) response.write(PIECE);
  }, 1);
}
