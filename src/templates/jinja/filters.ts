import { readArguments } from './arguments.js';
import { LIST_FILTERS } from './list-filters.js';
import type { Runtime } from './runtime.js';
import { TEXT_FILTERS } from './text-filters.js';
import { VALUE_FILTERS } from './value-filters.js';
import type { Arguments, Value } from './values.js';

/** Every filter by name. */
export const FILTERS = new Map([...VALUE_FILTERS, ...TEXT_FILTERS, ...LIST_FILTERS]);

/** Applies a filter by name: `x | join(", ")`. */
export function applyFilter(name: string, value: Value, args: Arguments, run: Runtime): Value {
  const filter = FILTERS.get(name);
  if (filter === undefined) return run.budget.fail(`there is no filter "${name}"`);
  run.budget.spend();
  if ('applyOpen' in filter) return filter.applyOpen(value, args, run);
  return filter.apply(value, readArguments(name, args, filter.names, run.budget), run);
}
