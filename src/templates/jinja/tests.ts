import { readArguments } from './arguments.js';
import { FILTERS } from './filters.js';
import { applyComparison } from './operators.js';
import type { Runtime } from './runtime.js';
import { type Arguments, isDict, isList, isNumeric, isSpecial, typeName, type Value } from './values.js';

/** A test: how many arguments it takes, and what it asks of a value. */
type Test = readonly [arity: 0 | 1, holds: (value: Value, argument: Value, run: Runtime) => boolean];

const compare =
  (operator: string): Test[1] =>
  (value, argument, run) =>
    applyComparison(operator, value, argument, run.budget);

const TESTS: ReadonlyMap<string, Test> = new Map<string, Test>([
  ['defined', [0, (value) => value !== undefined]],
  ['undefined', [0, (value) => value === undefined]],
  ['none', [0, (value) => value === null]],
  ['boolean', [0, (value) => typeof value === 'boolean']],
  ['true', [0, (value) => value === true]],
  ['false', [0, (value) => value === false]],
  ['number', [0, (value) => isNumeric(value)]],
  ['integer', [0, (value) => typeof value === 'number' && Number.isInteger(value)]],
  ['float', [0, (value) => typeof value === 'number' && !Number.isInteger(value)]],
  ['string', [0, (value) => typeof value === 'string']],
  ['mapping', [0, (value) => isDict(value)]],
  ['sequence', [0, (value) => typeof value === 'string' || isList(value) || isDict(value) || isGroup(value)]],
  [
    'iterable',
    [
      0,
      (value) => typeof value === 'string' || isList(value) || isDict(value) || isGroup(value) || value === undefined,
    ],
  ],
  ['callable', [0, (value) => isSpecial(value) && value.call !== undefined]],
  ['escaped', [0, () => false]],
  ['even', [0, (value, _none, run) => remainder(value, 2, run) === 0]],
  ['odd', [0, (value, _none, run) => remainder(value, 2, run) !== 0]],
  ['upper', [0, (value) => isCased(value) && value === value.toUpperCase()]],
  ['lower', [0, (value) => isCased(value) && value === value.toLowerCase()]],
  ['divisibleby', [1, (value, argument, run) => remainder(value, argument, run) === 0]],
  ['sameas', [1, (value, argument) => value === argument]],
  ['filter', [0, (value) => typeof value === 'string' && FILTERS.has(value)]],
  ['test', [0, (value) => typeof value === 'string' && TESTS.has(value)]],
  ['in', [1, compare('in')]],
  ...(['eq', 'equalto', '=='] as const).map((name): [string, Test] => [name, [1, compare('==')]]),
  ...(['ne', '!='] as const).map((name): [string, Test] => [name, [1, compare('!=')]]),
  ...(['lt', 'lessthan', '<'] as const).map((name): [string, Test] => [name, [1, compare('<')]]),
  ...(['gt', 'greaterthan', '>'] as const).map((name): [string, Test] => [name, [1, compare('>')]]),
  ...(['le', '<='] as const).map((name): [string, Test] => [name, [1, compare('<=')]]),
  ...(['ge', '>='] as const).map((name): [string, Test] => [name, [1, compare('>=')]]),
]);

/** Applies a test by name: `x is divisibleby 3`. */
export function applyTest(name: string, value: Value, args: Arguments, run: Runtime): boolean {
  const test = TESTS.get(name);
  if (test === undefined) return run.budget.fail(`there is no test "${name}"`);
  const [arity, holds] = test;
  const names = arity === 0 ? [] : ['other'];
  if (arity === 1 && args.positional.length === 0 && args.keyword.size === 0)
    run.budget.fail(`the test "${name}" needs an argument`);
  return holds(value, readArguments(name, args, names, run.budget)[0], run);
}

function remainder(value: Value, by: Value, run: Runtime): number {
  if (!isNumeric(value) || !isNumeric(by))
    return run.budget.fail(`a number is needed, but there is ${typeName(isNumeric(value) ? by : value)}`);
  if (Number(by) === 0) return run.budget.fail('division by zero');
  return Number(value) % Number(by);
}

function isGroup(value: Value): boolean {
  return isSpecial(value) && value.items !== undefined;
}

function isCased(value: Value): value is string {
  return typeof value === 'string' && value.toLowerCase() !== value.toUpperCase();
}
