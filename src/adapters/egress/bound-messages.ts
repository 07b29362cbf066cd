import { type BodyLimits, tooLarge } from './read-body.js';

const CR = 13;
const LF = 10;

/**
 * Counts a body as it comes: the function it gives is told every piece and throws at the first byte too many, of the whole body or,
 * when it is an event stream, which may go on for ever, of one event.
 *
 * Errors of that function: `EGRESS_TOO_LARGE`.
 */
export function boundMessages(limits: BodyLimits, contentType: string): (piece: Uint8Array) => void {
  const counter = /^\s*text\/event-stream\b/i.test(contentType) ? new EventCounter() : new ByteCounter();
  return (piece) => {
    if (counter.longest(piece) > limits.maxBytes) throw tooLarge(limits);
  };
}

class ByteCounter {
  #bytes = 0;

  longest(piece: Uint8Array): number {
    this.#bytes += piece.length;
    return this.#bytes;
  }
}

/** Counts the bytes of events; an empty line ends one, whichever way its lines end. */
class EventCounter {
  #bytes = 0;
  #lineBytes = 0;
  #wasReturn = false;

  /** The length of the longest event that the piece belongs to, as far as it came. */
  longest(piece: Uint8Array): number {
    let longest = 0;
    for (let at = 0; at < piece.length; at += 1) {
      const byte = piece[at] as number;
      this.#bytes += 1;
      if (this.#bytes > longest) longest = this.#bytes;
      if (byte !== CR && byte !== LF) this.#lineBytes += 1;
      else if (!(byte === LF && this.#wasReturn)) this.#endLine();
      this.#wasReturn = byte === CR;
    }
    return longest;
  }

  #endLine(): void {
    if (this.#lineBytes === 0) this.#bytes = 0;
    this.#lineBytes = 0;
  }
}
