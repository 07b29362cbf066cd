/** The clients of a run, counted; and time around them: when a run is abandoned, a client too slow, a connection dead or idle. */
import { BehaviorSubject, map, Observable, Subscription, scan, startWith, switchMap, takeWhile, timer } from 'rxjs';

/**
 * Emits once when `active$` has been false for `ms` on end; a repeated `false` starts the time anew.
 *
 * ```text
 * active$   t--f--t--f------
 * result    ------------(x|)     (ms: 3)
 * ```
 */
export function quietFor(active$: Observable<boolean>, ms: number): Observable<unknown> {
  // By hand: there is one for each run and each client, and nearly all of them are active from beginning to end.
  return new Observable((subscriber) => {
    let quiet = Subscription.EMPTY;
    const emit = (): void => {
      subscriber.next(0);
      subscriber.complete();
    };
    const next = (isActive: boolean): void => {
      quiet.unsubscribe();
      if (!isActive && !subscriber.closed) quiet = timer(ms).subscribe(emit);
    };
    subscriber.add(() => quiet.unsubscribe());
    subscriber.add(active$.subscribe({ next, error: (error: unknown) => subscriber.error(error) }));
  });
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

  /** Emits once when there was no client for `graceMs` on end. */
  abandoned(graceMs: number): Observable<unknown> {
    return quietFor(this.#clients.pipe(map((clients) => clients > 0)), graceMs);
  }

  /** Forgets clients of other processes. */
  close(): void {
    this.#visit.unsubscribe();
  }
}
