import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, createServer as createSocketServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { expect, it, onTestFinished, vi } from 'vitest';
import { Arrivals } from '../../src/operators/arrivals.js';
import { listenOn } from '../../src/transport/listen.js';
import { skippedUnless } from '../support/skipped.js';
import { documentOf } from './support/documents.js';
import { startServer } from './support/server.js';

const hasIPv6 = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === '::1'));

function answering(): Server {
  const server = createServer((_, response) => response.end('here'));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return server;
}

const portOf = (server: Server): number => (server.address() as AddressInfo).port;

const textFrom = async (url: string): Promise<string> => (await fetch(url)).text();

it.runIf(hasIPv6)(
  skippedUnless(
    hasIPv6,
    'no IPv6 here',
    'answers on 127.0.0.1 and ::1 with one port, and on neither once it is closed',
  ),
  async () => {
    const { url, server } = await startServer();
    const { port } = new URL(url);
    expect(url).toBe(`http://127.0.0.1:${port}`);
    for (const name of ['127.0.0.1', '[::1]', 'localhost']) {
      expect((await fetch(`http://${name}:${port}/healthz`)).status).toBe(200);
    }
    await server.close();
    for (const name of ['127.0.0.1', '[::1]']) await expect(fetch(`http://${name}:${port}/healthz`)).rejects.toThrow();
  },
);

it.runIf(hasIPv6)(
  skippedUnless(hasIPv6, 'no IPv6 here', 'closes connections of the second address that wait for another request'),
  async () => {
    const { url, server } = await startServer();
    const socket = connect(Number(new URL(url).port), '::1');
    socket.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await once(socket, 'data');
    const closed = once(socket, 'close');
    await server.close();
    await closed;
  },
);

it('listens on one address where one is named', async () => {
  const server = answering();
  await listenOn(server, { host: '127.0.0.1', port: 0 });
  expect(await textFrom(`http://127.0.0.1:${portOf(server)}`)).toBe('here');
  await expect(fetch(`http://[::1]:${portOf(server)}`)).rejects.toThrow();
});

it.runIf(hasIPv6)(skippedUnless(hasIPv6, 'no IPv6 here', 'answers to IPv4 and IPv6 on ::'), async () => {
  const server = answering();
  await listenOn(server, { host: '::', port: 0 });
  for (const name of ['127.0.0.1', '[::1]']) expect(await textFrom(`http://${name}:${portOf(server)}`)).toBe('here');
});

it.runIf(hasIPv6)(
  skippedUnless(
    hasIPv6,
    'no IPv6 here',
    'refuses a port that is taken on one of the two addresses, and leaves the other free',
  ),
  async () => {
    const other = createSocketServer();
    onTestFinished(() => void other.close());
    other.listen(0, '::1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    await expect(listenOn(answering(), { host: 'localhost', port })).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringMatching(new RegExp(`^Cannot listen on localhost, port ${port}: .*EADDRINUSE`)),
    });
    const free = answering();
    await listenOn(free, { host: '127.0.0.1', port });
    expect(portOf(free)).toBe(port);
  },
);

it('notes each connection and each request, behind which other work begins', async () => {
  const arrivals = new Arrivals();
  const noted = vi.spyOn(arrivals, 'note');
  const { url, server } = await startServer({ arrivals });
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  await once(server.http, 'connection');
  expect(noted).toHaveBeenCalledTimes(1);
  socket.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n');
  await once(socket, 'data');
  expect(noted).toHaveBeenCalledTimes(2);
  socket.destroy();
});

it('begins a run when what comes with it is there', async () => {
  const arrivals = new Arrivals();
  let begin = (): void => {};
  const held = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const gathered = vi.spyOn(arrivals, 'gather').mockReturnValue(held);
  const { call, agent } = await startServer({ arrivals });
  const id = await agent(documentOf({ begin: ['Begin', []] }));
  const answer = call('POST', `/api/v1/agents/${id}/run`, { query: 'x' });
  await vi.waitFor(() => expect(gathered).toHaveBeenCalledTimes(1), { timeout: 100_000 });
  const runs = async () => (await call('GET', `/api/v1/agents/${id}/runs`)).body.data;
  expect(await runs()).toHaveLength(0);
  begin();
  expect((await answer).body.code).toBe(0);
  expect(await runs()).toHaveLength(1);
});
