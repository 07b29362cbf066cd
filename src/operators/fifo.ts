/** Taken slots that may pile up before the rest moves to the front; below it, moving costs more than it frees. */
const COMPACT_AFTER = 1024;

/**
 * A first-in first-out queue in an array with a head index: `push` and `take` are O(1) amortised.
 *
 * `Array.shift` moves every remaining item, which makes a long queue quadratic. Taken slots are reclaimed once they are
 * the larger half, so the array never exceeds twice the waiting items plus a constant. The queue itself has no bound:
 * its owner sets one.
 */
export class Fifo<T> {
  private items: (T | undefined)[] = [];
  /** First and one after the last of the items that wait. */
  private head = 0;
  private tail = 0;

  /** Number of items waiting. */
  get size(): number {
    return this.tail - this.head;
  }

  /** The item pushed last, or `undefined` when the queue is empty. */
  get newest(): T | undefined {
    return this.size === 0 ? undefined : this.items[this.tail - 1];
  }

  /** The item pushed first; the queue must not be empty. */
  get oldest(): T {
    return this.items[this.head] as T;
  }

  push(item: T): void {
    this.items[this.tail++] = item;
  }

  /** Puts `item` in the place of the newest one; the queue must not be empty. */
  replaceNewest(item: T): void {
    this.items[this.tail - 1] = item;
  }

  /** Removes and gives the oldest item; the queue must not be empty. */
  take(): T {
    const item = this.items[this.head] as T;
    // The slot would otherwise keep a processed value alive until the next compaction.
    this.items[this.head] = undefined;
    this.head += 1;
    if (this.head === this.tail) {
      this.clear();
    } else if (this.head >= COMPACT_AFTER && this.head * 2 >= this.tail) {
      this.items.copyWithin(0, this.head, this.tail);
      this.tail -= this.head;
      this.items.length = this.tail;
      this.head = 0;
    }
    return item;
  }

  /** Removes and gives the item pushed last; the queue must not be empty. */
  takeNewest(): T {
    this.tail -= 1;
    const item = this.items[this.tail] as T;
    this.items[this.tail] = undefined;
    return item;
  }

  clear(): void {
    // A queue that runs empty after each item, as most do, keeps its few slots instead of asking for new ones every time.
    if (this.items.length > COMPACT_AFTER) this.items = [];
    else this.items.fill(undefined, this.head, this.tail);
    this.head = 0;
    this.tail = 0;
  }
}
