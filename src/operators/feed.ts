import { Subscriber } from 'rxjs';

/** What a {@link Feed} delivers to. Every call names the feed, so that one sink serves many without a closure each. */
export interface FeedSink<T> {
  fed(value: T, feed: Feed<T>): void;
  feedFailed(error: unknown, feed: Feed<T>): void;
  /** The feed completed; its own resources are already released. */
  feedEnded(feed: Feed<T>): void;
}

/**
 * A subscriber that exists before it subscribes, for operators that own several subscriptions.
 *
 * A plain observer cannot be unsubscribed until `subscribe` returns, hence never while a synchronous source emits. What the
 * sink throws becomes `feedFailed`.
 */
export class Feed<T> extends Subscriber<T> {
  private readonly sink: FeedSink<T>;

  constructor(sink: FeedSink<T>) {
    super();
    this.sink = sink;
  }

  protected override _next(value: T): void {
    try {
      this.sink.fed(value, this);
    } catch (error) {
      this.sink.feedFailed(error, this);
    }
  }

  protected override _error(error: unknown): void {
    this.unsubscribe();
    this.sink.feedFailed(error, this);
  }

  protected override _complete(): void {
    // Released first: with bounded concurrency the next inner must not start while this one still holds its resources.
    this.unsubscribe();
    this.sink.feedEnded(this);
  }
}
