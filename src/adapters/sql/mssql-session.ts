/** SQL Server through the package `mssql`, where it is installed. */
import type { Socket } from 'node:net';
import { noop } from 'rxjs';
import { EngineError } from '../../errors.js';
import { within } from '../../operators/within.js';
import { toolFailed } from '../failures.js';
import { kindsOf, RowCollector } from './cells.js';
import {
  createSession,
  type DatabaseSession,
  type OpenSession,
  type OpenTarget,
  type StatementBounds,
  type Table,
} from './session.js';

/** What is used of the package `mssql`, which is not installed with Runnel: it brings 51 MB. */
export interface MssqlDriver {
  readonly ConnectionPool: new (config: object) => MssqlPool;
  readonly Transaction: new (pool: MssqlPool) => MssqlTransaction;
}

/** Connections of the driver. */
export interface MssqlPool {
  connect(): Promise<unknown>;
  close(): Promise<unknown>;
  on(event: 'error', listener: (error: unknown) => void): unknown;
}

/** A transaction of the driver. */
export interface MssqlTransaction {
  begin(): Promise<unknown>;
  rollback(): Promise<unknown>;
  request(): MssqlRequest;
  on(event: 'error', listener: (error: unknown) => void): unknown;
}

/** A statement of the driver. */
export interface MssqlRequest {
  stream: boolean;
  arrayRowMode: boolean;
  on(event: string, listener: (value: never) => void): unknown;
  query(sql: string): unknown;
  cancel(): unknown;
}

/** Loads the driver. Rejects when it is not there. */
export type LoadMssql = () => Promise<MssqlDriver>;

/** Milliseconds for closing by the protocol. */
const CLOSE_MS = 1_000;
/** Milliseconds that the driver itself would wait for a connection: more than we do. */
const DRIVER_CONNECT_MS = 600_000;

/** Not resolved when Runnel is built. */
const PACKAGE: string = 'mssql';

const loadPackage: LoadMssql = async () => {
  const loaded = (await import(PACKAGE)) as { readonly default?: MssqlDriver } & MssqlDriver;
  return loaded.default ?? loaded;
};

/**
 * Makes what opens sessions of SQL Server. Every statement runs in a transaction that is rolled back, for there are no
 * read-only ones. The bounds of the driver, 15 seconds for a statement, are off: ours decide.
 *
 * Errors when it is used: `CONFIG_INVALID` without the driver, else those of the driver.
 */
export function mssqlSessions(load: LoadMssql = loadPackage): OpenSession {
  return async (target, signal) => {
    const driver = await load().catch((cause: unknown) => {
      throw new EngineError(
        'CONFIG_INVALID',
        'The driver for SQL Server is not installed; the operator adds it with: npm install mssql',
        { cause },
      );
    });
    const sockets = new Set<Socket>();
    const pool = new driver.ConnectionPool(configurationOf(target, sockets, signal));
    pool.on('error', noop);
    try {
      await pool.connect();
      return sessionOver(driver, pool, sockets);
    } catch (error) {
      drop(sockets);
      void pool.close().catch(noop);
      throw error;
    }
  };
}

function configurationOf(target: OpenTarget, sockets: Set<Socket>, signal: AbortSignal): object {
  const { username, password, database, tls } = target.address;
  return {
    server: target.host,
    port: target.port,
    user: username,
    password,
    database,
    pool: { max: 1, min: 0 },
    connectionTimeout: DRIVER_CONNECT_MS,
    requestTimeout: 0,
    options: {
      encrypt: tls !== 'off',
      trustServerCertificate: tls !== 'verify',
      serverName: target.host,
      appName: 'runnel',
      // Availability groups send such a session to a replica that cannot write.
      readOnlyIntent: true,
      enableArithAbort: true,
      connector: async () => {
        const socket = await target.dial(signal);
        sockets.add(socket.once('close', () => sockets.delete(socket)));
        return socket;
      },
    },
  };
}

function sessionOver(driver: MssqlDriver, pool: MssqlPool, sockets: ReadonlySet<Socket>): DatabaseSession {
  const wire = {
    destroyed: false,
    get bytesRead() {
      return [...sockets].reduce((sum, socket) => sum + socket.bytesRead, 0);
    },
  };
  return createSession(wire, {
    dialect: 'mssql',
    read: (sql, bounds) => readInTransaction(driver, pool, sql, bounds),
    // The server ends what runs on a connection that is gone.
    cancel: noop,
    drop() {
      drop(sockets);
      void pool.close().catch(noop);
    },
    async close() {
      await within(CLOSE_MS, pool.close().catch(noop), undefined);
      drop(sockets);
    },
  });
}

function drop(sockets: ReadonlySet<Socket>): void {
  for (const socket of sockets) socket.destroy();
}

async function readInTransaction(
  driver: MssqlDriver,
  pool: MssqlPool,
  sql: string,
  bounds: StatementBounds,
): Promise<Table> {
  const transaction = new driver.Transaction(pool);
  transaction.on('error', noop);
  await transaction.begin();
  try {
    return await readRows(transaction.request(), sql, bounds);
  } finally {
    await transaction.rollback().catch(noop);
  }
}

function readRows(request: MssqlRequest, sql: string, bounds: StatementBounds): Promise<Table> {
  const collector = new RowCollector(bounds);
  request.stream = true;
  request.arrayRowMode = true;
  return new Promise((resolve, reject) => {
    let isEnough = false;
    const late = setTimeout(() => {
      reject(toolFailed(`there was no answer within ${bounds.timeoutMs / 1000} seconds`));
      // A server that ignores it loses its connection.
      request.cancel();
    }, bounds.timeoutMs);
    const finish = (error?: unknown): void => {
      clearTimeout(late);
      if (error === undefined || isEnough) resolve(collector.table());
      else reject(error);
    };
    request.on('recordset', (columns: readonly MssqlColumn[]) => {
      collector.setColumns(columns.map(({ name, type }) => ({ name, kind: kindOfType(type?.declaration) })));
    });
    request.on('row', (row: readonly unknown[]) => {
      if (isEnough || collector.add(row)) return;
      isEnough = true;
      request.cancel();
    });
    let failure: unknown;
    request.on('error', (error: unknown) => {
      failure ??= error;
    });
    request.on('done', () => finish(failure));
    request.query(sql);
  });
}

interface MssqlColumn {
  readonly name: string;
  /** A function of the driver that is named after the type. */
  readonly type?: { readonly declaration?: string };
}

const kindOfType = kindsOf<string | undefined>({
  whole: ['bigint'],
  date: ['date'],
  time: ['datetime', 'datetime2', 'smalldatetime', 'datetimeoffset'],
});
