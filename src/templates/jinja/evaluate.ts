/** Values of Jinja expressions, operators included. */
import type { Budget } from '../template-budget.js';
import { formatPrintf } from './format.js';
import { getAttribute, getItem } from './members.js';
import type { Runtime, Scope } from './runtime.js';
import type { CallArguments, Expression, FilterCall } from './syntax.js';
import {
  type Arguments,
  compareValues,
  dict,
  isDict,
  isEqual,
  isList,
  isNumeric,
  isSpecial,
  isTrue,
  toItems,
  toText,
  typeName,
  type Value,
} from './values.js';

/**
 * Gives the value of an expression. Names are looked up in the scopes, then in the host; nothing but own keys,
 * positions and the built-in methods can be read from a value.
 *
 * @throws EngineError `TEMPLATE_FAILED`, `TEMPLATE_TOO_LARGE`.
 */
export function evaluate(expression: Expression, scope: Scope, run: Runtime): Value {
  run.budget.spend();
  return run.budget.nest(() => evaluateKind(expression, scope, run));
}

/** Evaluates the arguments of a call. */
export function evaluateArguments(args: CallArguments, scope: Scope, run: Runtime): Arguments {
  const positional = args.positional.map((each) => evaluate(each, scope, run));
  const keyword = new Map(args.keyword.map(([name, each]) => [name, evaluate(each, scope, run)]));
  if (args.spread !== undefined) {
    const items = toItems(evaluate(args.spread, scope, run), run.budget);
    run.budget.reserveItems(positional.length + items.length);
    for (const item of items) positional.push(item);
  }
  if (args.spreadKeywords !== undefined) {
    const named = evaluate(args.spreadKeywords, scope, run);
    if (!isDict(named)) return run.budget.fail(`"**" needs an object, but got ${typeName(named)}`);
    for (const [name, value] of Object.entries(named)) keyword.set(name, value);
  }
  return { positional, keyword };
}

/** Calls a value. */
export function callValue(callee: Value, args: Arguments, name: string, run: Runtime): Value {
  if (isSpecial(callee) && callee.call !== undefined) return callee.call(args);
  return run.budget.fail(`"${name}" is ${typeName(callee)} and cannot be called`);
}

/** Applies filters one after the other. */
export function applyFilters(value: Value, filters: readonly FilterCall[], scope: Scope, run: Runtime): Value {
  return filters.reduce(
    (current, { name, args }) => run.applyFilter(name, current, evaluateArguments(args, scope, run)),
    value,
  );
}

function evaluateKind(expression: Expression, scope: Scope, run: Runtime): Value {
  const { budget, host } = run;
  switch (expression.kind) {
    case 'literal':
      return expression.value;
    case 'interpolation':
      return budget.text(
        expression.parts
          .map((part) => (part.kind === 'text' ? part.text : host.referenceText(part.reference, part.text)))
          .join(''),
      );
    case 'reference':
      return host.reference(expression.reference);
    case 'name':
      return scope.get(expression.name, host.name);
    case 'list':
      return expression.items.map((item) => evaluate(item, scope, run));
    case 'dict':
      return dict(
        expression.entries.map(([key, value]) => [
          toText(evaluate(key, scope, run), budget),
          evaluate(value, scope, run),
        ]),
      );
    case 'attribute':
      return getAttribute(evaluate(expression.object, scope, run), expression.name, false, run);
    case 'item':
      return getItem(evaluate(expression.object, scope, run), evaluate(expression.index, scope, run), run);
    case 'slice': {
      const bounds = [expression.start, expression.stop, expression.step].map(
        (bound) => bound && evaluate(bound, scope, run),
      );
      return slice(evaluate(expression.object, scope, run), bounds as [Value, Value, Value], budget);
    }
    case 'call':
      return evaluateCall(expression.callee, expression.args, scope, run);
    case 'filter':
      return applyFilters(evaluate(expression.operand, scope, run), [expression.filter], scope, run);
    case 'test': {
      const operand = evaluate(expression.operand, scope, run);
      return run.applyTest(expression.name, operand, evaluateArguments(expression.args, scope, run));
    }
    default:
      return evaluateOperator(expression, scope, run);
  }
}

function evaluateOperator(
  expression: Extract<Expression, { kind: 'sign' | 'binary' | 'concat' | 'logic' | 'not' | 'compare' | 'conditional' }>,
  scope: Scope,
  run: Runtime,
): Value {
  const value = (inner: Expression): Value => evaluate(inner, scope, run);
  switch (expression.kind) {
    case 'sign': {
      const operand = value(expression.operand);
      if (!isNumeric(operand))
        return run.budget.fail(`"${expression.operator}" needs a number, but got ${typeName(operand)}`);
      return expression.operator === '-' ? -operand : Number(operand);
    }
    case 'binary':
      return applyBinary(expression.operator, value(expression.left), value(expression.right), run.budget);
    case 'concat':
      return run.budget.text(expression.parts.map((part) => toText(value(part), run.budget)).join(''));
    case 'logic':
      return evaluateLogic(expression.operator, expression.operands, value);
    case 'not':
      return !isTrue(value(expression.operand));
    case 'compare': {
      let left = value(expression.first);
      return expression.rest.every(([operator, operand]) => {
        const right = value(operand);
        const holds = applyComparison(operator, left, right, run.budget);
        left = right;
        return holds;
      });
    }
    case 'conditional':
      if (isTrue(value(expression.test))) return value(expression.then);
      return expression.otherwise === undefined ? undefined : value(expression.otherwise);
  }
}

/** Gives the operand that decides, as Python does: `'' or 'x'` is `'x'`. */
function evaluateLogic(
  operator: 'and' | 'or',
  operands: readonly Expression[],
  value: (inner: Expression) => Value,
): Value {
  let result: Value;
  for (const operand of operands) {
    result = value(operand);
    if (isTrue(result) === (operator === 'or')) break;
  }
  return result;
}

function evaluateCall(callee: Expression, args: CallArguments, scope: Scope, run: Runtime): Value {
  const target =
    callee.kind === 'attribute'
      ? run.budget.nest(() => getAttribute(evaluate(callee.object, scope, run), callee.name, true, run))
      : evaluate(callee, scope, run);
  const name = callee.kind === 'attribute' || callee.kind === 'name' ? callee.name : 'the value';
  return callValue(target, evaluateArguments(args, scope, run), name, run);
}

/** Applies `+ - * / // % **` as Python does; results that are no finite number are an error. */
export function applyBinary(operator: string, left: Value, right: Value, budget: Budget): Value {
  if (operator === '%' && typeof left === 'string') {
    return formatPrintf(left, isList(right) ? right : [right], isDict(right) ? right : {}, budget);
  }
  if (isNumeric(left) && isNumeric(right)) return calculate(operator, Number(left), Number(right), budget);
  if (operator === '+') {
    if (typeof left === 'string' && typeof right === 'string') {
      budget.reserve(left.length + right.length);
      return left + right;
    }
    if (isList(left) && isList(right)) {
      budget.reserveItems(left.length + right.length);
      return left.concat(right);
    }
  }
  if (operator === '*' && isNumeric(right)) return repeat(left, Number(right), budget);
  if (operator === '*' && isNumeric(left)) return repeat(right, Number(left), budget);
  return budget.fail(
    `${typeName(left)} ${operator} ${typeName(right)} has no meaning; convert one side, such as with "| int" or "| string"`,
  );
}

const COMPARISONS: Readonly<Record<string, (left: Value, right: Value, budget: Budget) => boolean>> = {
  '==': isEqual,
  '!=': (left, right, budget) => !isEqual(left, right, budget),
  in: (left, right, budget) => contains(right, left, budget),
  'not in': (left, right, budget) => !contains(right, left, budget),
  '<': (left, right, budget) => compareValues(left, right, budget) < 0,
  '>': (left, right, budget) => compareValues(left, right, budget) > 0,
  '<=': (left, right, budget) => compareValues(left, right, budget) <= 0,
  '>=': (left, right, budget) => compareValues(left, right, budget) >= 0,
};

/** Applies a comparison, `in` or `not in`; the parser lets no other operator through. */
export function applyComparison(operator: string, left: Value, right: Value, budget: Budget): boolean {
  return (COMPARISONS[operator] as (typeof COMPARISONS)[string])(left, right, budget);
}

/** Whether a text has a part, a list an item or an object a key. */
function contains(container: Value, item: Value, budget: Budget): boolean {
  if (typeof container === 'string') {
    if (typeof item !== 'string') return budget.fail(`${typeName(item)} cannot be looked for in a text`);
    budget.reserve(container.length);
    return container.includes(item);
  }
  if (isDict(container)) return typeof item === 'string' && Object.hasOwn(container, item);
  return toItems(container, budget).some((each) => isEqual(each, item, budget));
}

/** Gives the slice of a text or list as Python does, with negative bounds and steps. */
export function slice(value: Value, bounds: readonly [Value, Value, Value], budget: Budget): Value {
  const isText = typeof value === 'string';
  if (!isText && !isList(value) && !isSpecial(value)) return budget.fail(`${typeName(value)} cannot be sliced`);
  const [start, stop, step = 1] = bounds.map((bound) => {
    if (bound === undefined || bound === null) return undefined;
    return typeof bound === 'number' && Number.isInteger(bound) ? bound : budget.fail('a slice needs whole numbers');
  });
  if (step === 0) budget.fail('the step of a slice cannot be zero');
  // Without surrogates a position in UTF-16 is a position in characters, and steps of one need no list.
  if (isText && step === 1 && !/[\ud800-\udfff]/.test(value)) return budget.text(value.slice(start, stop));
  const taken = pick(toItems(value, budget), start, stop, step);
  return isText ? taken.join('') : taken;
}

function pick(items: readonly Value[], start: number | undefined, stop: number | undefined, step: number): Value[] {
  const low = step > 0 ? 0 : -1;
  const high = step > 0 ? items.length : items.length - 1;
  const clamp = (bound: number): number => Math.min(high, Math.max(low, bound < 0 ? bound + items.length : bound));
  const first = start === undefined ? (step > 0 ? low : high) : clamp(start);
  const end = stop === undefined ? (step > 0 ? high : low) : clamp(stop);
  const taken: Value[] = [];
  for (let i = first; step > 0 ? i < end : i > end; i += step) taken.push(items[i]);
  return taken;
}

function calculate(operator: string, left: number, right: number, budget: Budget): number {
  if (right === 0 && (operator === '/' || operator === '//' || operator === '%')) budget.fail('division by zero');
  const result = (ARITHMETIC[operator] as (typeof ARITHMETIC)[string])(left, right);
  // Also catches roots of negative numbers, which are complex in Python.
  return Number.isFinite(result)
    ? result
    : budget.fail(`${left} ${operator} ${right} is not a number that can be written`);
}

const ARITHMETIC: Readonly<Record<string, (left: number, right: number) => number>> = {
  '+': (left, right) => left + right,
  '-': (left, right) => left - right,
  '*': (left, right) => left * right,
  '/': (left, right) => left / right,
  '//': (left, right) => Math.floor(left / right),
  '%': remainder,
  '**': (left, right) => left ** right,
};

function repeat(value: Value, times: number, budget: Budget): Value {
  if (!Number.isInteger(times)) return budget.fail('repeating needs a whole number');
  const count = Math.max(0, times);
  if (typeof value === 'string') {
    budget.reserve(value.length * count);
    return value.repeat(value === '' ? 0 : count);
  }
  if (!isList(value)) return budget.fail(`${typeName(value)} cannot be multiplied`);
  budget.reserveItems(value.length * count);
  return value.length === 0 ? [] : Array.from({ length: count }, () => value).flat(1);
}

/** The remainder with the sign of the divisor; added to only where it must be, as a sum is rounded. */
function remainder(left: number, right: number): number {
  const rest = left % right;
  return rest !== 0 && rest < 0 !== right < 0 ? rest + right : rest;
}
