import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { isJsonObject, type Json } from '../../src/json.js';
import type { Exchange } from './case.js';

/** What the cases call the server, whatever its address. */
export const FIXTURE_ORIGIN = 'http://fixture.invalid';

export interface FixtureServer {
  /** Its real address, without a slash at the end. */
  readonly origin: string;
  close(): Promise<void>;
}

/** A real HTTP server on the loopback address that answers as a case says; anything else is a 404 with `no fixture`. */
export async function startFixtureServer(exchanges: readonly Exchange[]): Promise<FixtureServer> {
  const prepared = exchanges.map((exchange) => ({ exchange, uses: 0 }));
  const closed = new AbortController();
  const server = createServer((request, response) => {
    const method = request.method ?? '';
    const { pathname } = new URL(request.url ?? '/', FIXTURE_ORIGIN);
    const chosen = prepared.find(
      ({ exchange, uses }) =>
        exchange.method === method && exchange.path === pathname && uses < (exchange.times ?? Number.POSITIVE_INFINITY),
    );
    if (chosen !== undefined) chosen.uses += 1;
    // A client that goes away before its answer is part of some cases.
    answer(chosen?.exchange, request, response, closed.signal).catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      closed.abort();
      const end = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await end;
    },
  };
}

async function answer(
  exchange: Exchange | undefined,
  request: IncomingMessage,
  response: ServerResponse,
  closed: AbortSignal,
): Promise<void> {
  const body = await readBody(request);
  if (exchange === undefined) {
    response.writeHead(404, { 'content-type': 'text/plain; charset=utf-8' }).end('no fixture');
    return;
  }
  if (exchange.delay_ms !== undefined) await sleep(exchange.delay_ms, undefined, { signal: closed });
  const content = exchange.echo === true ? echo(request, body) : (exchange.body ?? '');
  const isText = typeof content === 'string';
  const headers = {
    'content-type': isText ? 'text/plain; charset=utf-8' : 'application/json; charset=utf-8',
    ...exchange.headers,
  };
  response.writeHead(exchange.echo === true ? 200 : (exchange.status ?? 200), headers);
  response.end(isText ? content : JSON.stringify(content));
}

async function readBody(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString('utf8');
}

/** What arrived, with sorted keys. */
function echo(request: IncomingMessage, body: string): Json {
  const url = new URL(request.url ?? '/', FIXTURE_ORIGIN);
  const type = request.headers['content-type'] ?? '';
  const headers = Object.entries(request.headers).filter(
    ([name]) => name.startsWith('x-') || name === 'authorization',
  ) as [string, string][];
  return sortKeys({
    form: type.startsWith('application/x-www-form-urlencoded') ? Object.fromEntries(new URLSearchParams(body)) : null,
    headers: Object.fromEntries(headers),
    json: parseJson(body),
    method: request.method ?? '',
    path: url.pathname,
    query: Object.fromEntries(url.searchParams),
  });
}

function parseJson(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return null;
  }
}

function sortKeys(value: Json): Json {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1));
  return Object.fromEntries(entries.map(([key, inner]) => [key, sortKeys(inner)]));
}
