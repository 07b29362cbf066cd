/** Numbers and texts as few bytes: seven bits of a number a byte, the highest bit says that more follow (LEB128). */

const START_BYTES = 256;

/** Collects bytes. */
export class ByteWriter {
  #bytes = new Uint8Array(START_BYTES);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** A whole number from 0 to 2^32 - 1. */
  number(value: number): void {
    this.#reserve(5);
    let rest = value >>> 0;
    while (rest > 127) {
      this.#bytes[this.#length++] = (rest & 127) | 128;
      rest >>>= 7;
    }
    this.#bytes[this.#length++] = rest;
  }

  /** Bytes without their length. */
  raw(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  /** A text in UTF-8 behind its length in bytes. */
  text(value: string): void {
    const bytes = Buffer.from(value);
    this.number(bytes.length);
    this.raw(bytes);
  }

  /** A copy of what was collected. */
  finish(): Uint8Array {
    return this.#bytes.slice(0, this.#length);
  }

  #reserve(count: number): void {
    if (this.#length + count <= this.#bytes.length) return;
    const larger = new Uint8Array(Math.max(this.#bytes.length * 2, this.#length + count));
    larger.set(this.#bytes);
    this.#bytes = larger;
  }
}

/** Reads what a {@link ByteWriter} wrote; behind the end everything is 0. */
export class ByteReader {
  readonly bytes: Uint8Array;
  at: number;
  readonly end: number;

  constructor(bytes: Uint8Array, at = 0, end: number = bytes.length) {
    this.bytes = bytes;
    this.at = at;
    this.end = Math.min(end, bytes.length);
  }

  get isAtEnd(): boolean {
    return this.at >= this.end;
  }

  number(): number {
    const { bytes } = this;
    let byte = bytes[this.at++] ?? 0;
    let value = byte & 127;
    for (let shift = 7; byte > 127 && shift < 35; shift += 7) {
      byte = bytes[this.at++] ?? 0;
      value |= (byte & 127) << shift;
    }
    return value >>> 0;
  }

  raw(count: number): Uint8Array {
    const part = this.bytes.subarray(this.at, this.at + count);
    this.at += count;
    return part;
  }

  text(): string {
    const part = this.raw(this.number());
    return Buffer.from(part.buffer, part.byteOffset, part.length).toString();
  }
}
