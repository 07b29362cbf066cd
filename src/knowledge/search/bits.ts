/**
 * Whole numbers as few bits, for lists of small numbers with a few large ones among them.
 *
 * The code is exponential Golomb of an order `k` (Teuhola, "A compression method for clustered bit-vectors", 1978): `x = value + 2^k` has `n + k + 1` bits, and
 * `n` zeros stand before it. Each bit of a number beyond `2^k` costs two, so that lists whose numbers are alike cost what they must, and a number of another size
 * is no disaster as with Rice codes.
 */

/** What a number must be below: a reader looks at 25 bits at once. */
export const MAX_NUMBER = 2 ** 24;

/** Collects bits, the highest of each byte first. */
export class BitWriter {
  readonly #bytes: number[] = [];
  #pending = 0;
  #pendingBits = 0;

  /** A number, 0 to {@link MAX_NUMBER} - 1, of an order of 0 to 23. */
  number(value: number, order: number): void {
    const whole = value + 2 ** order;
    const bits = 32 - Math.clz32(whole);
    this.bits(0, bits - order - 1);
    this.bits(whole, bits);
  }

  /** The lowest bits of a number, at most 25. */
  bits(value: number, count: number): void {
    const high = count > 16 ? count - 16 : 0;
    if (high > 0) this.#put((value >>> 16) & ((1 << high) - 1), high);
    const low = count - high;
    this.#put(value & ((1 << low) - 1), low);
  }

  /** What was collected, its last byte filled with zeros; the writer is empty afterwards. */
  finish(): Uint8Array {
    if (this.#pendingBits > 0) this.#put(0, 8 - this.#pendingBits);
    const bytes = Uint8Array.from(this.#bytes);
    this.#bytes.length = 0;
    return bytes;
  }

  #put(value: number, count: number): void {
    this.#pending = (this.#pending << count) | value;
    this.#pendingBits += count;
    while (this.#pendingBits >= 8) {
      this.#pendingBits -= 8;
      this.#bytes.push((this.#pending >>> this.#pendingBits) & 255);
    }
    this.#pending &= (1 << this.#pendingBits) - 1;
  }
}

/** The order that writes a list in the fewest bits, among those near to the size of its mean. */
export function bestOrder(values: readonly number[]): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / Math.max(values.length, 1);
  const middle = 31 - Math.clz32(Math.max(1, mean));
  let best = 0;
  let least = Number.POSITIVE_INFINITY;
  for (let order = Math.max(0, middle - 6); order <= middle + 1 && order < 24; order += 1) {
    let bits = 0;
    for (const value of values) bits += 2 * (32 - Math.clz32(value + (1 << order))) - order - 1;
    if (bits >= least) continue;
    least = bits;
    best = order;
  }
  return best;
}
