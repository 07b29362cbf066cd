import type { Lookup, ValueSource } from '../../src/dsl/resolve.js';
import type { Json } from '../../src/json.js';

/** Values for tests; undefined stands for a declared output without a value. */
export interface TestValues {
  readonly outputs?: Readonly<Record<string, Readonly<Record<string, Json | undefined>>>>;
  readonly variables?: Readonly<Record<string, Json>>;
  readonly aliases?: Readonly<Record<string, Json>>;
}

/** Builds a source over plain values. */
export function sourceOf({ outputs = {}, variables = {}, aliases = {} }: TestValues): ValueSource {
  const read = (
    values: Readonly<Record<string, Json | undefined>>,
    key: string,
    missing: 'undeclared' | 'unresolved',
  ): Lookup => {
    if (!Object.hasOwn(values, key)) return { status: missing };
    const value = values[key];
    return value === undefined ? { status: 'unset' } : { status: 'found', value };
  };
  return {
    output: (component, name) =>
      Object.hasOwn(outputs, component) ? read(outputs[component] ?? {}, name, 'undeclared') : { status: 'unresolved' },
    variable: (key) => read(variables, key, 'unresolved'),
    alias: (name) => read(aliases, name, 'unresolved'),
  };
}
