import { requireWhole } from './invalid-option.js';

/** Turns of the event loop in a row that other work leaves to what comes. */
const MAX_HELD = 256;

/** Turns that other work has for itself when that was not enough: a slice of 8 ms takes as long as some arrivals. */
const REST = 32;

/** Milliseconds for which a beginning holds other work. */
const HOLD_MS = 150;

/** Looks in a row, a millisecond apart, for which beginnings hold other work. */
const MAX_PAUSES = 200;

/** Milliseconds for which the first of what begins together waits at most for what is still coming. */
const GATHER_MS = 50;

/** How long others are held; the last three are for tests. */
export interface ArrivalsOptions {
  /** Turns of the event loop in a row that others wait at most. @default 256 */
  readonly most?: number;
  /** Calls back behind pending I/O. @default `setImmediate` */
  readonly later?: (resume: () => void) => void;
  /** Calls back in a millisecond. @default `setTimeout` */
  readonly soon?: (resume: () => void) => void;
  /** Milliseconds, of which only differences matter. @default `performance.now` */
  readonly now?: () => number;
}

/**
 * Lets connections and requests that come at once go before other work.
 *
 * Node accepts one connection in a turn of its event loop (libuv 1.45 and later), however many wait. So a hundred clients that come while searches take
 * slices of 8 ms would be seen within a second; here the searches begin behind them:
 *
 * ```text
 * came      a b c d - - -
 * turns     | | | | | | |
 * later     --------x-x-x
 * ```
 *
 * What waits goes on with the first turn in which nothing has come, so a lone request delays others by a turn. What begins with an arrival may hold it further (`hold`),
 * for 150 ms at most: else what the first of a hundred have begun would go before the beginnings of the others. Connections without an end hold others
 * for `most` turns, then those have some turns whatever comes.
 */
export class Arrivals {
  readonly #most: number;
  readonly #later: (resume: () => void) => void;
  readonly #soon: (resume: () => void) => void;
  readonly #now: () => number;
  /** Whether something came since the last look. */
  #came = false;
  #held = 0;
  #pauses = 0;
  #rest = 0;
  #isLooking = false;
  #waiting: (() => void)[] = [];
  /** What is about to begin, whether something came since it was looked at, and when it begins at the latest. */
  #gathered: (() => void)[] = [];
  #comes = false;
  #gatheredUntil = 0;
  /** When what holds others stops to do so, at the latest. */
  readonly #holding = new Map<Promise<unknown>, number>();

  /** @throws EngineError OPTION_INVALID for `most` that is no whole number of at least 1 */
  constructor({
    most = MAX_HELD,
    later = setImmediate,
    soon = (resume) => setTimeout(resume, 1),
    now = () => performance.now(),
  }: ArrivalsOptions = {}) {
    requireWhole('Arrivals', 'most', most, 1);
    this.#most = most;
    this.#later = later;
    this.#soon = soon;
    this.#now = now;
  }

  /** Something has come. */
  readonly note = (): void => {
    this.#came = true;
    this.#comes = true;
  };

  /**
   * Resolves in the first turn of the event loop in which nothing has come, or in the first one behind 50 ms: what begins then begins together,
   * and can be stored together.
   *
   * ```text
   * came      a b c - d - -
   * turns     | | | | | | |
   * gather    ------(abc)-d
   * ```
   */
  readonly gather = (): Promise<void> =>
    new Promise((resolve) => {
      this.#gathered.push(resolve);
      if (this.#gathered.length > 1) return;
      this.#gatheredUntil = this.#now() + GATHER_MS;
      this.#later(this.#begin);
    });

  readonly #begin = (): void => {
    const isComing = this.#comes;
    this.#comes = false;
    if (isComing && this.#now() < this.#gatheredUntil) {
      this.#later(this.#begin);
      return;
    }
    const beginning = this.#gathered;
    this.#gathered = [];
    for (const resume of beginning) resume();
  };

  /** Other work waits for this beginning; gives it back. */
  readonly hold = <T>(beginning: Promise<T>): Promise<T> => {
    this.#holding.set(beginning, this.#now() + HOLD_MS);
    const over = (): void => void this.#holding.delete(beginning);
    beginning.then(over, over);
    return beginning;
  };

  /** Calls back in a later turn of the event loop, in which nothing is coming. */
  readonly later = (resume: () => void): void => {
    this.#waiting.push(resume);
    this.#look();
  };

  #look(later = this.#later): void {
    if (this.#isLooking) return;
    this.#isLooking = true;
    later(this.#looked);
  }

  #isHolding(): boolean {
    if (this.#holding.size === 0) return false;
    const now = this.#now();
    for (const until of this.#holding.values()) if (now < until) return true;
    return false;
  }

  readonly #looked = (): void => {
    this.#isLooking = false;
    const came = this.#came;
    this.#came = false;
    const isHolding = this.#isHolding();
    if (this.#rest === 0 && came && this.#held < this.#most) {
      this.#held += 1;
      this.#look();
      return;
    }
    if (this.#rest === 0 && isHolding && this.#pauses < MAX_PAUSES) {
      this.#pauses += 1;
      // What a beginning waits for comes from elsewhere, such as the database.
      this.#look(this.#soon);
      return;
    }
    if (this.#rest > 0) this.#rest -= 1;
    else if (came || isHolding) this.#rest = REST;
    this.#held = 0;
    this.#pauses = 0;
    const resumed = this.#waiting;
    this.#waiting = [];
    for (const resume of resumed) resume();
  };
}
