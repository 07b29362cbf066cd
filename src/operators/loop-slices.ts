import { Fifo } from './fifo.js';

/** Milliseconds of a slice: what everything else of the process waits for it. */
const SLICE_MS = 1;
/** Turns of the event loop behind a slice in which there is none: writing and sending take two of them, so what is under way meets one slice and not three. */
const FREE_TURNS = 3;

/** How slices take turns; for tests. */
export interface LoopSlicesOptions {
  /** Milliseconds, of which only differences matter. @default `performance.now` */
  readonly now?: () => number;
  /** Calls back behind pending I/O. @default `setImmediate` */
  readonly later?: (resume: () => void) => void;
}

/**
 * Cuts long work that clients do not wait for into slices, of which all such work together has one in every fourth turn of the event loop.
 *
 * ```text
 * asked     a b
 * turns     |  |  |  |  |  |  |  |  |
 * slices    a           b           a
 * ```
 *
 * Work looks at {@link isOver} between two small pieces, and waits for {@link next} once it is true. First come, first served.
 */
export class LoopSlices {
  readonly #now: () => number;
  readonly #later: (resume: () => void) => void;
  /** Each begins a slice. Callers wait for theirs, so there are no more of them than pieces of work. */
  readonly #line = new Fifo<() => void>();
  readonly #turned = (): void => this.#turn();
  #beganAt = Number.NEGATIVE_INFINITY;
  #free = 0;
  #isTurning = false;

  constructor({ now = () => performance.now(), later = setImmediate }: LoopSlicesOptions = {}) {
    this.#now = now;
    this.#later = later;
  }

  /** Whether the slice has taken its time. */
  get isOver(): boolean {
    return this.#now() - this.#beganAt >= SLICE_MS;
  }

  /** Resolves in a later turn of the event loop, at the beginning of a slice. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#line.push(resolve);
      if (this.#isTurning) return;
      this.#isTurning = true;
      this.#later(this.#turned);
    });
  }

  #turn(): void {
    if (this.#free > 0) this.#free -= 1;
    else {
      this.#free = FREE_TURNS;
      this.#beganAt = this.#now();
      this.#line.take()();
    }
    this.#isTurning = this.#line.size > 0;
    if (this.#isTurning) this.#later(this.#turned);
  }
}
