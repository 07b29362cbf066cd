import { Subscription } from 'rxjs';
import type { ChunkStream } from './chunk-stream.js';

/**
 * Reads an async iterable into a stream, and does not read on while the stream has no room.
 *
 * ```text
 * source   a--b--c-----(d)|     asked for the next chunk only when there is room
 * room     y--y--n-----y--
 * stream   a--b--c-----d--|
 * ```
 *
 * The stream ends or fails as the source does; what `write` throws fails it, too, and ends the source. Unsubscribing calls the `return` of
 * the source at once and leaves the stream as it is.
 */
export function pour<T>(source: AsyncIterable<T>, into: ChunkStream<T>): Subscription {
  const pouring = new Subscription();
  read(source, into, pouring).catch((error: unknown) => {
    into.fail(error);
    pouring.unsubscribe();
  });
  return pouring;
}

async function read<T>(source: AsyncIterable<T>, into: ChunkStream<T>, pouring: Subscription): Promise<void> {
  const iterator = source[Symbol.asyncIterator]();
  let isOver = false;
  pouring.add(() => {
    if (!isOver) stop(iterator);
  });
  while (!pouring.closed) {
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
      into.end();
      pouring.unsubscribe();
      return;
    }
    into.write(result.value);
    const room = into.room();
    if (room !== undefined) await room;
  }
}

/** Nothing waits for the source any more, so there is no reader for an error of its clean-up. */
function stop(iterator: AsyncIterator<unknown>): void {
  const stopping = async (): Promise<void> => {
    await iterator.return?.();
  };
  stopping().catch(() => {});
}
