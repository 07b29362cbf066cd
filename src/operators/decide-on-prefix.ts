import { Observable, type OperatorFunction, type Subscriber, Subscription } from 'rxjs';
import { EngineError } from '../errors.js';
import { ChunkSource } from './chunk-source.js';
import { ChunkStream } from './chunk-stream.js';
import { Feed, type FeedSink } from './feed.js';
import { invalidOption, requireObject, requireWhole } from './invalid-option.js';

/**
 * Decides where chunks go by the first of them: a label, several labels, or undefined to see more.
 *
 * It is called with all chunks so far at each one, which is the same growing list every time, and once more at the end with `isLast`.
 */
export type ChooseOnPrefix<T, L extends string> = (
  chunks: readonly T[],
  isLast: boolean,
) => L | readonly L[] | undefined;

/** Chunks and where they go. */
export interface Decision<T, L extends string> {
  readonly label: L;
  /** Every chunk from the first one. To be read once; until then the chunks wait. Ending the reading leaves. */
  readonly chunks$: ChunkSource<T>;
}

/** How many chunks may wait in {@link decideOnPrefix}. */
export interface DecideOptions<T> {
  /** Chunks that wait for the decision; at least 1. @default 1,000 */
  readonly maxChunks?: number;
  /** Chunks that wait, beyond those, for a reader of a decision that is not subscribed to; at least 1. @default 16 */
  readonly size?: number;
  /** Makes one chunk of neighbours when more would wait. @default none: LIMIT_REACHED */
  readonly concat?: (neighbours: readonly T[]) => T;
}

/**
 * Decides by the first chunks of a stream where the stream goes; chunks wait for the decision, and none is lost.
 *
 * ```text
 * source      --a--b-----c--d--|
 * choose        ?--x                   undefined for [a], 'x' for [a, b]
 * result      -----(D|)                D = { label: 'x', chunks$ }
 * D.chunks$   -----(ab)--c--d--|       subscribed to at once
 * ```
 *
 * For several labels there is one decision each, in their order, and each gets every chunk; for an empty list there is none, and the source
 * is stopped. The result completes with the decision. The source goes on until it ends or all `chunks$` have been left, so each of
 * them has to be read; an error of the source after the decision goes to them.
 *
 * Errors: of the source and of `choose`; `LIMIT_REACHED` when `maxChunks` chunks brought no decision, or when too many wait for a reader;
 * `ROUTE_UNDECIDED` when there is none at the end.
 *
 * @throws EngineError `OPTION_INVALID` at construction.
 */
export function decideOnPrefix<T, const L extends string>(
  choose: ChooseOnPrefix<T, L>,
  options: DecideOptions<NoInfer<T>> = {},
): OperatorFunction<T, Decision<T, L>> {
  if (typeof choose !== 'function') throw invalidOption('decideOnPrefix', 'choose', 'a function', choose);
  requireObject('decideOnPrefix', 'options', options, 'an object');
  requireWhole('decideOnPrefix', 'maxChunks', options.maxChunks ?? MAX_CHUNKS, 1);
  requireWhole('decideOnPrefix', 'size', options.size ?? SIZE, 1);
  return (source) =>
    new Observable((subscriber) => {
      const deciding = new Deciding(subscriber, choose, options);
      deciding.start(source);
    });
}

const MAX_CHUNKS = 1_000;
const SIZE = 16;

/** One subscription: first the chunks wait here, then they go to the stream that the decisions read. */
class Deciding<T, L extends string> implements FeedSink<T> {
  private readonly subscriber: Subscriber<Decision<T, L>>;
  private readonly choose: ChooseOnPrefix<T, L>;
  private readonly options: DecideOptions<T>;
  private readonly feed = new Feed<T>(this);
  private readonly prefix: T[] = [];
  private stream: ChunkStream<T> | undefined;

  constructor(subscriber: Subscriber<Decision<T, L>>, choose: ChooseOnPrefix<T, L>, options: DecideOptions<T>) {
    this.subscriber = subscriber;
    this.choose = choose;
    this.options = options;
  }

  start(source: Observable<T>): void {
    // The result completes with the decision, and the source goes on for the readers.
    this.subscriber.add(
      new Subscription(() => {
        if (this.stream === undefined) this.feed.unsubscribe();
      }),
    );
    source.subscribe(this.feed);
  }

  fed(chunk: T): void {
    if (this.stream !== undefined) {
      this.stream.write(chunk);
      return;
    }
    const { prefix } = this;
    prefix.push(chunk);
    const chosen = this.choose(prefix, false);
    if (chosen !== undefined) this.decide(chosen);
    else if (prefix.length >= (this.options.maxChunks ?? MAX_CHUNKS)) throw undecidedFor(prefix.length);
  }

  feedFailed(error: unknown): void {
    this.feed.unsubscribe();
    if (this.stream === undefined) this.subscriber.error(error);
    else this.stream.fail(error);
  }

  feedEnded(): void {
    try {
      if (this.stream === undefined) this.decide(this.choose(this.prefix, true) ?? undecided(this.prefix.length));
    } catch (error) {
      this.subscriber.error(error);
      return;
    }
    this.stream?.end();
  }

  private decide(chosen: L | readonly L[]): void {
    const { prefix, feed, subscriber, options } = this;
    const labels = new Set(typeof chosen === 'string' ? [chosen] : chosen);
    const stream = new ChunkStream<T>({
      name: 'decideOnPrefix',
      size: prefix.length + (options.size ?? SIZE),
      concat: options.concat,
      onUnread: () => feed.unsubscribe(),
    });
    this.stream = stream;
    const chosenReaders = Array.from(labels, (label) => ({ label, reader: stream.reader() }));
    for (const chunk of prefix) stream.write(chunk);
    prefix.length = 0;
    if (labels.size === 0) feed.unsubscribe();
    for (const { label, reader } of chosenReaders) {
      if (subscriber.closed) reader.leave();
      else subscriber.next({ label, chunks$: new ChunkSource<T>(() => ({ reader })) });
    }
    subscriber.complete();
  }
}

function undecidedFor(count: number): EngineError {
  return new EngineError(
    'LIMIT_REACHED',
    `decideOnPrefix: ${count} chunks brought no decision, and no more may wait; decide earlier, or let more wait (maxChunks).`,
  );
}

function undecided(count: number): never {
  throw new EngineError(
    'ROUTE_UNDECIDED',
    `decideOnPrefix: the source has ended after ${count} chunks without a decision; give a label when called with isLast.`,
  );
}
