import { EngineError } from '../errors.js';
import { ownedKey } from '../records/repository.js';

/** Bounds of a {@link BoundedMap}. */
export interface BoundedMapOptions<T> {
  /** What is stored, in the plural, for messages. */
  readonly what: string;
  readonly maxCount: number;
  /** @default no bound */
  readonly maxBytes?: number | undefined;
  /** Makes room by dropping the oldest values for which it is true. @default nothing is dropped */
  readonly canDrop?: ((value: T) => boolean) | undefined;
  /** Called with every value that was dropped to make room. */
  readonly onDrop?: ((tenant: string, id: string, value: T) => void) | undefined;
}

interface Entry<T> {
  readonly tenant: string;
  readonly id: string;
  readonly value: T;
  readonly bytes: number;
}

/**
 * Values by tenant and id, bounded in number and bytes.
 *
 * Putting a value makes it the newest. Without room the oldest values that may be dropped are dropped; otherwise putting is refused.
 */
export class BoundedMap<T> {
  readonly #options: BoundedMapOptions<T>;
  readonly #maxBytes: number;
  /** In order of the last `put`. */
  readonly #entries = new Map<string, Entry<T>>();
  /** The key that was put or touched last; it may be gone. */
  #newest: string | undefined;
  /** Number of values by tenant. */
  readonly #counts = new Map<string, number>();
  #bytes = 0;

  constructor(options: BoundedMapOptions<T>) {
    this.#options = options;
    this.#maxBytes = options.maxBytes ?? Number.MAX_SAFE_INTEGER;
  }

  get(tenant: string, id: string): T | undefined {
    return this.#entries.get(ownedKey(tenant, id))?.value;
  }

  /** Gets a value and makes it the newest. */
  touch(tenant: string, id: string): T | undefined {
    const key = ownedKey(tenant, id);
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    // Mostly it is the newest already, and each entry that is deleted takes room in the table until that is made anew.
    if (key !== this.#newest) {
      this.#entries.delete(key);
      this.#entries.set(key, entry);
      this.#newest = key;
    }
    return entry.value;
  }

  /** @throws EngineError LIMIT_REACHED when there is no room and none can be made; what was there before stays. */
  put(tenant: string, id: string, value: T, bytes: number): void {
    const key = ownedKey(tenant, id);
    const before = this.#entries.get(key);
    const hasRoom = (): boolean =>
      this.#entries.size + (before === undefined ? 1 : 0) <= this.#options.maxCount &&
      this.#bytes - (before?.bytes ?? 0) + bytes <= this.#maxBytes;
    while (!hasRoom()) {
      // For what is larger than all room nothing is dropped.
      if (bytes > this.#maxBytes || !this.#dropOldest(key)) throw this.#full(bytes);
    }
    this.delete(tenant, id);
    this.#entries.set(key, { tenant, id, value, bytes });
    this.#newest = key;
    this.#counts.set(tenant, this.countOf(tenant) + 1);
    this.#bytes += bytes;
  }

  delete(tenant: string, id: string): boolean {
    const key = ownedKey(tenant, id);
    const entry = this.#entries.get(key);
    if (entry === undefined) return false;
    this.#entries.delete(key);
    this.#bytes -= entry.bytes;
    const count = this.countOf(tenant) - 1;
    if (count > 0) this.#counts.set(tenant, count);
    else this.#counts.delete(tenant);
    return true;
  }

  /** How many values a tenant has. */
  countOf(tenant: string): number {
    return this.#counts.get(tenant) ?? 0;
  }

  /** The most values that a tenant has. */
  mostCounted(): number {
    let most = 0;
    for (const count of this.#counts.values()) most = Math.max(most, count);
    return most;
  }

  /** Values of one tenant, the oldest first. */
  *values(tenant: string): Iterable<T> {
    for (const entry of this.#entries.values()) {
      if (entry.tenant === tenant) yield entry.value;
    }
  }

  /** Values of all tenants, the oldest first. */
  entries(): Iterable<{ readonly tenant: string; readonly id: string; readonly value: T }> {
    return this.#entries.values();
  }

  #dropOldest(except: string): boolean {
    const { canDrop, onDrop } = this.#options;
    if (canDrop === undefined) return false;
    for (const [key, { tenant, id, value }] of this.#entries) {
      if (key === except || !canDrop(value)) continue;
      this.delete(tenant, id);
      onDrop?.(tenant, id, value);
      return true;
    }
    return false;
  }

  #full(bytes: number): EngineError {
    const { what, maxCount } = this.#options;
    const size = this.#options.maxBytes === undefined ? what : `${what} of ${this.#maxBytes} bytes together`;
    return new EngineError(
      'LIMIT_REACHED',
      `No room for ${bytes} bytes more: this server stores at most ${maxCount} ${size}. Delete some, or raise the limit.`,
    );
  }
}

/** Size of a value as JSON, in bytes. */
export function jsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}
