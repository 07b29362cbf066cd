import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import postgres from 'postgres';
import { EngineError } from '../../errors.js';
import type { DatabaseLog } from './database-log.js';
import { startEmbedded } from './embedded/start-embedded.js';
import { type Patience, patiently } from './failures.js';
import { migrate } from './migrate.js';

/** A pool of connections, as postgres.js gives it. */
export type Sql = postgres.Sql<{ json: string }>;

/** A pool or a transaction: what makes statements. */
export type Statements = postgres.ISql<{ json: string }>;

/** Statements to run; may be run again. */
export type Work<T> = (sql: Sql) => PromiseLike<T>;

export interface DatabaseOptions {
  /** A Postgres server, `postgres://user:password@host:port/name`. @default the embedded database in `dataDir` */
  readonly url?: string | undefined;
  /** Folder of the embedded database, made when it is not there. */
  readonly dataDir: string;
  readonly log: DatabaseLog;
  /** File with a prepared database, see `scripts/prepare-database.ts`. @default the one in the package, if it has one */
  readonly image?: string | undefined;
  /** Connections to a server. @default 10 */
  readonly maxConnections?: number;
  /** How long to try again while the database cannot be reached. @default 15,000 ms */
  readonly patienceMs?: number;
}

/** A database whose tables are as this version of Runnel wants them. */
export interface Database {
  /** `embedded`: nobody else uses it. `server`: other processes may. */
  readonly kind: 'embedded' | 'server';
  /**
   * Runs work that does no harm when it is done twice: once more after a connection was lost, for as long as patience lasts.
   *
   * @throws EngineError INTERNAL, retryable when the database cannot be reached; the error underneath is its cause.
   */
  repeat<T>(work: Work<T>): Promise<T>;
  /** Runs work at most once: tries again only what certainly did not reach the database. @throws as `repeat` */
  once<T>(work: Work<T>): Promise<T>;
  /** The pool itself, for what is no single piece of work, such as listening. */
  readonly sql: Sql;
  /** Process id of the embedded database. */
  readonly pid: number | undefined;
  /** Lets running work end, then closes. Closing twice does nothing. */
  close(): Promise<void>;
}

/** Part of the package, made by its build. */
const IMAGE = fileURLToPath(new URL('./embedded/database.image', import.meta.url));
const CLOSE_SECONDS = 5;
/** No vacuum process runs in the embedded database. */
const VACUUM_EVERY_MS = 15 * 60_000;

/**
 * Opens the database: a server when `url` is given, otherwise the embedded one, with the same statements for both.
 *
 * @throws EngineError CONFLICT when another process uses `dataDir`, CONFIG_INVALID when the URL is none or the database was written
 * by a newer Runnel, INTERNAL when it cannot be opened.
 */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const { url, log, patienceMs = 15_000 } = options;
  const { kind, sql, pid, stop } = url === undefined ? await openEmbedded(options) : openServer(url, options);
  const patience: Patience = {
    patienceMs,
    onWait: (error) => log.warn({ err: error }, 'the database cannot be reached; trying again'),
  };
  let closed: Promise<void> | undefined;
  const database: Database = {
    kind,
    sql,
    repeat: (work) => patiently(() => work(sql), { ...patience, afterLoss: true }),
    once: (work) => patiently(() => work(sql), { ...patience, afterLoss: false }),
    get pid() {
      return pid();
    },
    close() {
      closed ??= sql.end({ timeout: CLOSE_SECONDS }).then(stop);
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
  readonly pid: () => number | undefined;
  readonly stop: () => Promise<void>;
}

async function openEmbedded({ dataDir, log, image = IMAGE }: DatabaseOptions): Promise<Opened> {
  const server = await startEmbedded({ folder: dataDir, image: existsSync(image) ? image : undefined, log });
  const sql = postgres({
    ...SHARED,
    path: server.path,
    host: 'localhost',
    user: 'postgres',
    database: 'postgres',
    max: 4,
    // Its single session would keep the prepared statements of every connection that ever was.
    max_lifetime: null,
  });
  const vacuum = setInterval(() => {
    sql`vacuum`.catch((error: unknown) => log.warn({ err: error }, 'the database could not be vacuumed'));
  }, VACUUM_EVERY_MS);
  vacuum.unref();
  return {
    kind: 'embedded',
    sql,
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
  const sql = postgres(url, {
    ...SHARED,
    max: maxConnections,
    connect_timeout: 10,
    connection: { application_name: 'runnel' },
  });
  return { kind: 'server', sql, pid: () => undefined, stop: async () => {} };
}

/** JSON goes in as text that was made once, and comes out as values. */
const JSON_TYPE: postgres.PostgresType<string> = {
  to: 114,
  from: [114],
  serialize: (text: string) => text,
  parse: (text: string) => JSON.parse(text),
};

/** Of both kinds. */
const SHARED = {
  types: { json: JSON_TYPE },
  onnotice: () => {},
  // Lists travel as JSON, so the types of arrays are never asked for.
  fetch_types: false,
  // The pause between attempts is decided in one place, `patiently`.
  backoff: () => 0,
};
