import { describe, expect, it } from 'vitest';
import { ownDatabaseOf } from '../../../src/adapters/sql/databases.js';
import type { DatabaseAddress } from '../../../src/adapters/sql/session.js';
import { serveRaw } from '../egress/support/servers.js';
import { localDatabases } from './support/calls.js';

const address: DatabaseAddress = {
  kind: 'postgres',
  host: '127.0.0.1',
  port: 5999,
  database: 'd',
  username: 'u',
  password: 'pass-word',
};
const never = new AbortController().signal;

describe('the host of a database', () => {
  const closed = localDatabases({ allowPrivateNetwork: false, resolver: async () => ['93.184.215.14', '10.0.0.1'] });

  it.each([
    '127.0.0.1',
    'localhost',
    '10.1.2.3',
    '169.254.169.254',
    '[::1]',
    '::1',
    '::ffff:127.0.0.1',
    '0x7f.1',
    '2130706433',
    '0.0.0.0',
    'db.internal',
    'metadata.google.internal',
    'rebinding.example',
  ])('%s is judged like any other', async (host) => {
    await expect(closed.open({ ...address, host }, never)).rejects.toMatchObject({
      code: 'URL_BLOCKED',
      message: expect.stringMatching(/^Host "/),
    });
  });

  it.each(['', '/var/run/postgresql', 'a@b', 'a:1', 'a/b', 'a?b', 'a b', 'a,b', 'a%00', 'a\nb'])(
    '%j is no host',
    async (host) => {
      await expect(closed.open({ ...address, host }, never)).rejects.toMatchObject({ code: 'URL_INVALID' });
    },
  );

  it('is asked for once, and the connection goes where it led', async () => {
    let asked = 0;
    let connected = 0;
    const { port } = await serveRaw((socket) => {
      connected += 1;
      socket.destroy();
    });
    const resolver = async () => (asked++ === 0 ? ['127.0.0.1'] : ['192.0.2.1']);
    const databases = localDatabases({ resolver });
    await expect(databases.open({ ...address, host: 'db.example', port }, never)).rejects.toMatchObject({
      code: 'TOOL_FAILED',
    });
    expect(asked).toBe(1);
    expect(connected).toBe(1);
  });
});

describe.each(['postgres', 'mysql'])('a server of %s that is none', (kind) => {
  it('and says nothing is given up, its connection closed', async () => {
    let closed: Promise<unknown> = Promise.resolve();
    const { port } = await serveRaw((socket) => {
      closed = new Promise((resolve) => socket.once('close', resolve));
      socket.resume();
    });
    const databases = localDatabases({ connectTimeoutMs: 500 });
    await expect(databases.open({ ...address, kind, port }, never)).rejects.toMatchObject({
      code: 'TOOL_FAILED',
      message: expect.stringContaining('within 0.5 seconds'),
    });
    await closed;
  });

  it.each(['HTTP/1.1 200 OK\r\n\r\n', '\u0000\u0000\u0000\u0000\u0000\u0000', 'N', ''])(
    'and says %j is an error',
    async (said) => {
      const { port } = await serveRaw((socket) => socket.end(said));
      const databases = localDatabases({ connectTimeoutMs: 2_000 });
      await expect(databases.open({ ...address, kind, port }, never)).rejects.toMatchObject({
        code: 'TOOL_FAILED',
        message: expect.not.stringContaining('pass-word'),
      });
    },
  );

  it('loses its connection when nobody waits any more', async () => {
    const ending = new AbortController();
    let closed: Promise<unknown> = Promise.resolve();
    const { port } = await serveRaw((socket) => {
      closed = new Promise((resolve) => socket.once('close', resolve));
      socket.resume();
      ending.abort();
    });
    await expect(localDatabases().open({ ...address, kind, port }, ending.signal)).rejects.toThrow();
    await closed;
  });
});

it("knows the server's own database by its URL", () => {
  expect(ownDatabaseOf(undefined)).toBeUndefined();
  expect(ownDatabaseOf('nonsense')).toBeUndefined();
  expect(ownDatabaseOf('postgres://u:p@DB.example/runnel')).toEqual({
    host: 'db.example',
    port: 5432,
    database: 'runnel',
  });
  expect(ownDatabaseOf('postgresql://ann@[::1]:6000')).toEqual({ host: '::1', port: 6000, database: 'ann' });
});

it("refuses RAGFlow's own database", async () => {
  const databases = localDatabases({ resolver: async () => ['127.0.0.1'] });
  const ragflow = { ...address, kind: 'mysql', database: 'rag_flow' };
  await expect(databases.open({ ...ragflow, host: 'ragflow-mysql' }, never)).rejects.toThrow('of the server itself');
  await expect(databases.open({ ...ragflow, password: 'infini_rag_flow' }, never)).rejects.toThrow(
    'of the server itself',
  );
});
