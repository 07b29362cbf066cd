/** Values by key up to a size in bytes; those that were not used for longest go first. */
export class ByteCache<T> {
  readonly #values = new Map<string, { readonly value: T; readonly size: number }>();
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get(key: string): T | undefined {
    const found = this.#values.get(key);
    if (found === undefined) return undefined;
    // The order of a Map is that in which its keys came.
    this.#values.delete(key);
    this.#values.set(key, found);
    return found.value;
  }

  set(key: string, value: T, size: number): void {
    this.#drop(key);
    this.#values.set(key, { value, size });
    this.#bytes += size;
    for (const oldest of this.#values.keys()) {
      if (this.#bytes <= this.#maxBytes) return;
      this.#drop(oldest);
    }
  }

  #drop(key: string): void {
    const found = this.#values.get(key);
    if (found === undefined) return;
    this.#values.delete(key);
    this.#bytes -= found.size;
  }
}
