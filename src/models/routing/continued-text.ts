/** How a second model goes on with the answer of a first one. */
import type { ChatMessage } from '../chat-model.js';

/** What the second model is told. */
const INSTRUCTION =
  'Your last message broke off. Continue it exactly where it ends, in the middle of a word if need be. Repeat nothing of it, and add no introduction.';

/** Characters that have to agree before the beginning of a continuation counts as a repetition of the end of the text. */
const LEAST_OVERLAP = 12;
/** The same where a continuation repeats the text from its very beginning. */
const LEAST_REPEATED = 4;
/** Characters at the end of the text in which a repetition may begin. */
const MAX_TAIL = 2_000;

/** The messages that ask another model to go on with `text`. */
export function continuationOf(messages: readonly ChatMessage[], text: string): readonly ChatMessage[] {
  return [...messages, { role: 'assistant', content: text }, { role: 'user', content: INSTRUCTION }];
}

/**
 * Takes the text of a continuation and gives what is new of it: models repeat the end of what they were given, or all of it.
 *
 * What could still be a repetition is held back, {@link MAX_TAIL} characters or the length of the text at most.
 */
export class ContinuedText {
  readonly #shown: string;
  /** Places of the shown text from where on it agrees with the continuation so far. */
  #places: number[];
  #held = '';
  /** Characters at the beginning of the continuation that are known to be a repetition. */
  #repeated = 0;
  #isDecided: boolean;

  constructor(shown: string) {
    this.#shown = shown;
    const from = Math.max(0, shown.length - MAX_TAIL);
    const to = Math.max(from, shown.length - LEAST_OVERLAP + 1);
    this.#places = Array.from({ length: to - from }, (_, at) => from + at);
    if (from > 0 || (to === from && shown.length >= LEAST_REPEATED)) this.#places.unshift(0);
    this.#isDecided = this.#places.length === 0;
  }

  /** Takes a piece and gives what of the text so far is certainly new; may be empty. */
  push(piece: string): string {
    if (this.#isDecided) return piece;
    for (const character of piece) {
      const at = this.#held.length;
      this.#held += character;
      this.#places = this.#places.filter((place) => this.#agrees(place, at, character));
    }
    if (this.#places.length > 0) return '';
    return this.end();
  }

  /** What was held back and is new after all, when the continuation has ended. */
  end(): string {
    if (this.#isDecided) return '';
    this.#isDecided = true;
    // A repetition from the very beginning that ended before it was through.
    const isRepetition = this.#places[0] === 0 && this.#held.length >= LEAST_OVERLAP;
    const rest = isRepetition ? '' : this.#held.slice(this.#repeated);
    this.#held = '';
    return rest;
  }

  /** Whether a place is still open: false once it reached the end of the text, which makes a repetition of it, or where it differs. */
  #agrees(place: number, at: number, character: string): boolean {
    if (!this.#shown.startsWith(character, place + at)) return false;
    const end = place + at + character.length;
    if (end < this.#shown.length) return true;
    if (end === this.#shown.length) this.#repeated = Math.max(this.#repeated, this.#shown.length - place);
    return false;
  }
}
