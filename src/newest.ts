/** Bounds of a {@link Newest}. */
export interface NewestOptions<T> {
  /** Values at once. */
  readonly maxCount: number;
  /** Sizes of all values together, in the unit of `sizeOf`. @default no bound */
  readonly maxSize?: number;
  /** Size of a value; it must not change while the value is held. @default 0 */
  readonly sizeOf?: (value: T) => number;
}

/**
 * Values by key, of which the oldest are dropped when there are too many, or when they are too large together.
 *
 * The newest is what was put, or touched, last. A value that is larger than all room is not held, and drops no other one. For caches and
 * counts: what must not be lost belongs into a store.
 */
export class Newest<T> {
  readonly #options: NewestOptions<T>;
  /** The oldest first. */
  readonly #values = new Map<string, T>();
  #size = 0;

  constructor(options: NewestOptions<T>) {
    this.#options = options;
  }

  /** How many values there are. */
  get count(): number {
    return this.#values.size;
  }

  get(key: string): T | undefined {
    return this.#values.get(key);
  }

  /** Gets a value and makes it the newest. */
  touch(key: string): T | undefined {
    const value = this.#values.get(key);
    if (value === undefined) return undefined;
    this.#values.delete(key);
    this.#values.set(key, value);
    return value;
  }

  /** Takes the place of what had the key before. */
  put(key: string, value: T): void {
    const { maxCount, maxSize = Number.POSITIVE_INFINITY } = this.#options;
    this.delete(key);
    const size = this.#sizeOf(value);
    if (size > maxSize) return;
    this.#values.set(key, value);
    this.#size += size;
    while (this.#values.size > maxCount || this.#size > maxSize) this.#dropOldest();
  }

  delete(key: string): void {
    const value = this.#values.get(key);
    if (value === undefined) return;
    this.#values.delete(key);
    this.#size -= this.#sizeOf(value);
  }

  /** The oldest first. */
  values(): Iterable<T> {
    return this.#values.values();
  }

  clear(): void {
    this.#values.clear();
    this.#size = 0;
  }

  #dropOldest(): void {
    for (const key of this.#values.keys()) {
      this.delete(key);
      return;
    }
  }

  #sizeOf(value: T): number {
    return this.#options.sizeOf?.(value) ?? 0;
  }
}
