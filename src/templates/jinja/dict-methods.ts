import { readArguments } from './arguments.js';
import type { Runtime } from './runtime.js';
import { type Arguments, dict, isDict, isEqual, isList, own, type Special, special, type Value } from './values.js';

/** Methods that would change a value; values are never changed, so that no holder of the same value is surprised. */
const CHANGING = new Set([
  'append',
  'extend',
  'insert',
  'pop',
  'popitem',
  'remove',
  'clear',
  'sort',
  'reverse',
  'update',
  'setdefault',
]);

/** Gives the method of an object or list, or undefined when it has none of that name. */
export function dictMethod(object: Value, name: string, run: Runtime): Special | undefined {
  const call = isDict(object) ? ofDict(object, name, run) : isList(object) ? ofList(object, name, run) : undefined;
  if (call !== undefined) return special(`method ${name}`, { call });
  if (!CHANGING.has(name)) return undefined;
  return special(`method ${name}`, {
    call: () =>
      run.budget.fail(`"${name}" would change a value; build a new one, such as "items + [x]", or use a namespace`),
  });
}

function ofDict(
  object: Readonly<Record<string, Value>>,
  name: string,
  run: Runtime,
): ((args: Arguments) => Value) | undefined {
  const { budget } = run;
  const entries = (): [string, Value][] => {
    const all = Object.entries(object);
    budget.visit(all.length);
    return all;
  };
  switch (name) {
    case 'items':
      return () => entries();
    case 'keys':
      return () => entries().map(([key]) => key);
    case 'values':
      return () => entries().map(([, value]) => value);
    case 'copy':
      return () => dict(entries());
    case 'get':
      return (args) => {
        const [key, fallback = null] = readArguments(name, args, ['key', 'default'], budget);
        const found = typeof key === 'string' || typeof key === 'number' ? own(object, String(key)) : undefined;
        return found === undefined ? fallback : found;
      };
  }
  return undefined;
}

function ofList(list: readonly Value[], name: string, run: Runtime): ((args: Arguments) => Value) | undefined {
  const { budget } = run;
  const matches = (args: Arguments): ((item: Value) => boolean) => {
    const [wanted] = readArguments(name, args, ['value'], budget);
    budget.visit(list.length);
    return (item) => isEqual(item, wanted, budget);
  };
  switch (name) {
    case 'copy':
      return () => list;
    case 'count':
      return (args) => list.filter(matches(args)).length;
    case 'index':
      return (args) => {
        const index = list.findIndex(matches(args));
        return index === -1 ? budget.fail('the list does not have the item whose index is asked for') : index;
      };
  }
  return undefined;
}
