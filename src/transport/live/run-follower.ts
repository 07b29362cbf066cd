import { BehaviorSubject, Subscription } from 'rxjs';
import type { Host } from '../../hosting/host.js';
import { quietFor } from '../../hosting/liveness.js';
import { eventFrame, type LiveView, WINDOW } from './server-frames.js';

/** What a {@link RunFollower} needs of its connection. */
export interface FollowerOptions {
  readonly host: Host;
  readonly tenant: string;
  readonly run: string;
  /** Number of the last event that the client has. */
  readonly after: number;
  readonly view: LiveView;
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
  /** Numbers of the events that were sent and not acknowledged, at most {@link WINDOW}, the newest. */
  #inFlight: number[] = [];
  /** For a client that never acknowledges only the socket counts. */
  #hasAcknowledged = false;

  constructor(options: FollowerOptions) {
    this.#options = options;
    this.#lastSeq = options.after;
  }

  start(): void {
    const { host, tenant, run, after, view, slowMs, whenSlow, whenDone, whenFailed } = this.#options;
    const ready$ = this.#isReady.asObservable();
    this.#subscription.add(quietFor(ready$, slowMs).subscribe(() => whenSlow(this.#lastSeq)));
    this.refresh();
    this.#subscription.add(
      host.follow(tenant, run, { after, ready$, isExact: view === 'engine' }).subscribe({
        next: (frame) => {
          this.#lastSeq = frame.seq;
          const text = eventFrame(run, frame, view);
          if (text === undefined) return;
          this.#inFlight.push(frame.seq);
          // Rarely, so that a client that never acknowledges costs nothing.
          if (this.#inFlight.length >= 2 * WINDOW) this.#inFlight = this.#inFlight.slice(-WINDOW);
          this.#options.send(text);
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
    const isBehind = this.#hasAcknowledged && this.#inFlight.length >= WINDOW;
    const isReady = !isBehind && this.#options.canSend();
    if (isReady !== this.#isReady.value) this.#isReady.next(isReady);
  }

  /** The client has everything up to `seq`. */
  acknowledge(seq: number): void {
    this.#hasAcknowledged = true;
    this.#inFlight = this.#inFlight.filter((sent) => sent > seq);
    this.refresh();
  }

  stop(): void {
    this.#subscription.unsubscribe();
  }
}
