/** Functions that carry a name and a kind, as steps: prompts, loaders, splitters, embedders, indexers, retrievers. */
import type { StepLabel } from '../../knowledge/component-function.js';
import { labelledStep } from '../make-step.js';
import type { OptionStep } from '../step.js';

/** A function of the library for documents or prompts, or one that `componentFunction` made. */
export type ComponentFunction<I, O, P> = ((input: I, options?: P) => O | PromiseLike<O>) & StepLabel;

/**
 * A step of a function that carries a name and a kind: `componentStep(index.retrieve)`. Its options are the call options of the step
 * (`options(search, { topK: 3 })`), with the signal of the step among them.
 *
 * A chain or graph makes the same of such a function by itself; this gives a step whose options are typed.
 *
 * @throws EngineError PLAN_INVALID for a function without name and kind: give it both with `componentFunction`, or a name with `step`.
 */
export function componentStep<I, O, P = object>(
  component: ComponentFunction<I, O, P>,
): OptionStep<I, O, Omit<NonNullable<P>, 'signal'>> {
  return labelledStep(component);
}
