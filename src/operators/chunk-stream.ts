import { EngineError } from '../errors.js';
import { type ChunkReader, type ReaderHome, type StreamEnd, StreamReader, type WhenFull } from './chunk-reader.js';
import { Fifo } from './fifo.js';
import { invalidOption, requireWhole } from './invalid-option.js';

/** How a {@link ChunkStream} treats its readers. */
export interface ChunkStreamOptions<T> {
  /** What the stream is called in errors, such as `the edge from "model" to "tools"`. */
  readonly name: string;
  /** Chunks that may wait for one reader; at least 1. @default 16 */
  readonly size?: number | undefined;
  /** Chunks that may wait beyond that: those which several producers have under way when they are asked to pause. @default 0 */
  readonly reserve?: number | undefined;
  /** @default 'pause' */
  readonly whenFull?: WhenFull | undefined;
  /** Makes one chunk of at least two neighbours, oldest first. It must change none of them. @default none: full buffers are errors */
  readonly concat?: ((neighbours: readonly T[]) => T) | undefined;
  /** Keeps all chunks from the first one, for readers that come late and for `whole`. @default false */
  readonly isKept?: boolean | undefined;
  /** Called once, when there were readers and the last one leaves before the end. @default nothing is done */
  readonly onUnread?: (() => void) | undefined;
}

/** Chunks that wait for one reader unless an option says otherwise. */
export const DEFAULT_STREAM_SIZE = 16;

const WAYS: readonly string[] = ['pause', 'concat', 'fail', 'latest'] satisfies WhenFull[];

/**
 * One producer, any number of readers, each at its own pace.
 *
 * ```text
 * write       a--b--c--d--e--|          (size 2, concatenated when full)
 * reader 1    a--b--c--d--e--|          takes what comes
 * reader 2    a-----------(bc)(de)|     reads one, then nothing for a while: it gets fewer, larger chunks and loses nothing
 * ```
 *
 * A reader has a buffer of `size` chunks from the moment `reader()` gave it, whether it is read or not. One that is subscribed to
 * (`toObservable`) gets each chunk at the moment of `write`; one that is pulled (`for await`) takes from its buffer. A slow reader never
 * slows a faster one: `room()` asks the producer to wait only while the buffers of all are full.
 *
 * @throws EngineError `OPTION_INVALID` at construction.
 */
export class ChunkStream<T> implements ReaderHome<T> {
  readonly name: string;
  readonly size: number;
  readonly limit: number;
  readonly whenFull: WhenFull;
  readonly concat: ((neighbours: readonly T[]) => T) | undefined;
  private readonly kept: T[] = [];
  /** Whether it keeps all chunks. */
  readonly isKept: boolean;
  private readonly onUnread: (() => void) | undefined;
  private readonly readers: StreamReader<T>[] = [];
  /** Chunks that readers wrote while a chunk was being given to all: everyone sees the same order. */
  private readonly nested = new Fifo<T>();
  private isWriting = false;
  /** Whether readers left while a chunk was being given to all. */
  private hasGaps = false;
  private hasBeenUnread = false;
  private ending: StreamEnd | undefined;
  private isDelivered = false;
  private space: Space | undefined;
  private latestWhole: { readonly of: number; readonly value: T } | undefined;

  constructor(options: ChunkStreamOptions<T>) {
    const { name, size = DEFAULT_STREAM_SIZE, reserve = 0, whenFull = 'pause' } = options;
    requireWhole(name, 'size', size, 1);
    requireWhole(name, 'reserve', reserve, 0);
    if (!WAYS.includes(whenFull)) throw invalidOption(name, 'whenFull', `one of ${WAYS.join(', ')}`, whenFull);
    this.name = name;
    this.size = size;
    this.limit = size + reserve;
    this.whenFull = whenFull;
    this.concat = options.concat;
    this.isKept = options.isKept ?? false;
    this.onUnread = options.onUnread;
  }

  /** Whether `end` or `fail` was called. */
  get isEnded(): boolean {
    return this.ending !== undefined;
  }

  /** What `fail` was called with; undefined as long as it was not. */
  get failure(): { readonly error: unknown } | undefined {
    return typeof this.ending === 'object' ? this.ending : undefined;
  }

  /** All chunks so far, when the stream keeps them; otherwise none. */
  get chunks(): readonly T[] {
    return this.kept;
  }

  /** For its readers: the end, once there is nothing more to be given. */
  get delivered(): StreamEnd | undefined {
    return this.isDelivered ? this.ending : undefined;
  }

  /** A reader of its own pace. It gets what is written from now on, and before that all chunks that the stream has kept. */
  reader(): ChunkReader<T> {
    const reader = new StreamReader<T>(this);
    if (this.isDelivered) return reader;
    this.readers.push(reader);
    this.hasPlace();
    return reader;
  }

  /**
   * Gives a chunk to every reader. After the end it does nothing.
   *
   * @throws EngineError `LIMIT_REACHED` when the buffer of a reader is full and its chunks cannot be concatenated; the other readers have
   * got the chunk. The producer should stop and call `fail`.
   */
  write(chunk: T): void {
    if (this.ending !== undefined) return;
    if (this.isWriting) {
      this.nested.push(chunk);
      return;
    }
    this.isWriting = true;
    let problem = this.give(chunk);
    while (this.nested.size > 0) problem = this.give(this.nested.take()) ?? problem;
    this.isWriting = false;
    if (this.hasGaps) this.closeGaps();
    // A reader may have ended the stream.
    if (this.ending !== undefined) this.deliverEnd();
    if (problem !== undefined) throw problem;
  }

  /**
   * A promise while the producer should not read its source on; undefined while there is room, which costs nothing.
   *
   * It is only ever given with `whenFull: 'pause'`, while there are readers and the buffers of all are full. It is kept when one of them has
   * place again, when a reader comes, when the full ones have left, and when the stream ends. It never rejects.
   */
  room(): Promise<void> | undefined {
    if (!this.isCrowded()) return undefined;
    if (this.space === undefined) {
      this.space = new Space();
      this.awaitPlace(this.space);
    }
    return this.space.promise;
  }

  /** Ends the stream; readers end when they have read what waits for them. */
  end(): void {
    this.endWith('complete');
  }

  /** Ends the stream with an error, which readers get behind what waits for them. */
  fail(error: unknown): void {
    this.endWith({ error });
  }

  /**
   * The value that all chunks so far make; needs `isKept`. One chunk is itself, several are concatenated.
   *
   * @throws EngineError `STREAM_EMPTY` without a chunk, `CHUNKS_INVALID` without a rule to concatenate several; what the rule throws; after
   * `fail`, its error.
   */
  whole(): T {
    const { kept, concat, latestWhole } = this;
    if (typeof this.ending === 'object') throw this.ending.error;
    if (kept.length === 1) return kept[0] as T;
    if (latestWhole?.of === kept.length) return latestWhole.value;
    if (kept.length === 0) {
      throw new EngineError('STREAM_EMPTY', `${this.name}: there is no chunk to make a value of; give at least one.`);
    }
    if (concat === undefined) {
      throw new EngineError(
        'CHUNKS_INVALID',
        `${this.name}: there are ${kept.length} chunks and no rule to make one value of them; give a rule that concatenates them.`,
      );
    }
    const value = concat(kept);
    this.latestWhole = { of: kept.length, value };
    return value;
  }

  /** For its readers: one of them may have place again. */
  hasPlace(): void {
    const { space } = this;
    if (space === undefined || this.isCrowded()) return;
    this.space = undefined;
    space.open();
  }

  /** For its readers: one of them reads no more. */
  hasLeft(reader: StreamReader<T>): void {
    this.hasPlace();
    if (this.isDelivered) return;
    if (this.isWriting) this.hasGaps = true;
    else this.readers.splice(this.readers.indexOf(reader), 1);
    if (this.ending !== undefined || this.hasBeenUnread || this.readers.some((one) => one.isOpen)) return;
    this.hasBeenUnread = true;
    this.onUnread?.();
  }

  private give(chunk: T): EngineError | undefined {
    if (this.isKept) this.kept.push(chunk);
    const { readers } = this;
    // Readers that come meanwhile have the chunk among the kept ones, or did not ask for it.
    const { length } = readers;
    let problem: EngineError | undefined;
    for (let at = 0; at < length; at += 1) problem = (readers[at] as StreamReader<T>).give(chunk) ?? problem;
    return problem;
  }

  /** Whether there are readers, and all of them are full. */
  private isCrowded(): boolean {
    if (this.whenFull !== 'pause' || this.ending !== undefined) return false;
    const { readers } = this;
    let isCrowded = false;
    for (let at = 0; at < readers.length; at += 1) {
      const reader = readers[at] as StreamReader<T>;
      if (!reader.isOpen) continue;
      if (!reader.isFull) return false;
      isCrowded = true;
    }
    return isCrowded;
  }

  /** Subscribers do not take from a buffer: whether there is room behind them has to be asked again. */
  private awaitPlace(space: Space): void {
    const ask = (): void => {
      if (this.space !== space) return;
      this.hasPlace();
      if (this.space === space) this.awaitPlace(space);
    };
    for (const reader of this.readers) reader.room()?.then(ask, ask);
  }

  private closeGaps(): void {
    this.hasGaps = false;
    const open = this.readers.filter((reader) => reader.isOpen);
    this.readers.length = 0;
    for (const reader of open) this.readers.push(reader);
  }

  private endWith(ending: StreamEnd): void {
    if (this.ending !== undefined) return;
    this.ending = ending;
    if (!this.isWriting) this.deliverEnd();
  }

  private deliverEnd(): void {
    this.isDelivered = true;
    this.hasPlace();
    // Readers that are done leave, and the list must not change under the loop.
    for (const reader of this.readers.splice(0)) reader.finish();
  }
}

/** A promise and what keeps it. */
class Space {
  readonly promise: Promise<void>;
  open: () => void = () => {};

  constructor() {
    this.promise = new Promise((resolve) => {
      this.open = resolve;
    });
  }
}
