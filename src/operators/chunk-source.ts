import { Observable } from 'rxjs';
import type { ChunkReader } from './chunk-reader.js';

/** A reader that a {@link ChunkSource} was given. */
export interface OpenedReader<T> {
  readonly reader: ChunkReader<T>;
  /** Called once the consumer is there, so that it misses nothing that comes at once. @default nothing is done */
  readonly begin?: () => void;
}

/**
 * Chunks that may be subscribed to, as any Observable, or asked for with `for await`; then a producer that can pause waits for the loop.
 *
 * ```text
 * chunks     a--b--c--|
 * subscribe  a--b--c--|     takes what comes
 * for await  a-----b--c|    takes what it asks for; the rest waits, within the bound of the stream
 * ```
 *
 * Cold: `open` is called for each consumer. Unsubscribing and breaking the loop off leave the stream.
 */
export class ChunkSource<T> extends Observable<T> implements AsyncIterable<T> {
  private readonly open: () => OpenedReader<T>;

  constructor(open: () => OpenedReader<T>) {
    super((subscriber) => {
      const { reader, begin } = open();
      const reading = reader.toObservable().subscribe(subscriber);
      begin?.();
      return reading;
    });
    this.open = open;
  }

  [Symbol.asyncIterator](): AsyncIterableIterator<T> {
    const { reader, begin } = this.open();
    const iterator = reader[Symbol.asyncIterator]();
    begin?.();
    return iterator;
  }
}
