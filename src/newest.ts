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
  /** The key that was put or touched last; it may be gone. */
  #newest: string | undefined;
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
    // Mostly it is the newest already, and each entry that is deleted takes room in the table until that is made anew.
    if (value === undefined || key === this.#newest) return value;
    this.#values.delete(key);
    this.#values.set(key, value);
    this.#newest = key;
    return value;
  }

  /** Takes the place of what had the key before. */
  put(key: string, value: T): void {
    const { maxCount, maxSize = Number.POSITIVE_INFINITY } = this.#options;
    this.delete(key);
    const size = this.#sizeOf(value);
    if (size > maxSize) return;
    this.#values.set(key, value);
    this.#newest = key;
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

/** Values by key, for a time. */
export interface KeyedCache<T> {
  get(key: string): T | undefined;
  set(key: string, value: T): void;
}

/** Caches by name, of one owner. */
export interface Caches {
  named(name: string): KeyedCache<unknown>;
}

/** Caches of several owners. */
export interface SharedCaches extends Caches {
  /** Those of another owner: what one puts in, no other one gets. */
  forTenant(tenant: string): SharedCaches;
}

/** Bounds of {@link createCaches}. */
export interface CachesOptions {
  /** Milliseconds after which a value is forgotten. @default an hour */
  readonly ttlMs?: number;
  /** UTF-16 units of all keys and values together, as JSON. @default 16 Mi */
  readonly maxSize?: number;
  /** Milliseconds since 1970. @default Date.now */
  readonly now?: () => number;
}

/** Entries of all caches together. */
const MAX_ENTRIES = 100_000;

/** Caches of values that JSON can hold, with one bound for all of them: the value that was not used for the longest time goes first. */
export function createCaches(options: CachesOptions = {}): SharedCaches {
  const { ttlMs = 3_600_000, maxSize = 16 * 1_048_576, now = Date.now } = options ?? {};
  const entries = new Newest<{ readonly value: unknown; readonly until: number; readonly size: number }>({
    maxCount: MAX_ENTRIES,
    maxSize,
    sizeOf: ({ size }) => size,
  });
  const cachesOf = (tenant: string): SharedCaches => ({
    forTenant: cachesOf,
    named: (name) => ({
      get(key) {
        const place = JSON.stringify([tenant, name, key]);
        const found = entries.touch(place);
        if (found === undefined) return undefined;
        // A clock that was set back must not keep a value for longer.
        if (found.until > now() && found.until - now() <= ttlMs) return found.value;
        entries.delete(place);
        return undefined;
      },
      set(key, value) {
        const place = JSON.stringify([tenant, name, key]);
        entries.put(place, { value, until: now() + ttlMs, size: place.length + JSON.stringify(value).length });
      },
    }),
  });
  return cachesOf('');
}
