import { requireWhole } from './invalid-option.js';

/** Milliseconds that work waits at most. */
const MAX_WAIT_MS = 20;

/** How long work waits; for tests. */
export interface PrecedenceOptions {
  /** Milliseconds after which work begins whatever is under way. @default 20 */
  readonly maxWaitMs?: number;
}

/**
 * Lets work that is waited for go before work that is not, where both share something that does one thing at a time.
 *
 * ```text
 * first     (a-----)   (b--)
 * asked      c d
 * behind           (c)      (d-)
 * ```
 *
 * Work behind begins when nothing that goes first is under way, one piece at a time, first come, first served; a piece that has waited for `maxWaitMs` begins in any
 * case, so it goes on, slowly, where there is always something that goes first. What has begun is not interrupted: pieces should be small.
 */
export class Precedence {
  readonly #maxWaitMs: number;
  /** Each lets one piece begin. */
  readonly #line = new Set<() => void>();
  #first = 0;
  #behind = 0;

  /** @throws EngineError OPTION_INVALID for `maxWaitMs` that is no whole number of at least 1 */
  constructor({ maxWaitMs = MAX_WAIT_MS }: PrecedenceOptions = {}) {
    requireWhole('Precedence', 'maxWaitMs', maxWaitMs, 1);
    this.#maxWaitMs = maxWaitMs;
  }

  /** Does work that goes first, at once. @throws what the work throws */
  async first<T>(work: () => Promise<T>): Promise<T> {
    this.#first += 1;
    try {
      return await work();
    } finally {
      this.#first -= 1;
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
    return this.#first + this.#behind === 0;
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
