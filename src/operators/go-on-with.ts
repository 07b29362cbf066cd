import { type MonoTypeOperatorFunction, Observable, type Subscriber } from 'rxjs';
import { Feed, type FeedSink } from './feed.js';

/** How a source ended: with an error, which may be undefined, or without one. */
export type SourceEnd = { readonly error: unknown } | undefined;

/** What comes behind a source: another one; an error; or nothing. May throw. */
export type Continuation<T> = (end: SourceEnd) => Observable<T> | undefined;

/**
 * Passes a source on, and goes on with what `next` gives once it has ended or failed; undefined ends the result. An error goes no further, unless `next`
 * throws it.
 *
 * ```text
 * source    --a--b|
 * next              c--d|
 * result    --a--b--c--d|
 *
 * source    --a--#
 * next              c--d|
 * result    --a-----c--d|
 * ```
 *
 * One operator where `tap`, `catchError`, `concat` and `defer` are four: each round of an agent goes through it several times. Errors: what `next` throws,
 * and those of what it gives. Unsubscribing stops whichever is at work.
 */
export function goOnWith<T>(next: Continuation<T>): MonoTypeOperatorFunction<T> {
  return (source) =>
    new Observable<T>((subscriber) => {
      const feed = new Feed<T>(new First(subscriber, next));
      subscriber.add(feed);
      source.subscribe(feed);
    });
}

/** The source, until it is over. */
class First<T> implements FeedSink<T> {
  private readonly subscriber: Subscriber<T>;
  private readonly next: Continuation<T>;

  constructor(subscriber: Subscriber<T>, next: Continuation<T>) {
    this.subscriber = subscriber;
    this.next = next;
  }

  fed(value: T): void {
    this.subscriber.next(value);
  }

  feedFailed(error: unknown): void {
    this.goOn({ error });
  }

  feedEnded(): void {
    this.goOn(undefined);
  }

  private goOn(end: SourceEnd): void {
    const { subscriber, next } = this;
    let more: Observable<T> | undefined;
    try {
      more = next(end);
    } catch (error) {
      subscriber.error(error);
      return;
    }
    if (more === undefined) subscriber.complete();
    else more.subscribe(subscriber);
  }
}
