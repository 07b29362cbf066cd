/** One step again and again, until its result is good. */
import { invalidOption, requireOptions, requireWhole } from '../operators/invalid-option.js';
import { makeStep, requireFunction, toStep } from './make-step.js';
import type { AnyStepLike, Step, StepLike } from './step.js';

/** When a loop ends. Both are needed: a loop without a bound may never end. */
export interface LoopOptions<T> {
  /** Asked after every round with its result; `round` counts from 1. True ends the loop. */
  readonly until: (value: T, round: number) => boolean | PromiseLike<boolean>;
  /** Rounds in all; at least 1. One more is RUN_STEPS_EXCEEDED. */
  readonly maxRounds: number;
}

/**
 * Runs a step on its own result until `until` says that it is good, and gives that result.
 *
 * ```text
 * start ──> body ──> until? ── yes ──> end
 *             ^         │
 *             └── no ───┘     at most maxRounds times
 * ```
 *
 * The body runs once at least. A loop that is not done after `maxRounds` fails with RUN_STEPS_EXCEEDED.
 *
 * @throws EngineError OPTION_INVALID without options, and for a bound that is not a whole number of at least 1; PLAN_INVALID without `until`.
 */
export function loop<T>(body: StepLike<T, T>, options: LoopOptions<T>): Step<T, T> {
  if (typeof options !== 'object' || options === null) {
    throw invalidOption('loop', 'options', 'an object with "until" and "maxRounds"', options);
  }
  requireOptions('loop', options, ['until', 'maxRounds']);
  const { until, maxRounds } = options;
  requireWhole('loop', 'maxRounds', maxRounds, 1);
  requireFunction(until, 'until', { owner: 'loop' });
  return makeStep('loop', {
    type: 'loop',
    body: toStep(body as AnyStepLike, 'body', 'loop'),
    until,
    maxRounds,
    options: {},
  });
}
