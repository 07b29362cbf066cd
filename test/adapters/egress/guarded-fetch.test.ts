import { describe, expect, it } from 'vitest';
import { createGuardedFetch } from '../../../src/adapters/egress/guarded-fetch.js';
import { failureOf, serve, textOf } from './support/servers.js';

const TRACEPARENT = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;

describe('a guarded fetch', () => {
  it('sends what it is given over a connection of its own, and gives the answer as it comes', async () => {
    const seen: object[] = [];
    const { origin } = await serve(async (request, response) => {
      const { authorization, traceparent } = request.headers;
      seen.push({ method: request.method, authorization, traceparent, body: await textOf(request) });
      response.writeHead(201, { 'x-own': 'a' });
      response.write('one ');
      setImmediate(() => response.end('two'));
    });
    const { fetch } = createGuardedFetch({ allowPrivateNetwork: true, trace: { traceparent: TRACEPARENT } });
    const answer = await fetch(`${origin}/x`, { method: 'post', headers: { Authorization: 'key' }, body: 'hi' });
    expect([answer.status, answer.headers.get('x-own'), await answer.text()]).toEqual([201, 'a', 'one two']);
    expect(seen).toEqual([{ method: 'POST', authorization: 'key', traceparent: TRACEPARENT, body: 'hi' }]);
  });

  it.each([
    ['http://127.0.0.1:18080/', 'URL_BLOCKED'],
    ['http://localhost:18080/', 'URL_BLOCKED'],
    ['http://169.254.169.254/', 'URL_BLOCKED'],
    ['file:///etc/passwd', 'URL_INVALID'],
    ['http://me:secret@example.org/', 'URL_INVALID'],
  ])('does not reach %s', async (url, code) => {
    const { fetch } = createGuardedFetch({ fixedUrl: 'http://127.0.0.1:18081/' });
    const failure = await failureOf(fetch(url));
    expect(failure).toMatchObject({ code });
    expect(String(failure)).not.toContain('secret');
  });

  it('judges what a name leads to, and reaches private addresses only at the origin that is fixed', async () => {
    const { origin, port, asked } = await serve((_, response) => response.end('in'));
    const resolver = async () => ['127.0.0.1'];
    const { fetch } = createGuardedFetch({ fixedUrl: `http://inner.example:${port}/mcp`, resolver });
    expect(await (await fetch(`http://inner.example:${port}/other`)).text()).toBe('in');
    expect(await failureOf(fetch(`http://rebound.example:${port}/`))).toMatchObject({ code: 'URL_BLOCKED' });
    expect(await failureOf(fetch(origin))).toMatchObject({ code: 'URL_BLOCKED' });
    expect(asked).toEqual(['GET /other']);
  });

  it('follows no redirect', async () => {
    const { origin, asked } = await serve((_, response) => response.writeHead(302, { location: '/b' }).end());
    const { fetch } = createGuardedFetch({ allowPrivateNetwork: true });
    const answer = await fetch(`${origin}/a`);
    expect([answer.status, answer.headers.get('location')]).toEqual([302, '/b']);
    expect(asked).toEqual(['GET /a']);
  });

  it.each([
    ['\n', true],
    ['\r\n', true],
    ['\r', true],
    [' ', false],
  ])('bounds each event, not the stream, when lines end with %j', async (end, isStream) => {
    const event = `data: ${'x'.repeat(80)}${end}${end}`;
    const { origin } = await serve((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
      response.end(event.repeat(50));
    });
    const { fetch } = createGuardedFetch({ allowPrivateNetwork: true, maxBytes: 100 });
    const text = fetch(origin).then((answer) => answer.text());
    if (isStream) expect(await text).toHaveLength(event.length * 50);
    else expect(await failureOf(text)).toMatchObject({ code: 'EGRESS_TOO_LARGE' });
  });

  it('closes the connection when the signal says so, the reader lets go, or all is closed', async () => {
    const gone: string[] = [];
    let closed: () => void = () => {};
    const { origin } = await serve((request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(': \n\n');
      response.once('close', () => {
        gone.push(request.url ?? '');
        closed();
      });
    });
    const guarded = createGuardedFetch({ allowPrivateNetwork: true });
    const abort = new AbortController();
    const ends: readonly (readonly [string, (answer: Response) => unknown])[] = [
      ['/aborted', () => abort.abort(new Error('enough'))],
      ['/cancelled', (answer) => answer.body?.cancel()],
      ['/closed', () => guarded.close()],
    ];
    for (const [path, end] of ends) {
      const isGone = new Promise<void>((resolve) => {
        closed = resolve;
      });
      const answer = await guarded.fetch(`${origin}${path}`, path === '/aborted' ? { signal: abort.signal } : {});
      await end(answer);
      await isGone;
    }
    expect(gone).toEqual(['/aborted', '/cancelled', '/closed']);
    expect(await failureOf(guarded.fetch(origin))).toMatchObject({ code: 'EGRESS_FAILED' });
    expect(await failureOf(guarded.fetch(origin, { signal: abort.signal }))).toMatchObject({ message: 'enough' });
  });
});
