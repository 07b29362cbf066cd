/**
 * A two-level persistent vector: one cell per node, cheap to fork, cheap to write.
 *
 * A run writes one cell per settlement and takes a snapshot only when somebody wants one. Cells are kept in chunks of about
 * the square root of their number; a write copies its chunk only when the chunk is shared with a fork. So a write costs an
 * array store, a fork costs nothing, and the first write after a fork costs two arrays of about √n.
 */
export class Cells<T> {
  readonly length: number;
  readonly #shift: number;
  readonly #mask: number;
  #chunks: (T | undefined)[][];
  /** 1 where the chunk belongs to this vector alone and may be written in place. */
  #owned: Uint8Array;
  #ownsTop: boolean;

  private constructor(length: number, shift: number, chunks: (T | undefined)[][], owned: Uint8Array, ownsTop: boolean) {
    this.length = length;
    this.#shift = shift;
    this.#mask = (1 << shift) - 1;
    this.#chunks = chunks;
    this.#owned = owned;
    this.#ownsTop = ownsTop;
  }

  /** A vector of `length` empty cells (indexes 0 to length - 1). */
  static empty<T>(length: number): Cells<T> {
    const shift = Math.max(4, Math.ceil(Math.log2(Math.max(1, length)) / 2));
    const count = Math.ceil(length / (1 << shift));
    return new Cells<T>(length, shift, new Array(count), new Uint8Array(count), true);
  }

  get(index: number): T | undefined {
    const chunk = this.#chunks[index >> this.#shift];
    return chunk === undefined ? undefined : chunk[index & this.#mask];
  }

  /** Writes a cell of this vector; forks taken before keep the old value. */
  set(index: number, value: T | undefined): void {
    const at = index >> this.#shift;
    if (!this.#ownsTop) {
      this.#chunks = this.#chunks.slice();
      this.#owned = new Uint8Array(this.#chunks.length);
      this.#ownsTop = true;
    }
    let chunk = this.#chunks[at];
    if (this.#owned[at] === 0) {
      chunk = chunk === undefined ? [] : chunk.slice();
      this.#chunks[at] = chunk;
      this.#owned[at] = 1;
    }
    (chunk as (T | undefined)[])[index & this.#mask] = value;
  }

  /** An independent copy that shares every chunk until one side writes. */
  fork(): Cells<T> {
    this.#ownsTop = false;
    return new Cells<T>(this.length, this.#shift, this.#chunks, this.#owned, false);
  }
}
