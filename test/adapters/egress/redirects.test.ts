import { describe, expect, it, onTestFinished } from 'vitest';
import { createEgressClient } from '../../../src/adapters/egress/egress-client.js';
import { ask, failureOf, serve, textOf } from './support/servers.js';

const local = createEgressClient({ allowPrivateNetwork: true, maxRedirects: 3 });

/** A server that redirects everything but `/end`, where it says what it was asked. */
const redirecting = (status: number, location: (path: string) => string) =>
  serve(async (request, response) => {
    if (request.url !== '/end') {
      response.writeHead(status, { location: location(request.url ?? '') }).end('moved');
      return;
    }
    const { 'content-type': type = '-', 'x-key': key = '-' } = request.headers;
    response.end(`${request.method} ${type} ${key} ${await textOf(request)}`);
  });

describe('a redirect', () => {
  it.each([
    [301, 'GET', 'GET - k '],
    [301, 'POST', 'GET - k '],
    [302, 'POST', 'GET - k '],
    [302, 'PUT', 'PUT text/plain k body'],
    [303, 'POST', 'GET - k '],
    [303, 'PUT', 'GET - k '],
    [303, 'HEAD', ''],
    [307, 'POST', 'POST text/plain k body'],
    [308, 'PATCH', 'PATCH text/plain k body'],
  ] as const)('with %i after %s asks again by the rules', async (status, method, seen) => {
    const { origin, asked } = await redirecting(status, () => '/end');
    const hasBody = method !== 'GET' && method !== 'HEAD';

    const answer = await ask(local, {
      url: `${origin}/start`,
      method,
      headers: { 'x-key': 'k', ...(hasBody && { 'content-type': 'text/plain' }) },
      ...(hasBody && { body: 'body' }),
    });

    expect(answer).toMatchObject({ status: 200, url: `${origin}/end` });
    expect(answer.text()).toBe(seen);
    expect(asked).toEqual([`${method} /start`, expect.stringMatching(/ \/end$/)]);
  });

  it('is followed from path to path, but not for ever', async () => {
    const { origin, asked } = await redirecting(302, (path) => `${path}i`);

    await expect(ask(local, { url: `${origin}/` })).rejects.toMatchObject({
      code: 'EGRESS_REDIRECTS',
      retryable: false,
      message: `GET "${origin}": there were more than 3 redirects.`,
    });
    expect(asked).toEqual(['GET /', 'GET /i', 'GET /ii', 'GET /iii']);
  });

  it('leaves nothing waiting for the end of a request with many of them', async () => {
    const warnings: Error[] = [];
    const warned = (warning: Error): void => void warnings.push(warning);
    process.on('warning', warned);
    onTestFinished(() => void process.off('warning', warned));
    const { origin, asked } = await redirecting(302, (path) => `${path}i`);
    const many = createEgressClient({ allowPrivateNetwork: true, maxRedirects: 15 });

    await expect(ask(many, { url: `${origin}/` })).rejects.toMatchObject({ code: 'EGRESS_REDIRECTS' });
    // Warnings are told in the next turn.
    await new Promise(setImmediate);
    expect(asked).toHaveLength(16);
    expect(warnings.map(({ name }) => name)).toEqual([]);
  });

  it('is an answer like any other for who does not follow it', async () => {
    const { origin, asked } = await redirecting(302, () => '/end');

    const answer = await ask(local, { url: origin, followRedirects: false });

    expect(answer).toMatchObject({ status: 302, headers: { location: '/end' } });
    expect(answer.text()).toBe('moved');
    expect(asked).toEqual(['GET /']);
  });

  it('without a place to go is an answer too', async () => {
    const { origin } = await serve((_request, response) => response.writeHead(302).end('nowhere'));

    expect((await ask(local, { url: origin })).text()).toBe('nowhere');
  });

  it('to another origin takes no header along that could be a credential', async () => {
    const other = await serve((request, response) => response.end(JSON.stringify(request.headers)));
    const { origin } = await serve((_request, response) => {
      response.writeHead(307, { location: `${other.origin}/end` }).end();
    });

    const headers = { Authorization: 's', Cookie: 's', 'X-Api-Key': 's', 'Accept-Language': 'en' };
    const answer = await ask(local, { url: origin, headers });

    expect(JSON.parse(answer.text())).toEqual({
      host: `127.0.0.1:${other.port}`,
      connection: 'close',
      accept: '*/*',
      'accept-encoding': 'gzip, deflate, br',
      'accept-language': 'en',
      'user-agent': 'runnel',
    });
  });

  it.each([
    ['loopback', (origin: string) => `${origin}/secret`, 'URL_BLOCKED'],
    ['loopback, relative to the scheme', (origin: string) => `${origin.slice('http:'.length)}/secret`, 'URL_BLOCKED'],
    ['loopback in decimal', (origin: string) => `http://2130706433:${new URL(origin).port}/`, 'URL_BLOCKED'],
    ['loopback in IPv6', () => 'http://[::ffff:127.0.0.1]/', 'URL_BLOCKED'],
    ['a metadata service', () => 'http://169.254.169.254/latest/', 'URL_BLOCKED'],
    ['a private network', () => 'https://10.0.0.1/', 'URL_BLOCKED'],
    ['localhost', () => 'http://localhost/', 'URL_BLOCKED'],
    ['a file', () => 'file:///etc/passwd', 'URL_INVALID'],
    ['a URL with credentials', () => 'http://user:password@8.8.8.8/', 'URL_INVALID'],
    ['nonsense', () => 'http://[', 'URL_INVALID'],
  ] as const)('to %s is refused', async (_what, target, code) => {
    const secret = await serve((_request, response) => response.end('secret'));
    const { origin, asked } = await redirecting(302, (path) => (path === '/start' ? '/second' : target(secret.origin)));
    // Only the first origin may be inside; what it redirects to is judged like any URL.
    const request = { url: `${origin}/start`, isFixedByOperator: true };

    const failure = await failureOf(ask(createEgressClient(), request));

    expect(failure).toMatchObject({ code, retryable: false });
    expect(asked).toEqual(['GET /start', 'GET /second']);
    expect(secret.asked).toEqual([]);
  });
});
