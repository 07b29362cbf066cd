import { isObservable, Observable, Subscription } from 'rxjs';
import { Breather } from './breather.js';
import type { Room } from './chunk-reader.js';
import { Feed, type FeedSink } from './feed.js';

/** What is poured into; a `ChunkStream` is one. What `write` throws fails it. */
export interface ChunkSink<T> {
  write(chunk: T): void;
  /** A promise while the source should not be read on. */
  room(): Promise<void> | undefined;
  end(): void;
  fail(error: unknown): void;
}

/**
 * Reads a source into a stream: an Observable as it comes, an async iterable only while the stream has room.
 *
 * ```text
 * source   a--b--c-----(d)|     an async iterable is asked for its next chunk only when there is room
 * room     y--y--n-----y--
 * stream   a--b--c-----d--|
 * ```
 *
 * The stream ends or fails as the source does; what `write` throws fails it, too, and stops the source. Unsubscribing stops the source at
 * once (of an iterable, `return` is called) and leaves the stream as it is. Who has to do that while a source emits before `pour` has returned
 * passes the subscription in; it is unsubscribed when the source is over. An iterable that never waits lets the event loop turn every 256 chunks,
 * or 8 ms.
 */
export function pour<T>(
  source: Observable<T> | AsyncIterable<T>,
  into: ChunkSink<T>,
  pouring: Subscription = new Subscription(),
): Subscription {
  if (isObservable(source)) {
    const feed = new Feed<T>(new Pouring(into, pouring));
    pouring.add(feed);
    source.subscribe(feed);
    return pouring;
  }
  read(source, into, pouring).catch((error: unknown) => {
    pouring.unsubscribe();
    into.fail(error);
  });
  return pouring;
}

/**
 * The chunks of either kind of source as an Observable; an async iterable is read only while there is room.
 *
 * ```text
 * source   a--b--c-----(d)|
 * room     y--y--n-----y--
 * result   a--b--c-----d--|
 * ```
 *
 * @param room @default there always is room
 */
export function toObservable<T>(source: Observable<T> | AsyncIterable<T>, room: Room = ALWAYS): Observable<T> {
  if (isObservable(source)) return source;
  return new Observable((subscriber) => {
    const into: ChunkSink<T> = {
      write: (chunk) => subscriber.next(chunk),
      room,
      end: () => subscriber.complete(),
      fail: (error) => subscriber.error(error),
    };
    return pour(source, into);
  });
}

const ALWAYS: Room = () => undefined;

/** An Observable being poured. */
class Pouring<T> implements FeedSink<T> {
  private readonly into: ChunkSink<T>;
  private readonly pouring: Subscription;

  constructor(into: ChunkSink<T>, pouring: Subscription) {
    this.into = into;
    this.pouring = pouring;
  }

  fed(chunk: T): void {
    this.into.write(chunk);
  }

  feedFailed(error: unknown): void {
    // Also what `write` threw, in which case the source does not know yet.
    this.pouring.unsubscribe();
    this.into.fail(error);
  }

  feedEnded(): void {
    this.pouring.unsubscribe();
    this.into.end();
  }
}

async function read<T>(source: AsyncIterable<T>, into: ChunkSink<T>, pouring: Subscription): Promise<void> {
  const iterator = source[Symbol.asyncIterator]();
  const breather = new Breather();
  let isOver = false;
  pouring.add(() => {
    breather.stop();
    if (!isOver) stop(iterator);
  });
  breather.begin();
  while (!pouring.closed) {
    const room = into.room();
    if (room !== undefined) {
      await room;
      if (pouring.closed) return;
    }
    let result: IteratorResult<T>;
    try {
      result = await iterator.next();
    } catch (error) {
      // A source that failed or ended is not to be stopped as well.
      isOver = true;
      throw error;
    }
    if (pouring.closed) return;
    if (result.done) {
      isOver = true;
      pouring.unsubscribe();
      into.end();
      return;
    }
    into.write(result.value);
    breather.asyncStep();
    if (breather.shouldYield()) {
      await new Promise<void>((resolve) => breather.yieldThen(resolve));
      breather.begin();
    }
  }
}

/** Nothing waits for the source any more, so there is no reader for an error of its clean-up. */
function stop(iterator: AsyncIterator<unknown>): void {
  const stopping = async (): Promise<void> => {
    await iterator.return?.();
  };
  stopping().catch(() => {});
}
