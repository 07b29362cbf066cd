import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { createEgressClient, type EgressRequest } from '../../../src/adapters/egress/egress-client.js';
import { describeUrl } from '../../../src/adapters/egress/failures.js';
import { ask, failureOf, serve, serveRaw } from './support/servers.js';

const SECRET = 'hunter2';

const local = createEgressClient({ allowPrivateNetwork: true, maxBytes: 1000, maxRedirects: 1 });

/** Requests that fail, each in its own way; `origin` answers as `speak` says. */
const FAILING: readonly (readonly [what: string, request: (origin: string) => EgressRequest, speak?: string])[] = [
  ['a user name', () => ({ url: `http://${SECRET}@public.example/` })],
  ['a password', () => ({ url: `http://me:${SECRET}@public.example/` })],
  ['a password with an at sign', () => ({ url: `http://me:${SECRET}@${SECRET}@public.example/` })],
  ['a password of a URL that cannot be read', () => ({ url: `http://me:${SECRET}@public.example:port/` })],
  ['a password behind backslashes', () => ({ url: `http:\\\\me:${SECRET}@public.example\\` })],
  ['a password without slashes', () => ({ url: `http:me:${SECRET}@public.example` })],
  ['a query of a refused URL', () => ({ url: `http://169.254.169.254/?token=${SECRET}` })],
  ['a path of a refused URL', () => ({ url: `http://169.254.169.254/bot${SECRET}/` })],
  ['a fragment of a refused URL', () => ({ url: `http://169.254.169.254/#${SECRET}` })],
  ['a query with a line end', () => ({ url: `http://public.example/?a=${SECRET}\n${SECRET}` })],
  ['a file', () => ({ url: `file:///${SECRET}` })],
  ['a text', () => ({ url: SECRET })],
  ['a password of a proxy', () => ({ url: 'http://8.8.8.8/', proxy: `http://me:${SECRET}@169.254.169.254:3128/` })],
  ['a scheme of a proxy', () => ({ url: 'http://8.8.8.8/', proxy: `socks5://me:${SECRET}@8.8.8.8/` })],
  [
    'a header that cannot be sent',
    () => ({ url: 'http://8.8.8.8/', headers: { authorization: `${SECRET}\n${SECRET}` } }),
  ],
  ['a request that nobody answers', (origin) => ({ url: `${origin}/${SECRET}?key=${SECRET}`, timeoutMs: 20 })],
  ['a request that is cut off', secretRequest, ''],
  ['a request that is answered with nonsense', secretRequest, `${SECRET} is no HTTP\r\n\r\n`],
  ['an answer that is too large', secretRequest, `HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n${SECRET}`],
  ['an unknown encoding', secretRequest, `HTTP/1.1 200 OK\r\nContent-Encoding: ${SECRET}\r\n\r\n`],
  ['a redirect inside', secretRequest, `HTTP/1.1 302 OK\r\nLocation: http://me:${SECRET}@127.0.0.1/\r\n\r\n`],
  ['a redirect to a service', secretRequest, `HTTP/1.1 302 OK\r\nLocation: http://169.254.169.254/${SECRET}\r\n\r\n`],
  ['a redirect in a circle', secretRequest, `HTTP/1.1 302 OK\r\nLocation: /?${SECRET}\r\n\r\n`],
];

function secretRequest(origin: string): EgressRequest {
  return { url: `${origin}/${SECRET}?key=${SECRET}`, method: 'POST', headers: { authorization: SECRET }, body: SECRET };
}

describe('an error never shows', () => {
  it.each(FAILING.map(([what, request, speak]) => ({ what, request, speak })))('$what', async ({ request, speak }) => {
    const { origin } = await serveRaw((socket) => {
      if (speak !== undefined) socket.on('data', () => socket.end(speak));
    });

    const failure = await failureOf(ask(local, request(origin)));

    expect(failure).toHaveProperty('code');
    expect(inspect(failure, { depth: 10, showHidden: true })).not.toContain(SECRET);
  });

  it('what the caller of the client takes out', async () => {
    const { origin } = await serve((_request, response) => response.end('12345'));
    const client = createEgressClient({
      allowPrivateNetwork: true,
      redact: (text) => text.replaceAll('127.0.0.1', '…'),
    });

    const failure = await failureOf(ask(client, { url: origin, maxBytes: 1 }));

    expect(failure).toMatchObject({
      code: 'EGRESS_TOO_LARGE',
      message: expect.stringMatching(/^GET "http:\/\/…:\d+": /),
    });
  });
});

describe('describeUrl', () => {
  it.each([
    ['https://api.example:8443/a?b=c#d', '"https://api.example:8443"'],
    ['HTTP://me:secret@api.example?b', '"http://api.example"'],
    ['//api.example/x', '"//api.example"'],
    ['mailto:me@example', 'a text that is not shown'],
    ['', 'a text that is not shown'],
    [`http://${'a'.repeat(500)}/`, `"http://${'a'.repeat(113)}"`],
  ])('%s', (url, shown) => {
    expect(describeUrl(url)).toBe(shown);
  });
});
