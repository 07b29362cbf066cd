/** The text of a node while it comes: stored from the first piece, so that a reader that subscribes later misses nothing. */
import { Observable, Subject } from 'rxjs';
import { EngineError } from '../errors.js';
import type { Delta } from './node-events.js';

/** Characters that one node may stream; a model that never stops ends here. */
const MAX_CHARACTERS = 32 * 1024 * 1024;

export class LiveText {
  readonly #pieces: Delta[] = [];
  readonly #arrivals = new Subject<Delta>();
  #characters = 0;

  /** @throws EngineError LIMIT_REACHED when the text grows beyond 32 million characters. */
  append(piece: Delta): void {
    this.#characters += piece.text.length;
    if (this.#characters > MAX_CHARACTERS) {
      throw new EngineError('LIMIT_REACHED', `A node streamed more than ${MAX_CHARACTERS} characters; it was stopped.`);
    }
    this.#pieces.push(piece);
    this.#arrivals.next(piece);
  }

  get isEmpty(): boolean {
    return this.#pieces.length === 0;
  }

  complete(): void {
    this.#arrivals.complete();
  }

  /** Every piece from the first, then what comes; completes with the text. */
  read(): Observable<Delta> {
    return new Observable((subscriber) => {
      // By index: a piece that arrives while earlier ones are replayed is taken by this same loop.
      for (let at = 0; at < this.#pieces.length && !subscriber.closed; at += 1) {
        subscriber.next(this.#pieces[at] as Delta);
      }
      return this.#arrivals.subscribe(subscriber);
    });
  }
}
