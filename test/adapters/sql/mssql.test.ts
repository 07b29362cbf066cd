import { EventEmitter } from 'node:events';
import { describe, expect, it } from 'vitest';
import type { MssqlDriver } from '../../../src/adapters/sql/mssql-session.js';
import type { DatabaseAddress } from '../../../src/adapters/sql/session.js';
import { serveRaw } from '../egress/support/servers.js';
import { localDatabases } from './support/calls.js';

const address: DatabaseAddress = {
  kind: 'mssql',
  host: '127.0.0.1',
  port: 5999,
  database: 'd',
  username: 'u',
  password: 'pass-word',
  allowsPrivilegedUser: true,
};
const BOUNDS = { maxRows: 2, maxBytes: 1000, timeoutMs: 5_000 };
const never = new AbortController().signal;

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
      requestTimeout: 0,
      options: { encrypt: true, readOnlyIntent: true, connector: expect.any(Function) },
    });
  });

  it('gives up a statement at the server when its time is over, and goes on', async () => {
    const { driver, log } = fakeMssql();
    const session = await localDatabases({ loadMssql: async () => driver }).open(address, never);
    await expect(session.query('SELECT for ever', { ...BOUNDS, timeoutMs: 5 })).rejects.toThrow('within 0.005 seconds');
    expect(log.slice(-3)).toEqual(['SELECT for ever', 'cancel', 'rollback']);
    expect(session.isAlive).toBe(true);
    expect(await session.query('SELECT many', BOUNDS)).toMatchObject({ isCut: true });
    await session.close();
  });

  it.each(['begin', 'rollback'] as const)('closes the connection of a server that is silent at %s', async (hangs) => {
    const { driver, log } = fakeMssql(hangs);
    const session = await localDatabases({ loadMssql: async () => driver }).open(address, never);
    await expect(session.query('SELECT for ever', { ...BOUNDS, timeoutMs: 5 })).rejects.toThrow('within 0.005 seconds');
    expect(log.includes('cancel')).toBe(hangs === 'rollback');
    expect(session.isAlive).toBe(false);
  });

  it('does not wait for a goodbye for ever', async () => {
    const { driver } = fakeMssql('close');
    const session = await localDatabases({ loadMssql: async () => driver }).open(address, never);
    await session.close();
    expect(session.isAlive).toBe(false);
  });

  it('does not wait for a login for ever, and closes its connection', async () => {
    let closed: Promise<unknown> = Promise.resolve();
    const { port } = await serveRaw((socket) => {
      closed = new Promise((resolve) => socket.once('close', resolve));
      socket.resume();
    });
    const { driver, log } = fakeMssql('connect');
    const databases = localDatabases({ loadMssql: async () => driver, connectTimeoutMs: 200 });
    await expect(databases.open({ ...address, port }, never)).rejects.toThrow('within 0.2 seconds');
    await closed;
    expect(log).toEqual(['connect']);
  });

  it('repeats no password that a server echoes', async () => {
    const { driver } = fakeMssql('echo');
    const opening = localDatabases({ loadMssql: async () => driver }).open(address, never);
    await expect(opening).rejects.toMatchObject({
      code: 'TOOL_FAILED',
      message: expect.stringMatching(/could not be opened: Login of \[REDACTED\] failed/),
    });
  });
});

/** Behaves as the driver's streaming requests do; what `hangs` never ends, and `echo` is a login that fails. */
function fakeMssql(hangs?: 'connect' | 'begin' | 'rollback' | 'close' | 'echo') {
  const step = (name: string): Promise<void> => {
    log.push(name);
    return name === hangs ? new Promise(() => {}) : Promise.resolve();
  };
  const log: string[] = [];
  const configs: object[] = [];
  class Request extends EventEmitter {
    stream = false;
    arrayRowMode = false;
    private isCancelled = false;
    query(sql: string): void {
      log.push(sql);
      setImmediate(() => {
        if (sql === 'SELECT for ever') return;
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
      if (hangs === 'echo') throw new Error(`Login of pass-word failed ${'x'.repeat(5_000)}`);
      if (hangs === 'connect') await (configs[0] as { options: { connector(): Promise<unknown> } }).options.connector();
      await step('connect');
    }
    close = () => step('close');
  }
  class Transaction extends EventEmitter {
    begin = () => step('begin');
    rollback = () => step('rollback');
    request() {
      return new Request();
    }
  }
  return { driver: { ConnectionPool, Transaction } as unknown as MssqlDriver, log, configs };
}
