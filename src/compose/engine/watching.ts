/** What the observers of one activation are told, in the form that each of them asks for. */
import { Observable } from 'rxjs';
import { EngineError } from '../../errors.js';
import { Chunks } from '../../graph/typed.js';
import { Interrupt } from '../interrupt.js';
import type { AnyCallbacks, ObservedStep } from '../observer.js';
import type { ConcatRule } from '../step.js';
import { wholeOf } from './inputs.js';
import { isThenable } from './later.js';
import { ChunkCopy, oneChunk } from './observed-chunks.js';
import type { StepWatch, WatchedActivation, WatchedStep } from './watch.js';

/** Observers that are told of the same steps, and what they ask for. */
export interface Audience {
  readonly callbacks: readonly AnyCallbacks[];
  /** Some of them ask how steps begin, or what they give. */
  readonly hearsInputs: boolean;
  readonly hearsOutputs: boolean;
}

export function audienceOf(callbacks: readonly AnyCallbacks[]): Audience {
  return {
    callbacks,
    hearsInputs: callbacks.some(({ start, startChunks }) => start !== undefined || startChunks !== undefined),
    hearsOutputs: callbacks.some(({ end, endChunks }) => end !== undefined || endChunks !== undefined),
  };
}

/** What a watch needs of its run. */
export interface WatchRun {
  /** The rule of the run for chunks that have none of their own. */
  readonly chunks: ConcatRule<unknown> | undefined;
  warn(at: WatchedActivation, observer: AnyCallbacks, message: string): void;
}

/** Which of its functions an observer is told by. */
type Moment = 'start' | 'startChunks' | 'end' | 'endChunks' | 'error';

/** See {@link StepWatch}. Everything beside the fields is made when it is needed. */
export class Watch implements StepWatch {
  readonly #run: WatchRun;
  readonly #audience: Audience;
  readonly #step: WatchedStep;
  readonly #at: WatchedActivation;
  #observed: ObservedStep | undefined = undefined;
  /** What `start` or `startChunks` of each observer returned. */
  #started: unknown[] | undefined = undefined;
  #output: Passing | undefined = undefined;
  #isOver = false;

  constructor(run: WatchRun, audience: Audience, step: WatchedStep, at: WatchedActivation) {
    this.#run = run;
    this.#audience = audience;
    this.#step = step;
    this.#at = at;
  }

  // ── how it begins ─────────────────────────────────────────────────────────────────────────────────────────────────────────

  start(input: unknown): void {
    if (!this.#audience.hearsInputs) return;
    const { callbacks } = this.#audience;
    for (let at = 0; at < callbacks.length; at += 1) {
      const { start, startChunks } = callbacks[at] as AnyCallbacks;
      if (start !== undefined) this.#began(at, 'start', input);
      else if (startChunks !== undefined) this.#began(at, 'startChunks', this.#oneChunk(at, 'startChunks', input));
    }
  }

  inputs<T>(chunks: Observable<T>): Observable<T> {
    if (!this.#audience.hearsInputs) return chunks;
    return new Observable((subscriber) => {
      const passing = this.#passingInput();
      subscriber.add(() => passing.complete());
      return chunks.subscribe({
        next: (chunk) => {
          passing.next(chunk);
          subscriber.next(chunk);
        },
        error: (error: unknown) => {
          passing.error(error);
          subscriber.error(error);
        },
        complete: () => {
          this.#wholeInput(passing);
          subscriber.complete();
        },
      });
    });
  }

  pulledInputs<T>(chunks: AsyncIterable<T>): AsyncIterable<T> {
    if (!this.#audience.hearsInputs) return chunks;
    const passing = this.#passingInput();
    return told(chunks, {
      next: (chunk) => passing.next(chunk),
      error: (error) => passing.error(error),
      complete: () => this.#wholeInput(passing),
      left: () => passing.complete(),
    });
  }

  #passingInput(): Passing {
    return this.#passing('startChunks', 'start', (at, chunks$) => this.#began(at, 'startChunks', chunks$));
  }

  /** All chunks have come: those who hear whole values only are told now. */
  #wholeInput(passing: Passing): void {
    passing.complete();
    const { callbacks } = this.#audience;
    if (passing.items === undefined || this.#isOver) return;
    const whole = this.#joined(passing.items, this.#run.chunks, 'start');
    for (let at = 0; at < callbacks.length; at += 1) {
      const { start, startChunks } = callbacks[at] as AnyCallbacks;
      if (start !== undefined && startChunks === undefined) this.#began(at, 'start', whole);
    }
  }

  #began(at: number, moment: 'start' | 'startChunks', value: unknown): void {
    this.#started ??= [];
    this.#started[at] = this.#tell(at, moment, value);
  }

  // ── what it gives ─────────────────────────────────────────────────────────────────────────────────────────────────────────

  end(output: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (!this.#audience.hearsOutputs) return;
    const { callbacks } = this.#audience;
    for (let at = 0; at < callbacks.length; at += 1) {
      const { end, endChunks } = callbacks[at] as AnyCallbacks;
      if (end !== undefined) this.#tell(at, 'end', output);
      else if (endChunks !== undefined) this.#tell(at, 'endChunks', this.#oneChunk(at, 'endChunks', output));
    }
  }

  outputs<T>(chunks: Observable<T>): Observable<T> {
    if (!this.#audience.hearsOutputs) return chunks;
    return new Observable((subscriber) =>
      chunks.subscribe({
        next: (chunk) => {
          if (chunk instanceof Interrupt) this.interrupted();
          else this.output(chunk);
          subscriber.next(chunk);
        },
        error: (error: unknown) => {
          this.error(error);
          subscriber.error(error);
        },
        complete: () => {
          this.ended();
          subscriber.complete();
        },
      }),
    );
  }

  pulledOutputs<T>(chunks: AsyncIterable<T>): AsyncIterable<T> {
    if (!this.#audience.hearsOutputs) return chunks;
    return told(chunks, {
      next: (chunk) => (chunk instanceof Interrupt ? this.interrupted() : this.output(chunk)),
      error: (error) => this.error(error),
      complete: () => this.ended(),
      left: () => {},
    });
  }

  output(chunk: unknown): void {
    if (this.#isOver || !this.#audience.hearsOutputs) return;
    this.#output ??= this.#passingOutput();
    this.#output.next(chunk);
  }

  ended(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (!this.#audience.hearsOutputs) return;
    const passing = this.#output ?? this.#passingOutput();
    passing.complete();
    if (passing.items === undefined) return;
    const whole = this.#joined(passing.items, this.#step.rule ?? this.#run.chunks, 'end');
    const { callbacks } = this.#audience;
    for (let at = 0; at < callbacks.length; at += 1) {
      const { end, endChunks } = callbacks[at] as AnyCallbacks;
      if (end !== undefined && endChunks === undefined) this.#tell(at, 'end', whole);
    }
  }

  #passingOutput(): Passing {
    return this.#passing('endChunks', 'end', (at, chunks$) => this.#tell(at, 'endChunks', chunks$));
  }

  error(error: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#output?.error(error);
    const { callbacks } = this.#audience;
    for (let at = 0; at < callbacks.length; at += 1) this.#tell(at, 'error', error);
  }

  interrupted(): void {
    if (this.#isOver) return;
    const { path } = this.#at;
    this.error(new EngineError('RUN_INTERRUPTED', `Step "${path}" waits for an answer.`, { node: path }));
  }

  closed(): void {
    if (this.#isOver) return;
    const { path, lateness } = this.#at;
    const message = `Step "${path}" was stopped before it had ended, as the run or the graph around it ended first.`;
    this.error(lateness ?? new EngineError('RUN_CANCELLED', message, { node: path }));
  }

  // ── telling ───────────────────────────────────────────────────────────────────────────────────────────────────────────────

  #tell(at: number, moment: Moment, value: unknown): unknown {
    const callbacks = this.#audience.callbacks[at] as AnyCallbacks;
    try {
      const tell = callbacks[moment] as ((value: unknown, step: ObservedStep, started: unknown) => unknown) | undefined;
      const returned = tell?.(value, this.#told, this.#started?.[at]);
      if (isThenable(returned)) returned.then(undefined, (error: unknown) => this.#failed(callbacks, moment, error));
      return returned;
    } catch (error) {
      this.#failed(callbacks, moment, error);
      return undefined;
    }
  }

  #oneChunk(at: number, moment: Moment, value: unknown): Observable<unknown> {
    const callbacks = this.#audience.callbacks[at] as AnyCallbacks;
    return oneChunk(value, (error) => this.#failed(callbacks, moment, error));
  }

  get #told(): ObservedStep {
    if (this.#observed === undefined) {
      const { name, kind } = this.#step;
      const { path, run, key, attempt, isResumed } = this.#at;
      const observed = { name, kind, path, run, key, attempt, isResumed };
      // What one observer does to its own copy is its own affair, and freezing takes as long as all else here.
      this.#observed = this.#audience.callbacks.length === 1 ? observed : Object.freeze(observed);
    }
    return this.#observed;
  }

  #failed(callbacks: AnyCallbacks, moment: Moment, error: unknown): void {
    const why = error instanceof Error ? error.message : String(error);
    this.#warn(
      callbacks,
      `An observer of "${this.#at.path}" failed in "${moment}": ${why}. The run goes on without it.`,
    );
  }

  #warn(callbacks: AnyCallbacks, message: string): void {
    this.#run.warn(this.#at, callbacks, message);
  }

  /** Opens a stream to those who ask for chunks; gathers them for those who only ask for the whole. */
  #passing(
    chunked: 'startChunks' | 'endChunks',
    whole: 'start' | 'end',
    open: (at: number, chunks$: Observable<unknown>) => void,
  ): Passing {
    const { callbacks } = this.#audience;
    const passing = new Passing(callbacks.some((one) => one[whole] !== undefined && one[chunked] === undefined));
    for (let at = 0; at < callbacks.length; at += 1) {
      const one = callbacks[at] as AnyCallbacks;
      if (one[chunked] === undefined) continue;
      const copy = new ChunkCopy<unknown>((error) => this.#failed(one, chunked, error));
      passing.copies.push(copy);
      open(at, copy.chunks$);
    }
    return passing;
  }

  /** What cannot be joined is undefined: the step may give such a stream, so it is told to the observer alone. */
  #joined(items: readonly unknown[], rule: ConcatRule<unknown> | undefined, moment: 'start' | 'end'): unknown {
    if (items.length === 0) return undefined;
    try {
      return wholeOf(new Chunks(items), rule, this.#at.path);
    } catch (error) {
      const hint = `its chunks make no value (${(error as Error).message}); observe ${moment}Chunks instead`;
      for (const one of this.#audience.callbacks) {
        if (one[moment] !== undefined && one[`${moment}Chunks`] === undefined)
          this.#warn(one, `"${moment}" of "${this.#at.path}" is told of undefined: ${hint}.`);
      }
      return undefined;
    }
  }
}

/** A stream on its way past the observers. */
class Passing {
  /** All chunks; undefined when no observer needs the whole. */
  readonly items: unknown[] | undefined;
  readonly copies: ChunkCopy<unknown>[] = [];

  constructor(isGathered: boolean) {
    this.items = isGathered ? [] : undefined;
  }

  next(chunk: unknown): void {
    this.items?.push(chunk);
    for (let at = 0; at < this.copies.length; at += 1) (this.copies[at] as ChunkCopy<unknown>).next(chunk);
  }

  error(error: unknown): void {
    for (const copy of this.copies) copy.error(error);
  }

  complete(): void {
    for (const copy of this.copies) copy.complete();
  }
}

interface Listener {
  next(chunk: unknown): void;
  error(error: unknown): void;
  complete(): void;
  /** The reader has left before the end. */
  left(): void;
}

async function* told<T>(chunks: AsyncIterable<T>, listener: Listener): AsyncGenerator<T> {
  let isOver = false;
  try {
    for await (const chunk of chunks) {
      listener.next(chunk);
      yield chunk;
    }
    isOver = true;
    listener.complete();
  } catch (error) {
    isOver = true;
    listener.error(error);
    throw error;
  } finally {
    if (!isOver) listener.left();
  }
}
