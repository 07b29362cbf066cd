import { describe, expect, it } from 'vitest';
import { createEgressClient } from '../../../src/adapters/egress/egress-client.js';
import { urlLoader } from '../../../src/knowledge/loaders/url-loader.js';
import { serve } from '../../adapters/egress/support/servers.js';

const http = createEgressClient({ allowPrivateNetwork: true });

describe('a loader of URLs', () => {
  it('reads an answer by its media type', async () => {
    const { origin } = await serve((_request, response) => {
      response.setHeader('content-type', 'text/csv');
      response.end('h\n1\n');
    });
    const load = urlLoader({ http });
    expect(await load(`${origin}/export?key=1`, { metadata: { n: 1 } })).toMatchObject([
      {
        id: `${origin}/export?key=1`,
        text: 'h: 1',
        metadata: { source: `${origin}/export?key=1`, fileName: 'export', mediaType: 'text/csv', n: 1 },
      },
    ]);
    expect([load.stepName, load.stepKind]).toEqual(['urlLoader', 'loader']);
  });

  it('sends its headers, and tells where redirects led', async () => {
    const { origin } = await serve((request, response) => {
      if (request.url === '/old') response.writeHead(302, { location: '/new' }).end();
      else response.setHeader('content-type', 'text/plain').end(`${request.url} ${request.headers['x-key']}`);
    });
    const [document] = await urlLoader({ http, headers: { 'x-key': 'k' } })(`${origin}/old`);
    expect(document).toMatchObject({ id: `${origin}/old`, text: '/new k', metadata: { finalUrl: `${origin}/new` } });
    const [direct] = await urlLoader({ http })(`${origin}/new#part`);
    expect(direct?.metadata).not.toHaveProperty('finalUrl');
  });

  it.each([
    [404, false],
    [500, true],
    [429, true],
  ])('refuses the status %i without the path, which may hold secrets', async (status, retryable) => {
    const { origin } = await serve((_request, response) => response.writeHead(status).end('no'));
    const failure = await urlLoader({ http })(`${origin}/secret-path`).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'EGRESS_FAILED', retryable, details: { status } });
    expect((failure as Error).message).not.toContain('secret-path');
  });

  it('reaches no private address unless the client may', async () => {
    const { origin, asked } = await serve((_request, response) => response.end('x'));
    await expect(urlLoader({ http: createEgressClient() })(origin)).rejects.toMatchObject({ code: 'URL_BLOCKED' });
    await expect(urlLoader({ http })('file:///etc/passwd')).rejects.toMatchObject({ code: 'URL_INVALID' });
    expect(asked).toEqual([]);
  });

  it('reads no more bytes than it may', async () => {
    const { origin } = await serve((_request, response) => response.end('x'.repeat(100)));
    await expect(urlLoader({ http, maxBytes: 99 })(origin)).rejects.toMatchObject({ code: 'EGRESS_TOO_LARGE' });
  });

  it('closes the connection when it is stopped', async () => {
    const controller = new AbortController();
    let close = (): void => {};
    const closed = new Promise<void>((resolve) => {
      close = resolve;
    });
    const { origin } = await serve((request) => {
      request.socket.once('close', close);
      controller.abort(new Error('enough'));
    });
    await expect(urlLoader({ http })(origin, { signal: controller.signal })).rejects.toThrow('enough');
    await closed;
  });
});
