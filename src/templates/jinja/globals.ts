import type { Budget } from '../template-budget.js';
import { readArguments, textArgument, wholeNumber } from './arguments.js';
import { type Arguments, dict, isDict, special, toItems, toText, type Value } from './values.js';

/** Builds the functions that every template has: `range dict namespace cycler joiner`. */
export function createGlobals(budget: Budget): ReadonlyMap<string, Value> {
  const define = (name: string, call: (args: Arguments, budget: Budget) => Value): [string, Value] => [
    name,
    special(`function ${name}`, { call: (args) => call(args, budget) }),
  ];
  return new Map([
    define('range', range),
    define('dict', (args) => dict(collect(args, budget))),
    define('namespace', namespace),
    define('cycler', cycler),
    define('joiner', joiner),
  ]);
}

function range(args: Arguments, budget: Budget): Value {
  const bounds = readArguments('range', args, ['start', 'stop', 'step'], budget).map((bound) =>
    bound === undefined ? undefined : wholeNumber(bound, 0, 'a bound of "range"', budget),
  );
  const [start = 0, stop = start, step = 1] = bounds;
  const first = bounds[1] === undefined ? 0 : start;
  if (step === 0) budget.fail('the step of "range" cannot be zero');
  const length = Math.max(0, Math.ceil((stop - first) / step));
  budget.reserveItems(length);
  return Array.from({ length }, (_, i) => first + i * step);
}

function namespace(args: Arguments, budget: Budget): Value {
  const values = new Map<string, Value>(collect(args, budget));
  return special('namespace', {
    get: (name) => values.get(name),
    set: (name, value) => {
      budget.reserveItems(values.size + 1);
      values.set(name, value);
    },
  });
}

function cycler({ positional }: Arguments, budget: Budget): Value {
  if (positional.length === 0) budget.fail('"cycler" needs values');
  let at = 0;
  const next = (): Value => positional[at++ % positional.length];
  const reset = (): Value => {
    at = 0;
    return undefined;
  };
  return special('cycler', {
    get: (name) => {
      if (name === 'current') return positional[at % positional.length];
      if (name === 'next') return special('method next', { call: next });
      return name === 'reset' ? special('method reset', { call: reset }) : undefined;
    },
  });
}

function joiner(args: Arguments, budget: Budget): Value {
  const separator = textArgument(readArguments('joiner', args, ['sep'], budget)[0], ', ', budget);
  let used = false;
  const call = (): Value => {
    const text = used ? separator : '';
    used = true;
    return text;
  };
  return special('joiner', { call });
}

/** Reads an object, or pairs, and named values on top. */
function collect({ positional, keyword }: Arguments, budget: Budget): [string, Value][] {
  const [source] = positional;
  const entries: [string, Value][] = isDict(source)
    ? Object.entries(source)
    : toItems(source, budget).map((pair) => {
        const [key, value] = toItems(pair, budget);
        return [toText(key, budget), value];
      });
  return [...entries, ...keyword];
}
