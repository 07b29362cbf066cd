import { type Observable, Subscription } from 'rxjs';
import { EngineError } from '../errors.js';
import { ChunkSource } from './chunk-source.js';
import { ChunkStream } from './chunk-stream.js';
import { requireObject } from './invalid-option.js';
import { type ChunkSink, pour } from './pour.js';

/** What {@link mergeNamed} says: a chunk of a source, or that a source has ended. */
export type NamedChunk<N extends string, T> =
  | { readonly type: 'chunk'; readonly name: N; readonly chunk: T }
  | { readonly type: 'ended'; readonly name: N };

/** Sources by name. */
export type NamedSources = Readonly<Record<string, Observable<unknown> | AsyncIterable<unknown>>>;

/** What {@link mergeNamed} says of these sources: the type of a chunk follows from its name. */
export type NamedChunks<S extends NamedSources> = {
  [N in keyof S & string]: NamedChunk<N, S[N] extends Observable<infer T> | AsyncIterable<infer T> ? T : never>;
}[keyof S & string];

/** How much {@link mergeNamed} holds for a consumer that asks for its chunks. */
export interface MergeNamedOptions {
  /** Chunks and words that may wait for a `for await`; at least 1. @default 16 */
  readonly size?: number;
}

/**
 * Merges sources in the order in which their chunks arrive; each chunk comes with the name of its source, and a word says when one ends.
 *
 * ```text
 * a        -1---3-|
 * b        ---2---------|
 * result   -A-B-A-x-----(y|)     A = chunk of a, B = chunk of b, x = a has ended, y = b has ended
 * ```
 *
 * A subscriber gets what comes, and nothing is held for it. For a `for await`, `size` chunks may wait; then sources that are async iterables are
 * not read on, while an Observable that goes on fails with `LIMIT_REACHED`. Without sources the result is empty. When one source fails the
 * others are unsubscribed, and the error says which it was: an EngineError keeps its code, anything else becomes `STREAM_FAILED`.
 *
 * @throws EngineError `OPTION_INVALID` when it is read.
 */
export function mergeNamed<const S extends NamedSources>(
  sources: S,
  options: MergeNamedOptions = {},
): ChunkSource<NamedChunks<S>> {
  requireObject('mergeNamed', 'sources', sources, 'an object of streams by name');
  requireObject('mergeNamed', 'options', options, 'an object');
  return new ChunkSource(() => {
    const names = Object.keys(sources);
    const pouring = new Subscription();
    const stream = new ChunkStream<NamedChunk<string, unknown>>({
      name: 'mergeNamed',
      size: options.size,
      // What a source had under way when there was no room any more, and that it has ended.
      reserve: 2 * names.length,
      onUnread: () => pouring.unsubscribe(),
    });
    const merging = { stream, pouring, running: names.length };
    return {
      // Every chunk is made of a name and a source of the same entry.
      reader: stream.reader() as never,
      begin: () => {
        if (merging.running === 0) stream.end();
        for (const name of names) {
          const one = new Subscription();
          pouring.add(one);
          if (!pouring.closed) pour(sources[name] as Observable<unknown>, new NamedSink(name, merging), one);
        }
      },
    };
  });
}

/** One reading of all sources. */
interface Merging {
  readonly stream: ChunkStream<NamedChunk<string, unknown>>;
  readonly pouring: Subscription;
  /** Sources that have not ended. */
  running: number;
}

class NamedSink implements ChunkSink<unknown> {
  private readonly name: string;
  private readonly merging: Merging;

  constructor(name: string, merging: Merging) {
    this.name = name;
    this.merging = merging;
  }

  write(chunk: unknown): void {
    this.merging.stream.write({ type: 'chunk', name: this.name, chunk });
  }

  room(): Promise<void> | undefined {
    return this.merging.stream.room();
  }

  end(): void {
    const { merging } = this;
    try {
      merging.stream.write({ type: 'ended', name: this.name });
    } catch (error) {
      this.fail(error);
      return;
    }
    merging.running -= 1;
    if (merging.running === 0) merging.stream.end();
  }

  fail(error: unknown): void {
    this.merging.stream.fail(named(this.name, error));
    this.merging.pouring.unsubscribe();
  }
}

function named(name: string, thrown: unknown): EngineError {
  const reason = thrown instanceof Error ? thrown.message : String(thrown);
  const message = `mergeNamed: the source "${name}" failed: ${reason}`;
  if (!EngineError.is(thrown)) return new EngineError('STREAM_FAILED', message, { cause: thrown });
  const { code, node, retryable, details } = thrown;
  return new EngineError(code, message, { cause: thrown, retryable, details, ...(node === undefined ? {} : { node }) });
}
