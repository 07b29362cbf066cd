import { type IncomingMessage, request as openRequest, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Headers that belong to one connection and not to what is sent over it. */
const HOP_HEADERS = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/**
 * Sends a plain request of a browser over a connection made for it, and the answer back as it comes.
 *
 * `failed` hears of a server that breaks off before its answer.
 */
export function forwardRequest(
  request: IncomingMessage,
  response: ServerResponse,
  { url, socket }: { readonly url: URL; readonly socket: Socket },
  failed: (error: unknown) => void,
): void {
  const { method = 'GET', headers } = request;
  const passed = Object.entries(headers).filter(([name]) => !HOP_HEADERS.has(name));
  const upstream = openRequest({
    method,
    path: `${url.pathname}${url.search}`,
    headers: { ...Object.fromEntries(passed), host: url.host, connection: 'close' },
    createConnection: () => socket,
    setHost: false,
  });
  upstream.once('error', (error) => {
    socket.destroy();
    failed(error);
  });
  upstream.once('response', (answer) => {
    const end = (): void => {
      socket.destroy();
      response.destroy();
    };
    response.once('close', () => socket.destroy());
    answer.once('error', end);
    response.writeHead(answer.statusCode ?? 502, passedOn(answer.rawHeaders));
    answer.pipe(response);
  });
  upstream.once('upgrade', (_answer, upgraded) => {
    upgraded.destroy();
    response.destroy();
  });
  request.once('error', () => socket.destroy());
  request.pipe(upstream);
}

/** Headers as they came, in pairs, so that several cookies stay several. */
function passedOn(rawHeaders: readonly string[]): string[] {
  const passed: string[] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const [name = '', value = ''] = [rawHeaders[at], rawHeaders[at + 1]];
    if (!HOP_HEADERS.has(name.toLowerCase())) passed.push(name, value);
  }
  return passed;
}
