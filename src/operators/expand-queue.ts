import { from, type MonoTypeOperatorFunction, Observable, type ObservableInput, type Subscriber } from 'rxjs';
import { Breather, type BreatherOptions, checkBreatherOptions } from './breather.js';
import { Feed, type FeedSink } from './feed.js';
import { Fifo } from './fifo.js';
import { invalidOption } from './invalid-option.js';

/** Bounds of {@link expandQueue}. */
export interface ExpandQueueOptions extends BreatherOptions {
  /** How many inners may run at once; a whole number of at least 1, or `Infinity`. @default Infinity */
  readonly concurrency?: number;
}

/**
 * Emits every value, projects it, and feeds what the projection emits back in: RxJS's `expand` on a flat stack.
 *
 * ```text
 * source    --x----|
 * project     --c|              (2x; nothing for 8)
 *               --c|
 *                 --c|
 * result    --a-b-c-d|          (a: 1, b: 2, c: 4, d: 8)
 * ```
 *
 * `expand` subscribes to an inner from within the previous one, and overflows after about a thousand synchronous steps.
 * Here values wait in a queue that one loop empties, so a million steps cost no stack. Every `yieldEveryMs` (8 by default)
 * the loop lets the event loop turn. Two things differ from `expand`:
 * - A synchronous inner is read to its end before its values are emitted, breadth first; recursion goes depth first.
 * - An array is queued as it is, without a subscription.
 *
 * A value is emitted when its turn comes, right before it is projected; with bounded concurrency it waits until then.
 * What `project` throws ends the stream as its error. Unsubscribing ends the source, every inner and a pending pause.
 *
 * @param project gives what a value leads to; `index` counts the calls from 0.
 * @throws EngineError `OPTION_INVALID` at construction.
 */
export function expandQueue<T>(
  project: (value: T, index: number) => ObservableInput<NoInfer<T>>,
  options: ExpandQueueOptions = {},
): MonoTypeOperatorFunction<T> {
  const { concurrency = Number.POSITIVE_INFINITY } = options;
  if (concurrency !== Number.POSITIVE_INFINITY && !(Number.isSafeInteger(concurrency) && concurrency >= 1)) {
    throw invalidOption('expandQueue', 'concurrency', 'a whole number of at least 1, or Infinity', concurrency);
  }
  checkBreatherOptions('expandQueue', options);
  return (source) =>
    new Observable((destination) => {
      new Expansion(destination, project, concurrency, new Breather(options)).start(source);
    });
}

/** One subscription: the queue, the loop that empties it, and the inners that fill it. A class for its stable shape. */
class Expansion<T> implements FeedSink<T> {
  private readonly destination: Subscriber<T>;
  private readonly project: (value: T, index: number) => ObservableInput<T>;
  private readonly concurrency: number;
  private readonly breather: Breather;
  private readonly waiting = new Fifo<T>();
  /** The inners whose `subscribe` has returned and that are still open; a Set, for `Subscription.add` removes in O(n). */
  private readonly running = new Set<Feed<T>>();
  /** The inner whose `subscribe` has not returned yet. */
  private starting: Feed<T> | undefined = undefined;
  private sourceFeed: Feed<T> | undefined = undefined;
  private active = 0;
  private index = 0;
  private isStarting = true;
  private isDraining = false;

  constructor(
    destination: Subscriber<T>,
    project: (value: T, index: number) => ObservableInput<T>,
    concurrency: number,
    breather: Breather,
  ) {
    this.destination = destination;
    this.project = project;
    this.concurrency = concurrency;
    this.breather = breather;
  }

  start(source: Observable<T>): void {
    const feed = new Feed(this);
    this.sourceFeed = feed;
    // Registered before the source runs: a synchronous one may be cut short from within.
    this.destination.add(this.stop);
    source.subscribe(feed);
    this.isStarting = false;
  }

  fed(value: T): void {
    this.waiting.push(value);
    this.drain();
  }

  feedFailed(error: unknown): void {
    this.destination.error(error);
  }

  feedEnded(feed: Feed<T>): void {
    if (feed === this.sourceFeed) {
      this.sourceFeed = undefined;
    } else {
      this.active -= 1;
      this.running.delete(feed);
    }
    this.drain();
  }

  /** The trampoline: whatever arrives while it runs is queued by the calls above and walked by the loop below. */
  private readonly drain = (): void => {
    if (this.isDraining || this.breather.isPaused) return;
    this.isDraining = true;
    // Not for a synchronous source: while its values wait for the end of a pause, a reader downstream could not stop it.
    if (!this.isStarting && this.waiting.size > 0) this.breather.asyncStep();
    this.breather.begin();
    try {
      while (this.waiting.size > 0 && this.active < this.concurrency && !this.destination.closed) {
        if (this.breather.shouldYield()) {
          this.breather.yieldThen(this.drain);
          if (this.breather.isPaused) return;
          this.breather.begin();
        }
        this.step(this.waiting.take());
      }
    } catch (error) {
      this.destination.error(error);
    } finally {
      this.isDraining = false;
    }
    if (this.sourceFeed === undefined && this.active === 0 && this.waiting.size === 0) this.destination.complete();
  };

  private step(value: T): void {
    this.destination.next(value);
    if (this.destination.closed) return;
    const results = this.project(value, this.index++);
    // Projecting may have cancelled the whole: then nothing new may start.
    if (this.destination.closed) return;
    if (Array.isArray(results)) {
      for (let at = 0; at < results.length; at++) this.waiting.push(results[at]);
      return;
    }
    const inner = new Feed(this);
    this.active += 1;
    this.starting = inner;
    from(results).subscribe(inner);
    this.starting = undefined;
    if (!inner.closed) this.running.add(inner);
  }

  private readonly stop = (): void => {
    this.breather.stop();
    this.waiting.clear();
    this.sourceFeed?.unsubscribe();
    this.starting?.unsubscribe();
    for (const inner of this.running) inner.unsubscribe();
    this.running.clear();
  };
}
