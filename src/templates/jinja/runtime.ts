/** What all parts of the Jinja evaluator share: host, scopes, arguments of calls, tables of filters. */
import type { Reference } from '../../dsl/reference.js';
import type { Budget } from '../template-budget.js';
import { type Arguments, isNumeric, toText, typeName, type Value } from './values.js';

/** Where a template's names and references come from. */
export interface Host {
  /** Gives the value of a name that the template does not set itself; undefined when there is none. */
  name(name: string): Value;
  /** Gives the value of a reference inside of a tag. */
  reference(reference: Reference): Value;
  /** Gives the text that stands for a reference in text; `written` is its source. */
  referenceText(reference: Reference, written: string): string;
}

/** The context of all parts of the evaluator. */
export interface Runtime {
  readonly budget: Budget;
  readonly host: Host;
  applyFilter(name: string, value: Value, args: Arguments): Value;
  applyTest(name: string, value: Value, args: Arguments): boolean;
}

/** A host that knows no references; for templates that stand alone. */
export function plainHost(name: (name: string) => Value): Host {
  return { name, reference: () => undefined, referenceText: (_reference, written) => written };
}

/** Names of a body, and those around it. */
export class Scope {
  private readonly values = new Map<string, Value>();
  constructor(private readonly parent?: Scope) {}

  set(name: string, value: Value): undefined {
    this.values.set(name, value);
  }

  /** Gives the nearest value of a name; `missing` is called when no scope has it. */
  get(name: string, missing: (name: string) => Value): Value {
    for (let scope: Scope | undefined = this; scope !== undefined; scope = scope.parent) {
      if (scope.values.has(name)) return scope.values.get(name);
    }
    return missing(name);
  }
}

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
export function textArgument<F extends string | undefined>(value: Value, fallback: F, budget: Budget): string | F {
  return value === undefined || value === null ? fallback : toText(value, budget);
}

/** A filter: the names of its arguments and what it does with them, in that order; undefined where none was given. */
export interface Filter {
  readonly names: readonly string[];
  readonly apply: (value: Value, args: readonly Value[], run: Runtime) => Value;
}

/** A filter that takes any arguments. */
export interface OpenFilter {
  readonly applyOpen: (value: Value, args: Arguments, run: Runtime) => Value;
}

/** One row of a table of filters. */
export type FilterRow = readonly [name: string, filter: Filter | OpenFilter];

/** Builds a row. */
export function row(name: string, names: readonly string[], apply: Filter['apply']): FilterRow {
  return [name, { names, apply }];
}

/** Builds a row for a filter that takes any arguments. */
export function openRow(name: string, applyOpen: OpenFilter['applyOpen']): FilterRow {
  return [name, { applyOpen }];
}
