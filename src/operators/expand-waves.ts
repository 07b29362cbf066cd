import { Observable, type OperatorFunction, Subscriber, type Subscription, type Unsubscribable } from 'rxjs';
import { Breather, type BreatherOptions, checkBreatherOptions } from './breather.js';
import { Feed } from './feed.js';
import { Fifo } from './fifo.js';
import { invalidOption } from './invalid-option.js';

/** What {@link expandWaves} does with work and with the values that work gives. */
export interface WaveWorker<W, V> {
  /** Called for each piece of work of a wave before the first of them is performed. */
  announce(work: W): void;
  /** Does a piece of work: gives its last value at once, an Observable of its values, or undefined for nothing. */
  perform(work: W, waves: Waves<W>): V | Observable<V> | undefined;
  /** The work gave an Observable, which is about to be subscribed; unsubscribing `inner` stops it. @returns whether it takes a slot. */
  begin(work: W, inner: Subscription): boolean;
  /** The Observable is subscribed and still open. */
  continues(work: W, inner: Inner<W, V>): void;
  /** The Observable was stopped before it gave a last value. */
  stopped(work: W): void;
  /** Whether the work is over with a value. */
  isLast(value: V): boolean;
  /** Takes a value that is not the last of its work. What it throws ends the work. */
  receive(work: W, value: V): void;
  /** Takes the last value of a piece of work. Work that it leads to is put behind `next`. */
  apply(work: W, value: V, next: W[]): void;
  /** The last value of work that failed. */
  failure(error: unknown): V;
  /** The last value of work that completed without one. */
  unfinished(work: W): V;
  /** Everything of a wave, or of one late value, is done; what it led to has not begun. */
  waveEnded(): void;
  /** Work of others has its turn: all waves that could begin have ended, or work goes on that began other work. */
  paused(): void;
}

/** The waves of one subscription, for work that starts other work. */
export interface Waves<W> {
  /** Adds work to the next wave; without one under way it is a wave of its own. The array is given away. */
  add(works: W[]): void;
  /** Announces and performs work at once, within the wave under way or as one of its own. It should take no slot. */
  performNow(works: readonly W[]): void;
  /** What is under way. */
  running(): Iterable<W>;
}

/** Bounds of {@link expandWaves}. */
export interface ExpandWavesOptions extends BreatherOptions {
  /** Pieces of work that may be under way at once; a whole number of at least 1, or `Infinity`. Those that take no slot do not count. */
  readonly concurrency: number;
  /** Asked before each wave. A promise pauses the loop until it settles; undefined lets it continue. @default never pauses */
  readonly ready?: (() => PromiseLike<void> | undefined) | undefined;
}

/** A wave up to this size gives its array back by popping, which keeps the memory behind it; larger ones let go of it. */
const SMALL_WAVE = 16;

/**
 * Performs waves of work, and the work that its values lead to, wave by wave: an `expand` on a flat stack.
 *
 * ```text
 * source    --[a b]-------------
 * announce  --ab---c--d---------
 * a           1|                 (at once: leads to c)
 * b           ---2|              (later: leads to d)
 * result    --1----2------------ (each last value, once it is applied)
 * ```
 *
 * - All work of a wave is announced before the first of it is performed. What the values of a wave lead to is the next wave; a value
 *   that comes later leads to a wave of its own.
 * - Work that gives an Observable holds a slot until that ends. Work that finds no free slot waits, first come first served.
 * - Work is over with its last value: its Observable is unsubscribed and its slot is free before the value is applied.
 * - One loop empties the queue of waves, so a million steps cost no stack; every `yieldEveryMs` it lets the event loop turn.
 * - While `ready` has not settled no wave begins; work under way continues.
 *
 * Errors: those of the source, and what the worker throws but for `receive`; a failure of work is a value (`failure`). Unsubscribing
 * stops all work. Completes when the source has and no work is left.
 *
 * @throws EngineError `OPTION_INVALID` at construction.
 */
export function expandWaves<W, V>(worker: WaveWorker<W, V>, options: ExpandWavesOptions): OperatorFunction<W[], V> {
  const { concurrency } = options;
  if (concurrency !== Number.POSITIVE_INFINITY && !(Number.isSafeInteger(concurrency) && concurrency >= 1)) {
    throw invalidOption('expandWaves', 'concurrency', 'a whole number of at least 1, or Infinity', concurrency);
  }
  checkBreatherOptions('expandWaves', options);
  return (source) =>
    new Observable((destination) => {
      new WaveLoop(destination, worker, options).start(source);
    });
}

/** The Observable of one piece of work, as it is subscribed. */
export class Inner<W, V> extends Subscriber<V> {
  readonly work: W;
  holdsSlot = false;
  readonly #loop: WaveLoop<W, V>;

  constructor(work: W, loop: WaveLoop<W, V>) {
    super();
    this.work = work;
    this.#loop = loop;
  }

  /** Ends the work with an error. */
  fail(error: unknown): void {
    if (!this.closed) this.#loop.fail(this, error, true);
  }

  override unsubscribe(): void {
    if (this.closed) return;
    super.unsubscribe();
    this.#loop.closed(this, true);
  }

  /** Ends it because it is over, not because it was stopped. */
  end(): void {
    super.unsubscribe();
    this.#loop.closed(this, false);
  }

  protected override _next(value: V): void {
    this.#loop.value(this, value);
  }

  protected override _error(error: unknown): void {
    this.#loop.fail(this, error, false);
  }

  protected override _complete(): void {
    this.#loop.completed(this);
  }
}

/** One subscription. */
class WaveLoop<W, V> implements Waves<W>, Unsubscribable {
  readonly #destination: Subscriber<V>;
  readonly #worker: WaveWorker<W, V>;
  readonly #concurrency: number;
  readonly #breather: Breather;
  readonly #ready: ExpandWavesOptions['ready'];
  #isHeld = false;
  #source: Subscription | undefined = undefined;
  /** Waves that are to be performed, and work that waits for a slot. */
  readonly #waiting = new Fifo<W[]>();
  readonly #backlog = new Fifo<W>();
  readonly #running = new Set<Inner<W, V>>();
  /** What the wave, or the late value, under way leads to. */
  #next: W[] | undefined = undefined;
  /**
   * The array of a wave that is over, empty. Thousands of short arrays would not only be garbage: V8 comes to allocate such arrays in old
   * space, where each keeps its work alive until the next full collection.
   */
  #spare: W[] | undefined = undefined;
  #busy = 0;
  #isStarting = true;
  #isDraining = false;
  #isSourceOpen = true;

  constructor(
    destination: Subscriber<V>,
    worker: WaveWorker<W, V>,
    { concurrency, ready, ...options }: ExpandWavesOptions,
  ) {
    this.#destination = destination;
    this.#worker = worker;
    this.#concurrency = concurrency;
    this.#ready = ready;
    this.#breather = new Breather(options);
  }

  start(source: Observable<W[]>): void {
    const feed = new Feed<W[]>({
      fed: (wave) => this.add(wave),
      feedFailed: (error) => this.#destination.error(error),
      feedEnded: () => {
        this.#isSourceOpen = false;
        this.#drain();
      },
    });
    this.#source = feed;
    this.#destination.add(this);
    source.subscribe(feed);
    this.#isStarting = false;
  }

  add(wave: W[]): void {
    if (wave.length === 0) return;
    const next = this.#next;
    if (next === undefined) {
      this.#waiting.push(wave);
      this.#drain();
    } else for (let at = 0; at < wave.length; at += 1) next.push(wave[at] as W);
  }

  *running(): Iterable<W> {
    for (const { work } of this.#running) yield work;
  }

  performNow(works: readonly W[]): void {
    if (works.length === 0) return;
    if (this.#next !== undefined) {
      this.#performAll(works);
      this.#worker.paused();
      return;
    }
    const next = this.#emptyWave();
    this.#next = next;
    try {
      this.#performAll(works);
      if (!this.#destination.closed) this.#worker.waveEnded();
    } finally {
      this.#next = undefined;
    }
    if (next.length > 0) this.#waiting.push(next);
    else this.#spare = next;
    this.#drain();
  }

  #performAll(works: readonly W[]): void {
    for (let at = 0; at < works.length && !this.#destination.closed; at += 1) this.#worker.announce(works[at] as W);
    for (let at = 0; at < works.length && !this.#destination.closed; at += 1) this.#perform(works[at] as W);
  }

  value(inner: Inner<W, V>, value: V): void {
    if (this.#worker.isLast(value)) {
      inner.end();
      this.#late(inner.work, value);
      return;
    }
    try {
      this.#worker.receive(inner.work, value);
    } catch (error) {
      this.fail(inner, error, true);
    }
  }

  /** @param isStopped the Observable is still open and is stopped by the error. */
  fail(inner: Inner<W, V>, error: unknown, isStopped: boolean): void {
    if (isStopped) inner.unsubscribe();
    else inner.end();
    this.#late(inner.work, this.#worker.failure(error));
  }

  completed(inner: Inner<W, V>): void {
    inner.end();
    this.#late(inner.work, this.#worker.unfinished(inner.work));
  }

  closed(inner: Inner<W, V>, isStopped: boolean): void {
    this.#running.delete(inner);
    if (inner.holdsSlot) {
      inner.holdsSlot = false;
      this.#busy -= 1;
    }
    if (isStopped) this.#worker.stopped(inner.work);
  }

  /** A last value that comes from an Observable: within a wave it belongs to that, else it is like a wave of its own. */
  #late(work: W, value: V): void {
    if (this.#destination.closed) return;
    if (this.#next !== undefined) {
      this.#apply(work, value, this.#next);
      return;
    }
    try {
      // The slot that became free goes to the work that waits longest, before anything that the value leads to.
      if (this.#backlog.size > 0 && this.#busy < this.#concurrency) this.#waiting.push([this.#backlog.take()]);
      const next = this.#emptyWave();
      this.#next = next;
      this.#apply(work, value, next);
      this.#worker.waveEnded();
      this.#next = undefined;
      if (next.length > 0) this.#waiting.push(next);
      else this.#spare = next;
    } catch (error) {
      this.#next = undefined;
      this.#destination.error(error);
    }
    this.#drain();
  }

  #apply(work: W, value: V, next: W[]): void {
    this.#worker.apply(work, value, next);
    this.#destination.next(value);
  }

  #drain(): void {
    if (this.#isDraining || this.#isHeld || this.#breather.isPaused) return;
    this.#isDraining = true;
    if (!this.#isStarting && this.#waiting.size > 0) this.#breather.asyncStep();
    this.#breather.begin();
    try {
      while (this.#waiting.size > 0 && !this.#destination.closed) {
        if (this.#breather.shouldYield()) {
          this.#breather.yieldThen(() => this.#drain());
          if (this.#breather.isPaused) return;
          this.#breather.begin();
        }
        const ready = this.#ready?.();
        if (ready !== undefined) {
          this.#hold(ready);
          return;
        }
        this.#runWave(this.#waiting.take());
      }
    } catch (error) {
      this.#next = undefined;
      this.#destination.error(error);
    } finally {
      this.#isDraining = false;
      this.#worker.paused();
    }
    if (!this.#isSourceOpen && this.#running.size === 0 && this.#waiting.size === 0) this.#destination.complete();
  }

  #hold(ready: PromiseLike<void>): void {
    this.#isHeld = true;
    const resume = (): void => {
      this.#isHeld = false;
      this.#drain();
    };
    ready.then(resume, resume);
  }

  #runWave(wave: W[]): void {
    const next = this.#emptyWave();
    this.#next = next;
    for (let at = 0; at < wave.length && !this.#destination.closed; ) {
      const free = this.#concurrency - this.#busy;
      if (free <= 0) {
        for (; at < wave.length; at += 1) this.#backlog.push(wave[at] as W);
        break;
      }
      const end = Math.min(wave.length, at + free);
      for (let one = at; one < end && !this.#destination.closed; one += 1) this.#worker.announce(wave[one] as W);
      for (; at < end && !this.#destination.closed; at += 1) this.#perform(wave[at] as W);
    }
    if (this.#destination.closed) return;
    this.#worker.waveEnded();
    // Slots that this wave gave back, or never took, go to the work that waits.
    for (let free = this.#concurrency - this.#busy; free > 0 && this.#backlog.size > 0; free -= 1) {
      next.push(this.#backlog.take());
    }
    this.#next = undefined;
    this.#giveBack(wave);
    if (next.length > 0) this.#waiting.push(next);
    else this.#spare ??= next;
  }

  #perform(work: W): void {
    const result = this.#worker.perform(work, this);
    if (result === undefined || this.#destination.closed) return;
    if (!(result instanceof Observable)) {
      this.#apply(work, result, this.#next as W[]);
      return;
    }
    const inner = new Inner<W, V>(work, this);
    const takesSlot = this.#worker.begin(work, inner);
    this.#running.add(inner);
    result.subscribe(inner);
    if (inner.closed) return;
    if (takesSlot) {
      inner.holdsSlot = true;
      this.#busy += 1;
    }
    this.#worker.continues(work, inner);
  }

  #emptyWave(): W[] {
    const wave = this.#spare ?? [];
    this.#spare = undefined;
    return wave;
  }

  #giveBack(wave: W[]): void {
    if (wave.length > SMALL_WAVE) wave.length = 0;
    while (wave.length > 0) wave.pop();
    this.#spare = wave;
  }

  /** Stops all work: the operator is unsubscribed, or over. */
  unsubscribe(): void {
    this.#source?.unsubscribe();
    this.#breather.stop();
    this.#waiting.clear();
    this.#backlog.clear();
    for (const inner of this.#running) inner.unsubscribe();
  }
}
