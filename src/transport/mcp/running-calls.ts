/** Whose call it is: a cancellation comes with a request of its own. */
export interface CallAddress {
  readonly tenant: string;
  /** What was given to the client when it introduced itself; nothing is kept under it but calls that are going on. */
  readonly session: string;
  readonly request: string | number;
}

/** Calls that are going on and can be cancelled by another request. */
export class RunningCalls {
  readonly #calls = new Map<string, AbortController>();

  /** Runs a call with a signal that {@link cancel} aborts. */
  async run<T>(address: CallAddress, work: (abort: AbortController) => Promise<T>): Promise<T> {
    const key = keyOf(address);
    const abort = new AbortController();
    this.#calls.set(key, abort);
    try {
      return await work(abort);
    } finally {
      // A client that uses a number twice has put another call in this place.
      if (this.#calls.get(key) === abort) this.#calls.delete(key);
    }
  }

  /** Does nothing when there is no such call. */
  cancel(address: CallAddress): void {
    this.#calls.get(keyOf(address))?.abort();
  }
}

function keyOf({ tenant, session, request }: CallAddress): string {
  return JSON.stringify([tenant, session, request]);
}
