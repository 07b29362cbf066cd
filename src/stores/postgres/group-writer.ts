import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import { EngineError, toEngineError } from '../../errors.js';
import { Fifo } from '../../operators/fifo.js';

export interface GroupWriterOptions<T> {
  /** Writes a group; gives for each item, in order, what was wrong with it. A rejection fails the whole group. */
  readonly write: (items: readonly T[]) => Promise<readonly (EngineError | undefined)[]>;
  readonly bytesOf: (item: T) => number;
  /** How long an item may wait for company. @default 5 ms */
  readonly maxWaitMs?: number;
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
 * After a pause the first item goes out at once, with whatever else comes in the same turn of the event loop; while items keep coming,
 * a group is at most `maxWaitMs` old when its writing begins, or as old as the writing before it took. A group that fails as a whole is
 * tried again item by item, so that one bad item spoils no other.
 */
export class GroupWriter<T> {
  readonly #write: GroupWriterOptions<T>['write'];
  readonly #bytesOf: (item: T) => number;
  readonly #maxWaitMs: number;
  readonly #maxGroupBytes: number;
  readonly #maxWaitingBytes: number;
  readonly #waiting = new Fifo<Waiting<T>>();
  #waitingBytes = 0;
  #isWriting = false;

  constructor(options: GroupWriterOptions<T>) {
    const { write, bytesOf, maxWaitMs = 5, maxGroupBytes = 4 * 1024 ** 2, maxWaitingBytes = 256 * 1024 ** 2 } = options;
    this.#write = write;
    this.#bytesOf = bytesOf;
    this.#maxWaitMs = maxWaitMs;
    this.#maxGroupBytes = maxGroupBytes;
    this.#maxWaitingBytes = maxWaitingBytes;
  }

  /** Resolves when the item is durable. @throws EngineError LIMIT_REACHED when too much waits already. */
  add(item: T): Promise<void> {
    const bytes = this.#bytesOf(item);
    if (this.#waitingBytes > 0 && this.#waitingBytes + bytes > this.#maxWaitingBytes) {
      return Promise.reject(full(this.#waitingBytes, this.#maxWaitingBytes));
    }
    this.#waitingBytes += bytes;
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, bytes, resolve, reject });
      if (!this.#isWriting) void this.#writeAll();
    });
  }

  async #writeAll(): Promise<void> {
    this.#isWriting = true;
    await nextTurn();
    while (this.#waiting.size > 0) {
      const began = performance.now();
      const group = this.#takeGroup();
      await this.#writeGroup(group);
      for (const { bytes } of group) this.#waitingBytes -= bytes;
      const restMs = this.#maxWaitMs - (performance.now() - began);
      if (restMs >= 1) await delay(restMs);
    }
    this.#isWriting = false;
  }

  #takeGroup(): readonly Waiting<T>[] {
    const group: Waiting<T>[] = [];
    let bytes = 0;
    while (this.#waiting.size > 0 && bytes < this.#maxGroupBytes) {
      const next = this.#waiting.take();
      group.push(next);
      bytes += next.bytes;
    }
    return group;
  }

  async #writeGroup(group: readonly Waiting<T>[]): Promise<void> {
    try {
      const problems = await this.#write(group.map(({ item }) => item));
      for (const [at, { resolve, reject }] of group.entries()) {
        const problem = problems[at];
        if (problem === undefined) resolve();
        else reject(problem);
      }
    } catch (error) {
      // Without the database, item by item is no better.
      if (group.length === 1 || toEngineError(error, 'INTERNAL').retryable) for (const { reject } of group) reject(error);
      else for (const waiting of group) await this.#writeGroup([waiting]);
    }
  }
}

function full(waiting: number, most: number): EngineError {
  return new EngineError(
    'LIMIT_REACHED',
    `${waiting} bytes wait to be written, of at most ${most}: the database is slower than what comes. Try again later.`,
  );
}
