import type { Budget } from '../template-budget.js';
import { formatPrintf } from './printf.js';
import {
  compareValues,
  isDict,
  isEqual,
  isList,
  isNumeric,
  isSpecial,
  toItems,
  typeName,
  type Value,
} from './values.js';

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

/** Applies a comparison, `in` or `not in`. */
export function applyComparison(operator: string, left: Value, right: Value, budget: Budget): boolean {
  switch (operator) {
    case '==':
      return isEqual(left, right, budget);
    case '!=':
      return !isEqual(left, right, budget);
    case 'in':
      return contains(right, left, budget);
    case 'not in':
      return !contains(right, left, budget);
    case '<':
      return compareValues(left, right, budget) < 0;
    case '>':
      return compareValues(left, right, budget) > 0;
    case '<=':
      return compareValues(left, right, budget) <= 0;
    default:
      return compareValues(left, right, budget) >= 0;
  }
}

/** Whether a text has a part, a list an item or an object a key. */
export function contains(container: Value, item: Value, budget: Budget): boolean {
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
  const [start, stop, step = 1] = bounds.map((bound) => bound ?? undefined);
  if ([start, stop, step].some((bound) => bound !== undefined && !Number.isInteger(bound)))
    budget.fail('a slice needs whole numbers');
  if (step === 0) budget.fail('the step of a slice cannot be zero');
  // Without surrogates a position in UTF-16 is a position in characters, and steps of one need no list.
  if (isText && step === 1 && !/[\ud800-\udfff]/.test(value))
    return budget.text(value.slice(start as number | undefined, stop as number | undefined));
  const items = toItems(value, budget);
  const taken = pick(items, start as number | undefined, stop as number | undefined, step as number);
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
  const result = arithmetic(operator, left, right);
  // Also catches roots of negative numbers, which are complex in Python.
  return Number.isFinite(result)
    ? result
    : budget.fail(`${left} ${operator} ${right} is not a number that can be written`);
}

function arithmetic(operator: string, left: number, right: number): number {
  switch (operator) {
    case '+':
      return left + right;
    case '-':
      return left - right;
    case '*':
      return left * right;
    case '/':
      return left / right;
    case '//':
      return Math.floor(left / right);
    case '%':
      // The sign is that of the divisor.
      return remainder(left, right);
    default:
      return left ** right;
  }
}

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
