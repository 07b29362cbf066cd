/** Typed state of a graph: declared once, owned by the graph that names it, changed by the steps inside it. */
import type { Observable } from 'rxjs';
import { EngineError, toEngineError } from '../errors.js';
import { invalidOption, requireCallable, requireObject, requireOptions } from '../operators/invalid-option.js';

/** The declaration of a state, and the key to it: `at.state(token)`. */
export interface StateToken<S> {
  readonly name: string;
  /** Must give the same value every time: a restored run calls it again. */
  readonly initial: () => S;
  /** How a new value of a field joins the old one; used by `StateHandle.update`. */
  readonly reducers: Readonly<Record<string, (before: never, update: never) => unknown>>;
  /** Never set: it carries the type. */
  readonly '~state'?: S;
}

/** The items of a list. */
export type ItemOf<L> = L extends readonly (infer T)[] ? T : never;

/** Keys whose values are lists. */
export type ListKey<S> = { [K in keyof S]: S[K] extends readonly unknown[] ? K : never }[keyof S];

/** A state as one step sees it. Changes take effect at once and are kept in the journal as patches. */
export interface StateHandle<S> {
  /** The value now. It is never changed in place. */
  readonly value: Readonly<S>;
  /** The value now, then after every change. Completes when the pass through its graph, or the run, is over. */
  readonly value$: Observable<Readonly<S>>;
  /** Puts another value in its place. */
  set(value: S): S;
  /** Changes fields, each by its reducer where there is one. */
  update(fields: Partial<S>): S;
  /** Puts items behind a list, without copying it. */
  append<K extends ListKey<S>>(key: K, ...items: readonly ItemOf<S[K]>[]): S;
}

/** What a state is given when it is declared. */
export interface StateOptions<S> {
  /** By field: how `update` joins the value so far with a new one. @default the new one takes its place */
  readonly reducers?: { readonly [K in keyof S]?: (before: S[K], update: S[K]) => S[K] };
}

/**
 * Declares a state. `initial` gives a fresh value, and the same one every time.
 *
 * @throws EngineError PLAN_INVALID for an empty name, and for something else than a function; OPTION_INVALID for options that there are not, and
 * for reducers that are no functions.
 */
export function defineState<S>(name: string, initial: () => S, options: StateOptions<S> = {}): StateToken<S> {
  if (typeof name !== 'string' || name === '' || typeof initial !== 'function') {
    const wrong = typeof initial === 'function' ? 'its name is not text, or empty' : 'its "initial" is no function';
    throw new EngineError(
      'PLAN_INVALID',
      `The state ${JSON.stringify(name) ?? 'without a name'} cannot be declared: ${wrong}. Write defineState('name', () => ({ … })).`,
    );
  }
  const owner = `defineState "${name}"`;
  requireOptions(owner, options, ['reducers']);
  const { reducers = {} } = options;
  requireObject(owner, 'reducers', reducers, 'an object of functions by field');
  for (const [field, reduce] of Object.entries(reducers)) requireCallable(owner, `reducers.${field}`, reduce);
  return Object.freeze({ name, initial, reducers });
}

/** Refuses what is no state where one is named. @throws EngineError OPTION_INVALID */
export function requireState(owner: string, state: unknown): asserts state is StateToken<unknown> {
  if (isState(state)) return;
  throw invalidOption(owner, 'state', 'what defineState(…) gives', state);
}

/** Whether a value has what `defineState` gives. */
export function isState(value: unknown): value is StateToken<unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const { name, initial } = value as Partial<StateToken<unknown>>;
  return typeof name === 'string' && typeof initial === 'function';
}

/** The value that a state begins with in the graph at `path`. @throws EngineError NODE_FAILED for what `initial` throws */
export function initialOf({ name, initial }: StateToken<unknown>, path: string): unknown {
  try {
    return initial();
  } catch (cause) {
    const message = `The state "${name}" cannot begin: its "initial" failed: ${toEngineError(cause, 'NODE_FAILED').message}`;
    throw new EngineError('NODE_FAILED', message, { ...(path === '' ? {} : { node: path }), cause });
  }
}
