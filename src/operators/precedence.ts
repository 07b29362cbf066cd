import { requireWhole } from './invalid-option.js';

/** Milliseconds that work waits at most. */
const MAX_WAIT_MS = 20;
/** How much of what is expected the newest pause makes. */
const NEWEST = 1 / 4;

/** How long work waits; for tests. */
export interface PrecedenceOptions {
  /** Milliseconds after which work begins whatever is under way. @default 20 */
  readonly maxWaitMs?: number;
  /** Milliseconds, of which only differences matter. @default `performance.now` */
  readonly now?: () => number;
}

/**
 * Lets work that is waited for go before work that is not, where both share something that does one thing at a time.
 *
 * ```text
 * first     (a-----)         (b-----)         (c-----)
 * asked      d e f g
 * behind            (d)(e)           (f)(g)
 * ```
 *
 * Work behind begins when nothing that goes first is under way, one piece at a time, first come, first served. Where what goes first comes again and again, a
 * piece begins in the first half of the pause that is to be expected, so that the next that goes first finds nothing under way; the pause is the mean of the last
 * ones, the newest of which counts for a quarter. A piece that has waited for `maxWaitMs` begins in any case, so it goes on, slowly, where there is always
 * something that goes first. What has begun is not interrupted: pieces should be small.
 */
export class Precedence {
  readonly #maxWaitMs: number;
  readonly #now: () => number;
  /** Each lets one piece begin. */
  readonly #line = new Set<() => void>();
  #first = 0;
  #behind = 0;
  /** When the last work that went first ended. */
  #endedAt = Number.NEGATIVE_INFINITY;
  /** Milliseconds that are expected from the end of what goes first to its next beginning; of twice the longest wait, all of the pause is free. */
  #pause: number;

  /** @throws EngineError OPTION_INVALID for `maxWaitMs` that is no whole number of at least 1 */
  constructor({ maxWaitMs = MAX_WAIT_MS, now = () => performance.now() }: PrecedenceOptions = {}) {
    requireWhole('Precedence', 'maxWaitMs', maxWaitMs, 1);
    this.#maxWaitMs = maxWaitMs;
    this.#now = now;
    this.#pause = 2 * maxWaitMs;
  }

  /** Does work that goes first, at once. @throws what the work throws */
  async first<T>(work: () => Promise<T>): Promise<T> {
    if (this.#first === 0) {
      const pause = Math.min(2 * this.#maxWaitMs, this.#now() - this.#endedAt);
      this.#pause += (pause - this.#pause) * NEWEST;
    }
    this.#first += 1;
    try {
      return await work();
    } finally {
      this.#first -= 1;
      this.#endedAt = this.#now();
      this.#admit();
    }
  }

  /** Does work that nothing waits for, when its turn has come. @throws what the work throws */
  async behind<T>(work: () => Promise<T>): Promise<T> {
    if (this.#line.size > 0 || !this.#isFree) await this.#turn();
    this.#behind += 1;
    try {
      return await work();
    } finally {
      this.#behind -= 1;
      this.#admit();
    }
  }

  get #isFree(): boolean {
    if (this.#first + this.#behind > 0) return false;
    const since = this.#now() - this.#endedAt;
    // What did not come for so long is not expected any more.
    return since <= this.#pause / 2 || since >= this.#maxWaitMs;
  }

  #turn(): Promise<void> {
    return new Promise((resolve) => {
      const begin = (): void => {
        clearTimeout(timer);
        this.#line.delete(begin);
        resolve();
      };
      const timer = setTimeout(begin, this.#maxWaitMs);
      this.#line.add(begin);
    });
  }

  #admit(): void {
    if (!this.#isFree) return;
    const [begin] = this.#line;
    begin?.();
  }
}
