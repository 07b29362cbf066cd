/** Lets so many things pass per span, in bursts of at most as many. */
export class TokenBucket {
  readonly #capacity: number;
  readonly #spanMs: number;
  readonly #now: () => number;
  #tokens: number;
  #filledAt: number;

  constructor(capacity: number, spanMs: number, now: () => number) {
    this.#capacity = capacity;
    this.#spanMs = spanMs;
    this.#now = now;
    this.#tokens = capacity;
    this.#filledAt = now();
  }

  /** Whether one more may pass now. */
  take(): boolean {
    const now = this.#now();
    // A clock that is set back must not drain the bucket.
    const elapsedMs = Math.max(0, now - this.#filledAt);
    this.#tokens = Math.min(this.#capacity, this.#tokens + (elapsedMs * this.#capacity) / this.#spanMs);
    this.#filledAt = now;
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }
}
