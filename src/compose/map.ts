/** One step for every item of a list. */
import { requireOptions, requireWhole } from '../operators/invalid-option.js';
import { makeStep, toStep } from './make-step.js';
import type { AnyStepLike, Step, StepLike } from './step.js';

/** How a list is worked on. */
export interface MapOptions {
  /** Items at work at once; at least 1. @default 8 */
  readonly concurrency?: number;
}

/** As many as a model provider takes from one client without complaint. */
const DEFAULT_CONCURRENCY = 8;

/**
 * Runs a step for every item of a list and gives the list of results, in the order of the items.
 *
 * ```text
 * [a, b, c]  ──>  item(a), item(b), item(c)   at most `concurrency` at once   ──>  [A, B, C]
 * ```
 *
 * Each item is an activation of its own: `each[3]` in paths, with its own questions and tries. The first failure ends the others.
 *
 * @throws EngineError OPTION_INVALID for a concurrency that is not a whole number of at least 1, and for a name that is no option.
 */
export function map<T, R>(item: StepLike<T, R>, options: MapOptions = {}): Step<readonly T[], R[]> {
  requireOptions('map', options, ['concurrency']);
  const { concurrency = DEFAULT_CONCURRENCY } = options;
  requireWhole('map', 'concurrency', concurrency, 1);
  return makeStep('map', { type: 'map', item: toStep(item as AnyStepLike, 'item', 'map'), concurrency, options: {} });
}
