import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { BrowsersOptions } from '../../../../src/adapters/browser/browsers.js';
import { dial } from '../../../../src/adapters/egress/dial.js';
import { textOf } from '../../egress/support/servers.js';

/** An address that the policy calls public; connections to it are led to loopback by {@link reaching}. */
const PUBLIC = '93.184.216.34';

/** Names that tests use, and what they resolve to. */
const ADDRESSES: Readonly<Record<string, readonly string[]>> = {
  'shop.example': [PUBLIC],
  'inside.example': ['10.0.0.1'],
  'loopback.example': ['127.0.0.1'],
  'mixed.example': [PUBLIC, '127.0.0.1'],
};

/** A web site on loopback. */
export interface Site {
  readonly port: number;
  /** Address of a page by the name that is allowed. */
  url(path: string): string;
  /** Requests so far, as `GET /path`. */
  readonly asked: string[];
  close(): Promise<void>;
}

/** What a site answers to a request; undefined for 404, `never` for nothing at all. */
export type Pages = (request: IncomingMessage) => Page | 'never' | undefined;

/** One answer. */
export interface Page {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly body?: string | Buffer;
}

/** Starts a site on any free port. */
export async function openSite(pages: Pages): Promise<Site> {
  const asked: string[] = [];
  const server: Server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    void answer(request, response);
  });
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const page = pages(request);
    if (page === 'never') return;
    if (request.method === 'POST') asked.push(await textOf(request));
    const {
      status = 200,
      headers = { 'content-type': 'text/html; charset=utf-8' },
      body = '',
    } = page ?? {
      status: 404,
    };
    response.writeHead(status, headers).end(body);
  };
  server.on('upgrade', (request, socket) => {
    asked.push(`UPGRADE ${request.url}`);
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const site: Site = {
    port,
    asked,
    url: (path) => `http://shop.example:${port}${path}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return site;
}

/** Options with which a browser reaches sites by their name, while addresses are judged as ever. */
export const reaching: Pick<BrowsersOptions, 'resolver' | 'dial'> = {
  resolver: async (host) => ADDRESSES[host] ?? [],
  dial: (options) => {
    if (options.addresses[0] !== PUBLIC) throw new Error(`connected to ${options.addresses}`);
    return dial({ ...options, addresses: ['127.0.0.1'] });
  },
};
