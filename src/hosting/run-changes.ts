/** How lists of runs learn that they are out of date, in whatever process something has changed. */
import {
  catchError,
  debounceTime,
  EMPTY,
  exhaustMap,
  filter,
  from,
  groupBy,
  ignoreElements,
  interval,
  last,
  type MonoTypeOperatorFunction,
  map,
  merge,
  mergeMap,
  Observable,
  Subject,
  type Subscription,
  startWith,
  takeUntil,
  throttle,
  timer,
} from 'rxjs';
import type { Signals } from '../records/coordination.js';
import { createId } from './ids.js';
import { BELIEVED_MS, PUBLISH_EVERY_MS } from './notifications.js';

/** Where processes publish whose runs they watch. */
const WATCHED = 'runs-watched';

/** Changes that come faster are one, in milliseconds. */
const PACE_MS = 500;

/** When a watcher is told whether there was anything or not: by then other processes know of it. In milliseconds. */
const SETTLED_MS = 1_000;

/** Changes of runs by tenant. While no list is open nothing is done or sent for them. */
export class RunChanges {
  readonly #signals: Signals;
  /** Names this process among those that share the signals. */
  readonly #self = createId();
  /** Of each tenant that is watched, here or elsewhere. */
  readonly #watched = new Map<string, Subject<void>>();
  /** Completes what is grouped: groups that are only left keep their timers. */
  readonly #closed = new Subject<void>();
  readonly #subscription: Subscription;

  constructor(signals: Signals) {
    this.#signals = signals;
    this.#subscription = this.#publishing().subscribe();
  }

  /** Says that a run of a tenant has begun, ended, begun to wait or was deleted. */
  note(tenant: string): void {
    this.#watched.get(tenant)?.next();
  }

  /**
   * Emits when runs of a tenant may have changed, at most twice a second; in any case a second after the beginning, for what happened before
   * other processes knew of the watcher. A message of theirs may be lost, so a list looks by itself once in a while.
   *
   * ```text
   * note      -aaaaaaa-------------b---
   * result    -x----x----(x)-------x---    (the one in brackets: a second after the beginning)
   * ```
   */
  of(tenant: string): Observable<void> {
    const elsewhere$ = this.#signals.messages(channelOf(tenant)).pipe(filter((origin) => origin !== this.#self));
    const settled$ = timer(SETTLED_MS);
    const said$ = interval(PUBLISH_EVERY_MS).pipe(
      startWith(0),
      exhaustMap(() => this.#publish(WATCHED, `${this.#self}:${tenant}`)),
    );
    return new Observable((subscriber) => {
      // The changes first: what happens while the others hear of it is not missed.
      const changes$ = merge(this.#here(tenant), elsewhere$, settled$).pipe(paced());
      subscriber.add(changes$.subscribe({ next: () => subscriber.next(), error: (error) => subscriber.error(error) }));
      subscriber.add(said$.subscribe());
    });
  }

  /** Ends what is sent to other processes. */
  close(): void {
    this.#closed.next();
    this.#subscription.unsubscribe();
  }

  /** Changes in this process. */
  #here(tenant: string): Observable<void> {
    return new Observable((subscriber) => {
      const changes = this.#watched.get(tenant) ?? new Subject<void>();
      this.#watched.set(tenant, changes);
      changes.subscribe(subscriber);
      subscriber.add(() => {
        if (!changes.observed) this.#watched.delete(tenant);
      });
    });
  }

  /** Sends the changes of those tenants on that another process watches, for as long as it says so. */
  #publishing(): Observable<never> {
    return this.#signals.messages(WATCHED).pipe(
      map((message) => partsOf(message)),
      filter(({ origin }) => origin !== this.#self),
      takeUntil(this.#closed),
      groupBy(({ tenant }) => tenant, { duration: (said$) => said$.pipe(debounceTime(BELIEVED_MS)) }),
      mergeMap((said$) =>
        this.#here(said$.key).pipe(
          paced(),
          takeUntil(said$.pipe(last(undefined, null))),
          exhaustMap(() => this.#publish(channelOf(said$.key), this.#self)),
        ),
      ),
    );
  }

  /** A message that cannot be sent is made up for by those who look by themselves. */
  #publish(channel: string, message: string): Observable<never> {
    return from(this.#signals.publish(channel, message)).pipe(
      ignoreElements(),
      catchError(() => EMPTY),
    );
  }
}

function paced<T>(): MonoTypeOperatorFunction<T> {
  return throttle<T>(() => timer(PACE_MS), { leading: true, trailing: true });
}

/** What `WATCHED` carries; an id has no colon. */
function partsOf(message: string): { readonly origin: string; readonly tenant: string } {
  const at = message.indexOf(':');
  return { origin: message.slice(0, at), tenant: message.slice(at + 1) };
}

function channelOf(tenant: string): string {
  return `runs-changed:${tenant}`;
}
