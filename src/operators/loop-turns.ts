import { requireWhole } from './invalid-option.js';

/** Milliseconds of pieces behind each other before the event loop turns. */
const SLICE_MS = 8;

/** How pieces of work take turns; the last two are for tests. */
export interface LoopTurnsOptions {
  /** Pieces at work at once; more than one for pieces that may wait for something. @default 2 */
  readonly most?: number;
  /** Milliseconds, of which only differences matter. @default `performance.now` */
  readonly now?: () => number;
  /** Calls back behind pending I/O. @default `setImmediate` */
  readonly later?: ((resume: () => void) => void) | undefined;
}

/**
 * Lets pieces of work that come at once begin one behind the other, with turns of the event loop between them: else a hundred of them would hold it until the
 * last is done, and nothing else of the process would be answered meanwhile.
 *
 * ```text
 * asked     (a b c d)
 * work      (a b)|(c d)|        each takes half of a slice; | is a turn of the loop
 * ```
 *
 * A piece is not interrupted, so it should take some milliseconds at most. First come, first served.
 */
export class LoopTurns {
  readonly #most: number;
  readonly #now: () => number;
  readonly #later: (resume: () => void) => void;
  /** Each lets one piece begin. */
  readonly #line = new Set<() => void>();
  #active = 0;
  #sliceBegan: number | undefined;

  /** @throws EngineError OPTION_INVALID for `most` that is no whole number of at least 1 */
  constructor({ most = 2, now = () => performance.now(), later = setImmediate }: LoopTurnsOptions = {}) {
    requireWhole('LoopTurns', 'most', most, 1);
    this.#most = most;
    this.#now = now;
    this.#later = later;
  }

  /** Does a piece of work once it is its turn. @throws what the work throws; the reason of `signal`, when that is aborted before */
  async do<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    if (this.#line.size > 0 || !this.#mayBegin()) await new Promise<void>((resolve) => this.#line.add(resolve));
    else this.#active += 1;
    try {
      signal?.throwIfAborted();
      return await work();
    } finally {
      this.#active -= 1;
      this.#admit();
    }
  }

  #admit(): void {
    for (const begin of this.#line) {
      if (!this.#mayBegin()) return;
      this.#line.delete(begin);
      this.#active += 1;
      begin();
    }
  }

  #mayBegin(): boolean {
    if (this.#active >= this.#most) return false;
    if (this.#sliceBegan !== undefined) return this.#now() - this.#sliceBegan < SLICE_MS;
    this.#sliceBegan = this.#now();
    this.#later(() => {
      this.#sliceBegan = undefined;
      this.#admit();
    });
    return true;
  }
}
