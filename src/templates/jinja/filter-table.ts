import type { Runtime } from './runtime.js';
import type { Arguments, Value } from './values.js';

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
