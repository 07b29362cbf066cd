import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import path from 'node:path';
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { PAGE_POLICY } from '../../../src/transport/studio/serve-studio.js';
import { readStudio, type Studio } from '../../../src/transport/studio/studio-files.js';
import { makeFolder, removeFolder } from '../../stores/support/temporary-folder.js';
import { startServer, type TestServerOptions } from '../support/server.js';

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8';
const PAGE = `<!doctype html><title>Runnel</title>${'<!-- page -->'.repeat(50)}`;
const SCRIPT = `console.log('${'studio '.repeat(100)}');`;
const ENVELOPE = { code: 0, message: 'success', data: { name: 'runnel', api: '/api/v1', health: '/healthz' } };

let folder: string;

beforeEach(async () => {
  folder = await makeFolder();
  onTestFinished(() => removeFolder(folder));
  await mkdir(path.join(folder, 'studio/inner'), { recursive: true });
  const files: Record<string, string | Buffer> = {
    'index.html': PAGE,
    'index.html.br': brotliCompressSync(PAGE),
    'icon.svg': '<svg/>',
    'studio/app-Ab3_x-9Z.js': SCRIPT,
    'studio/app-Ab3_x-9Z.js.br': brotliCompressSync(SCRIPT),
    'studio/app-Ab3_x-9Z.js.gz': gzipSync(SCRIPT),
    'studio/app-Ab3_x-9Z.js.map': '{}',
    'studio/plain.css': 'a{}',
    'studio/plain.css.gz': gzipSync('a{}'),
    'studio/.hidden.js': 'hidden',
    'studio/inner/deep.js': 'deep',
  };
  await Promise.all(Object.entries(files).map(([name, text]) => writeFile(path.join(folder, name), text)));
  await mkdir(path.join(folder, 'other'));
  await writeFile(path.join(folder, 'other/outside.js'), 'outside');
  await symlink(path.join(folder, 'other/outside.js'), path.join(folder, 'studio/link.js'));
});

/** An answer as it came, not decompressed. */
interface Raw {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly bytes: Buffer;
}

async function start(options: TestServerOptions = {}) {
  const server = await startServer({ studio: (await readStudio(folder)) as Studio, ...options });
  const get = (address: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Raw> =>
    new Promise((resolve, reject) => {
      // Sent as it is written, which fetch would tidy.
      const { hostname, port } = new URL(server.url);
      const asked = request({ hostname, port, path: address, method, headers, agent: false }, (answer) => {
        const pieces: Buffer[] = [];
        answer.on('data', (piece: Buffer) => pieces.push(piece));
        answer.on('end', () =>
          resolve({ status: answer.statusCode ?? 0, headers: answer.headers, bytes: Buffer.concat(pieces) }),
        );
      });
      asked.on('error', reject);
      asked.end();
    });
  return { ...server, get };
}

describe('GET /', () => {
  it('gives browsers the page, with its policy, and never cached for good', async () => {
    const { get } = await start();
    const { status, headers, bytes } = await get('/', { accept: BROWSER });
    expect(status).toBe(200);
    expect(bytes.toString()).toBe(PAGE);
    expect(headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': PAGE_POLICY,
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-cache',
      'content-length': String(PAGE.length),
      vary: 'Accept-Encoding, Accept',
    });
    expect(PAGE_POLICY).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; " +
        "worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'; " +
        "require-trusted-types-for 'script'; trusted-types studio-worker",
    );
  });

  it.each([
    ['curl', { accept: '*/*' }],
    ['a client that says nothing', {}],
    ['a client that wants JSON', { accept: 'application/json' }],
    ['a client that prefers JSON', { accept: 'application/json, text/html;q=0.9' }],
    ['a client that takes neither', { accept: 'image/png' }],
  ])('gives %s the envelope', async (_, headers: Record<string, string>) => {
    const { get } = await start();
    const answer = await get('/', headers);
    expect(answer.status).toBe(200);
    expect(JSON.parse(answer.bytes.toString())).toEqual(ENVELOPE);
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(answer.headers.vary).toBe('Origin, Accept');
    expect(answer.headers['content-security-policy']).toBeUndefined();
  });

  it('gives browsers the envelope where there is no page, or it is switched off', async () => {
    const without = await start({ studio: undefined });
    const off = await start({ env: { RUNNEL_STUDIO: 'off' } });
    for (const { get } of [without, off]) {
      const answer = await get('/', { accept: BROWSER });
      expect(JSON.parse(answer.bytes.toString())).toEqual(ENVELOPE);
      expect(answer.headers.vary).toBe('Origin');
      expect((await get('/studio/app-Ab3_x-9Z.js')).status).toBe(404);
    }
  });

  it('is open on a server with keys, whose API is not', async () => {
    const { get } = await start({ env: { RUNNEL_API_KEYS: 'the-only-key-here', RUNNEL_CORS_ORIGINS: '*' } });
    const page = await get('/', { accept: BROWSER, origin: 'https://elsewhere.example' });
    expect(page.bytes.toString()).toBe(PAGE);
    expect(Object.keys(page.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
    expect((await get('/studio/app-Ab3_x-9Z.js')).status).toBe(200);
    expect((await get('/api/v1/agents')).status).toBe(401);
  });

  it('can be opened from a link on another site, which cannot read or frame it', async () => {
    const { get } = await start();
    const from = (mode: string, dest: string) => ({
      accept: BROWSER,
      'sec-fetch-site': 'cross-site',
      'sec-fetch-mode': mode,
      'sec-fetch-dest': dest,
    });
    expect((await get('/', from('navigate', 'document'))).bytes.toString()).toBe(PAGE);
    expect((await get('/', from('navigate', 'iframe'))).status).toBe(403);
    expect((await get('/', from('no-cors', 'empty'))).status).toBe(403);
    expect((await get('/studio/app-Ab3_x-9Z.js', from('no-cors', 'script'))).status).toBe(403);
    expect((await get('/', { ...from('navigate', 'document'), host: 'evil.example' })).status).toBe(403);
  });

  it('answers HEAD like GET without a body, and other methods as before', async () => {
    const { get } = await start();
    const head = await get('/', { accept: BROWSER }, 'HEAD');
    expect(head).toMatchObject({ status: 200, headers: { 'content-length': String(PAGE.length) } });
    expect(head.bytes).toHaveLength(0);
    expect((await get('/', { accept: BROWSER }, 'POST')).status).toBe(405);
  });
});

describe('a file of the page', () => {
  const APP = '/studio/app-Ab3_x-9Z.js';

  it('is cached for good where its name changes with it', async () => {
    const { get } = await start();
    const hashed = await get(APP);
    expect(hashed.bytes.toString()).toBe(SCRIPT);
    expect(hashed.headers).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'public, max-age=31536000, immutable',
      'content-security-policy': PAGE_POLICY,
      'x-content-type-options': 'nosniff',
      vary: 'Accept-Encoding',
    });
    expect((await get('/studio/plain.css')).headers['cache-control']).toBe('no-cache');
    expect((await get('/icon.svg')).headers).toMatchObject({
      'content-type': 'image/svg+xml',
      'cache-control': 'no-cache',
      'content-security-policy': PAGE_POLICY,
    });
  });

  it.each([
    ['gzip, deflate, br, zstd', 'br', brotliDecompressSync],
    ['gzip', 'gzip', gunzipSync],
    ['gzip, br;q=0', 'gzip', gunzipSync],
    ['deflate', undefined, (bytes: Buffer) => bytes],
    ['identity;q=0', undefined, (bytes: Buffer) => bytes],
  ])('is sent as %s asks', async (accepted, encoding, decompress: (bytes: Buffer) => Buffer) => {
    const { get } = await start();
    const { headers, bytes } = await get(APP, { 'accept-encoding': accepted });
    expect(headers['content-encoding']).toBe(encoding);
    expect(headers['content-length']).toBe(String(bytes.byteLength));
    expect(decompress(bytes).toString()).toBe(SCRIPT);
  });

  it('is sent as it is where compressing does not make it smaller, or no file is beside it', async () => {
    const { get } = await start();
    const small = await get('/studio/plain.css', { 'accept-encoding': 'gzip' });
    expect(small.headers['content-encoding']).toBeUndefined();
    const page = await get('/', { accept: BROWSER, 'accept-encoding': 'gzip' });
    expect(page.headers['content-encoding']).toBeUndefined();
  });

  it('is not sent again to a client that has it, each encoding with a tag of its own', async () => {
    const { get } = await start();
    for (const [address, accept] of [['/', BROWSER] as const, [APP, '*/*'] as const]) {
      const plain = await get(address, { accept });
      const packed = await get(address, { accept, 'accept-encoding': 'br' });
      const tag = String(plain.headers.etag);
      expect(tag).not.toBe(packed.headers.etag);
      const again = await get(address, { accept, 'if-none-match': tag });
      expect(again.status).toBe(304);
      expect(again.bytes).toHaveLength(0);
      expect(again.headers.etag).toBe(tag);
      expect((await get(address, { accept, 'if-none-match': String(packed.headers.etag) })).status).toBe(200);
    }
  });

  it.each([
    '/studio/',
    '/studio',
    '/studio/none.js',
    '/studio/../icon.svg',
    '/studio/%2e%2e/icon.svg',
    '/studio/..%2ficon.svg',
    '//icon.svg',
    '/studio/inner/deep.js',
    '/studio/link.js',
    '/studio/.hidden.js',
    '/studio/app-Ab3_x-9Z.js.map',
    '/studio/app-Ab3_x-9Z.js.br',
    '/studio/app-Ab3_x-9Z.js%00',
    '/studio/__proto__',
    '/studio/constructor',
    '/other/outside.js',
    '/index.html',
    '/index.html.br',
  ])('is not what %s names', async (address) => {
    const { get } = await start();
    const answer = await get(address, { accept: BROWSER });
    expect(answer.status).toBe(404);
    expect(JSON.parse(answer.bytes.toString())).toMatchObject({ code: 404 });
  });
});

describe('readStudio', () => {
  it('gives nothing where there is no page', async () => {
    expect(await readStudio(path.join(folder, 'none'))).toBeUndefined();
    expect(await readStudio(path.join(folder, 'studio'))).toBeUndefined();
  });

  it('refuses a folder with more files than a page has', async () => {
    const names = Array.from({ length: 2_001 }, (_, count) => path.join(folder, `studio/${count}.js`));
    await Promise.all(names.map((name) => writeFile(name, '')));
    await expect(readStudio(folder)).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringMatching(/ has 20\d\d files, more than 2000\. .* RUNNEL_STUDIO=off\.$/),
    });
  });
});
