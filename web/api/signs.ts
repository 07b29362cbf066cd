/** Signs of life of a connection over which nothing may come for a while. */

/** A connection over which nothing came for so long is asked for a sign of life, and given up when none comes in the same time. */
export const QUIET_MS = 15_000;

/** Whether a connection lives; it is looked at every {@link QUIET_MS}. */
export class Signs {
  #hasSign = true;
  #isAsked = false;

  /** Something came. */
  note(): void {
    this.#hasSign = true;
    this.#isAsked = false;
  }

  /** What is to be done now: nothing, ask for a sign, or give up. */
  look(): 'fine' | 'ask' | 'lost' {
    if (this.#hasSign) {
      this.#hasSign = false;
      return 'fine';
    }
    if (this.#isAsked) return 'lost';
    this.#isAsked = true;
    return 'ask';
  }
}
