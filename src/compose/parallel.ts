/** Steps side by side. */
import { EngineError } from '../errors.js';
import { graphStep, inlineBlueprint, show, type TakenIds, toStep, uniqueId } from './make-step.js';
import {
  type AnyStepLike,
  END,
  type InputOf,
  type InputRule,
  type NodeBlueprint,
  type OutputOf,
  START,
  type Step,
  type StepLike,
} from './step.js';

/** The input that all of these steps take. What one of them takes in several forms stays a choice. */
export type InputOfAll<S> = (S extends unknown ? (input: InputOf<S>) => void : never) extends (input: infer I) => void
  ? I
  : never;

/**
 * Gives every step the same input and gathers what they give in an object, under their keys.
 *
 * ```text
 *             ┌──> docs ──┐
 * start ──────┤           ├──> { docs, user }
 *             └──> user ──┘
 * ```
 *
 * Chunks come as objects of one key, as they are made once every step has begun to give: a step that gives one value counts as begun with it. The first failure ends the others. Steps that need different objects get
 * what has all of their keys.
 *
 * @throws EngineError PLAN_INVALID without steps, and for what is neither a step nor a function.
 */
export function parallel<I, O extends object>(steps: { readonly [K in keyof O]: StepLike<I, O[K]> }): Step<I, O>;
export function parallel<P extends Readonly<Record<string, AnyStepLike>>>(
  steps: P,
): Step<InputOfAll<P[keyof P]>, { [K in keyof P]: OutputOf<P[K]> }>;
export function parallel(steps: Readonly<Record<string, AnyStepLike>>): Step<unknown, unknown> {
  const entries = routesOf('"parallel"', steps);
  const taken: TakenIds = new Map();
  const keys = new Map(entries.map(([key]) => [uniqueId(key, taken), key]));
  const nodes = [...keys].map(
    ([id, key]): NodeBlueprint => ({ id, step: toStep(steps[key] as AnyStepLike, id, 'parallel') }),
  );
  const edges = nodes.flatMap(({ id }) => [
    { from: START, to: id },
    { from: id, to: END },
  ]);
  return graphStep(inlineBlueprint('parallel', 'parallel', { nodes, edges, end: { input: gatherBy(keys) } }));
}

/** An object of steps as its entries. @throws EngineError PLAN_INVALID for something else, or an empty one. */
export function routesOf<T>(
  owner: string,
  steps: Readonly<Record<string, T>>,
  what: 'step' | 'route' | 'part' | 'arm' = 'step',
): readonly [string, T][] {
  const isObject = typeof steps === 'object' && steps !== null && !Array.isArray(steps);
  const entries = isObject ? Object.entries(steps) : [];
  if (entries.length > 0) return entries;
  const received = isObject ? 'an empty object' : show(steps);
  throw new EngineError('PLAN_INVALID', `${owner} needs an object with at least one ${what}; received ${received}.`);
}

/** Keys up to which V8 copies an object fast. */
const FEW_KEYS = 500;

/** What came from each node, under the key of the node. */
function gatherBy(keys: ReadonlyMap<string, string>): InputRule {
  const ids = [...keys.keys()];
  const names = [...keys.values()];
  // Up to 500 keys a copy that is filled takes half of the time of an object that grows key by key; beyond, an object without a prototype does.
  const empty: Readonly<Record<string, unknown>> = Object.fromEntries(names.map((key) => [key, undefined]));
  const gathered = (valueAt: (at: number) => unknown): Record<string, unknown> => {
    const isFew = names.length <= FEW_KEYS;
    const all: Record<string, unknown> = isFew ? { ...empty } : Object.create(null);
    for (let at = 0; at < names.length; at += 1) all[names[at] as string] = valueAt(at);
    return isFew ? all : Object.setPrototypeOf(all, Object.prototype);
  };
  return {
    whole: (arrived) => gathered((at) => arrived.get(ids[at] as string)),
    inOrder: { ids, whole: (values) => gathered((at) => values[at]) },
    piece: (from, chunk) => {
      const key = keys.get(from);
      return key === undefined ? [] : [{ [key]: chunk }];
    },
    mappings: [...keys].map(([from, to]) => ({ to, from, path: '' })),
  };
}
