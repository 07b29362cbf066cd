import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { createEgressClient } from '../../../src/adapters/egress/egress-client.js';
import { ask, failureOf, serve, serveRaw } from './support/servers.js';

const MAX_BYTES = 100_000;

const client = createEgressClient({ allowPrivateNetwork: true, maxBytes: MAX_BYTES, timeoutMs: 20_000 });

const ZEROS = Buffer.alloc(50_000_000);

describe('an answer that is too large', () => {
  it('is refused at its head when it says so', async () => {
    const { origin } = await serve((_request, response) => {
      response.writeHead(200, { 'content-length': MAX_BYTES + 1 });
      response.flushHeaders();
    });

    await expect(ask(client, { url: origin })).rejects.toMatchObject({ code: 'EGRESS_TOO_LARGE', retryable: false });
  });

  it('is refused at the first byte too much when it never ends', async () => {
    let isClosed: (value?: unknown) => void = () => {};
    const closed = new Promise((resolve) => {
      isClosed = resolve;
    });
    const { origin } = await serve((_request, response) => {
      const piece = Buffer.alloc(4096);
      const more = (): void => {
        while (response.write(piece));
        response.once('drain', more);
      };
      response.on('close', isClosed);
      more();
    });

    await expect(ask(client, { url: origin })).rejects.toMatchObject({ code: 'EGRESS_TOO_LARGE' });
    await closed;
  });

  it.each([
    ['gzip', gzipSync(ZEROS)],
    ['x-gzip', gzipSync(ZEROS)],
    ['GZIP ', gzipSync(ZEROS)],
    ['deflate', deflateSync(ZEROS)],
    ['br', brotliCompressSync(ZEROS)],
  ])('is refused when it is small only as long as it is compressed with %s', async (encoding, bomb) => {
    expect(bomb.length).toBeLessThan(MAX_BYTES);
    const { origin } = await serve((_request, response) => {
      response.writeHead(200, { 'content-encoding': encoding }).end(bomb);
    });

    await expect(ask(client, { url: origin })).rejects.toMatchObject({ code: 'EGRESS_TOO_LARGE' });
  });

  it('is measured by the bound of the request before that of the client', async () => {
    const { origin } = await serve((_request, response) => response.end('12345'));

    expect((await ask(client, { url: origin, maxBytes: 5 })).text()).toBe('12345');
    await expect(ask(client, { url: origin, maxBytes: 4 })).rejects.toMatchObject({ code: 'EGRESS_TOO_LARGE' });
  });

  it('is refused when its headers are', async () => {
    const { origin } = await serveRaw((socket) => {
      socket.once('data', () => {
        socket.write('HTTP/1.1 200 OK\r\n');
        const header = `x-bomb: ${'a'.repeat(8000)}\r\n`;
        const more = (): void => {
          while (!socket.destroyed && socket.write(header));
          socket.once('drain', more);
        };
        more();
      });
    });

    await expect(ask(client, { url: origin })).rejects.toMatchObject({ code: 'EGRESS_TOO_LARGE' });
  });
});

describe('an answer that is odd', () => {
  it('may come byte by byte', async () => {
    const { origin } = await serveRaw((socket) => {
      socket.once('data', () => {
        const body = '1\r\nx\r\n'.repeat(MAX_BYTES);
        socket.end(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${body}0\r\n\r\n`);
      });
    });

    expect((await ask(client, { url: origin })).text()).toBe('x'.repeat(MAX_BYTES));
  });

  it('is cut off when it drips for ever', async () => {
    const { origin } = await serve((_request, response) => {
      const timer = setInterval(() => response.write('x'), 1);
      response.on('close', () => clearInterval(timer));
    });

    await expect(ask(client, { url: origin, timeoutMs: 40 })).rejects.toMatchObject({ code: 'EGRESS_TIMEOUT' });
  });

  it.each([
    ['gzip', gzipSync('text')],
    ['deflate', deflateSync('text')],
    ['br', brotliCompressSync('text')],
    ['identity', Buffer.from('text')],
  ])('may be compressed with %s', async (encoding, body) => {
    const { origin } = await serve((_request, response) => {
      response.writeHead(200, { 'content-encoding': encoding }).end(body);
    });

    expect((await ask(client, { url: origin })).text()).toBe('text');
  });

  it.each([
    ['two layers', 'gzip, gzip', gzipSync(gzipSync('text')), false],
    ['an encoding that was not asked for', 'compress', Buffer.from('text'), false],
    ['a wrong encoding', 'gzip', Buffer.from('text'), false],
    ['half of what was compressed', 'gzip', gzipSync('text').subarray(0, 20), true],
  ])('is refused with %s', async (_what, encoding, body, retryable) => {
    const { origin } = await serve((_request, response) => {
      response.writeHead(200, { 'content-encoding': encoding }).end(body);
    });

    await expect(ask(client, { url: origin })).rejects.toMatchObject({ code: 'EGRESS_FAILED', retryable });
  });

  it.each([204, 304])('has no body with status %i, whatever its encoding', async (status) => {
    const { origin } = await serve((_request, response) => {
      response.writeHead(status, { 'content-encoding': 'gzip' }).end();
    });

    expect(await ask(client, { url: origin })).toMatchObject({ status, bytes: new Uint8Array() });
  });

  it('may name its headers after what every object has', async () => {
    const { origin } = await serveRaw((socket) => {
      const head = 'HTTP/1.1 200 OK\r\n__proto__: a\r\n__proto__: b\r\nconstructor: c\r\ncontent-length: 0\r\n\r\n';
      socket.once('data', () => socket.end(head));
    });

    const { headers } = await ask(client, { url: origin });

    expect(Object.keys(headers).sort()).toEqual(['__proto__', 'constructor', 'content-length']);
    expect(Object.getPrototypeOf(headers)).toBe(Object.prototype);
  });
});

describe('text', () => {
  it.each([
    ['text/plain', Buffer.from('é'), 'é'],
    ['text/plain', Buffer.from('\ufeffé'), 'é'],
    ['text/plain; charset=iso-8859-1', Buffer.from([0xe9]), 'é'],
    ['text/plain; charset=windows-1252', Buffer.from([0x93, 0x80, 0x94]), '“€”'],
    ['text/plain; Charset="windows-1251"', Buffer.from([0xcc, 0xe8, 0xf0]), 'Мир'],
    ['text/plain; charset=gbk', Buffer.from([0xd6, 0xd0]), '中'],
    ['text/html', Buffer.from('<meta charset="windows-1251">\u0000', 'latin1'), '<meta charset="windows-1251">\u0000'],
    [
      'text/html',
      Buffer.concat([Buffer.from('<META content="text/html; charset=gbk">'), Buffer.from([0xd6, 0xd0])]),
      '<META content="text/html; charset=gbk">中',
    ],
    ['text/plain; charset=klingon', Buffer.from('é'), 'é'],
    ['', Buffer.from([0x61, 0xff]), 'a\ufffd'],
  ])('of type "%s" is read in its character set', async (type, body, text) => {
    const { origin } = await serve((_request, response) => {
      response.writeHead(200, type === '' ? {} : { 'content-type': type }).end(body);
    });

    expect((await ask(client, { url: origin })).text()).toBe(text);
  });
});

describe('the time limit', () => {
  it('holds for a decompressed body too', async () => {
    const { origin } = await serve((_request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' });
      response.write(gzipSync('text').subarray(0, 12));
    });

    expect(await failureOf(ask(client, { url: origin, timeoutMs: 40 }))).toMatchObject({ code: 'EGRESS_TIMEOUT' });
  });
});
