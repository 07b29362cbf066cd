/** Writes that many ask for at once, gathered into groups. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { EngineError, toEngineError } from '../errors.js';
import { Fifo } from '../operators/fifo.js';

export interface GroupWriterOptions<T> {
  /** Writes a group; gives for each item, in order, what was wrong with it. A rejection fails the whole group. */
  readonly write: (items: readonly T[]) => Promise<readonly (EngineError | undefined)[]>;
  readonly bytesOf: (item: T) => number;
  /** Of items with the same key a group holds one. */
  readonly keyOf: (item: T) => string;
  /** Bytes of a group, unless its only item has more. @default 4 MiB */
  readonly maxGroupBytes?: number;
  /** Bytes that may wait. @default 256 MiB */
  readonly maxWaitingBytes?: number;
}

interface Waiting<T> {
  readonly item: T;
  readonly bytes: number;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Writes items in groups, in the order in which they came, one group at a time.
 *
 * The first item goes out at once, with whatever else comes in the same turn of the event loop; what comes while a group is being written
 * is the next group. So no write waits for others when there are none, and the more there is to write the larger the groups are. A group
 * that fails as a whole is tried again item by item, so that one bad item spoils no other.
 */
export class GroupWriter<T> {
  readonly #options: Required<GroupWriterOptions<T>>;
  readonly #waiting = new Fifo<Waiting<T>>();
  #waitingBytes = 0;
  /** Pending while items are being written. */
  #work: Promise<void> | undefined = undefined;

  constructor(options: GroupWriterOptions<T>) {
    this.#options = { maxGroupBytes: 4 * 1024 ** 2, maxWaitingBytes: 256 * 1024 ** 2, ...options };
  }

  /** Resolves when the item is durable. @throws EngineError LIMIT_REACHED when too much waits already. */
  add(item: T): Promise<void> {
    const bytes = this.#options.bytesOf(item);
    if (this.#waitingBytes > 0 && this.#waitingBytes + bytes > this.#options.maxWaitingBytes) {
      return Promise.reject(full(this.#waitingBytes, this.#options.maxWaitingBytes));
    }
    this.#waitingBytes += bytes;
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, bytes, resolve, reject });
      this.#work ??= this.#writeAll();
    });
  }

  /** Resolves when nothing waits and nothing is being written. */
  async flushed(): Promise<void> {
    await this.#work;
  }

  async #writeAll(): Promise<void> {
    await nextTurn();
    while (this.#waiting.size > 0) {
      await this.#writeGroup(this.#takeGroup());
    }
    this.#work = undefined;
  }

  #takeGroup(): readonly Waiting<T>[] {
    const group: Waiting<T>[] = [];
    const keys = new Set<string>();
    let bytes = 0;
    while (this.#waiting.size > 0 && bytes < this.#options.maxGroupBytes) {
      const key = this.#options.keyOf(this.#waiting.oldest.item);
      if (keys.has(key)) break;
      keys.add(key);
      const next = this.#waiting.take();
      group.push(next);
      bytes += next.bytes;
    }
    return group;
  }

  async #writeGroup(group: readonly Waiting<T>[]): Promise<void> {
    try {
      const problems = await this.#options.write(group.map(({ item }) => item));
      for (const [at, waiting] of group.entries()) this.#settle(waiting, problems[at]);
    } catch (error) {
      // Without the database, item by item is no better.
      const isHopeless = group.length === 1 || toEngineError(error, 'INTERNAL').retryable;
      for (const waiting of group) {
        if (isHopeless) this.#settle(waiting, error);
        else await this.#writeGroup([waiting]);
      }
    }
  }

  #settle({ bytes, resolve, reject }: Waiting<T>, problem: unknown): void {
    this.#waitingBytes -= bytes;
    if (problem === undefined) resolve();
    else reject(problem);
  }
}

function full(waiting: number, most: number): EngineError {
  return new EngineError(
    'LIMIT_REACHED',
    `${waiting} bytes wait to be written, of at most ${most}: the database is slower than what comes. Try again later.`,
  );
}
