import { invalidOption, requireObject } from '../../operators/invalid-option.js';

/** How values of one type are stored: JSON, or values that can be stored themselves, in between. */
export interface ValueDefinition<T = unknown, J = unknown> {
  /** Under which they are stored; must stay the same as long as there are checkpoints with it. */
  readonly name: string;
  /** Whether a value is of the type. Asked of everything but texts, numbers, booleans and null, so it has to be cheap. */
  is(value: unknown): value is T;
  /** What is stored; it may hold dates, maps and everything else that can be stored. Must not change the value. */
  toJson(value: T): J;
  /** The value again, of what `toJson` gave. */
  fromJson(json: J): T;
}

/** A definition of any types. */
// biome-ignore lint/suspicious/noExplicitAny: definitions of all types share lists
export type AnyValueDefinition = ValueDefinition<any, any>;

/** Names under which values are stored without a definition. */
export const BUILT_IN_NAMES = [
  'undefined',
  'number',
  'bigint',
  'object',
  'date',
  'map',
  'set',
  'bytes',
  'buffer',
  'array-buffer',
  'url',
  'error',
] as const;

/** One of {@link BUILT_IN_NAMES}. */
export type BuiltInName = (typeof BUILT_IN_NAMES)[number];

/**
 * Declares how values of a type that JSON cannot hold are stored in checkpoints and journals.
 *
 * ```ts
 * import { chain, defineValue, invoke } from 'runnel';
 *
 * class Money {
 *   constructor(readonly amount: number, readonly currency: string) {}
 * }
 * const money = defineValue<Money, { amount: number; currency: string }>({
 *   name: 'money',
 *   is: (value) => value instanceof Money,
 *   toJson: ({ amount, currency }) => ({ amount, currency }),
 *   fromJson: ({ amount, currency }) => new Money(amount, currency),
 * });
 *
 * const price = chain((amount: number) => new Money(amount, 'NOK'), (value) => `${value.amount} ${value.currency}`);
 * console.log(await invoke(price, 5, { values: [money] }));
 * // => 5 NOK
 * ```
 *
 * Dates, maps, sets, bigints, bytes, URLs and errors need none.
 *
 * @throws EngineError `OPTION_INVALID` for a name that is empty or built in, and for parts that are no functions.
 */
export function defineValue<T, J>(definition: {
  readonly name: string;
  readonly is: (value: unknown) => value is T;
  readonly toJson: (value: NoInfer<T>) => J;
  readonly fromJson: (json: NoInfer<J>) => NoInfer<T>;
}): ValueDefinition<T, J> {
  requireObject('defineValue', 'definition', definition, 'an object with "name", "is", "toJson" and "fromJson"');
  const { name } = definition;
  if (typeof name !== 'string' || name === '') throw invalidOption('defineValue', 'name', 'a text', name);
  if ((BUILT_IN_NAMES as readonly string[]).includes(name)) {
    throw invalidOption('defineValue', 'name', `none of the built-in ones (${BUILT_IN_NAMES.join(', ')})`, name);
  }
  for (const part of ['is', 'toJson', 'fromJson'] as const) {
    if (typeof definition[part] === 'function') continue;
    throw invalidOption(`defineValue (${name})`, part, 'a function', definition[part]);
  }
  return Object.freeze({ ...definition });
}
