import { BehaviorSubject, Subscription } from 'rxjs';
import type { Host } from '../../hosting/host.js';
import { tooSlow } from '../../hosting/liveness.js';
import { eventFrame, WINDOW } from './server-frames.js';

/** What a {@link RunFollower} needs of its connection. */
export interface FollowerOptions {
  readonly host: Host;
  readonly tenant: string;
  readonly run: string;
  /** Number of the last event that the client has. */
  readonly after: number;
  /** A client that takes nothing for so many milliseconds is too slow. */
  readonly slowMs: number;
  /** Whether the socket takes more. */
  readonly canSend: () => boolean;
  readonly send: (text: string) => void;
  /** Called once after the last event. */
  readonly whenDone: (lastSeq: number) => void;
  /** Called once when following is not possible any more. */
  readonly whenFailed: (error: unknown, lastSeq: number) => void;
  /** Called once when the client is too slow. */
  readonly whenSlow: (lastSeq: number) => void;
}

/** One run on one connection: sends its events as fast as the socket and the client's acknowledgements allow. */
export class RunFollower {
  readonly #options: FollowerOptions;
  readonly #isReady = new BehaviorSubject(true);
  readonly #subscription = new Subscription();
  #lastSeq: number;
  /** Undefined for a client that never acknowledges: then only the socket counts. */
  #acknowledged: number | undefined = undefined;

  constructor(options: FollowerOptions) {
    this.#options = options;
    this.#lastSeq = options.after;
  }

  start(): void {
    const { host, tenant, run, after, slowMs, whenSlow, whenDone, whenFailed } = this.#options;
    const ready$ = this.#isReady.asObservable();
    this.#subscription.add(tooSlow(ready$, slowMs).subscribe(() => whenSlow(this.#lastSeq)));
    this.refresh();
    this.#subscription.add(
      host.follow(tenant, run, { after, ready$ }).subscribe({
        next: (frame) => {
          this.#lastSeq = frame.seq;
          this.#options.send(eventFrame(run, frame));
          this.refresh();
        },
        error: (error: unknown) => {
          this.stop();
          whenFailed(error, this.#lastSeq);
        },
        complete: () => {
          this.stop();
          whenDone(this.#lastSeq);
        },
      }),
    );
  }

  /** Looks again whether the client takes more. */
  refresh(): void {
    const inFlight = this.#acknowledged === undefined ? 0 : this.#lastSeq - this.#acknowledged;
    const isReady = inFlight < WINDOW && this.#options.canSend();
    if (isReady !== this.#isReady.value) this.#isReady.next(isReady);
  }

  /** The client has everything up to `seq`. */
  acknowledge(seq: number): void {
    this.#acknowledged = Math.min(Math.max(seq, this.#acknowledged ?? 0), this.#lastSeq);
    this.refresh();
  }

  stop(): void {
    this.#subscription.unsubscribe();
  }
}
