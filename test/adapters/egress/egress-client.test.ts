import { once } from 'node:events';
import type { Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { createEgressClient, type EgressOptions } from '../../../src/adapters/egress/egress-client.js';
import { TEST_CERTIFICATE } from './support/certificate.js';
import { ask, failureOf, serve, serveRaw, serveSecurely, textOf } from './support/servers.js';

const TRACEPARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

/** Resolves when a connection is closed, in whichever way. */
const closing = (socket: Socket): Promise<unknown> => new Promise((resolve) => socket.once('close', resolve));

const local = (options: EgressOptions = {}) => createEgressClient({ allowPrivateNetwork: true, ...options });

describe('a request', () => {
  it('carries method, headers and body, and brings back the whole answer', async () => {
    const { origin } = await serve(async (request, response) => {
      const { 'x-key': key, 'content-length': length } = request.headers;
      response.writeHead(201, { 'content-type': 'text/plain; charset=latin1', 'x-two': ['a', 'b'] });
      response.end(Buffer.from(`${request.method} ${key} ${length} ${await textOf(request)} é`, 'latin1'));
    });

    const url = `${origin}/path?a=1&b=%20x#fragment`;
    const answer = await ask(local(), { url, method: 'POST', headers: { 'X-Key': ' k ' }, body: '{"n":1}' });

    expect(answer.status).toBe(201);
    expect(answer.headers).toMatchObject({ 'x-two': 'a, b' });
    expect(answer.contentType).toBe('text/plain; charset=latin1');
    expect(answer.url).toBe(url);
    expect(answer.text()).toBe('POST k 7 {"n":1} é');
    expect(answer.bytes.at(-1)).toBe(0xe9);
  });

  it('asks for the path and query as they are written', async () => {
    const { origin, asked } = await serve((_request, response) => response.end());

    await ask(local(), { url: `${origin}/a%2Fb/ä?q=%C3%A4+x&r=a b` });

    expect(asked).toEqual(['GET /a%2Fb/%C3%A4?q=%C3%A4+x&r=a%20b']);
  });

  it.each(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const)('is sent with %s', async (method) => {
    const { origin, asked } = await serve((_request, response) => response.end('body'));

    const answer = await ask(local(), { url: origin, method });

    expect(asked).toEqual([`${method} /`]);
    expect(answer.text()).toBe(method === 'HEAD' ? '' : 'body');
  });

  it('says who asks and passes a trace on, but no malformed one', async () => {
    const seen: unknown[] = [];
    const { origin } = await serve((request, response) => {
      const { 'user-agent': agent, traceparent } = request.headers;
      seen.push([agent, traceparent]);
      response.end();
    });

    await ask(local({ userAgent: 'runnel/1' }), { url: origin, traceparent: TRACEPARENT });
    await ask(local(), { url: origin, traceparent: 'x\r\ny: z', headers: { 'User-Agent': 'mine' } });

    expect(seen).toEqual([
      ['runnel/1', TRACEPARENT],
      ['mine', undefined],
    ]);
  });

  it('leaves the headers of the connection to the connection', async () => {
    const { origin, port } = await serve((request, response) => response.end(JSON.stringify(request.headers)));

    const headers = {
      Host: 'evil.example',
      'Content-Length': '999',
      'Transfer-Encoding': 'chunked',
      'Proxy-Authorization': 'secret',
      Connection: 'upgrade',
      Upgrade: 'h2c',
      'Accept-Encoding': 'zstd',
    };
    const answer = await ask(local(), { url: origin, method: 'POST', headers, body: 'abc' });

    expect(JSON.parse(answer.text())).toEqual({
      host: `127.0.0.1:${port}`,
      connection: 'close',
      accept: '*/*',
      'accept-encoding': 'gzip, deflate, br',
      'content-length': '3',
      'user-agent': 'runnel',
    });
  });

  it.each([
    ['a line end in a value', { 'x-a': 'v\r\nx-b: 1' }],
    ['a line end in a name', { 'x-a: 1\r\nx-b': 'v' }],
    ['a name with blanks', { 'x a': 'v' }],
    ['text beyond Latin 1', { 'x-a': '笑' }],
  ])('refuses %s of a header', async (_what, headers) => {
    const { origin, asked } = await serve((_request, response) => response.end());

    await expect(ask(local(), { url: origin, headers })).rejects.toMatchObject({ code: 'OPTION_INVALID' });
    expect(asked).toEqual([]);
  });

  it('is sent once per subscription', async () => {
    const { origin, asked } = await serve((_request, response) => response.end());
    const client = local();
    const request = { url: origin };
    const first = client.fetch(request);

    expect(asked).toEqual([]);
    await ask({ ...client, fetch: () => first }, request);
    await ask({ ...client, fetch: () => first }, request);

    expect(asked).toEqual(['GET /', 'GET /']);
  });
});

describe('the address of a connection', () => {
  it('is the one that was checked, asked for once', async () => {
    const { port } = await serve((request, response) => response.end(request.headers.host));
    const lookups: string[] = [];
    const client = local({
      resolver: async (host) => {
        lookups.push(host);
        // Nothing listens on the second address, should anybody ask again.
        return [lookups.length === 1 ? '127.0.0.1' : '127.0.0.2'];
      },
    });

    const answer = await ask(client, { url: `http://pinned.example:${port}/` });

    expect(answer.text()).toBe(`pinned.example:${port}`);
    expect(lookups).toEqual(['pinned.example']);
  });

  it('is checked anew for every redirect, so that a name that changes its mind is refused', async () => {
    const answers = [['93.184.216.34'], ['127.0.0.1']];
    const reached: string[] = [];
    let closed = 0;
    const client = createEgressClient({
      resolver: async () => answers.shift() ?? [],
      transport: async ({ url, addresses }) => {
        reached.push(`${url.href} at ${addresses}`);
        return { status: 302, headers: { location: '/again' }, body: new PassThrough(), close: () => void closed++ };
      },
    });

    await expect(ask(client, { url: 'http://rebind.example/' })).rejects.toMatchObject({ code: 'URL_BLOCKED' });
    expect(reached).toEqual(['http://rebind.example/ at 93.184.216.34']);
    expect(closed).toBe(1);
  });

  it('may be anywhere when the operator fixed the host', async () => {
    const { origin } = await serve((_request, response) => response.end('inside'));
    const client = createEgressClient();

    expect((await ask(client, { url: origin, isFixedByOperator: true })).text()).toBe('inside');
    await expect(ask(client, { url: origin })).rejects.toMatchObject({ code: 'URL_BLOCKED' });
  });
});

describe('stopping', () => {
  it('closes the connection while the answer is awaited', async () => {
    const { origin, server } = await serve(() => {});
    const arrived = once(server, 'request');
    const subscription = local().fetch({ url: origin }).subscribe();

    const [request] = await arrived;
    const gone = closing(request.socket);
    subscription.unsubscribe();

    await gone;
  });

  it('closes the connection while the body comes', async () => {
    const { origin, server } = await serve((_request, response) => response.write('half'));
    const arrived = once(server, 'request');
    const subscription = local().fetch({ url: origin }).subscribe();

    const [request] = await arrived;
    const gone = closing(request.socket);
    subscription.unsubscribe();

    await gone;
  });

  it('connects nowhere when it comes while the name is looked up', async () => {
    const { port, server } = await serve((_request, response) => response.end());
    let connections = 0;
    server.on('connection', () => {
      connections += 1;
    });
    let answer: (addresses: readonly string[]) => void = () => {};
    const looked = new Promise<readonly string[]>((resolve) => {
      answer = resolve;
    });
    const subscription = local({ resolver: () => looked })
      .fetch({ url: `http://slow.example:${port}` })
      .subscribe();

    subscription.unsubscribe();
    answer(['127.0.0.1']);
    await ask(local(), { url: `http://127.0.0.1:${port}` });

    expect(connections).toBe(1);
  });

  it('ends everything when the client is closed, for good', async () => {
    const { origin, server } = await serve(() => {});
    const client = local();
    const arrived = once(server, 'request');
    const failure = failureOf(ask(client, { url: origin }));
    const [request] = await arrived;
    const gone = closing(request.socket);

    client.close();

    await gone;
    expect(await failure).toMatchObject({ code: 'EGRESS_FAILED', retryable: false });
    await expect(ask(client, { url: origin })).rejects.toMatchObject({ code: 'EGRESS_FAILED' });
  });
});

describe('failures', () => {
  it('has a time limit for an answer that never begins', async () => {
    const { origin } = await serve(() => {});

    const failure = await failureOf(ask(local({ timeoutMs: 30 }), { url: origin }));

    expect(failure).toMatchObject({ code: 'EGRESS_TIMEOUT', retryable: true });
  });

  it('has a time limit for a resolver that never answers', async () => {
    const client = local({ resolver: () => new Promise(() => {}) });

    const failure = await failureOf(ask(client, { url: 'http://slow.example', timeoutMs: 20 }));

    expect(failure).toMatchObject({ code: 'EGRESS_TIMEOUT' });
  });

  it('names a refused connection', async () => {
    const { origin, server } = await serve(() => {});
    server.close();

    const failure = await failureOf(ask(local(), { url: origin }));

    expect(failure).toMatchObject({
      code: 'EGRESS_FAILED',
      retryable: true,
      message: `GET "${origin}": the connection was refused (ECONNREFUSED).`,
    });
  });

  it.each([
    ['hangs up at once', '', true],
    ['hangs up in the middle of the head', 'HTTP/1.1 200 OK\r\nContent-Le', true],
    ['hangs up in the middle of the body', 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf', true],
    ['does not speak HTTP', 'SSH-2.0-OpenSSH_9.6\r\n', false],
    ['gives two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nabc', false],
    ['switches protocols', 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n', true],
  ])('survives a server that %s', async (_what, words, retryable) => {
    const { origin } = await serveRaw((socket) => socket.once('data', () => socket.end(words)));

    const failure = await failureOf(ask(local(), { url: origin }));

    expect(failure).toMatchObject({ code: 'EGRESS_FAILED', retryable });
  });

  it.each([
    ['createEgressClient', 'maxBytes', { maxBytes: 0 }],
    ['createEgressClient', 'timeoutMs', { timeoutMs: 2 ** 31 }],
    ['createEgressClient', 'maxRedirects', { maxRedirects: -1 }],
  ] as const)('%s refuses a bad %s', (_owner, name, options) => {
    expect(() => createEgressClient(options)).toThrow(new RegExp(`"${name}" must be .*; received`));
  });

  it('refuses bad bounds of one request', async () => {
    const request = { url: 'http://8.8.8.8/', timeoutMs: Number.NaN };
    await expect(ask(createEgressClient(), request)).rejects.toMatchObject({ code: 'OPTION_INVALID' });
  });
});

describe('https', () => {
  it('checks the certificate against the name, not the address', async () => {
    const { port } = await serveSecurely((_request, response) => response.end('secret'));
    const client = local({ trustedCertificates: [TEST_CERTIFICATE], resolver: async () => ['127.0.0.1'] });

    expect((await ask(client, { url: `https://secure.example:${port}/` })).text()).toBe('secret');
    expect((await ask(client, { url: `https://secure.example.:${port}/` })).text()).toBe('secret');
    expect((await ask(client, { url: `https://127.0.0.1:${port}/` })).text()).toBe('secret');
    const failure = await failureOf(ask(client, { url: `https://other.example:${port}/` }));
    expect(failure).toMatchObject({ code: 'EGRESS_FAILED', retryable: false });
  });

  it('refuses a certificate that nobody vouches for', async () => {
    const { origin, asked } = await serveSecurely((_request, response) => response.end('secret'));

    const failure = await failureOf(ask(local(), { url: origin }));

    expect(failure).toMatchObject({ code: 'EGRESS_FAILED', retryable: false });
    expect(asked).toEqual([]);
  });
});
