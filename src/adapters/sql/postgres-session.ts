/** Postgres through the package `postgres`. */
import { isIP, type Socket } from 'node:net';
import type postgres from 'postgres';
import { noop } from 'rxjs';
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

/** Rows that are asked for at once. */
const BATCH = 100;
/** Milliseconds for the message that ends a query. */
const CANCEL_MS = 5_000;
/** Milliseconds for closing by the protocol. */
const CLOSE_MS = 1_000;
/** Protocol: the code of a cancel request. */
const CANCEL_CODE = 80_877_102;

/** Type numbers of Postgres's catalogue. */
const kindOfType = kindsOf({ whole: [20], decimal: [1700], date: [1082], time: [1114, 1184], json: [114, 3802] });

/** Every type comes as text, and is read by the rules of all databases. */
const AS_TEXT = (numbers: number[]): postgres.PostgresType<string> => ({
  to: numbers[0] as number,
  from: numbers,
  serialize: String,
  parse: (text: string) => text,
});
const BYTES: postgres.PostgresType<Buffer> = {
  to: 17,
  from: [17],
  serialize: (bytes: Buffer) => `\\x${bytes.toString('hex')}`,
  parse: (text: string) => Buffer.from(text.slice(2), 'hex'),
};

type Sql = postgres.Sql<Record<string, never>>;

/** Opens a session of Postgres. TLS is used when the server offers it. Rejects with the error of the driver. */
export const openPostgresSession: OpenSession = async (target, signal) => {
  const { default: connect } = await import('postgres');
  const socket = await target.dial(signal);
  let isGiven = false;
  // The driver would connect again, and again, when a server closes the connection before it is ready.
  const give = async (): Promise<Socket> => {
    if (isGiven) throw closedConnection();
    isGiven = true;
    return socket;
  };
  const { username, password, database } = target.address;
  const sql = connect({
    // Typed for its own sockets only; it takes any.
    ...({ socket: give } as object),
    host: target.host,
    port: target.port,
    user: username,
    pass: password,
    database,
    ssl: tlsOf(target),
    max: 1,
    prepare: false,
    fetch_types: false,
    connect_timeout: 10,
    onnotice: () => {},
    backoff: false,
    connection: { application_name: 'runnel' },
    types: { date: AS_TEXT([1082, 1114, 1184]), json: AS_TEXT([114, 3802]), number: AS_TEXT([20, 1700]), bytea: BYTES },
  }) as unknown as Sql;
  Object.assign(socket, { host: target.host });
  try {
    const first = sql`select pg_catalog.pg_backend_pid()`;
    // The driver does not notice a connection that is closed before it is ready.
    await Promise.race([prepare(sql, first), whenClosed(socket)]);
    return sessionOver(target, sql, socket, backendOf(first));
  } catch (error) {
    // Not by the driver: it would write its closing message into a TLS connection that is already closed.
    socket.destroy();
    throw error;
  }
};

async function prepare(sql: Sql, first: PromiseLike<unknown>): Promise<void> {
  await first;
  await sql.unsafe(
    `set standard_conforming_strings = on; set datestyle = 'ISO'; set bytea_output = 'hex'; set lock_timeout = '10s'`,
  );
  // A cancel request that comes between two messages of the protocol is lost: servers since 14 also look for the client.
  await sql.unsafe(
    `select pg_catalog.set_config(name, '1s', false) from pg_catalog.pg_settings where name = 'client_connection_check_interval'`,
  );
}

function whenClosed(socket: Socket): Promise<never> {
  const closed = new Promise<never>((_, reject) => {
    if (socket.closed) reject(closedConnection());
    else socket.once('close', () => reject(closedConnection()));
  });
  // Most close long after their last caller.
  closed.catch(noop);
  return closed;
}

function tlsOf({ address: { tls }, host, trusted }: OpenTarget) {
  if (tls === 'off') return false;
  if (tls !== 'verify') return 'prefer';
  // An address must not stand in SNI; the certificate is checked against `host` in either case.
  return {
    host,
    servername: isIP(host) === 0 ? host : '',
    rejectUnauthorized: true,
    ...(trusted && { ca: [...trusted] }),
  };
}

/** What a cancel request for a query of this connection carries. */
interface Backend {
  readonly pid: number;
  readonly secret: number;
}

function sessionOver(target: OpenTarget, sql: Sql, socket: Socket, backend: Backend | undefined): DatabaseSession {
  return createSession(socket, {
    dialect: 'postgres',
    read: (text, bounds) => readInTransaction(sql, text, bounds),
    cancel: () => {
      if (backend !== undefined) void sendCancel(target, backend);
    },
    drop: () => socket.destroy(),
    async close() {
      await within(CLOSE_MS, sql.end(), undefined);
      socket.destroy();
    },
  });
}

/** A transaction per statement: one that fails leaves the next one alone, and none of them is ever committed. */
async function readInTransaction(sql: Sql, text: string, bounds: StatementBounds): Promise<Table> {
  await sql.unsafe(`begin read only; set local statement_timeout = ${Math.max(1, Math.floor(bounds.timeoutMs))}`);
  try {
    return await readRows(sql, text, bounds);
  } finally {
    await sql.unsafe('rollback').catch(noop);
  }
}

async function readRows(sql: Sql, text: string, bounds: StatementBounds): Promise<Table> {
  const collector = new RowCollector(bounds);
  const seen = new Set<unknown>();
  const take = (batch: Batch): boolean => {
    if (seen.has(batch)) return true;
    seen.add(batch);
    // The first batch names them, the others do not.
    if (batch.columns) {
      collector.setColumns(batch.columns.map(({ name, type }) => ({ name, kind: kindOfType(type) })));
    }
    return batch.every((row) => collector.add(row));
  };
  // A statement of its own in the protocol: the server itself refuses two of them in one text.
  const query = sql.unsafe(text).values() as unknown as Cursor;
  const last = await query.cursor(BATCH, (batch) => (take(batch) ? undefined : sql.CLOSE));
  // Statements without a count (SHOW, EXPLAIN) give their rows here alone.
  take(last);
  return collector.table();
}

/** Rows as lists of cells. */
interface Batch extends ReadonlyArray<readonly unknown[]> {
  readonly columns?: readonly { readonly name: string; readonly type: number }[] | null;
}

interface Cursor {
  cursor(rows: number, take: (batch: Batch) => unknown): Promise<Batch>;
}

/** The driver keeps it with each query that it has sent. */
function backendOf(query: object): Backend | undefined {
  const state = 'state' in query ? (query.state as Partial<Backend> | undefined) : undefined;
  const { pid, secret } = state ?? {};
  return typeof pid === 'number' && typeof secret === 'number' ? { pid, secret } : undefined;
}

/** A server reads from a connection only when its query is done, so the cancel request needs another connection. */
async function sendCancel(target: OpenTarget, { pid, secret }: Backend): Promise<void> {
  try {
    const socket = await target.dial(AbortSignal.timeout(CANCEL_MS));
    const message = Buffer.alloc(16);
    message.writeUInt32BE(16, 0);
    message.writeUInt32BE(CANCEL_CODE, 4);
    message.writeUInt32BE(pid, 8);
    message.writeUInt32BE(secret, 12);
    socket.end(message);
    socket.resume();
  } catch {
    // There is no caller left to report to, and the statement has a time limit at the server.
  }
}

function closedConnection(): Error {
  return toolFailed('the connection was closed');
}
