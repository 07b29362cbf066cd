/** What a page knows of the texts of a run's events, so that the server sends each of them once. */
import { forEachLongText, repeatsOf, setText } from '../../src/canvas/repeated-texts.js';
import type { RunEvent } from '../../src/graph/events.js';
import type { JsonObject } from '../../src/json.js';

/** Texts that are remembered, and UTF-16 units of them all: several times what a server refers to. */
const MAX_TEXTS = 8_192;
const MAX_UNITS = 8 * 1_048_576;

/** An event refers to a text that this page does not know: the events must come whole. */
export class UnknownText extends Error {
  override readonly name = 'UnknownText';
}

/** Fills in what earlier events of one run have. All share one text. */
export class EarlierTexts {
  /** By the number of the event and the place in it. */
  readonly #texts = new Map<string, string>();
  #units = 0;

  /** An event as it came, with all its texts; events come in their order, and may come again. @throws UnknownText */
  whole(event: RunEvent): RunEvent {
    // Before it is filled: what it repeats is known by its first place.
    forEachLongText(event, (text, path) => this.#remember(keyOf(event.seq, path), text));
    return this.#filled(event);
  }

  #filled(event: RunEvent): RunEvent {
    const missing = repeatsOf(event as unknown as JsonObject, event.seq);
    if (missing === undefined) return event;
    const { repeats: _, ...whole } = event as unknown as JsonObject;
    for (const [path, seq, from] of missing) {
      const text = this.#texts.get(keyOf(seq, from));
      if (text === undefined) throw new UnknownText(`event ${event.seq} refers to event ${seq}`);
      setText(whole, path, text);
    }
    return whole as unknown as RunEvent;
  }

  #remember(key: string, text: string): void {
    if (this.#texts.has(key) || this.#texts.size >= MAX_TEXTS || this.#units + text.length > MAX_UNITS) return;
    this.#units += text.length;
    this.#texts.set(key, text);
  }
}

function keyOf(seq: number, path: readonly (string | number)[]): string {
  return `${seq} ${JSON.stringify(path)}`;
}
