/** The clients of a run, counted; and time around them: when a run is abandoned, a client too slow, a connection dead or idle. */
import {
  BehaviorSubject,
  map,
  NEVER,
  type Observable,
  Subscription,
  scan,
  startWith,
  switchMap,
  take,
  takeWhile,
  timer,
} from 'rxjs';

/**
 * Emits once when a run has been without clients for `graceMs` on end.
 *
 * ```text
 * clients$  1----0--1---0------
 * result    -----------------(x|)     (graceMs: 6)
 * ```
 *
 * @param clients$ how many clients there are, the present number first.
 */
export function abandoned(clients$: Observable<number>, graceMs: number): Observable<'abandoned'> {
  return clients$.pipe(
    map((clients) => clients > 0),
    switchMap((isWatched) => (isWatched ? NEVER : timer(graceMs))),
    take(1),
    map(() => 'abandoned' as const),
  );
}

/**
 * Emits once when a client has taken nothing for `slowMs` on end.
 *
 * ```text
 * ready$    t--f--t--f------
 * result    ------------(x|)     (slowMs: 3)
 * ```
 */
export function tooSlow(ready$: Observable<boolean>, slowMs: number): Observable<'slow'> {
  return ready$.pipe(
    switchMap((isReady) => (isReady ? NEVER : timer(slowMs))),
    take(1),
    map(() => 'slow' as const),
  );
}

/** What {@link heartbeat} asks for. */
export type Beat = 'ping' | 'lost';

/**
 * Says when to ping a client, and when it is lost: after two pings in a row without any sign of life.
 *
 * ```text
 * alive$    --a--------------
 * result    ----p---p---(l|)     (everyMs: 4)
 * ```
 */
export function heartbeat(alive$: Observable<unknown>, everyMs: number): Observable<Beat> {
  return alive$.pipe(
    startWith(undefined),
    // Each sign of life forgets the pings that were missed; the rhythm starts anew.
    switchMap(() =>
      timer(everyMs, everyMs).pipe(
        scan((missed) => missed + 1, 0),
        map((missed): Beat => (missed <= MISSED_PINGS ? 'ping' : 'lost')),
      ),
    ),
    takeWhile((beat) => beat === 'ping', true),
  );
}

const MISSED_PINGS = 2;

/**
 * Emits once when nothing has been going on for `idleMs` on end.
 *
 * ```text
 * busy$     f--t--f---f-----
 * result    -------------(x|)     (idleMs: 3)
 * ```
 *
 * @param busy$ whether something is going on; a repeated `false` counts as activity.
 */
export function idle(busy$: Observable<boolean>, idleMs: number): Observable<'idle'> {
  return busy$.pipe(
    switchMap((isBusy) => (isBusy ? NEVER : timer(idleMs))),
    take(1),
    map(() => 'idle' as const),
  );
}

/** Counts the clients of one run. */
export class ClientPresence {
  readonly #clients = new BehaviorSubject(0);
  #visit = Subscription.EMPTY;

  /** Counts a client until the subscription is ended. */
  attach(): Subscription {
    this.#clients.next(this.#clients.value + 1);
    return new Subscription(() => this.#clients.next(this.#clients.value - 1));
  }

  /** Counts clients of another process for `forMs`, or until they report again. */
  visit(forMs: number): void {
    const before = this.#visit;
    const presence = this.attach();
    this.#visit = timer(forMs).subscribe(() => presence.unsubscribe());
    this.#visit.add(presence);
    before.unsubscribe();
  }

  /** Emits once when there was no client for `graceMs` on end; see {@link abandoned}. */
  abandoned(graceMs: number): Observable<'abandoned'> {
    return abandoned(this.#clients, graceMs);
  }

  /** Forgets clients of other processes. */
  close(): void {
    this.#visit.unsubscribe();
  }
}
