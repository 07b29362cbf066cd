/** A map whose passes are looked after while they are at work: for what begins together, is stopped one by one, and may wait for a long time. */
import { makeStep, toStep } from './make-step.js';
import type { AnyStepLike, PassRules, Step, StepLike } from './step.js';

/**
 * Runs a step for every item of a list, as `map` does, all at once, and looks after the passes by rules.
 *
 * ```text
 * pass 1     --a--b|
 * pass 2     --------c----?           (asks)
 * instead    ---------------x         (of pass 2)
 * result     ---------------([b,x]|)
 * ```
 *
 * As long as `mayWait` says false, a pass that waits for answers stays open beside the others, and can still be ended. The first failure ends all.
 */
export function mapPasses<T, R>(item: StepLike<T, R>, rules: PassRules<T, R>): Step<readonly T[], R[]> {
  return makeStep('map', {
    type: 'map',
    item: toStep(item as AnyStepLike, 'item', 'map'),
    concurrency: Number.MAX_SAFE_INTEGER,
    passes: rules as PassRules<never, unknown>,
    options: {},
  });
}
