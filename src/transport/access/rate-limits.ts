import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible';
import { EngineError } from '../../errors.js';
import type { CreateCounter, EventCounter } from '../../records/coordination.js';

/** Counters of this process. */
export const createMemoryCounter: CreateCounter = (name, spanSeconds) => {
  // Who counts decides what is too much, for that differs from key to key.
  const limiter = new RateLimiterMemory({
    keyPrefix: name,
    points: Number.MAX_SAFE_INTEGER,
    duration: spanSeconds,
  });
  return {
    async count(key) {
      const { consumedPoints, msBeforeNext }: RateLimiterRes = await limiter.consume(key);
      return { count: consumedPoints, resetMs: msBeforeNext };
    },
  };
};

/** Milliseconds for which `key` has to wait before it tries again; undefined when it may pass now. */
export type RateLimit = (key: string, most: number) => Promise<number | undefined>;

/** Limits how often something may happen; a counter that fails refuses. */
export function createRateLimit(counter: EventCounter, whenBroken: (error: unknown) => void): RateLimit {
  return async (key, most) => {
    try {
      const { count, resetMs } = await counter.count(key);
      return count <= most ? undefined : Math.max(1, resetMs);
    } catch (error) {
      whenBroken(error);
      return RETRY_MS;
    }
  };
}

/** When to try again after the counter failed. */
const RETRY_MS = 1_000;

/** The refusal of a caller that is too fast. */
export function tooManyRequests(most: number): EngineError {
  const message = `Too many requests: ${most} a minute are allowed for one key. Try again later.`;
  return new EngineError('LIMIT_REACHED', message, { details: { httpStatus: 429 } });
}

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
