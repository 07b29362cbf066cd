import { getAttribute, getItem } from './members.js';
import { applyBinary, applyComparison, slice } from './operators.js';
import type { Runtime, Scope } from './runtime.js';
import type { CallArguments, Expression, FilterCall } from './syntax.js';
import {
  type Arguments,
  dict,
  isDict,
  isNumeric,
  isSpecial,
  isTrue,
  toItems,
  toText,
  typeName,
  type Value,
} from './values.js';

/**
 * Gives the value of an expression. Names are looked up in the scopes, then asked of the host; nothing but own keys,
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
