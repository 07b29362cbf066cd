/** Uploads: bounded in parts, bytes and number, written while they come, and gone without a trace when they fail. */
import { connect } from 'node:net';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { EngineError } from '../../../src/errors.js';
import type { FileDraft, FileStore } from '../../../src/records/files.js';
import type { Quotas } from '../../../src/records/quotas.js';
import { createMemoryStores } from '../../../src/stores/memory-stores.js';
import { ECHO } from '../support/documents.js';
import { startServer, type TestServer, type TestServerOptions } from '../support/server.js';

const API = '/api/v1';
const KEY = 'one-of-acme-long-key';
const ENV = { RUNNEL_API_KEYS: `acme=${KEY},other=one-of-other-long-key` };
const MIB = 1024 ** 2;
const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

interface Subject extends TestServer {
  readonly agentId: string;
  /** Of a chat page. */
  readonly beta: string;
  /** Everything that was written to a draft that was not discarded, in bytes. */
  readonly written: () => number;
  /** Sizes of what was written at once. */
  readonly pieces: readonly number[];
  readonly saved: readonly string[];
  readonly upload: (
    body: NonNullable<RequestInit['body']>,
    key?: string,
    headers?: Record<string, string>,
  ) => Promise<Answer>;
  readonly usage: () => Promise<object>;
}

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies freely
  readonly body: any;
}

async function start(
  env: Record<string, string> = {},
  {
    quotas,
    draft: drafting,
    ...options
  }: TestServerOptions & { quotas?: Partial<Quotas>; draft?: () => FileDraft } = {},
): Promise<Subject> {
  const memory = createMemoryStores({ ...(quotas && { quotas }) });
  const drafts = new Set<FileDraft>();
  const pieces: number[] = [];
  const saved: string[] = [];
  const files: FileStore = {
    ...memory.files,
    draft() {
      const draft = drafting?.() ?? memory.files.draft();
      drafts.add(draft);
      return Object.create(draft, {
        size: { get: () => draft.size },
        write: {
          value: (bytes: Uint8Array) => {
            pieces.push(bytes.byteLength);
            return draft.write(bytes);
          },
        },
        discard: {
          value: async () => {
            await draft.discard();
            drafts.delete(draft);
          },
        },
      });
    },
    async saveDrafts(tenant, given) {
      const own = given.map((one) => ({ ...one, draft: Object.getPrototypeOf(one.draft) }));
      await memory.files.saveDrafts(tenant, own);
      saved.push(...given.map(({ about }) => about.id));
    },
  };
  const server = await startServer({ env: { ...ENV, ...env }, stores: { ...memory, files }, ...options });
  const agentId = await server.agent(ECHO, bearer(KEY));
  const { beta } = (await server.call('POST', `${API}/system/tokens`, {}, bearer(KEY))).body.data;
  return {
    ...server,
    agentId,
    beta,
    pieces,
    saved,
    written: () => [...drafts].reduce((sum, { size }) => sum + size, 0),
    async upload(body, key = KEY, headers = {}) {
      const address = `${server.url}${API}/agents/${agentId}/upload`;
      const init = { method: 'POST', headers: { ...bearer(key), ...headers }, body, duplex: 'half' };
      const answer = await fetch(address, init as RequestInit);
      return { status: answer.status, headers: answer.headers, body: await answer.json() };
    },
    usage: () => memory.usage.of('acme'),
  };
}

function form(...sizes: readonly number[]): FormData {
  const made = new FormData();
  for (const size of sizes) made.append('file', new Blob([new Uint8Array(size)]), 'a.bin');
  return made;
}

/** A form of any length, made while it is sent, whose length the request does not say. */
function endless(size: number): { readonly body: ReadableStream; readonly headers: Record<string, string> } {
  let left = size;
  const body = new ReadableStream({
    start: (stream) =>
      stream.enqueue(Buffer.from('--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n')),
    pull(stream) {
      if (left > 0) stream.enqueue(new Uint8Array(Math.min(left, 65_536)));
      else {
        stream.enqueue(Buffer.from('\r\n--x--\r\n'));
        stream.close();
      }
      left -= 65_536;
    },
  });
  return { body, headers: { 'content-type': 'multipart/form-data; boundary=x' } };
}

describe('an upload', () => {
  it('of 20,000 parts is refused at the one above two hundred, and none is stored', async () => {
    const { upload, saved, written, usage } = await start();
    const part = '--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n1\r\n';
    const headers = { 'content-type': 'multipart/form-data; boundary=x' };
    const { body } = await upload(`${part.repeat(20_000)}--x--`, KEY, headers);
    expect(body).toMatchObject({ code: 101, message: 'At most 200 files are taken at once.' });
    expect(saved).toEqual([]);
    expect(written()).toBe(0);
    expect(await usage()).toMatchObject({ files: 0 });
    // As many as a client of RAGFlow sends at once.
    expect((await upload(form(...Array(32).fill(1)))).body.data).toHaveLength(32);
  });

  it('is written in small pieces while it comes, and counted until it is stored', async () => {
    const { upload, pieces, usage } = await start();
    const { body } = await upload(form(4 * MIB));
    expect(body.data.size).toBe(4 * MIB);
    expect(Math.max(...pieces)).toBeLessThanOrEqual(MIB);
    expect(pieces.length).toBeGreaterThan(4);
    expect(await usage()).toMatchObject({ files: 1, fileBytes: 4 * MIB });
  });

  it('that is too large is refused before it is read, or where it becomes too large', async () => {
    const { upload, pieces, written } = await start({ RUNNEL_UPLOAD_BYTES: String(MIB) });
    const announced = await upload(form(MIB + 1));
    expect(announced).toMatchObject({ status: 413, body: { code: 101 } });
    expect(pieces).toEqual([]);
    const { body, headers } = endless(2 * MIB);
    expect(await upload(body, KEY, headers)).toMatchObject({ status: 413 });
    expect(pieces.length).toBeGreaterThan(0);
    expect(written()).toBe(0);
  });

  it('that breaks off leaves nothing behind', async () => {
    const { url, agentId, written, saved, upload } = await start({ RUNNEL_UPLOADS_BYTES: String(2 * MIB) });
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.write(
      `POST ${API}/agents/${agentId}/upload HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${KEY}\r\nContent-Length: 900000\r\n` +
        'Content-Type: multipart/form-data; boundary=x\r\n\r\n' +
        '--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n',
    );
    socket.write(Buffer.alloc(600_000));
    await vi.waitFor(() => expect(written()).toBeGreaterThan(500_000), 20_000);
    // Its bytes are in flight, so that another one finds no room.
    expect(await upload(form(900_000))).toMatchObject({ status: 503, body: { code: 103 } });
    socket.destroy();
    await vi.waitFor(() => expect(written()).toBe(0), 20_000);
    expect(saved).toEqual([]);
    expect((await upload(form(900_000))).status).toBe(200);
  });

  it('asks others to wait when there is too much at once', async () => {
    const { upload } = await start({ RUNNEL_UPLOADS_BYTES: String(MIB) });
    const { status, headers, body } = await upload(form(MIB / 2 + 1));
    expect({ status, wait: headers.get('retry-after') }).toEqual({ status: 503, wait: '5' });
    expect(body.message).toMatch(/of this tenant, of at most 524288/);
    const chunked = endless(MIB);
    expect((await upload(chunked.body, KEY, chunked.headers)).status).toBe(503);
    expect((await upload(form(MIB / 4))).status).toBe(200);
  });

  it('to a full disk says so, and is not stored', async () => {
    const full = new EngineError('LIMIT_REACHED', 'The disk is full.', { details: { httpStatus: 507 } });
    const draft = () => ({ size: 0, write: () => Promise.reject(full), discard: async () => {} });
    const { upload, saved, usage } = await start({}, { draft });
    expect(await upload(form(10))).toMatchObject({ status: 507, body: { code: 103, message: 'The disk is full.' } });
    expect(saved).toEqual([]);
    expect(await usage()).toMatchObject({ files: 0 });
  });

  it('above the quota is refused before it is read: what is counted, how much, what to do', async () => {
    const { upload, pieces, saved, call } = await start({}, { quotas: { files: 2, fileBytes: 200_000 } });
    expect((await upload(form(200_001))).body.data.quota).toEqual({ name: 'fileBytes', used: 0, limit: 200_000 });
    const [one] = (await upload(form(100_000, 1))).body.data;
    const before = pieces.length;
    const refused = await upload(form(1));
    expect(refused.status).toBe(403);
    expect(refused.body).toMatchObject({ code: 103, data: { quota: { name: 'files', used: 2, limit: 2 } } });
    expect(refused.body.message).toMatch(/has 2 files, of at most 2\. To make room, delete files .*RUNNEL_QUOTA_FILES/);
    expect(pieces).toHaveLength(before);
    expect(saved).toHaveLength(2);
    const address = `${API}/agents/attachments/${one.id}`;
    expect((await call('DELETE', address, undefined, bearer(KEY))).body).toMatchObject({ code: 0, data: true });
    expect((await call('DELETE', address, undefined, bearer(KEY))).body).toEqual({
      code: 102,
      message: 'document not found',
    });
    // Several are stored all or none.
    expect((await upload(form(1, 1))).status).toBe(403);
    expect((await upload(form(1))).status).toBe(200);
  });
});

describe('an upload of a chat page', () => {
  it('of 60 MB is refused before it is read, also eight at once, and with a length that nobody knows', async () => {
    const { url, agentId, upload, beta, pieces, written } = await start({ RUNNEL_PAGE_UPLOAD_BYTES: String(MIB) });
    const announce = (bytes: number) =>
      new Promise<string>((resolve, reject) => {
        const socket = connect(Number(new URL(url).port), '127.0.0.1');
        onTestFinished(() => void socket.destroy());
        socket.once('data', (answer) => resolve(String(answer).split('\r\n')[0] as string)).once('error', reject);
        socket.write(
          `POST ${API}/agents/${agentId}/upload HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${beta}\r\n` +
            `Content-Length: ${bytes}\r\nContent-Type: multipart/form-data; boundary=x\r\n\r\n`,
        );
      });
    const answers = await Promise.all(Array.from({ length: 8 }, () => announce(60 * MIB)));
    expect(answers).toEqual(Array(8).fill('HTTP/1.1 413 Payload Too Large'));
    expect(pieces).toEqual([]);
    const { body, headers } = endless(2 * MIB);
    expect((await upload(body, beta, headers)).status).toBe(413);
    expect(written()).toBe(0);
    expect(pieces.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(MIB);
  });

  it('expires, and counts against a quota of its own', async () => {
    const now = Date.now();
    const options = { quotas: { pageFiles: 1 }, now: () => now };
    const { upload, beta, stores } = await start({ RUNNEL_PAGE_FILE_DAYS: '2' }, options);
    const { id } = (await upload(form(1), beta)).body.data;
    expect(await stores.files.find('acme', id)).toMatchObject({ isFromPage: true, expiresAt: now + 2 * 86_400_000 });
    expect((await upload(form(1), beta)).body.data.quota).toEqual({ name: 'pageFiles', used: 1, limit: 1 });
    const own = (await upload(form(1))).body.data;
    expect(await stores.files.find('acme', own.id)).not.toHaveProperty('expiresAt');
  });

  it('may come so often a minute, a quarter of that from one address', async () => {
    const env = { RUNNEL_PAGE_UPLOADS_PER_MINUTE: '8', RUNNEL_TRUSTED_PROXIES: '127.0.0.1' };
    const { upload, beta, pieces } = await start(env);
    const from = (address: string) => upload(form(1), beta, { 'x-forwarded-for': address });
    const statuses = async (...addresses: readonly string[]) => {
      const found: number[] = [];
      for (const address of addresses) found.push((await from(address)).status);
      return found;
    };
    expect(await statuses('1.1.1.1', '1.1.1.1', '1.1.1.1')).toEqual([200, 200, 429]);
    expect(await statuses('2.2.2.2', '2.2.2.2', '3.3.3.3', '3.3.3.3', '4.4.4.4', '4.4.4.4')).toEqual(
      Array(6).fill(200),
    );
    const refused = await from('5.5.5.5');
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(pieces).toHaveLength(8);
    expect((await upload(form(1))).status).toBe(200);
  });

  it('cannot delete files', async () => {
    const { upload, beta, call } = await start();
    const { id } = (await upload(form(1), beta)).body.data;
    const answer = await call('DELETE', `${API}/agents/attachments/${id}`, undefined, bearer(beta));
    expect(answer.status).toBe(401);
  });
});
