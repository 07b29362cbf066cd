import { EventEmitter } from 'node:events';
import { describe, expect, it } from 'vitest';
import type { MssqlDriver } from '../../../src/tools/sql/mssql-session.js';
import { ownDatabaseOf } from '../../../src/tools/sql/own-database.js';
import type { DatabaseAddress } from '../../../src/tools/sql/session.js';
import { serveRaw } from '../http/support/servers.js';
import { localDatabases } from './support/calls.js';

const address: DatabaseAddress = {
  kind: 'postgres',
  host: '127.0.0.1',
  port: 5999,
  database: 'd',
  username: 'u',
  password: 'pass-word',
};
const BOUNDS = { maxRows: 2, maxBytes: 1000, timeoutMs: 5_000 };
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

describe('SQL Server', () => {
  it('needs its driver', async () => {
    const databases = localDatabases({ loadMssql: () => Promise.reject(new Error('ERR_MODULE_NOT_FOUND')) });
    await expect(databases.open({ ...address, kind: 'sqlserver' }, never)).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining('npm install mssql'),
    });
  });

  it('is asked in transactions that are rolled back, by a session that only reads', async () => {
    const { driver, log, configs } = fakeMssql();
    const databases = localDatabases({ loadMssql: async () => driver });
    const session = await databases.open({ ...address, kind: 'mssql', port: 0 }, never);
    expect(await session.query('SELECT many', BOUNDS)).toEqual({
      columns: ['id', 'at'],
      rows: [
        ['9007199254740993', '2026-02-03 04:05:06'],
        [1, null],
      ],
      isCut: true,
    });
    await expect(session.query('SELECT broken', BOUNDS)).rejects.toThrow('Invalid column name');
    await session.close();
    expect(log).toEqual([
      'connect',
      'begin',
      'SELECT many',
      'cancel',
      'rollback',
      'begin',
      'SELECT broken',
      'rollback',
      'close',
    ]);
    expect(configs[0]).toMatchObject({
      server: '127.0.0.1',
      port: 1433,
      options: { encrypt: true, readOnlyIntent: true, connector: expect.any(Function) },
    });
  });
});

/** Behaves as the driver's streaming requests do. */
function fakeMssql() {
  const log: string[] = [];
  const configs: object[] = [];
  class Request extends EventEmitter {
    stream = false;
    arrayRowMode = false;
    private isCancelled = false;
    query(sql: string): void {
      log.push(sql);
      setImmediate(() => {
        if (sql === 'SELECT broken') this.emit('error', new Error('Invalid column name'));
        else {
          this.emit('recordset', [
            { name: 'id', type: { declaration: 'bigint' } },
            { name: 'at', type: { declaration: 'datetime' } },
          ]);
          this.emit('row', ['9007199254740993', new Date('2026-02-03T04:05:06.789Z')]);
          for (let count = 0; count < 5; count += 1) this.emit('row', ['1', null]);
        }
        if (this.isCancelled) this.emit('error', new Error('Canceled.'));
        this.emit('done', {});
      });
    }
    cancel(): void {
      log.push('cancel');
      this.isCancelled = true;
    }
  }
  class ConnectionPool extends EventEmitter {
    constructor(config: object) {
      super();
      configs.push(config);
    }
    async connect() {
      log.push('connect');
    }
    async close() {
      log.push('close');
    }
  }
  class Transaction extends EventEmitter {
    async begin() {
      log.push('begin');
    }
    async rollback() {
      log.push('rollback');
    }
    request() {
      return new Request();
    }
  }
  return { driver: { ConnectionPool, Transaction } as unknown as MssqlDriver, log, configs };
}
