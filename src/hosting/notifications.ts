/** How processes learn that a run of another one has new events: they ask its owner for notifications. */
import { interval, merge, Observable, Subscription, startWith, tap } from 'rxjs';
import type { Signals } from '../records/coordination.js';

/** Where processes publish which runs they follow; the message is the run. */
const FOLLOWED = 'runs-followed';

/** How often processes publish what they follow, and for how long it holds, in milliseconds. */
export const PUBLISH_EVERY_MS = 4_000;
export const BELIEVED_MS = 10_000;

/** How often a follower looks by itself: a message may be lost. */
const LOOK_EVERY_MS = 250;

/** Runs that others follow, as far as one process knows. */
export class RunNotifications {
  readonly #signals: Signals;
  readonly #now: () => number;
  /** Until when followers in other processes want notifications of a run of this process. */
  readonly #wanted = new Map<string, number>();
  readonly #subscription = new Subscription();
  readonly #notifying = new Set<string>();

  /** @param whenFollowed receives a run that is followed in some process, and returns whether it runs in this one. */
  constructor(signals: Signals, now: () => number, whenFollowed: (run: string) => boolean) {
    this.#signals = signals;
    this.#now = now;
    this.#subscription.add(
      signals.messages(FOLLOWED).subscribe((run) => {
        if (whenFollowed(run)) this.#wanted.set(run, now() + BELIEVED_MS);
      }),
    );
  }

  /** Emits when a run of another process may have something new. */
  of(run: string): Observable<unknown> {
    return new Observable((subscriber) => {
      const follows$ = interval(PUBLISH_EVERY_MS).pipe(
        startWith(0),
        tap(() => void this.#publish(FOLLOWED, run)),
      );
      const notifications$ = merge(this.#signals.messages(channelOf(run)), interval(LOOK_EVERY_MS));
      subscriber.add(follows$.subscribe());
      subscriber.add(notifications$.subscribe(subscriber));
    });
  }

  /** Notifies followers in other processes that a run has new events; one message at a time. */
  notify(run: string): void {
    const until = this.#wanted.get(run);
    if (until === undefined || this.#notifying.has(run)) return;
    if (until < this.#now()) {
      this.#wanted.delete(run);
      return;
    }
    this.#notifying.add(run);
    void this.#publish(channelOf(run), '').finally(() => this.#notifying.delete(run));
  }

  forget(run: string): void {
    this.#wanted.delete(run);
  }

  close(): void {
    this.#subscription.unsubscribe();
  }

  /** A message that is lost is made up for by looking. */
  async #publish(channel: string, message: string): Promise<void> {
    await this.#signals.publish(channel, message).catch(() => {});
  }
}

function channelOf(run: string): string {
  return `run:${run}`;
}
