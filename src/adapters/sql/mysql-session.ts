/** MySQL, MariaDB and OceanBase through the package `mysql2`. */
import type { Socket } from 'node:net';
import type { Connection, ConnectionOptions, FieldPacket } from 'mysql2';
import { noop } from 'rxjs';
import { type CellKind, kindsOf, RowCollector } from './cells.js';
import {
  createSession,
  type DatabaseSession,
  type OpenSession,
  type OpenTarget,
  type StatementBounds,
  type Table,
} from './session.js';

/** Milliseconds for the connection that ends a statement of another one. */
const KILL_MS = 5_000;

/** Type numbers of the protocol. */
const kindOfType = kindsOf({ decimal: [0, 246], whole: [8], date: [10], time: [7, 12], bits: [16], json: [245] });

/** Modes in which quotes mean something else than the lexer thinks; the last ones include the first. */
const OTHER_QUOTES =
  /^(?:NO_BACKSLASH_ESCAPES|ANSI_QUOTES|ANSI|ORACLE|MSSQL|DB2|MAXDB|POSTGRESQL|MYSQL323|MYSQL40|NO_.*_OPTIONS)$/;

/** A connection with its own socket. */
interface Wire {
  readonly connection: Connection;
  readonly socket: Socket;
}

/** Opens a session of MySQL, MariaDB or OceanBase. TLS is used when the server offers it. Rejects with the driver's error. */
export const openMysqlSession: OpenSession = async (target, signal) => {
  const wire = await connect(target, signal);
  try {
    await prepare(wire.connection);
    return sessionOver(target, wire);
  } catch (error) {
    wire.connection.destroy();
    throw error;
  }
};

/** Without TLS only where the server has none; one that has it is never asked in the clear. */
async function connect(target: OpenTarget, signal: AbortSignal): Promise<Wire> {
  const { address, trusted } = target;
  const { tls } = address;
  if (tls === 'off') return connectOnce(target, signal, {});
  const isVerified = tls === 'verify';
  const ssl = {
    rejectUnauthorized: isVerified,
    verifyIdentity: isVerified,
    ...(trusted && { ca: [...trusted] }),
  };
  try {
    return await connectOnce(target, signal, { ssl });
  } catch (error) {
    const hasNone = error instanceof Error && 'code' in error && error.code === 'HANDSHAKE_NO_SSL_SUPPORT';
    if (isVerified || !hasNone) throw error;
    return connectOnce(target, signal, {});
  }
}

async function connectOnce(
  target: OpenTarget,
  signal: AbortSignal,
  more: Pick<ConnectionOptions, 'ssl'>,
): Promise<Wire> {
  const [{ createConnection }, socket] = await Promise.all([import('mysql2'), target.dial(signal)]);
  const { username, password, database } = target.address;
  const connection = createConnection({
    stream: socket,
    host: target.host,
    port: target.port,
    user: username,
    password,
    database,
    charset: 'utf8mb4',
    // Otherwise the driver makes code from the names of columns, and a server would choose it.
    disableEval: true,
    multipleStatements: false,
    flags: ['-LOCAL_FILES', '-MULTI_STATEMENTS'],
    dateStrings: true,
    supportBigNumbers: true,
    bigNumberStrings: true,
    rowsAsArray: true,
    jsonStrings: true,
    ...more,
  } as ConnectionOptions);
  try {
    await new Promise<void>((resolve, reject) => {
      socket.once('close', () => reject(new Error('the server closed the connection')));
      connection.once('connect', () => resolve());
      connection.once('error', reject);
    });
    connection.on('error', noop);
    return { connection, socket };
  } catch (error) {
    connection.on('error', noop);
    connection.destroy();
    throw error;
  }
}

/** Reads quotes as the lexer does, and writes nothing. */
async function prepare(connection: Connection): Promise<void> {
  const [row = []] = await run(connection, 'SELECT @@SESSION.sql_mode');
  const modes = String(row[0] ?? '')
    .split(',')
    .filter((mode) => /^[A-Z0-9_]+$/.test(mode) && !OTHER_QUOTES.test(mode));
  await run(connection, `SET SESSION sql_mode = '${modes.join(',')}'`);
  await run(connection, 'SET SESSION TRANSACTION READ ONLY');
}

function run(connection: Connection, sql: string): Promise<unknown[][]> {
  return new Promise((resolve, reject) => {
    connection.query({ sql, rowsAsArray: true }, (error, rows) =>
      error ? reject(error) : resolve(rows as unknown as unknown[][]),
    );
  });
}

function sessionOver(target: OpenTarget, { connection, socket }: Wire): DatabaseSession {
  return createSession(socket, {
    dialect: 'mysql',
    read: (sql, bounds) => readInTransaction(target, connection, sql, bounds),
    cancel: () => void kill(target, `KILL ${connection.threadId}`),
    drop: () => connection.destroy(),
    close: () =>
      new Promise<void>((resolve) => {
        socket.once('close', () => resolve());
        connection.end(noop);
        socket.setTimeout(1_000, () => socket.destroy());
        if (socket.destroyed) resolve();
      }),
  });
}

async function readInTransaction(
  target: OpenTarget,
  connection: Connection,
  sql: string,
  bounds: StatementBounds,
): Promise<Table> {
  // Each server knows one of them; the client's own clock holds where it knows none.
  await run(connection, `SET SESSION max_statement_time = ${bounds.timeoutMs / 1000}`).catch(noop);
  await run(connection, `SET SESSION max_execution_time = ${Math.ceil(bounds.timeoutMs)}`).catch(noop);
  await run(connection, `SET SESSION sql_select_limit = ${bounds.maxRows + 1}`);
  await run(connection, 'START TRANSACTION READ ONLY');
  try {
    return await readRows(connection, sql, bounds, async () => {
      // The server waits with what it has left to send, so that little more than what is under way has to be read.
      connection.pause();
      await kill(target, `KILL QUERY ${connection.threadId}`);
      connection.resume();
    });
  } finally {
    await run(connection, 'ROLLBACK').catch(noop);
  }
}

/** A statement with a limit of its own may give more than is wanted: then it is ended at the server. */
function readRows(
  connection: Connection,
  sql: string,
  bounds: StatementBounds,
  stop: () => Promise<void>,
): Promise<Table> {
  const collector = new RowCollector(bounds);
  return new Promise((resolve, reject) => {
    let stopped: Promise<void> | undefined;
    const query = connection.query({ sql, rowsAsArray: true });
    query.on('fields', (fields: readonly FieldPacket[] | undefined) => {
      collector.setColumns((fields ?? []).map((field) => ({ name: field.name, kind: kindOf(field) })));
    });
    query.on('result', (row: unknown) => {
      if (Array.isArray(row) && !collector.add(row)) stopped ??= stop();
    });
    query.on('error', (error: unknown) => {
      if (stopped === undefined) reject(error);
      else void stopped.then(() => resolve(collector.table()));
    });
    query.on('end', () => void Promise.resolve(stopped).then(() => resolve(collector.table())));
  });
}

/** MariaDB keeps JSON as text, and says so beside the type. */
function kindOf(field: FieldPacket): CellKind {
  if ('extendedFormat' in field && field.extendedFormat === 'json') return 'json';
  return kindOfType(field.columnType ?? -1);
}

/** Ends something of this connection from another one; a server does not notice that a client went away. */
async function kill(target: OpenTarget, sql: string): Promise<void> {
  try {
    const { connection } = await connect(target, AbortSignal.timeout(KILL_MS));
    try {
      await run(connection, sql);
    } finally {
      connection.destroy();
    }
  } catch {
    // There is no caller left to report to, and the statement has a time limit at the server.
  }
}
