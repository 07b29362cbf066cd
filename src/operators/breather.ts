import { asapScheduler } from 'rxjs';
import { invalidOption } from './invalid-option.js';

/** Longest time of work between two pauses, in ms: a timer is then late by about that much, at no measurable cost. */
const DEFAULT_YIELD_EVERY_MS = 8;

/** Steps between two looks at the clock: a look costs tens of ns, and 32 steps of 1 ms still stay below 50 ms. */
const STEPS_PER_LOOK = 32;

/** Asynchronous steps between two pauses: at 30 us each, usual for a canvas node, they fill one slice of 8 ms. */
const ASYNC_STEPS_PER_PAUSE = 256;

/** Asks for `resume` to be called later, never more than once; gives back a function that calls it off. */
export type YieldTo = (resume: () => void) => () => void;

/** When to pause, and how; the last two are for tests in virtual time. */
export interface BreatherOptions {
  /** Milliseconds of work after which to let the event loop turn; above 0, `Infinity` = never. @default 8 */
  readonly yieldEveryMs?: number;
  /** The clock, in milliseconds. @default RxJS's clock, which `TestScheduler.run` replaces by virtual time */
  readonly now?: () => number;
  /** How to pause. @default `setImmediate`: after pending I/O and due timers, without a timer's 1 ms clamp */
  readonly yieldTo?: YieldTo;
}

/** Throws `OPTION_INVALID` in the name of `owner` unless the options are allowed. */
export function checkBreatherOptions(owner: string, options: BreatherOptions): void {
  const { yieldEveryMs = DEFAULT_YIELD_EVERY_MS } = options;
  if (typeof yieldEveryMs !== 'number' || !(yieldEveryMs > 0)) {
    throw invalidOption(owner, 'yieldEveryMs', 'a number of milliseconds above 0, or Infinity', yieldEveryMs);
  }
}

/**
 * Tells a long synchronous loop when to let the event loop turn, and lets it.
 *
 * Time counts from `begin`, that is within one uninterrupted loop; so virtual time, which stands still there, never pauses it.
 * A chain of resolved promises starves timers just as a loop does, and no clock tells it from waiting: so every 256th
 * asynchronous step asks for a pause as well, which costs next to nothing when it was not needed. That one does not stand still in
 * virtual time: a marble test of so many steps gives `yieldTo`, or `Infinity`.
 */
export class Breather {
  private readonly yieldEveryMs: number;
  private readonly now: () => number;
  private readonly yieldTo: YieldTo;
  private readonly asyncStepsPerPause: number;
  private stepsLeft = STEPS_PER_LOOK;
  private asyncStepsLeft: number;
  private startedAt = 0;
  private callOff: (() => void) | undefined = undefined;
  private paused = false;

  constructor(options: BreatherOptions = {}) {
    checkBreatherOptions('Breather', options);
    this.yieldEveryMs = options.yieldEveryMs ?? DEFAULT_YIELD_EVERY_MS;
    this.now = options.now ?? schedulerNow;
    this.yieldTo = options.yieldTo ?? yieldToEventLoop;
    this.asyncStepsPerPause = Number.isFinite(this.yieldEveryMs) ? ASYNC_STEPS_PER_PAUSE : Number.POSITIVE_INFINITY;
    this.asyncStepsLeft = this.asyncStepsPerPause;
  }

  /** Whether a pause was asked for and has not ended. */
  get isPaused(): boolean {
    return this.paused;
  }

  /** The loop starts, or continues after a pause. */
  begin(): void {
    this.stepsLeft = STEPS_PER_LOOK;
    this.startedAt = this.now();
  }

  /** Counts one start of the loop by something that happened outside it. */
  asyncStep(): void {
    this.asyncStepsLeft -= 1;
  }

  /** Counts a step of the loop; true when it is time to pause. */
  shouldYield(): boolean {
    this.stepsLeft -= 1;
    if (this.asyncStepsLeft <= 0) return true;
    if (this.stepsLeft > 0) return false;
    this.stepsLeft = STEPS_PER_LOOK;
    const elapsedMs = this.now() - this.startedAt;
    // Negative: the system clock was set back, and waiting for it to catch up could take hours.
    return elapsedMs >= this.yieldEveryMs || (elapsedMs < 0 && Number.isFinite(this.yieldEveryMs));
  }

  /** Pauses, then calls `resume`; it may already have been called on return, if `yieldTo` is synchronous. */
  yieldThen(resume: () => void): void {
    this.paused = true;
    this.asyncStepsLeft = this.asyncStepsPerPause;
    const callOff = this.yieldTo(() => {
      // A pause that was called off must not resume, even if `yieldTo` is careless about it.
      if (!this.paused) return;
      this.paused = false;
      this.callOff = undefined;
      resume();
    });
    if (this.paused) this.callOff = callOff;
  }

  /** Calls off a pending pause: its `resume` is never called. */
  stop(): void {
    this.paused = false;
    this.callOff?.();
    this.callOff = undefined;
  }
}

function schedulerNow(): number {
  return asapScheduler.now();
}

function yieldToEventLoop(resume: () => void): () => void {
  const immediate = setImmediate(resume);
  return () => clearImmediate(immediate);
}
