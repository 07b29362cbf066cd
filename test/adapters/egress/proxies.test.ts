import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { createEgressClient } from '../../../src/adapters/egress/egress-client.js';
import { TEST_CERTIFICATE } from './support/certificate.js';
import { ask, failureOf, serve, serveSecurely } from './support/servers.js';

const LOGIN = `Basic ${Buffer.from('us er:pass:word').toString('base64')}`;

const local = createEgressClient({ allowPrivateNetwork: true, trustedCertificates: [TEST_CERTIFICATE] });

/** A proxy that tunnels every connection to one port of this machine, and says which ones. */
async function tunnelTo(port: number) {
  const proxy = await serve((_request, response) => response.writeHead(500).end());
  const tunnels: string[] = [];
  proxy.server.on('connect', (request, socket, head) => {
    tunnels.push(`${request.url} ${request.headers['proxy-authorization'] ?? '-'}`);
    socket.on('error', () => {});
    const onward = connect(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      onward.write(head);
      onward.pipe(socket).pipe(onward);
    });
    onward.on('error', () => socket.destroy());
  });
  return { ...proxy, tunnels };
}

describe('a proxy', () => {
  it('gets the whole URL of a plain request', async () => {
    const proxy = await serve((request, response) => {
      const { host, 'proxy-authorization': login } = request.headers;
      response.end(JSON.stringify([host, login]));
    });

    const plain = await ask(local, { url: 'http://anything.example:81/a?b', proxy: proxy.origin });
    const withLogin = await ask(local, {
      url: 'http://anything.example/',
      proxy: proxy.origin.replace('//', '//us%20er:pass%3Aword@'),
    });

    expect(proxy.asked).toEqual(['GET http://anything.example:81/a?b', 'GET http://anything.example/']);
    expect(JSON.parse(plain.text())).toEqual(['anything.example:81', null]);
    expect(JSON.parse(withLogin.text())).toEqual(['anything.example', LOGIN]);
  });

  it('tunnels a secure request, and cannot pretend to be its server', async () => {
    const { port } = await serveSecurely((request, response) => {
      response.end(`${request.headers.host} ${request.headers['proxy-authorization'] ?? '-'}`);
    });
    const proxy = await tunnelTo(port);

    const answer = await ask(local, {
      url: 'https://secure.example/',
      proxy: proxy.origin.replace('//', '//us%20er:pass%3Aword@'),
    });

    expect(answer.text()).toBe('secure.example -');
    expect(proxy.tunnels).toEqual([`secure.example:443 ${LOGIN}`]);
    const other = { url: 'https://other.example/', proxy: proxy.origin };
    await expect(ask(local, other)).rejects.toMatchObject({ code: 'EGRESS_FAILED', retryable: false });
  });

  it.each([
    ['http://anything.example/', 407],
    ['https://anything.example/', 407],
    ['https://anything.example/', 502],
  ])('that refuses %s with %i fails the request', async (url, status) => {
    const proxy = await serve((_request, response) => response.writeHead(status).end());
    proxy.server.on('connect', (_request, socket) => socket.end(`HTTP/1.1 ${status} No\r\n\r\n`));

    const failure = await failureOf(ask(local, { url, proxy: proxy.origin }));

    expect(failure).toMatchObject({ code: 'EGRESS_FAILED', message: expect.stringContaining(`status ${status}`) });
  });

  it('that hangs is left when the time is over', async () => {
    const proxy = await serve(() => {});
    proxy.server.on('connect', () => {});

    const request = { url: 'https://anything.example/', proxy: proxy.origin, timeoutMs: 40 };

    await expect(ask(local, request)).rejects.toMatchObject({ code: 'EGRESS_TIMEOUT' });
  });

  it.each([
    ['at a private address', 'http://8.8.8.8/', 'http://127.0.0.1:3128', 'URL_BLOCKED'],
    ['with a private name', 'http://8.8.8.8/', 'http://localhost:3128', 'URL_BLOCKED'],
    ['with a name that leads inside', 'http://8.8.8.8/', 'http://inside.example:3128', 'URL_BLOCKED'],
    ['that is no HTTP proxy', 'http://8.8.8.8/', 'socks5://8.8.4.4:1080', 'URL_INVALID'],
    ['for a name, which nobody could check', 'http://public.example/', 'http://8.8.4.4:3128', 'URL_BLOCKED'],
    ['for a secure name', 'https://public.example/', 'http://8.8.4.4:3128', 'URL_BLOCKED'],
    ['for a private address', 'http://10.0.0.1/', 'http://8.8.4.4:3128', 'URL_BLOCKED'],
  ])('%s is refused', async (_what, url, proxy, code) => {
    let wireUses = 0;
    const client = createEgressClient({
      resolver: async (host) => [host === 'inside.example' ? '10.0.0.2' : '8.8.4.4'],
      transport: () => {
        wireUses += 1;
        return Promise.reject(new Error('nothing may be sent'));
      },
    });

    await expect(ask(client, { url, proxy })).rejects.toMatchObject({ code, retryable: false });
    expect(wireUses).toBe(0);
  });

  it('may be used for a public address', async () => {
    const reached: unknown[] = [];
    const client = createEgressClient({
      resolver: async () => ['8.8.4.4'],
      transport: ({ url, addresses, proxy }) => {
        reached.push([url.href, addresses, proxy?.url.href, proxy?.addresses]);
        return Promise.reject(new Error('far enough'));
      },
    });

    await failureOf(ask(client, { url: 'http://8.8.8.8/', proxy: 'http://proxy.example:3128' }));

    expect(reached).toEqual([['http://8.8.8.8/', ['8.8.8.8'], 'http://proxy.example:3128/', ['8.8.4.4']]]);
  });
});
