/** Steps one behind the other. */
import { chainOf } from './make-step.js';
import type { AnyStepLike, Step, StepLike } from './step.js';

/**
 * Runs steps one behind the other: the output of each is the input of the next; chunks go on as they come.
 *
 * ```text
 * chain(a, b, c)      start ──> a ──> b ──> c ──> end
 * ```
 *
 * A lambda infers its input from the step before. Steps keep their names, functions get their own, lambdas are `step_1`, `step_2` … by
 * position, and equal names are numbered (`load`, `load_2`). Chains in a chain, and what `.pipe` makes, are one chain; give one a name with
 * `step(name, chain)` to keep it apart. For more than 12 steps, nest chains.
 *
 * @throws EngineError PLAN_INVALID without steps, and for what is neither a step nor a function.
 */
export function chain<I, A>(a: StepLike<I, A>): Step<I, A>;
export function chain<I, A, B>(a: StepLike<I, A>, b: StepLike<A, B>): Step<I, B>;
export function chain<I, A, B, C>(a: StepLike<I, A>, b: StepLike<A, B>, c: StepLike<B, C>): Step<I, C>;
export function chain<I, A, B, C, D>(
  a: StepLike<I, A>,
  b: StepLike<A, B>,
  c: StepLike<B, C>,
  d: StepLike<C, D>,
): Step<I, D>;
export function chain<I, A, B, C, D, E>(
  a: StepLike<I, A>,
  b: StepLike<A, B>,
  c: StepLike<B, C>,
  d: StepLike<C, D>,
  e: StepLike<D, E>,
): Step<I, E>;
export function chain<I, A, B, C, D, E, F>(
  a: StepLike<I, A>,
  b: StepLike<A, B>,
  c: StepLike<B, C>,
  d: StepLike<C, D>,
  e: StepLike<D, E>,
  f: StepLike<E, F>,
): Step<I, F>;
export function chain<I, A, B, C, D, E, F, G>(
  a: StepLike<I, A>,
  b: StepLike<A, B>,
  c: StepLike<B, C>,
  d: StepLike<C, D>,
  e: StepLike<D, E>,
  f: StepLike<E, F>,
  g: StepLike<F, G>,
): Step<I, G>;
export function chain<I, A, B, C, D, E, F, G, H>(
  a: StepLike<I, A>,
  b: StepLike<A, B>,
  c: StepLike<B, C>,
  d: StepLike<C, D>,
  e: StepLike<D, E>,
  f: StepLike<E, F>,
  g: StepLike<F, G>,
  h: StepLike<G, H>,
): Step<I, H>;
export function chain<I, A, B, C, D, E, F, G, H, J>(
  a: StepLike<I, A>,
  b: StepLike<A, B>,
  c: StepLike<B, C>,
  d: StepLike<C, D>,
  e: StepLike<D, E>,
  f: StepLike<E, F>,
  g: StepLike<F, G>,
  h: StepLike<G, H>,
  j: StepLike<H, J>,
): Step<I, J>;
export function chain<I, A, B, C, D, E, F, G, H, J, K>(
  a: StepLike<I, A>,
  b: StepLike<A, B>,
  c: StepLike<B, C>,
  d: StepLike<C, D>,
  e: StepLike<D, E>,
  f: StepLike<E, F>,
  g: StepLike<F, G>,
  h: StepLike<G, H>,
  j: StepLike<H, J>,
  k: StepLike<J, K>,
): Step<I, K>;
export function chain<I, A, B, C, D, E, F, G, H, J, K, L>(
  a: StepLike<I, A>,
  b: StepLike<A, B>,
  c: StepLike<B, C>,
  d: StepLike<C, D>,
  e: StepLike<D, E>,
  f: StepLike<E, F>,
  g: StepLike<F, G>,
  h: StepLike<G, H>,
  j: StepLike<H, J>,
  k: StepLike<J, K>,
  l: StepLike<K, L>,
): Step<I, L>;
export function chain<I, A, B, C, D, E, F, G, H, J, K, L, M>(
  a: StepLike<I, A>,
  b: StepLike<A, B>,
  c: StepLike<B, C>,
  d: StepLike<C, D>,
  e: StepLike<D, E>,
  f: StepLike<E, F>,
  g: StepLike<F, G>,
  h: StepLike<G, H>,
  j: StepLike<H, J>,
  k: StepLike<J, K>,
  l: StepLike<K, L>,
  m: StepLike<L, M>,
): Step<I, M>;
export function chain(...steps: readonly AnyStepLike[]): Step<unknown, unknown> {
  return chainOf(steps);
}
