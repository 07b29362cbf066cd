/** What is wrong with what users give, with the place of each problem. */
import { EngineError } from '../../../errors.js';

/** Controls, halves of pairs, and what XML calls no characters: none of the forms could hold a name with them. */
export const UNWRITABLE = /[\p{Cc}\p{Surrogate}\uFFFE\uFFFF]/u;
/** What no store can hold. */
export const UNSTORABLE = /[\0\p{Surrogate}]/u;

/** Problems that a refusal names. */
const MAX_PROBLEMS = 20;

/** The lines of a refusal. A class, for it grows. */
export class Problems {
  readonly #lines: string[] = [];
  readonly #head: string;
  #more = 0;

  /** @param head the first line */
  constructor(head = 'The graph cannot be taken:') {
    this.#head = head;
  }

  add(place: string, why: string): void {
    if (this.#lines.length < MAX_PROBLEMS) this.#lines.push(`${place}: ${why}`);
    else this.#more += 1;
  }

  /** @throws EngineError BAD_REQUEST */
  throwIfAny(): void {
    if (this.#lines.length === 0) return;
    const more = this.#more === 0 ? [] : [`and ${this.#more} more`];
    throw new EngineError('BAD_REQUEST', [this.#head, ...this.#lines, ...more].join('\n'));
  }
}
