/** Jinja: rendering a template, with its filters by name, global functions and tests. */
import type { Json, JsonObject } from '../../json.js';
import { Budget, guardTemplate, type TemplateLimits } from '../template-budget.js';
import { applyComparison } from './evaluate.js';
import { execute, Output } from './execute.js';
import { LIST_FILTERS } from './list-filters.js';
import { parseJinja } from './parse.js';
import { type Host, plainHost, type Runtime, readArguments, Scope, textArgument, wholeNumber } from './runtime.js';
import type { Statement } from './syntax.js';
import { TEXT_FILTERS } from './text-filters.js';
import { VALUE_FILTERS } from './value-filters.js';
import {
  type Arguments,
  dict,
  isDict,
  isList,
  isNumeric,
  isSpecial,
  own,
  special,
  toItems,
  toText,
  typeName,
  type Value,
} from './values.js';

/**
 * Renders a Jinja template with `values` as its names. Braces have Jinja's meaning only; references are not replaced.
 *
 * The language is Jinja2's without files: output, `if for set with macro call filter block raw`, `break` and `continue`,
 * all operators, tests and filters that make sense on JSON. Templates read own keys and positions only and change
 * nothing. Booleans, lists and objects are written as JSON, none as nothing.
 *
 * @throws EngineError `TEMPLATE_INVALID` (does not parse), `TEMPLATE_FAILED` (fails while it runs), `TEMPLATE_TOO_LARGE`
 * (exceeds a limit); the first two name the line.
 */
export function renderJinja(template: string, values: JsonObject, limits: TemplateLimits = {}): string {
  const names = dict(Object.entries(values));
  return renderJinjaWith(
    template,
    plainHost((name) => own(names, name)),
    false,
    limits,
  );
}

/** Renders a Jinja template whose names, and with `references` its references too, come from a host. */
export function renderJinjaWith(
  template: string,
  host: Host,
  references: boolean,
  limits: TemplateLimits = {},
): string {
  return guardTemplate(template, () => run(parseJinja(template, references), host, limits));
}

/** A template that was read and can be rendered; names that are not known are undefined to it. */
export type PreparedTemplate = (name: (name: string) => Json | undefined, limits?: TemplateLimits) => string;

/**
 * Reads a Jinja template once, to be rendered often; see {@link renderJinja}.
 *
 * @throws EngineError `TEMPLATE_INVALID` with the line, `TEMPLATE_TOO_LARGE`; when it is rendered `TEMPLATE_FAILED`, `TEMPLATE_TOO_LARGE`.
 */
export function prepareJinja(template: string): PreparedTemplate {
  const body = guardTemplate(template, () => parseJinja(template, false));
  return (name, limits = {}) => guardTemplate(template, () => run(body, plainHost(name), limits));
}

function run(body: readonly Statement[], host: Host, limits: TemplateLimits): string {
  const budget = new Budget(limits);
  const globals = createGlobals(budget);
  const orGlobal = (value: Value, name: string): Value => (value === undefined ? globals.get(name) : value);
  const runtime: Runtime = {
    budget,
    host: { ...host, name: (name) => orGlobal(host.name(name), name) },
    applyFilter: (name, value, args) => applyFilter(name, value, args, runtime),
    applyTest: (name, value, args) => applyTest(name, value, args, runtime),
  };
  const out = new Output(budget);
  execute(body, new Scope(), out, runtime);
  return out.toString();
}

/** Every filter by name. */
const FILTERS = new Map([...VALUE_FILTERS, ...TEXT_FILTERS, ...LIST_FILTERS]);

/** Applies a filter by name: `x | join(", ")`. */
function applyFilter(name: string, value: Value, args: Arguments, run: Runtime): Value {
  const filter = FILTERS.get(name);
  if (filter === undefined) return run.budget.fail(`there is no filter "${name}"`);
  run.budget.spend();
  if ('applyOpen' in filter) return filter.applyOpen(value, args, run);
  return filter.apply(value, readArguments(name, args, filter.names, run.budget), run);
}

/** Builds the functions that every template has: `range dict namespace cycler joiner`. */
function createGlobals(budget: Budget): ReadonlyMap<string, Value> {
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

/** A test: how many arguments it takes, and what it asks of a value. */
type Test = readonly [arity: 0 | 1, holds: (value: Value, argument: Value, run: Runtime) => boolean];

const compare =
  (operator: string): Test[1] =>
  (value, argument, run) =>
    applyComparison(operator, value, argument, run.budget);

/** Operators that are tests, and their other names. */
const COMPARISONS = [
  ['in'],
  ['==', 'eq', 'equalto'],
  ['!=', 'ne'],
  ['<', 'lt', 'lessthan'],
  ['>', 'gt', 'greaterthan'],
  ['<=', 'le'],
  ['>=', 'ge'],
] as const;

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
  ['sequence', [0, isSequence]],
  ['iterable', [0, (value) => isSequence(value) || value === undefined]],
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
  ...COMPARISONS.flatMap(([operator, ...names]) =>
    [operator, ...names].map((name): [string, Test] => [name, [1, compare(operator)]]),
  ),
]);

/** Applies a test by name: `x is divisibleby 3`. */
function applyTest(name: string, value: Value, args: Arguments, run: Runtime): boolean {
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

function isSequence(value: Value): boolean {
  return typeof value === 'string' || isList(value) || isDict(value) || (isSpecial(value) && value.items !== undefined);
}

function isCased(value: Value): value is string {
  return typeof value === 'string' && value.toLowerCase() !== value.toUpperCase();
}
