import { setTimeout as delay } from 'node:timers/promises';
import postgres from 'postgres';
import { NEVER, Subject, takeUntil } from 'rxjs';
import { EngineError } from '../../errors.js';
import type { Log } from '../../logger.js';
import { Precedence } from '../../operators/precedence.js';
import { PassingValues } from '../../passing-values.js';
import type { Database, Sql } from './database.js';
import { type EmbeddedServer, startEmbedded } from './embedded/start-embedded.js';
import { URGENT_APPLICATION } from './embedded/wire.js';
import { type RetryPolicy, retryUnreachable } from './failures.js';
import { migrate } from './migrate.js';
import { type NotificationsOptions, notifications } from './notifications.js';
import { createSockets } from './open-socket.js';

/** Which database is opened. */
export interface DatabaseOptions {
  /** A Postgres server, `postgres://user:password@host:port/name`. @default the embedded database in `dataDir` */
  readonly url?: string | undefined;
  /** Folder of the embedded database, made when it is not there. */
  readonly dataDir: string;
  readonly log: Log;
  /** File with a prepared database, see `scripts/prepare-database.ts`. @default the one in the package, if it has one */
  readonly image?: string | undefined;
  /** The embedded database of `dataDir`, where it is being started already. */
  readonly embedded?: Promise<EmbeddedServer> | undefined;
  /** Connections to a server, beside one for the writes of runs. @default 10 */
  readonly maxConnections?: number;
  /** How long to try again while the database cannot be reached. @default 15,000 ms, of the embedded one 60,000 ms */
  readonly patienceMs?: number;
}

const SERVER_PATIENCE_MS = 15_000;
/** It is always started again, which takes its time on a machine that is busy. */
const EMBEDDED_PATIENCE_MS = 60_000;
/** Work that takes longer is cut off when the database is closed. */
const CLOSE_MS = 1_500;
/** No vacuum process runs in the embedded database. */
const VACUUM_EVERY_MS = 15 * 60_000;

/**
 * Opens the database: a server when `url` is given, otherwise the embedded one, with the same statements for both.
 *
 * @throws EngineError CONFLICT when another process uses `dataDir`, CONFIG_INVALID when the URL is none or the database was written
 * by a newer Runnel, INTERNAL when it cannot be opened.
 */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const { url, log, patienceMs = url === undefined ? EMBEDDED_PATIENCE_MS : SERVER_PATIENCE_MS } = options;
  const { kind, sql, single, listening, pid, stop } =
    url === undefined ? await openEmbedded(options) : openServer(url, options);
  const patience: RetryPolicy = {
    patienceMs,
    // Without the stack: the database is away, and nothing here is wrong.
    onWait: (error) => log.warn({ reason: messageOf(error) }, 'the database cannot be reached; trying again'),
  };
  const underWay = new PassingValues<Promise<unknown>>();
  const tracked = async <T>(work: Promise<T>): Promise<T> => {
    const place = underWay.add(work);
    try {
      return await work;
    } finally {
      underWay.remove(place, work);
    }
  };
  const repeat: Database['repeat'] = (work) =>
    tracked(retryUnreachable(() => work(sql), { ...patience, afterLoss: true }));
  const alone: Database['repeatAlone'] = (work) =>
    tracked(retryUnreachable(() => work(single), { ...patience, afterLoss: true }));
  const precedence = kind === 'embedded' ? new Precedence() : undefined;
  const closed$ = new Subject<void>();
  const close = async (): Promise<void> => {
    closed$.next();
    await Promise.race([Promise.allSettled(underWay.list()), delay(CLOSE_MS, undefined, { ref: false })]);
    // Its own waiting never ends once a connection was lost in the middle of a query.
    await Promise.all([sql.end({ timeout: 0 }), single.end({ timeout: 0 })]);
    await stop();
  };
  let closed: Promise<void> | undefined;
  const database: Database = {
    kind,
    sql,
    repeat,
    repeatBehind: (work) => (precedence === undefined ? repeat(work) : tracked(precedence.behind(() => repeat(work)))),
    repeatAlone: (work) => (precedence === undefined ? alone(work) : precedence.first(() => alone(work))),
    once: (work) => tracked(retryUnreachable(() => work(sql), { ...patience, afterLoss: false })),
    notifications: (channel) =>
      (listening === undefined ? NEVER : notifications({ connect: listening, channel, ...patience })).pipe(
        takeUntil(closed$),
      ),
    get pid() {
      return pid();
    },
    close() {
      closed ??= close();
      return closed;
    },
  };
  try {
    await migrate(database);
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}

interface Opened {
  readonly kind: Database['kind'];
  readonly sql: Sql;
  /** One connection to the same. */
  readonly single: Sql;
  /** Makes a connection that listens; undefined of the embedded database. */
  readonly listening: NotificationsOptions['connect'] | undefined;
  readonly pid: () => number | undefined;
  readonly stop: () => Promise<void>;
}

async function openEmbedded({ dataDir, log, image, embedded }: DatabaseOptions): Promise<Opened> {
  const server = await (embedded ?? startEmbedded({ folder: dataDir, image, log }));
  const settings = {
    ...SHARED,
    path: server.path,
    host: 'localhost',
    user: 'postgres',
    database: 'postgres',
    // Its single session would keep the prepared statements of every connection that ever was.
    max_lifetime: null,
  };
  const sql = postgres({ ...settings, ...ownSockets(), max: 4 });
  const vacuum = setInterval(() => {
    sql`vacuum`.catch((error: unknown) => log.warn({ err: error }, 'the database could not be vacuumed'));
  }, VACUUM_EVERY_MS);
  vacuum.unref();
  return {
    kind: 'embedded',
    sql,
    single: postgres({ ...settings, ...ownSockets(), connection: URGENT, max: 1 }),
    listening: undefined,
    pid: server.pid,
    stop: () => {
      clearInterval(vacuum);
      return server.close();
    },
  };
}

function openServer(url: string, { maxConnections = 10 }: DatabaseOptions): Opened {
  if (!/^postgres(ql)?:\/\//.test(url)) {
    // The URL itself may hold a password.
    throw new EngineError('CONFIG_INVALID', 'DATABASE_URL must begin with postgres:// or postgresql://.');
  }
  const settings = { ...SHARED, connect_timeout: 10, connection: { ...SHARED.connection, application_name: 'runnel' } };
  return {
    kind: 'server',
    sql: postgres(url, { ...settings, ...ownSockets(), max: maxConnections }),
    single: postgres(url, { ...settings, ...ownSockets(), max: 1 }),
    // Each connection has sockets of its own, which refuse nothing: the pauses are those of `notifications`.
    listening: (options) =>
      postgres(url, { ...settings, ...ownSockets(), ...options, max: 1, idle_timeout: 0, max_lifetime: 0 }),
    pid: () => undefined,
    stop: async () => {},
  };
}

/** JSON goes in as text that was made once, and comes out as values. */
const JSON_TYPE: postgres.PostgresType<string> = {
  to: 114,
  from: [114],
  serialize: (text: string) => text,
  parse: (text: string) => JSON.parse(text),
};

/** Bytes from which on postgres.js sends what it has at once. */
const SENT_AT_ONCE = 1_024;

/**
 * An encoding so often that the first message of a connection is sent at once.
 *
 * When a connection is lost while a statement waits to be sent with the next turn of the event loop, postgres.js 3.4.9 forgets to wait, but
 * not that it waits: it never sends anything again that is shorter, the first message of the next connection neither, and every attempt to
 * connect ends with its time. A first message that is long enough takes what was left with it; the server closes that connection, and the
 * next one begins with nothing left. The last value of a name that is given several times counts.
 */
const ENCODINGS = Array.from({ length: Math.ceil(SENT_AT_ONCE / 'client_encoding_UTF8_'.length) }, () => 'UTF8').join(
  '\0client_encoding\0',
);

/** Of both kinds. */
const SHARED = {
  connection: { client_encoding: ENCODINGS },
  types: { json: JSON_TYPE },
  onnotice: () => {},
  // Lists travel as JSON, so the types of arrays are never asked for.
  fetch_types: false,
  // The pause between attempts is decided in one place, `retry`.
  backoff: () => 0,
};

/** What the embedded database knows the connection for the writes of runs by. */
const URGENT = { ...SHARED.connection, application_name: URGENT_APPLICATION };

/** An option of postgres.js that its types lack. */
function ownSockets(): object {
  return { socket: createSockets() };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
