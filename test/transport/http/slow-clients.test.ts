/** Clients that open connections and say nothing, send slowly or take nothing, beside others. */
import { once } from 'node:events';
import { createConnection, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { documentOf, ECHO } from '../support/documents.js';
import { connect as connectLive } from '../support/live-client.js';
import { startServer, type TestServer } from '../support/server.js';

const KEY = 'one-of-acme-long-key';
const OTHER = 'two-of-others-long-key';
const KEYS = { RUNNEL_API_KEYS: `acme=${KEY},other=${OTHER}` };
const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
const AGENTS = '/api/v1/agents';

/** A socket to a server, and that of the server at its other end. */
async function open({ url, server }: TestServer): Promise<{ readonly client: Socket; readonly there: Socket }> {
  const accepted = once(server.http, 'connection') as Promise<[Socket]>;
  const client = createConnection(Number(new URL(url).port), '127.0.0.1');
  client.on('error', () => {});
  onTestFinished(() => void client.destroy());
  await once(client, 'connect');
  const [there] = await accepted;
  return { client, there };
}

/** Resolves when a socket is closed, for whatever reason. */
const ended = (socket: Socket): Promise<void> =>
  new Promise((resolve) => (socket.closed ? resolve() : socket.once('close', () => resolve())));

/** Writes a little again and again, until the socket is gone. */
function trickle(client: Socket, text: string): void {
  const timer = setInterval(() => client.write(text), 20);
  client.once('close', () => clearInterval(timer));
}

const HOOK = documentOf({
  begin: ['Begin', ['Message:A'], { mode: 'Webhook', security: { auth_type: 'none', allow_anonymous: true } }],
  'Message:A': ['Message', [], { content: ['x'] }],
});

describe('a slow client', () => {
  const slow = { RUNNEL_SLOW_CLIENT_MS: '200' };

  it.each([
    ['says nothing', ''],
    ['sends a part of a head', 'GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-A: '],
  ])('that %s is ended', async (_, begun) => {
    const server = await startServer({ env: slow });
    const { client, there } = await open(server);
    client.write(begun);
    if (begun !== '') trickle(client, 'a');
    await ended(there);
    expect((await server.call('GET', '/healthz')).status).toBe(200);
  });

  it.each([
    ['JSON', 'POST', '/run', 'application/json', '{"query":"'],
    [
      'an upload',
      'POST',
      '/upload',
      'multipart/form-data; boundary=b',
      '--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n',
    ],
    ['a call of a webhook', 'POST', '/webhook', 'application/json', '{"a":"'],
    ['a body that nobody reads', 'DELETE', '', 'application/json', '{'],
  ])('that trickles %s is ended', async (_, method, path, type, begun) => {
    const server = await startServer({ env: slow });
    const agent = await server.agent(HOOK);
    const { client, there } = await open(server);
    client.write(
      `${method} ${AGENTS}/${agent}${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: ${type}\r\nContent-Length: 100000\r\n\r\n${begun}`,
    );
    trickle(client, 'a');
    await ended(there);
    expect(server.errors).toEqual([]);
  });

  it.each(['a download', 'a list'])('that does not take %s is ended', async (what) => {
    const server = await startServer({ env: slow });
    const id = 'f'.repeat(32);
    const bytes = new Uint8Array(32 * 1024 * 1024);
    await server.stores.files.save('local', { id, name: 'a', mimeType: 'text/plain', bytes, createdAt: Date.now() });
    const agent = await server.agent(ECHO);
    const { client, there } = await open(server);
    const path = what === 'a download' ? `/attachments/${id}/download` : `/${agent}`;
    const count = what === 'a download' ? 1 : 5_000;
    client.pause();
    client.write(`GET ${AGENTS}${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`.repeat(count));
    await ended(there);
    expect((await server.call('GET', '/healthz')).status).toBe(200);
  });

  it('that takes a little now and then is ended, too', async () => {
    const server = await startServer({ env: slow });
    const id = 'f'.repeat(32);
    const bytes = new Uint8Array(32 * 1024 * 1024);
    await server.stores.files.save('local', { id, name: 'a', mimeType: 'text/plain', bytes, createdAt: Date.now() });
    const { client, there } = await open(server);
    client.pause();
    const timer = setInterval(() => client.read(16), 20);
    client.once('close', () => clearInterval(timer));
    client.write(`GET ${AGENTS}/attachments/${id}/download HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    await ended(there);
    expect(there.destroyed).toBe(true);
  });

  it('that is only patient is not', async () => {
    const server = await startServer({ env: slow });
    const agent = await server.agent(documentOf({ begin: ['Begin', ['Probe:P']], 'Probe:P': ['Probe', []] }));
    const answer = server.call('POST', `${AGENTS}/${agent}/run`, { query: 'x' });
    const probe = await server.probes.next();
    // As long as it takes to end one that is slow.
    for (let count = 0; count < 2; count += 1) {
      const { client, there } = await open(server);
      client.write('POST /x HTTP/1.1\r\nHost: localhost\r\n');
      trickle(client, 'a');
      await ended(there);
    }
    probe.say('late');
    probe.settle('late');
    expect((await answer).body.data.data.content).toBe('late');
  });
});

describe('connections that no valid key speaks for', () => {
  const env = { ...KEYS, RUNNEL_STRANGERS_PER_ADDRESS: '3' };

  it('end the oldest of their address when there are too many, and leave room for others', async () => {
    const server = await startServer({ env });
    const silent = [];
    for (let count = 0; count < 5; count += 1) silent.push(await open(server));
    await Promise.all(silent.slice(0, 2).map(({ there }) => ended(there)));
    expect(silent.slice(2).map(({ there }) => there.destroyed)).toEqual([false, false, false]);
    expect((await server.call('GET', AGENTS, undefined, bearer(KEY))).status).toBe(200);
  });

  it('count also while their request is refused, and not while a key is good for it', async () => {
    const server = await startServer({ env });
    const agent = await server.agent(
      documentOf({ begin: ['Begin', ['Probe:P']], 'Probe:P': ['Probe', []] }),
      bearer(KEY),
    );
    const working = await open(server);
    working.client.write(
      `POST ${AGENTS}/${agent}/stream HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${KEY}\r\nContent-Type: application/json\r\nContent-Length: 13\r\n\r\n{"query":"x"}`,
    );
    const probe = await server.probes.next();
    const guessing = await open(server);
    guessing.client.write(`GET ${AGENTS} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer wrong\r\n\r\n`);
    await once(guessing.client, 'data');
    for (let count = 0; count < 3; count += 1) await open(server);
    await ended(guessing.there);
    expect(working.there.destroyed).toBe(false);
    probe.settle();
  });

  it('are WebSockets, too, until they say whose they are', async () => {
    const server = await startServer({ env });
    const agent = await server.agent(ECHO, bearer(KEY));
    const known = await connectLive(server.url, agent, { headers: bearer(KEY) });
    expect(await known.next()).toMatchObject({ type: 'ready' });
    const late = await connectLive(server.url, agent);
    late.send({ type: 'auth', token: KEY });
    expect(await late.next()).toMatchObject({ type: 'ready' });
    const silent = [];
    for (let count = 0; count < 4; count += 1) silent.push(await connectLive(server.url, agent));
    await silent[0]?.closed;
    for (const client of [known, late]) {
      client.send({ type: 'ping', t: 1 });
      expect(await client.next()).toMatchObject({ type: 'pong' });
    }
  });
});

describe('the WebSockets of several tenants', () => {
  it('are shared: none takes all, before or after it says who it is', async () => {
    const server = await startServer({ env: { ...KEYS, RUNNEL_WS_MAX_CONNECTIONS: '4' } });
    const [mine, theirs] = [await server.agent(ECHO, bearer(KEY)), await server.agent(ECHO, bearer(OTHER))];
    const open = async (agent: string, key: string) => {
      const client = await connectLive(server.url, agent);
      client.send({ type: 'auth', token: key });
      return { client, first: await Promise.race([client.next(), client.closed]) };
    };
    const opened = [];
    for (let count = 0; count < 3; count += 1) opened.push(await open(mine, KEY));
    expect(opened.map(({ first }) => first)).toMatchObject(Array(3).fill({ type: 'ready' }));
    expect((await open(mine, KEY)).first).toMatchObject({ code: 1013 });
    expect((await open(theirs, OTHER)).first).toMatchObject({ type: 'ready' });
    opened[0]?.client.socket.terminate();
    await opened[0]?.client.closed;
  });
});
