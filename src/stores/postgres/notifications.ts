import { catchError, defer, Observable, tap, throwError } from 'rxjs';
import { retryWith } from '../../operators/retry-with.js';
import type { Notified, Sql } from './database.js';
import { isUnreachable, type RetryPolicy, retryDelayMs, toStoreError } from './failures.js';

/** What a connection that listens does with what it receives. */
export interface ListeningConnection {
  readonly onnotify: (channel: string, payload: string) => void;
  readonly onclose: () => void;
}

export interface NotificationsOptions extends RetryPolicy {
  /** Makes a pool of one connection, which is connected with its first statement. */
  readonly connect: (listening: ListeningConnection) => Sql;
  /** The channel of Postgres; a name without quotes. */
  readonly channel: string;
}

/**
 * Notifications of a channel of Postgres, until it is unsubscribed; a connection that is lost is replaced by a new one, for as long as that takes.
 *
 * ```text
 * connection 1  --L--a--x                   (L: it listens, x: it is lost)
 * delay                 ---|
 * connection 2             --x              (the server starts)
 * delay                       -----|
 * connection 3                     --L--b-
 * result        --L--a---------------L--b-
 * ```
 *
 * What is sent while no connection listens is not received; a second `listening` says that this may have happened.
 *
 * The listening of postgres.js 3.4.9 is not used. Its connection remembers the statement that it was lost with: when the server then refuses
 * one connection and takes the next one, the refusal is given to the new statement, which ends the listening for good.
 *
 * @throws EngineError STORE_UNAVAILABLE when no connection could be made at first for `patienceMs`, INTERNAL when the server refused to
 * listen. Once it has listened it does not fail.
 */
export function notifications({ connect, channel, patienceMs, onWait }: NotificationsOptions): Observable<Notified> {
  return defer(() => {
    const giveUpAt = Date.now() + patienceMs;
    let hasListened = false;
    /** Failures since a connection listened. */
    let failures = 0;
    return oneConnection(connect, channel).pipe(
      tap(({ kind }) => {
        if (kind !== 'listening') return;
        hasListened = true;
        failures = 0;
      }),
      retryWith({
        afterEmission: true,
        isRetryable: (error) => hasListened || (isUnreachable(error) && Date.now() <= giveUpAt),
        delayMs: () => retryDelayMs(failures),
        onRetry: (error) => {
          failures += 1;
          if (failures === 1) onWait(error);
        },
      }),
      catchError((error: unknown) => throwError(() => toStoreError(error))),
    );
  });
}

function oneConnection(connect: NotificationsOptions['connect'], channel: string): Observable<Notified> {
  return new Observable((subscriber) => {
    const sql = connect({
      onnotify: (name, payload) => {
        if (name === channel) subscriber.next({ kind: 'notification', payload });
      },
      onclose: () => subscriber.error(lost()),
    });
    sql
      .unsafe(`listen "${channel}"`)
      .then(() => subscriber.next({ kind: 'listening' }))
      .catch((error: unknown) => subscriber.error(error));
    return () => {
      // Resolves, also when the server is away; the socket is gone a moment later.
      void sql.end({ timeout: 0 });
    };
  });
}

/** As postgres.js says it of a statement that waits. */
function lost(): Error {
  return Object.assign(new Error('The connection that listens to Postgres was lost.'), { code: 'CONNECTION_CLOSED' });
}
