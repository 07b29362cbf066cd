import { requireWhole } from './invalid-option.js';

/** Turns of the event loop in a row that other work leaves to what comes. */
const MAX_HELD = 256;

/** Turns that other work has for itself when that was not enough: a slice of 8 ms takes as long as some arrivals. */
const REST = 32;

/** How long others are held; `later` is for tests. */
export interface ArrivalsOptions {
  /** Turns of the event loop in a row that others wait at most. @default 256 */
  readonly most?: number;
  /** Calls back behind pending I/O. @default `setImmediate` */
  readonly later?: (resume: () => void) => void;
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
 * What waits goes on with the first turn in which nothing has come, so a lone request delays others by a turn. Connections without an end hold others
 * for `most` turns, then those have some turns whatever comes.
 */
export class Arrivals {
  readonly #most: number;
  readonly #later: (resume: () => void) => void;
  /** Whether something came since the last look. */
  #came = false;
  #held = 0;
  #rest = 0;
  #isLooking = false;
  #waiting: (() => void)[] = [];

  /** @throws EngineError OPTION_INVALID for `most` that is no whole number of at least 1 */
  constructor({ most = MAX_HELD, later = setImmediate }: ArrivalsOptions = {}) {
    requireWhole('Arrivals', 'most', most, 1);
    this.#most = most;
    this.#later = later;
  }

  /** Something has come. */
  readonly note = (): void => {
    this.#came = true;
  };

  /** Calls back in a later turn of the event loop, in which nothing is coming. */
  readonly later = (resume: () => void): void => {
    this.#waiting.push(resume);
    this.#look();
  };

  #look(): void {
    if (this.#isLooking) return;
    this.#isLooking = true;
    this.#later(this.#looked);
  }

  readonly #looked = (): void => {
    this.#isLooking = false;
    const came = this.#came;
    this.#came = false;
    if (came && this.#rest === 0 && this.#held < this.#most) {
      this.#held += 1;
      this.#look();
      return;
    }
    if (this.#rest > 0) this.#rest -= 1;
    else if (came) this.#rest = REST;
    this.#held = 0;
    const resumed = this.#waiting;
    this.#waiting = [];
    for (const resume of resumed) resume();
  };
}
