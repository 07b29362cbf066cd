import type postgres from 'postgres';
import type { Observable } from 'rxjs';

/** A pool of connections, as postgres.js gives it. */
export type Sql = postgres.Sql<{ json: string }>;

/** A pool or a transaction: what makes statements. */
export type Statements = postgres.ISql<{ json: string }>;

/** A piece of a statement. */
export type Fragment = postgres.Fragment;

/** Statements to run; may be run again. */
export type Work<T> = (sql: Sql) => PromiseLike<T>;

/** What is heard of a channel: `listening` when a connection has begun to listen, then the payload of each notification. */
export type Notified = { readonly kind: 'listening' } | { readonly kind: 'notification'; readonly payload: string };

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
   * As `repeat`, for work that nothing waits for. The embedded database does one thing at a time, so there it begins when no `repeatAlone` is under way or
   * soon expected, or after 20 ms; small pieces keep the others quick.
   */
  repeatBehind<T>(work: Work<T>): Promise<T>;
  /**
   * As `repeat`, on a connection of its own, one piece of work after another: a statement that is long to plan is planned there once, and
   * not for each connection of the pool.
   */
  repeatAlone<T>(work: Work<T>): Promise<T>;
  /** Runs work at most once: tries again only what certainly did not reach the database. @throws as `repeat` */
  once<T>(work: Work<T>): Promise<T>;
  /** The pool itself, for tools that make statements once. */
  readonly sql: Sql;
  /**
   * What other processes notify on a channel, as `notifications.ts` describes, until the database is closed; nothing of the embedded one, which has no
   * other processes.
   */
  notifications(channel: string): Observable<Notified>;
  /** Process id of the embedded database. */
  readonly pid: number | undefined;
  /** Lets running work end, then closes. Closing twice does nothing. */
  close(): Promise<void>;
}
