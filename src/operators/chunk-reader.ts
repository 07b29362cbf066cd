import { Observable, type Subscriber } from 'rxjs';
import { EngineError } from '../errors.js';
import { ChunkBuffer } from './chunk-buffer.js';
import { Fifo } from './fifo.js';

/**
 * What happens when the buffer of a reader is full.
 *
 * `pause`: the producer should not go on reading its source while all buffers are full; what it writes all the same is handled as by
 * `concat`. `concat`: neighbours in the buffer are concatenated. `fail`: the producer's `write` throws. `latest`: the oldest chunk is dropped.
 */
export type WhenFull = 'pause' | 'concat' | 'fail' | 'latest';

/** A promise while nothing more should be given, which is kept when there is room again; undefined while there is room. */
export type Room = () => Promise<void> | undefined;

/**
 * One reader of a stream, for one consumer: either `toObservable()` or `for await`, once.
 *
 * What fails the stream comes behind the chunks that were written before. A second consumer gets `STREAM_TAKEN`.
 */
export interface ChunkReader<T> extends AsyncIterable<T> {
  /**
   * The chunks as they are written: first what waits, then each one at the moment of its `write`, without a buffer between.
   * To be subscribed to once; unsubscribing leaves.
   *
   * @param room Says when the subscriber cannot pass chunks on: the reader then counts as full for the producer. @default there always is room
   */
  toObservable(room?: Room): Observable<T>;
  /** The chunks as they are asked for; what is not asked for waits in the buffer. Ending the loop leaves. */
  [Symbol.asyncIterator](): AsyncIterableIterator<T>;
  /** Chunks that wait to be read, without the kept ones of a reader that came late. */
  readonly waiting: number;
  /** Stops reading and drops what waits. Leaving twice does nothing. */
  leave(): void;
}

/** How a stream ended: with an error, or as it should. */
export type StreamEnd = { readonly error: unknown } | 'complete';

/** What a reader asks of its stream. */
export interface ReaderHome<T> {
  readonly name: string;
  /** Chunks with which a buffer counts as full, and the most that it holds. */
  readonly size: number;
  readonly limit: number;
  readonly whenFull: WhenFull;
  readonly concat: ((neighbours: readonly T[]) => T) | undefined;
  /** The chunks that are kept for readers that come late. */
  readonly chunks: readonly T[];
  /** Set when no reader will be given any more. */
  readonly delivered: StreamEnd | undefined;
  /** A reader may have place again. */
  hasPlace(): void;
  hasLeft(reader: StreamReader<T>): void;
}

interface Waiter<T> {
  readonly resolve: (result: IteratorResult<T, undefined>) => void;
  readonly reject: (error: unknown) => void;
}

/** The reader that a stream writes to. Everything but {@link ChunkReader} is for the stream alone. */
export class StreamReader<T> implements ChunkReader<T> {
  private readonly home: ReaderHome<T>;
  private readonly buffer = new ChunkBuffer<T>();
  /** The next of the kept chunks, and how many of them there were when the reader came. */
  private at = 0;
  private readonly keptEnd: number;
  /** Who reads: pushed to, or asking. */
  private subscriber: Subscriber<T> | undefined;
  private roomBehind: Room | undefined;
  private readonly waiters = new Fifo<Waiter<T>>();
  private isTaken = false;
  private isDraining = false;
  private hasLeft = false;

  constructor(home: ReaderHome<T>) {
    this.home = home;
    this.keptEnd = home.chunks.length;
  }

  get waiting(): number {
    return this.buffer.size;
  }

  get isOpen(): boolean {
    return !this.hasLeft;
  }

  /** Whether it has enough to read: its buffer is full, or holds chunks that had to be concatenated because it was. */
  get isFull(): boolean {
    const { buffer } = this;
    if (this.subscriber !== undefined) return this.roomBehind?.() !== undefined;
    return buffer.size >= this.home.size || buffer.isBehind;
  }

  /** A promise while what is behind the subscriber has no room. */
  room(): Promise<void> | undefined {
    return this.hasLeft ? undefined : this.roomBehind?.();
  }

  toObservable(room?: Room): Observable<T> {
    return new Observable((subscriber) => {
      if (this.isTaken) {
        subscriber.error(this.takenError());
        return;
      }
      this.roomBehind = room;
      this.pushTo(subscriber);
    });
  }

  [Symbol.asyncIterator](): AsyncIterableIterator<T> {
    if (this.isTaken) throw this.takenError();
    this.isTaken = true;
    const iterator: AsyncIterableIterator<T> = {
      next: () => this.pull(),
      return: () => {
        this.leave();
        return Promise.resolve(ended());
      },
      [Symbol.asyncIterator]: () => iterator,
    };
    return iterator;
  }

  leave(): void {
    if (this.hasLeft) return;
    this.hasLeft = true;
    this.isTaken = true;
    this.at = this.keptEnd;
    this.buffer.clear();
    while (this.waiters.size > 0) this.waiters.take().resolve(ended());
    this.home.hasLeft(this);
    this.subscriber?.complete();
  }

  /** Takes one chunk that was written; gives the error when there is no place for it. */
  give(chunk: T): EngineError | undefined {
    if (this.hasLeft) return undefined;
    if (this.subscriber !== undefined) {
      // Chunks written while older ones are being handed over follow behind them, in the same loop.
      if (this.isDraining) this.buffer.push(chunk);
      else this.subscriber.next(chunk);
      return undefined;
    }
    if (this.waiters.size > 0) {
      this.waiters.take().resolve({ done: false, value: chunk });
      return undefined;
    }
    if (this.buffer.size < this.home.limit) {
      this.buffer.push(chunk);
      return undefined;
    }
    return this.giveToFull(chunk);
  }

  /** The stream has ended; what waits here is still to be read. */
  finish(): void {
    if (this.hasLeft || this.isDraining || this.hasNext) return;
    if (this.subscriber !== undefined) {
      const { delivered } = this.home;
      if (typeof delivered === 'object') this.subscriber.error(delivered.error);
      else this.subscriber.complete();
    } else if (this.waiters.size > 0) {
      const { resolve, reject } = this.waiters.take();
      this.settleEnd(resolve, reject);
    }
  }

  private get hasNext(): boolean {
    return this.at < this.keptEnd || this.buffer.size > 0;
  }

  private take(): T {
    if (this.at < this.keptEnd) {
      this.at += 1;
      return this.home.chunks[this.at - 1] as T;
    }
    const chunk = this.buffer.take();
    this.home.hasPlace();
    return chunk;
  }

  private pushTo(subscriber: Subscriber<T>): void {
    this.isTaken = true;
    this.subscriber = subscriber;
    subscriber.add(() => this.leave());
    this.isDraining = true;
    while (this.hasNext && !subscriber.closed) subscriber.next(this.take());
    this.isDraining = false;
    // Nothing waits here any more, so the producer may go on even if nothing had to be taken.
    this.home.hasPlace();
    if (this.home.delivered !== undefined) this.finish();
  }

  private pull(): Promise<IteratorResult<T, undefined>> {
    if (this.hasNext) return Promise.resolve({ done: false, value: this.take() });
    if (this.hasLeft) return Promise.resolve(ended());
    return new Promise((resolve, reject) => {
      if (this.home.delivered === undefined) this.waiters.push({ resolve, reject });
      else this.settleEnd(resolve, reject);
    });
  }

  private settleEnd(resolve: Waiter<T>['resolve'], reject: Waiter<T>['reject']): void {
    const { delivered } = this.home;
    if (typeof delivered === 'object') reject(delivered.error);
    else resolve(ended());
    this.leave();
  }

  private giveToFull(chunk: T): EngineError | undefined {
    const { whenFull, concat } = this.home;
    if (whenFull === 'latest') {
      this.buffer.take();
      this.buffer.push(chunk);
      return undefined;
    }
    if (whenFull === 'fail' || concat === undefined) return this.tooSlow('');
    try {
      this.buffer.squeeze(chunk, concat);
      return undefined;
    } catch (error) {
      // A rule may say itself what the way out is.
      if (EngineError.is(error) && error.code === 'LIMIT_REACHED') return error;
      const reason = error instanceof Error ? error.message : String(error);
      return this.tooSlow(`, and they cannot be concatenated: ${reason}`, error);
    }
  }

  private tooSlow(reason: string, cause?: unknown): EngineError {
    const { name, limit, whenFull } = this.home;
    const advice =
      'read faster, use a producer that can be paused, give a rule that concatenates its chunks, or let more wait (size)';
    return new EngineError(
      'LIMIT_REACHED',
      `${name}: a reader is too slow: ${limit} chunks wait for it, which is the most that may (whenFull: ${whenFull})${reason}; ${advice}.`,
      { cause },
    );
  }

  private takenError(): EngineError {
    return new EngineError(
      'STREAM_TAKEN',
      `${this.home.name}: this reader has been read or has left; ask the stream for another reader.`,
    );
  }
}

const ended = (): IteratorReturnResult<undefined> => ({ done: true, value: undefined });
