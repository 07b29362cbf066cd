import { type Observable, Subscription } from 'rxjs';
import type { WhenFull } from './chunk-reader.js';
import { ChunkSource } from './chunk-source.js';
import { ChunkStream } from './chunk-stream.js';
import { requireObject, requireWhole } from './invalid-option.js';
import { pour } from './pour.js';

/** How {@link fanOut} treats its readers. */
export interface FanOutOptions<T, N extends number = number> {
  /** How many readers there are; at least 1. */
  readonly readers: N;
  /** Chunks that may wait for a reader that is asked for them, or has not begun; at least 1. @default 16 */
  readonly size?: number;
  /** @default 'pause': a source that can be paused waits while the buffers of all readers are full */
  readonly whenFull?: WhenFull;
  /** Makes one chunk of neighbours in a full buffer. @default none: LIMIT_REACHED */
  readonly concat?: (neighbours: readonly T[]) => T;
  /** What the stream is called in errors. @default 'fanOut' */
  readonly name?: string;
}

/** As many readers as were asked for. */
export type Readers<T, N extends number> = number extends N ? readonly ChunkSource<T>[] : ReadersOf<T, N, []>;

/** A list of readers of a known length. */
export type ReadersOf<T, N extends number, R extends readonly ChunkSource<T>[]> = R['length'] extends N
  ? R
  : ReadersOf<T, N, readonly [...R, ChunkSource<T>]>;

/**
 * Gives every reader every chunk of one source, each at its own pace.
 *
 * ```text
 * source      a--b--c--d--|
 * reader 1    a--b--c--d--|
 * reader 2    a-----(bc)--d|      asked for later: it has lost nothing
 * source      ^------------!      subscribed to once
 * ```
 *
 * The source is read from when the first reader is subscribed to or asked, and is stopped when all have left. Each reader may be read once, by
 * subscribing or by `for await`; until it is, chunks wait for it within the bound, so a reader that is not wanted should be subscribed to
 * and unsubscribed. A source that is an async iterable waits while all are slow. One slow reader never slows another.
 *
 * Errors: those of the source, behind what came before; `LIMIT_REACHED` for all, at once with the source being stopped, when the buffer of one is
 * full and cannot be made smaller; `STREAM_TAKEN` for the second consumer of a reader.
 *
 * @throws EngineError `OPTION_INVALID` at construction.
 */
export function fanOut<T, const N extends number>(
  options: FanOutOptions<T, N>,
): <S extends T>(source: Observable<S> | AsyncIterable<S>) => Readers<S, N> {
  requireObject('fanOut', 'options', options, 'an object with "readers"');
  const { readers: count, name = 'fanOut', size, whenFull, concat } = options;
  requireWhole(name, 'readers', count, 1);
  return <S extends T>(source: Observable<S> | AsyncIterable<S>) => {
    const pouring = new Subscription();
    const stream = new ChunkStream<S>({
      name,
      size,
      whenFull,
      // A rule for what chunks are in general gives chunks of their own kind.
      concat: concat as ((neighbours: readonly S[]) => S) | undefined,
      onUnread: () => pouring.unsubscribe(),
    });
    let hasBegun = false;
    const begin = (): void => {
      if (hasBegun) return;
      hasBegun = true;
      pour(source, stream, pouring);
    };
    const sources = Array.from({ length: count }, () => {
      const reader = stream.reader();
      return new ChunkSource<S>(() => ({ reader, begin }));
    });
    return sources as unknown as Readers<S, N>;
  };
}
