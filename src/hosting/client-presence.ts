/** Which clients a run has, here and in other processes. */
import { BehaviorSubject, type Observable, Subscription, timer } from 'rxjs';
import { abandoned } from './liveness.js';

/** Counts the clients of one run. */
export class ClientPresence {
  readonly #clients = new BehaviorSubject(0);
  #visit = Subscription.EMPTY;

  /** Counts a client until the subscription is ended. */
  attach(): Subscription {
    this.#clients.next(this.#clients.value + 1);
    return new Subscription(() => this.#clients.next(this.#clients.value - 1));
  }

  /** Counts clients of another process for `forMs`, or until they say again that they are there. */
  visit(forMs: number): void {
    const before = this.#visit;
    const presence = this.attach();
    this.#visit = timer(forMs).subscribe(() => presence.unsubscribe());
    this.#visit.add(presence);
    before.unsubscribe();
  }

  /** Emits once when nobody has been there for `graceMs` on end; see {@link abandoned}. */
  abandoned(graceMs: number): Observable<'abandoned'> {
    return abandoned(this.#clients, graceMs);
  }

  /** Forgets clients of other processes. */
  close(): void {
    this.#visit.unsubscribe();
  }
}
