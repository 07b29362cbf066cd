/** How processes learn that a run of another one has something new: they ask its owner to be told. */
import { interval, merge, Observable, Subscription, startWith, tap } from 'rxjs';
import type { Signals } from '../records/coordination.js';

/** Where processes say which runs they follow; the message is the run. */
const FOLLOWED = 'runs-followed';

/** How often they say it, and for how long it is believed. */
const SAY_EVERY_MS = 4_000;
export const BELIEVED_MS = 10_000;

/** How often a follower looks by itself: a message may be lost. */
const LOOK_EVERY_MS = 250;

/** Runs that others follow, as far as one process can tell. */
export class RunNotifications {
  readonly #signals: Signals;
  readonly #now: () => number;
  /** Until when somebody elsewhere wants to hear of a run of this process. */
  readonly #wanted = new Map<string, number>();
  readonly #subscription = new Subscription();
  readonly #telling = new Set<string>();

  /** @param whenFollowed hears of a run that is followed in some process, and tells whether it is at work in this one. */
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
      const said$ = interval(SAY_EVERY_MS).pipe(
        startWith(0),
        tap(() => void this.#publish(FOLLOWED, run)),
      );
      const told$ = merge(this.#signals.messages(channelOf(run)), interval(LOOK_EVERY_MS));
      subscriber.add(said$.subscribe());
      subscriber.add(told$.subscribe(subscriber));
    });
  }

  /** Tells whoever follows it elsewhere that a run has something new; one message at a time. */
  tell(run: string): void {
    const until = this.#wanted.get(run);
    if (until === undefined || this.#telling.has(run)) return;
    if (until < this.#now()) {
      this.#wanted.delete(run);
      return;
    }
    this.#telling.add(run);
    void this.#publish(channelOf(run), '').finally(() => this.#telling.delete(run));
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
