import type postgres from 'postgres';

/** A pool of connections, as postgres.js gives it. */
export type Sql = postgres.Sql<{ json: string }>;

/** A pool or a transaction: what makes statements. */
export type Statements = postgres.ISql<{ json: string }>;

/** A piece of a statement. */
export type Fragment = postgres.Fragment;

/** Statements to run; may be run again. */
export type Work<T> = (sql: Sql) => PromiseLike<T>;

/** A database whose tables have the form that this version of Runnel needs. */
export interface Database {
  /** `embedded`: only this process uses it. `server`: other processes may. */
  readonly kind: 'embedded' | 'server';
  /**
   * Runs work that does no harm when it is done twice: once more after a connection was lost, for as long as patience lasts.
   *
   * @throws EngineError STORE_UNAVAILABLE, retryable when the database cannot be reached; the error underneath is its cause.
   */
  repeat<T>(work: Work<T>): Promise<T>;
  /**
   * As `repeat`, on a connection of its own, one piece of work after another: a statement that is long to plan is planned there once, and
   * not for each connection of the pool.
   */
  repeatAlone<T>(work: Work<T>): Promise<T>;
  /** Runs work at most once: tries again only what certainly did not reach the database. @throws as `repeat` */
  once<T>(work: Work<T>): Promise<T>;
  /** The pool itself, for what is no single piece of work, such as listening. */
  readonly sql: Sql;
  /** Process id of the embedded database. */
  readonly pid: number | undefined;
  /** Lets running work end, then closes. Closing twice does nothing. */
  close(): Promise<void>;
}
