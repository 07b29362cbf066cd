/**
 * The run loop: an `expand` over waves of tokens (`expandQueue`: the same on a flat stack, pausing for the event loop).
 *
 * ```text
 * wave      --[a]--------[b c]---------[d]--|
 * started     a            b c           d
 * settled      a              b c         d
 * ```
 *
 * Tokens that become ready while a wave is activated form the next wave; what settles later arrives as a wave of its own. All
 * nodes of a wave are announced before the first of them is activated. Work that does not end at once holds a slot; a wave
 * that finds no free slot waits in the backlog.
 */
import { Subject, Subscription } from 'rxjs';
import { expandQueue } from '../operators/expand-queue.js';
import { Fifo } from '../operators/fifo.js';
import type { Token } from './token.js';

/** What is done with tokens. */
export interface WaveHost {
  /** Reports that the token's node starts. */
  announce(token: Token): void;
  /** @param isEnding the run ends with this wave: nobody is started behind it. */
  activate(token: Token, isEnding: boolean): void;
}

const NO_WAVES: Token[][] = [];

/** A wave up to this size gives its array back by popping, which keeps the memory behind it; larger ones let go of it. */
const SMALL_WAVE = 16;

export class WaveLoop {
  readonly #host: WaveHost;
  readonly #concurrency: number;
  readonly #arrivals = new Subject<Token[]>();
  readonly #backlog = new Fifo<Token>();
  readonly #subscription = new Subscription();
  /** Tokens that became ready while a wave is activated. */
  #nextWave: Token[] | undefined = undefined;
  /**
   * The array of a wave that is over, empty. Thousands of short arrays would not only be garbage: V8 comes to allocate such arrays in old
   * space, where each keeps its token, and with it the whole run, until the next full collection.
   */
  #spare: Token[] | undefined = undefined;
  /** What running a wave gives: one wave. Read at once by whoever asked, hence the same array every time. */
  readonly #oneWave: Token[][] = [];
  #busy = 0;
  #isStopped = false;
  /** Called at the end of the wave under way, in this order. */
  readonly #endings: (() => void)[] = [];
  #isEnding = false;

  constructor(host: WaveHost, concurrency: number) {
    this.#host = host;
    this.#concurrency = concurrency;
  }

  /** Starts with a first wave; `whenBroken` hears of an error that no node is to blame for. */
  start(first: Token[], whenBroken: (error: unknown) => void): void {
    const waves$ = this.#arrivals.pipe(expandQueue((wave) => this.#runWave(wave)));
    this.#subscription.add(waves$.subscribe({ error: whenBroken }));
    this.schedule(first);
  }

  /** Calls back once the wave under way is activated, at once when there is none. */
  whenWaveIsOver(callback: () => void): void {
    if (this.#nextWave === undefined) callback();
    else this.#endings.push(callback);
  }

  /** The same for what ends the run: nobody is started behind the nodes of this wave. */
  endWithWave(callback: () => void): void {
    this.#isEnding = true;
    this.whenWaveIsOver(callback);
  }

  stop(): void {
    this.#isStopped = true;
    this.#backlog.clear();
    this.#subscription.unsubscribe();
  }

  /** An array for tokens that `schedule` is about to be given: that of the next wave while one is under way. */
  gather(): Token[] {
    return this.#nextWave ?? this.#emptyWave();
  }

  /** Lets tokens run: with the next wave if one is under way, otherwise as a wave of their own. The array is given away. */
  schedule(ready: Token[]): void {
    if (ready.length === 0 || ready === this.#nextWave || this.#isStopped) return;
    if (this.#nextWave === undefined) this.#arrivals.next(ready);
    else for (const token of ready) this.#nextWave.push(token);
  }

  /** The token's work goes on after its activation. */
  takeSlot(token: Token): void {
    token.holdsSlot = true;
    this.#busy += 1;
  }

  /** The token's work is over; whoever waited for a slot may start. */
  releaseSlot(token: Token): void {
    if (!token.holdsSlot) return;
    token.holdsSlot = false;
    this.#busy -= 1;
    if (this.#backlog.size > 0 && this.#nextWave === undefined) this.schedule([this.#backlog.take()]);
  }

  #runWave(wave: Token[]): Token[][] {
    const next = this.#emptyWave();
    this.#nextWave = next;
    for (let at = 0; at < wave.length && !this.#isStopped; ) {
      const free = this.#concurrency - this.#busy;
      if (free <= 0) {
        for (; at < wave.length; at += 1) this.#backlog.push(wave[at] as Token);
        break;
      }
      const end = Math.min(wave.length, at + free);
      this.#runBatch(wave, at, end);
      at = end;
    }
    // A callback may add another: a body that fails can fail the run.
    for (let at = 0; at < this.#endings.length; at += 1) this.#endings[at]?.();
    while (this.#endings.length > 0) this.#endings.pop();
    // Slots that this wave gave back, or never took, go to those who wait.
    for (let free = this.#concurrency - this.#busy; free > 0 && this.#backlog.size > 0; free -= 1) {
      next.push(this.#backlog.take());
    }
    this.#nextWave = undefined;
    this.#giveBack(wave);
    if (next.length === 0 || this.#isStopped) return NO_WAVES;
    this.#oneWave[0] = next;
    return this.#oneWave;
  }

  #emptyWave(): Token[] {
    const wave = this.#spare ?? [];
    this.#spare = undefined;
    return wave;
  }

  #giveBack(wave: Token[]): void {
    if (wave.length > SMALL_WAVE) wave.length = 0;
    while (wave.length > 0) wave.pop();
    this.#spare = wave;
  }

  #runBatch(wave: Token[], from: number, to: number): void {
    for (let at = from; at < to && !this.#isStopped; at += 1) {
      const token = wave[at] as Token;
      if (token.isLive) this.#host.announce(token);
    }
    for (let at = from; at < to && !this.#isStopped; at += 1) {
      const token = wave[at] as Token;
      if (token.isLive) this.#host.activate(token, this.#isEnding);
    }
  }
}
