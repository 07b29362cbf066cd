import { type MonoTypeOperatorFunction, Observable, type Subscriber } from 'rxjs';
import { EngineError } from '../errors.js';
import { Feed, type FeedSink } from './feed.js';
import { Fifo } from './fifo.js';
import { invalidOption } from './invalid-option.js';

/** How {@link coalesce} waits for its reader. */
export interface CoalesceOptions<T> {
  /** Whether the reader accepts values. Before its first value, the reader is taken not to. */
  readonly ready$: Observable<boolean>;
  /** One value in place of two neighbours, or `undefined` to keep both. It must change neither. */
  readonly merge: (older: T, newer: T) => NoInfer<T> | undefined;
  /** The size of a value, in the unit of `maxSize`; asked once for each value and each merger, so keep it cheap. @default 1 each */
  readonly size?: (value: T) => number;
  /** The most that may wait, summed over `size`; at least 0, finite. */
  readonly maxSize: number;
  /** The error when more would have to wait. @default EngineError `LIMIT_REACHED` */
  readonly overflow?: (waitingSize: number, maxSize: number) => unknown;
}

/**
 * Holds values back while the reader is not ready, merging neighbours that can be merged, up to a bound.
 *
 * ```text
 * source    --a--b--c--X---------d--|
 * ready$    t---f------------t--------     (true, false, true)
 * result    --a--------------(BX)--d--|    (b and c have become B)
 * ```
 *
 * While the reader is ready values pass straight through. When it becomes ready again, what waited is emitted in order, until
 * it is unready once more, which it may become from within. Completion of the source waits for what is held back; a failure does
 * not. A `ready$` that completes leaves the reader as it was last: once it was unready, nothing can ever be emitted again and the
 * result completes.
 *
 * Errors: those of the source, of `ready$`, and what `merge` and `size` throw; `overflow` when more than `maxSize` would wait.
 *
 * @throws EngineError `OPTION_INVALID` at construction.
 */
export function coalesce<T>(options: CoalesceOptions<T>): MonoTypeOperatorFunction<T> {
  const { maxSize } = options;
  if (!(Number.isFinite(maxSize) && maxSize >= 0)) {
    throw invalidOption('coalesce', 'maxSize', 'a finite number of at least 0', maxSize);
  }
  return (source) =>
    new Observable((destination) => {
      new Waiting(destination, options).start(source);
    });
}

/** One subscription: the values that wait for one reader. */
class Waiting<T> implements FeedSink<T> {
  private readonly destination: Subscriber<T>;
  private readonly options: CoalesceOptions<T>;
  private readonly values = new Fifo<T>();
  private readonly sizes = new Fifo<number>();
  private totalSize = 0;
  private isReady = false;
  private isFlushing = false;
  private hasEnded = false;

  constructor(destination: Subscriber<T>, options: CoalesceOptions<T>) {
    this.destination = destination;
    this.options = options;
  }

  start(source: Observable<T>): void {
    const readiness = new Feed<boolean>({
      fed: (isReady) => this.readerIs(isReady),
      feedFailed: (error) => this.destination.error(error),
      feedEnded: () => this.readinessEnded(),
    });
    const feed = new Feed<T>(this);
    this.destination.add(readiness);
    this.destination.add(feed);
    this.destination.add(() => this.drop());
    // The reader first: a synchronous source would otherwise find it unready.
    this.options.ready$.subscribe(readiness);
    // Closed already if `ready$` was over before it began.
    if (!feed.closed) source.subscribe(feed);
  }

  fed(value: T): void {
    // Emitting what waited may lead to new values before it returns: they queue behind the rest.
    if (this.isReady && this.values.size === 0) this.destination.next(value);
    else this.hold(value);
  }

  feedFailed(error: unknown): void {
    this.destination.error(error);
  }

  feedEnded(): void {
    this.hasEnded = true;
    if (this.values.size === 0) this.destination.complete();
  }

  private hold(value: T): void {
    const { merge, size = one, maxSize, overflow = readerTooSlow } = this.options;
    const merged = this.values.size === 0 ? undefined : merge(this.values.newest as T, value);
    if (merged === undefined) {
      const valueSize = size(value);
      this.values.push(value);
      this.sizes.push(valueSize);
      this.totalSize += valueSize;
    } else {
      const mergedSize = size(merged);
      this.totalSize += mergedSize - (this.sizes.newest as number);
      this.values.replaceNewest(merged);
      this.sizes.replaceNewest(mergedSize);
    }
    if (this.totalSize > maxSize) this.destination.error(overflow(this.totalSize, maxSize));
  }

  private readerIs(isReady: boolean): void {
    this.isReady = isReady;
    // A reader that toggles at every value would otherwise recurse once for each that waits.
    if (isReady && !this.isFlushing) this.flush();
  }

  private flush(): void {
    this.isFlushing = true;
    while (this.isReady && this.values.size > 0) {
      this.totalSize -= this.sizes.take();
      this.destination.next(this.values.take());
    }
    this.isFlushing = false;
    if (this.hasEnded && this.values.size === 0) this.destination.complete();
  }

  private readinessEnded(): void {
    if (!this.isReady) this.destination.complete();
  }

  private drop(): void {
    this.values.clear();
    this.sizes.clear();
    this.totalSize = 0;
  }
}

const one = (): number => 1;

function readerTooSlow(waitingSize: number, maxSize: number): EngineError {
  return new EngineError(
    'LIMIT_REACHED',
    `A reader is too slow: ${waitingSize} would wait for it, at most ${maxSize} may; read faster, or resume later.`,
  );
}
