/** How much of bodies a process reads into memory at once. */
import { connect, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { BytesInFlight } from '../../../src/transport/http/bytes-in-flight.js';
import { ECHO } from '../support/documents.js';
import { startServer, type TestServer } from '../support/server.js';

const KEY = 'one-of-acme-long-key';
const OTHER = 'one-of-other-long-key';
const ENV = { RUNNEL_API_KEYS: `acme=${KEY},other=${OTHER}`, RUNNEL_BODIES_BYTES: '4000000' };
const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
const TOO_MUCH = { status: 503, body: { code: 103, message: expect.stringContaining('Too much at once') } };

/** A request whose body never ends; resolves when so many bytes of it were counted. */
async function begin({ url }: TestServer, head: string, body: Buffer | string, counted: number): Promise<void> {
  send(url, head, body);
  await vi.waitFor(async () => {
    const metrics = await (await fetch(`${url}/metrics`)).text();
    const bytes = /^runnel_received_bytes\{kind="bodies"\} (\d+)$/m.exec(metrics)?.[1];
    expect(Number(bytes)).toBeGreaterThanOrEqual(counted);
  }, 20_000);
}

function send(url: string, head: string, body: Buffer | string): Socket {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  const lines = [`POST /api/v1/${head}`, 'Host: x', `Authorization: Bearer ${KEY}`];
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  socket.write(body);
  return socket;
}

describe('bodies in memory', () => {
  it('are shared out: a tenant has half, its pages a quarter; what was read is free again', () => {
    const bodies = new BytesInFlight('bodies', 100, true);
    const own = bodies.open({ tenant: 'a', isPage: false }, 50);
    own.add(30);
    const page = bodies.open({ tenant: 'a', isPage: true });
    page.add(20);
    expect(() => page.add(1)).toThrow(/a quarter|of this tenant/);
    const other = bodies.open({ tenant: 'b', isPage: true });
    other.add(25);
    expect(() => other.add(1)).toThrow(/this tenant's chat pages, of at most 25/);
    expect(() => bodies.open({ tenant: 'c', isPage: false }, 26)).toThrow(/of all callers, of at most 100/);
    expect(bodies.bytes).toBe(75);
    for (const flight of [own, page, other, own]) flight.close();
    expect(bodies.bytes).toBe(0);
    new BytesInFlight('bodies', 100, false).open({ tenant: 'a', isPage: false }).add(100);
  });

  it('that a tenant has not sent to their end leave room for another one, and for small ones', async () => {
    const server = await startServer({ env: ENV });
    const text = JSON.stringify({ title: 'x'.repeat(900_000) });
    const json = 'agents HTTP/1.1\r\nContent-Type: application/json';
    await begin(server, `${json}\r\nContent-Length: 1900000`, text, 1_900_000);
    const post = (key: string, body: string) => server.call('POST', '/api/v1/agents', body, bearer(key));
    const refused = await post(KEY, text);
    expect(refused).toMatchObject(TOO_MUCH);
    expect(refused.headers.get('retry-after')).toBe('5');
    expect((await post(KEY, JSON.stringify({ title: 'Small', dsl: ECHO }))).body.code).toBe(0);
    expect((await post(OTHER, text)).status).toBe(200);
  });

  it('of a length that nobody knows are counted as they come', async () => {
    const server = await startServer({ env: ENV });
    const chunked = 'agents HTTP/1.1\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked';
    const chunk = (size: number) => `${size.toString(16)}\r\n${' '.repeat(size)}\r\n`;
    await begin(server, chunked, chunk(1_500_000), 1_500_000);
    const text = `{"title":"${'x'.repeat(600_000)}"}`;
    expect(await server.call('POST', '/api/v1/agents', text, bearer(KEY))).toMatchObject(TOO_MUCH);
    const other = send(server.url, chunked, chunk(1_500_000));
    const answer = await new Promise<string>((resolve) => other.once('data', (bytes) => resolve(String(bytes))));
    expect(answer).toMatch(/^HTTP\/1\.1 503 /);
    const body = new ReadableStream({
      start(stream) {
        stream.enqueue(Buffer.from(`{"title": "Ü", "dsl": ${JSON.stringify(ECHO)}}`));
        stream.close();
      },
    });
    const headers = { ...bearer(OTHER), 'content-type': 'application/json' };
    const init = { method: 'POST', headers, body, duplex: 'half' };
    const made = await fetch(`${server.url}/api/v1/agents`, init as RequestInit);
    expect(await made.json()).toMatchObject({ code: 0, data: { title: 'Ü' } });
  });

  it('that are compressed count as the largest that they may be', async () => {
    const server = await startServer({ env: { ...ENV, RUNNEL_JSON_BYTES: '1900000' } });
    const bomb = gzipSync(`{"title":"${'x'.repeat(1_500_000)}"}`);
    const head = 'agents HTTP/1.1\r\nContent-Type: application/json\r\nContent-Encoding: gzip';
    await begin(server, `${head}\r\nContent-Length: ${bomb.length}`, bomb.subarray(0, 100), 1_900_000);
    const answer = await fetch(`${server.url}/api/v1/agents`, {
      method: 'POST',
      headers: { ...bearer(KEY), 'content-type': 'application/json', 'content-encoding': 'gzip' },
      body: bomb,
    });
    expect(answer.status).toBe(503);
  });

  it('of imports and of calls of webhooks are among them', async () => {
    const server = await startServer({ env: ENV });
    const form = `import HTTP/1.1\r\nContent-Type: multipart/form-data; boundary=x\r\nContent-Length: 1950000`;
    const part = '--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n';
    await begin(server, `agents/${form}`, part + ' '.repeat(1_900_000), 1_850_000);
    const large = new FormData();
    large.append('file', new Blob([' '.repeat(200_000)]), 'a.json');
    const address = `${server.url}/api/v1/agents/import`;
    const refused = await fetch(address, { method: 'POST', headers: bearer(KEY), body: large });
    expect({ status: refused.status, body: await refused.json() }).toMatchObject(TOO_MUCH);
    const many = new FormData();
    for (let count = 0; count < 101; count += 1) many.append('file', new Blob(['{}']), 'a.json');
    const answer = await fetch(address, { method: 'POST', headers: bearer(OTHER), body: many });
    expect(await answer.json()).toMatchObject({ code: 101, message: 'At most 100 files are taken at once.' });
  });

  it('that are small are read whether they come with their head, after it, or one behind another', async () => {
    const { url } = await startServer();
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    let answers = '';
    socket.on('data', (bytes: Buffer) => {
      answers += bytes.toString();
    });
    const titles = (): readonly string[] =>
      [...answers.matchAll(/"title":"(\w+)"/g)].map(([, title]) => title as string);
    const requestOf = (title: string, mark = ''): readonly [head: string, body: string] => {
      const body = `${mark}${JSON.stringify({ title, dsl: ECHO })}`;
      const length = `Content-Length: ${Buffer.byteLength(body)}`;
      return [
        `POST /api/v1/agents HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n${length}\r\n\r\n`,
        body,
      ];
    };
    // The second one with the mark of UTF-8 that some programs begin a text with.
    socket.write([...requestOf('together'), ...requestOf('behind', '\ufeff')].join(''));
    await vi.waitFor(() => expect(titles()).toEqual(['together', 'behind']), 20_000);
    const [head, body] = requestOf('later');
    socket.write(head);
    await new Promise((resolve) => setImmediate(resolve));
    socket.write(body.slice(0, 10));
    await new Promise((resolve) => setImmediate(resolve));
    socket.write(body.slice(10));
    await vi.waitFor(() => expect(titles()).toEqual(['together', 'behind', 'later']), 20_000);
  });

  it('that are no JSON are refused, and the connection goes on', async () => {
    const server = await startServer();
    expect(await server.call('POST', '/api/v1/agents', '{"title":')).toMatchObject({
      status: 400,
      body: { code: 101 },
    });
    expect((await server.call('POST', '/api/v1/agents', '7')).status).toBe(400);
    const good = await server.call('POST', '/api/v1/agents', JSON.stringify({ title: 'Good', dsl: ECHO }));
    expect(good.body.code).toBe(0);
  });
});
