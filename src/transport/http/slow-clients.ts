/** Ends connections of clients that send their requests, or take their answers, so slowly that they only hold memory and sockets. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { PassingValues } from '../../passing-values.js';

/** What a client has to send or take at least, in bytes a second, as a mean over the time that it is given. */
const LEAST_RATE = 8 * 1024;

/** How often is looked within the time of a client. */
const LOOKS = 4;

export interface SlowClientsOptions {
  /** Milliseconds that a client may do nothing at all. */
  readonly slowMs: number;
  /** Milliseconds of a clock that only goes forward. */
  readonly now: () => number;
  /** Receives what is cut off, and why. */
  readonly whenCut: (about: { readonly path: string; readonly why: string }) => void;
}

interface Watched {
  place: number;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Since when the body is waited for, and the bytes that had come by then. */
  sending: { readonly at: number; readonly received: number } | undefined;
  /** Since when an answer is waited for to be taken, the bytes that had been taken by then, and those that were to follow. */
  taking: { readonly at: number; readonly taken: number; readonly owed: number } | undefined;
}

/**
 * Watches the requests that are under way, on every route.
 *
 * A body has to come at {@link LEAST_RATE} in the mean of each span of `slowMs`, while the server reads it. What an answer has in memory has to be taken
 * within `slowMs` and the time that it takes at this rate, and something of it within `slowMs`.
 */
export class SlowClients {
  readonly #options: SlowClientsOptions;
  readonly #watched = new PassingValues<Watched>();
  #timer: NodeJS.Timeout | undefined = undefined;
  #lookedAt = 0;

  constructor(options: SlowClientsOptions) {
    this.#options = options;
  }

  /** Watches a request until what it gives is called, at the latest when the connection is closed. */
  watch(request: IncomingMessage, response: ServerResponse): () => void {
    const watched: Watched = { place: -1, request, response, sending: undefined, taking: undefined };
    watched.place = this.#watched.add(watched);
    if (this.#timer === undefined) {
      this.#lookedAt = this.#options.now();
      this.#timer = setInterval(() => this.#look(), this.#options.slowMs / LOOKS).unref();
    }
    return () => this.#watched.remove(watched.place, watched);
  }

  #look(): void {
    const { slowMs, now: clock, whenCut } = this.#options;
    const now = clock();
    // What came while this process was busy is not read yet; that is not the client's fault.
    const wasBusy = now - this.#lookedAt > (2 * slowMs) / LOOKS;
    this.#lookedAt = now;
    // Not with the last request: the next one may come at once.
    if (this.#watched.size === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
    for (const watched of this.#watched.list()) {
      if (wasBusy) watched.sending = watched.taking = undefined;
      const why = this.#isSilent(watched, now)
        ? 'the request does not come'
        : this.#isDeaf(watched, now)
          ? 'the answer is not taken'
          : undefined;
      if (why === undefined) continue;
      this.#watched.remove(watched.place, watched);
      whenCut({ path: pathOf(watched.request), why });
      watched.request.socket.destroy();
    }
  }

  #isSilent(watched: Watched, now: number): boolean {
    const { request, sending } = watched;
    const { slowMs } = this.#options;
    const received = request.socket.bytesRead;
    // What came and is not read yet is the server's to read.
    if (request.complete || request.readableLength > 0) {
      watched.sending = undefined;
      return false;
    }
    if (sending !== undefined && now - sending.at < slowMs) return false;
    watched.sending = { at: now, received };
    return sending !== undefined && received - sending.received < ((now - sending.at) * LEAST_RATE) / 1000;
  }

  #isDeaf(watched: Watched, now: number): boolean {
    const { request, response, taking } = watched;
    const { slowMs } = this.#options;
    const { socket } = request;
    const owed = response.writableLength;
    const taken = socket.bytesWritten - socket.writableLength;
    if (owed === 0) {
      if (taking !== undefined) socket.setTimeout(0);
      watched.taking = undefined;
      return false;
    }
    if (taking === undefined || taken >= taking.taken + taking.owed) {
      // Node ends a socket on which nothing moves; what moves within one large write is known to it alone.
      if (taking === undefined) socket.setTimeout(slowMs);
      watched.taking = { at: now, taken, owed };
      return false;
    }
    return now - taking.at > slowMs + (taking.owed * 1000) / LEAST_RATE;
  }
}

function pathOf({ url = '' }: IncomingMessage): string {
  return url.split('?', 1)[0] ?? '';
}
