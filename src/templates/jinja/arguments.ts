import type { Budget } from '../template-budget.js';
import { type Arguments, isNumeric, toText, typeName, type Value } from './values.js';

/** No arguments. */
export const NO_VALUES: Arguments = { positional: [], keyword: new Map() };

/**
 * Gives the arguments of a call in the order of `names`; those that were not given are undefined.
 *
 * Too many and unknown ones end the rendering with `TEMPLATE_FAILED`.
 */
export function readArguments(
  callee: string,
  args: Arguments,
  names: readonly string[],
  budget: Budget,
): readonly Value[] {
  if (args.positional.length > names.length) {
    budget.fail(`"${callee}" takes ${names.length} arguments, but got ${args.positional.length}`);
  }
  for (const name of args.keyword.keys()) {
    if (!names.includes(name))
      budget.fail(`"${callee}" has no argument "${name}"${names.length > 0 ? `; it has ${names.join(', ')}` : ''}`);
  }
  return names.map((name, i) => (i < args.positional.length ? args.positional[i] : args.keyword.get(name)));
}

/** Reads a whole number, or gives `fallback` for undefined and none. */
export function wholeNumber(value: Value, fallback: number, what: string, budget: Budget): number {
  if (value === undefined || value === null) return fallback;
  if (isNumeric(value) && Number.isInteger(Number(value))) return Number(value);
  return budget.fail(`${what} must be a whole number, but is ${typeName(value)}`);
}

/** Reads a text; numbers and the like become text, undefined and none `fallback`. */
export function textArgument(value: Value, fallback: string, budget: Budget): string {
  return value === undefined || value === null ? fallback : toText(value, budget);
}
