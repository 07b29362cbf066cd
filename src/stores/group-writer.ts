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
  /** Whether an item goes before all others that wait; it must be the first one with its key. @default none does */
  readonly isUrgent?: (item: T) => boolean;
  /** Bytes of a group after which it takes no more; its last item may go beyond. @default 1 MiB */
  readonly maxGroupBytes?: number;
  /** Bytes that may wait. @default 256 MiB */
  readonly maxWaitingBytes?: number;
}

/** Bytes up to which an item is small: small ones go before large ones. */
const SMALL_BYTES = 64 * 1024;

interface Waiting<T> {
  readonly item: T;
  readonly key: string;
  readonly bytes: number;
  /** How many items came before it. */
  readonly order: number;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Writes items in groups, in the order in which they came, one group at a time.
 *
 * The first item goes out at once, with whatever else comes in the same turn of the event loop; what comes while a group is being written
 * is the next group. So no write waits for others when there are none, and the more there is to write the larger the groups are. A group
 * that fails as a whole is tried again item by item, so that one bad item spoils no other.
 *
 * Urgent items go first, such as the start of a run, whose client has seen nothing yet. Small items go before large ones, and each group has room for one large one: so an event of a quiet run waits for the group that is being
 * written, however much others write, and those others are written all the same. Items with the same key stay in their order.
 */
export class GroupWriter<T> {
  readonly #options: Required<GroupWriterOptions<T>>;
  readonly #urgent = new Fifo<Waiting<T>>();
  readonly #small = new Fifo<Waiting<T>>();
  readonly #large = new Fifo<Waiting<T>>();
  /** How many items of a key are in `#large`: later ones of that key stay behind them, whatever their size. */
  readonly #largeKeys = new Map<string, number>();
  #waitingBytes = 0;
  #added = 0;
  /** Pending while items are being written. */
  #work: Promise<void> | undefined = undefined;

  constructor(options: GroupWriterOptions<T>) {
    this.#options = { isUrgent: () => false, maxGroupBytes: 1024 ** 2, maxWaitingBytes: 256 * 1024 ** 2, ...options };
  }

  /** Resolves when the item is durable. @throws EngineError LIMIT_REACHED when too much waits already. */
  add(item: T): Promise<void> {
    const bytes = this.#options.bytesOf(item);
    if (this.#waitingBytes > 0 && this.#waitingBytes + bytes > this.#options.maxWaitingBytes) {
      return Promise.reject(full(this.#waitingBytes, this.#options.maxWaitingBytes));
    }
    this.#waitingBytes += bytes;
    const key = this.#options.keyOf(item);
    const order = this.#added;
    this.#added += 1;
    return new Promise((resolve, reject) => {
      const behind = this.#largeKeys.get(key) ?? 0;
      if (bytes > SMALL_BYTES || behind > 0) {
        this.#largeKeys.set(key, behind + 1);
        this.#large.push({ item, key, bytes, order, resolve, reject });
      } else {
        const queue = this.#options.isUrgent(item) ? this.#urgent : this.#small;
        queue.push({ item, key, bytes, order, resolve, reject });
      }
      this.#work ??= this.#writeAll();
    });
  }

  /** Resolves when nothing waits and nothing is being written. */
  async flushed(): Promise<void> {
    await this.#work;
  }

  async #writeAll(): Promise<void> {
    await nextTurn();
    while (this.#urgent.size + this.#small.size + this.#large.size > 0) {
      await this.#writeGroup(this.#takeGroup());
    }
    this.#work = undefined;
  }

  #takeGroup(): readonly Waiting<T>[] {
    const { maxGroupBytes } = this.#options;
    const group: Waiting<T>[] = [];
    const keys = new Set<string>();
    let bytes = 0;
    const takeFrom = (queue: Fifo<Waiting<T>>): boolean => {
      if (queue.size === 0 || keys.has(queue.oldest.key)) return false;
      const next = queue.take();
      keys.add(next.key);
      group.push(next);
      bytes += next.bytes;
      return true;
    };
    // Others get their half however many urgent ones there are.
    while (bytes < maxGroupBytes / 2 && takeFrom(this.#urgent));
    while (bytes < maxGroupBytes && isDue(this.#small, this.#urgent) && takeFrom(this.#small));
    while (isDue(this.#large, this.#small) && isDue(this.#large, this.#urgent) && takeFrom(this.#large)) {
      this.#forgetLarge((group.at(-1) as Waiting<T>).key);
      if (bytes >= maxGroupBytes) break;
    }
    return group;
  }

  #forgetLarge(key: string): void {
    const left = (this.#largeKeys.get(key) ?? 0) - 1;
    if (left > 0) this.#largeKeys.set(key, left);
    else this.#largeKeys.delete(key);
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

/** An item waits for those of a queue before it that came earlier: some of them can have its key. */
function isDue<T>({ size, oldest }: Fifo<Waiting<T>>, before: Fifo<Waiting<T>>): boolean {
  return size > 0 && (before.size === 0 || oldest.order < before.oldest.order);
}

function full(waiting: number, most: number): EngineError {
  return new EngineError(
    'LIMIT_REACHED',
    `${waiting} bytes wait to be written, of at most ${most}: the database is slower than what comes. Try again later.`,
  );
}
