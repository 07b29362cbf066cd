/** Statements of Jinja templates carried out: text, branches, loops, macros. */
import type { Budget } from '../template-budget.js';
import { applyFilters, callValue, evaluate, evaluateArguments } from './evaluate.js';
import { type Runtime, readArguments, Scope } from './runtime.js';
import type { Expression, ForStatement, MacroShape, Statement, Target } from './syntax.js';
import {
  type Arguments,
  dict,
  isEqual,
  isSpecial,
  isTrue,
  type Special,
  special,
  toItems,
  toText,
  typeName,
  type Value,
} from './values.js';

/** What ends a body early. */
type Signal = 'break' | 'continue' | undefined;

/** Text as it is written, bounded. */
export class Output {
  private readonly parts: string[] = [];
  private length = 0;
  constructor(private readonly budget: Budget) {}

  write(text: string): undefined {
    if (text === '') return;
    this.length = this.budget.append(this.length, text);
    this.parts.push(text);
  }

  toString(): string {
    return this.parts.join('');
  }
}

/** Runs statements in a scope, writing to `out`. */
export function execute(body: readonly Statement[], scope: Scope, out: Output, run: Runtime): Signal {
  return run.budget.nest(() => {
    for (const statement of body) {
      run.budget.spend();
      run.budget.line = statement.line;
      const signal = executeOne(statement, scope, out, run);
      if (signal !== undefined) return signal;
    }
    return undefined;
  });
}

function executeOne(statement: Statement, scope: Scope, out: Output, run: Runtime): Signal {
  switch (statement.kind) {
    case 'text':
      return out.write(statement.text);
    case 'text-reference':
      return out.write(run.host.referenceText(statement.reference, statement.text));
    case 'output':
      return out.write(toText(evaluate(statement.expression, scope, run), run.budget));
    case 'for':
      return runFor(statement, toItems(evaluate(statement.iterable, scope, run), run.budget), 0, scope, out, run);
    case 'if': {
      const taken = statement.branches.find(({ test }) => isTrue(evaluate(test, scope, run)));
      return execute(taken?.body ?? statement.otherwise, scope, out, run);
    }
    case 'set':
      return assign(statement.target, evaluate(statement.value, scope, run), scope, run);
    case 'capture':
      return assign(statement.target, filteredBody(statement, scope, run), scope, run);
    case 'with': {
      const inner = new Scope(scope);
      for (const [target, value] of statement.assignments) assign(target, evaluate(value, scope, run), inner, run);
      return execute(statement.body, inner, out, run);
    }
    case 'macro':
      return scope.set(statement.macro.name, macro(statement.macro, scope, run));
    case 'call-block':
      return out.write(toText(callWithBody(statement.call, statement.caller, scope, run), run.budget));
    case 'filter-block':
      return out.write(toText(filteredBody(statement, scope, run), run.budget));
    case 'scope':
      return execute(statement.body, new Scope(scope), out, run);
    case 'break':
    case 'continue':
      return statement.kind;
  }
}

function runFor(
  loop: ForStatement,
  source: readonly Value[],
  depth: number,
  scope: Scope,
  out: Output,
  run: Runtime,
): undefined {
  const items = loop.condition === undefined ? source : source.filter((item) => accepts(loop, item, scope, run));
  if (items.length === 0) {
    execute(loop.otherwise, new Scope(scope), out, run);
    return;
  }
  const again = (nested: Value): Value => {
    if (!loop.recursive) return run.budget.fail('"loop" can be called in a recursive loop only; add "recursive" to it');
    const inner = new Output(run.budget);
    run.budget.nest(() => runFor(loop, toItems(nested, run.budget), depth + 1, scope, inner, run));
    return inner.toString();
  };
  const state = createLoop(items, depth, again, run.budget);
  for (const item of items) {
    run.budget.spend();
    const body = new Scope(scope);
    body.set('loop', state.value);
    assign(loop.target, item, body, run);
    if (execute(loop.body, body, out, run) === 'break') break;
    state.advance();
  }
}

function accepts(loop: ForStatement, item: Value, scope: Scope, run: Runtime): boolean {
  const inner = new Scope(scope);
  assign(loop.target, item, inner, run);
  return isTrue(evaluate(loop.condition as Expression, inner, run));
}

function assign(target: Target, value: Value, scope: Scope, run: Runtime): undefined {
  if (target.kind === 'name') {
    scope.set(target.name, value);
  } else if (target.kind === 'attribute') {
    const object = scope.get(target.object, run.host.name);
    if (!isSpecial(object) || object.set === undefined) {
      run.budget.fail(`"${target.object}.${target.name}" cannot be set; only a namespace() takes values`);
    }
    object.set(target.name, value);
  } else {
    const items = toItems(value, run.budget);
    if (items.length !== target.targets.length) {
      run.budget.fail(`${items.length} values cannot be given to ${target.targets.length} names`);
    }
    target.targets.forEach((each, i) => {
      assign(each, items[i], scope, run);
    });
  }
}

/** What the body of a block gives, filtered. */
function filteredBody(
  { body, filters }: Pick<Extract<Statement, { kind: 'capture' }>, 'body' | 'filters'>,
  scope: Scope,
  run: Runtime,
): Value {
  return applyFilters(capture(body, new Scope(scope), run), filters, scope, run);
}

function capture(body: readonly Statement[], scope: Scope, run: Runtime): string {
  const out = new Output(run.budget);
  execute(body, scope, out, run);
  return out.toString();
}

function macro(shape: MacroShape, definedIn: Scope, run: Runtime): Special {
  return special(`macro ${shape.name}`, {
    call: (args: Arguments) => {
      const { line } = run.budget;
      const scope = new Scope(definedIn);
      bindParameters(shape, args, scope, run);
      const text = capture(shape.body, scope, run);
      run.budget.line = line;
      return text;
    },
  });
}

function bindParameters(shape: MacroShape, args: Arguments, scope: Scope, run: Runtime): void {
  const names = new Set(shape.parameters.map(({ name }) => name));
  shape.parameters.forEach(({ name, fallback }, i) => {
    const given = i < args.positional.length ? args.positional[i] : args.keyword.get(name);
    scope.set(name, given === undefined && fallback !== undefined ? evaluate(fallback, scope, run) : given);
  });
  scope.set('varargs', args.positional.slice(shape.parameters.length));
  scope.set('kwargs', dict([...args.keyword].filter(([name]) => !names.has(name) && name !== 'caller')));
  if (args.keyword.has('caller')) scope.set('caller', args.keyword.get('caller'));
}

function callWithBody(call: Expression & { kind: 'call' }, caller: MacroShape, scope: Scope, run: Runtime): Value {
  const callee = evaluate(call.callee, scope, run);
  const { positional, keyword } = evaluateArguments(call.args, scope, run);
  const named = new Map(keyword).set('caller', macro(caller, scope, run));
  return callValue(callee, { positional, keyword: named }, typeName(callee), run);
}

/**
 * Builds Jinja's `loop`: `index index0 revindex revindex0 first last length depth depth0 previtem nextitem`, `cycle(…)`,
 * `changed(…)`, and in recursive loops `loop(items)`, which is `again`.
 */
function createLoop(items: readonly Value[], depth: number, again: (items: Value) => Value, budget: Budget) {
  let index = 0;
  let seen: readonly Value[] | undefined;
  const changed = ({ positional }: Arguments): boolean => {
    const same = seen !== undefined && isEqual(seen, positional, budget);
    seen = positional;
    return !same;
  };
  const cycle = ({ positional }: Arguments): Value =>
    positional.length === 0 ? budget.fail('"loop.cycle" needs values') : positional[index % positional.length];
  const membersOf = (): ReadonlyMap<string, () => Value> =>
    new Map<string, () => Value>([
      ['index', () => index + 1],
      ['index0', () => index],
      ['revindex', () => items.length - index],
      ['revindex0', () => items.length - index - 1],
      ['first', () => index === 0],
      ['last', () => index === items.length - 1],
      ['length', () => items.length],
      ['depth', () => depth + 1],
      ['depth0', () => depth],
      ['previtem', () => (index === 0 ? undefined : items[index - 1])],
      ['nextitem', () => items[index + 1]],
      ['cycle', () => special('method cycle', { call: cycle })],
      ['changed', () => special('method changed', { call: changed })],
    ]);
  // Made for loops that read them.
  let members: ReadonlyMap<string, () => Value> | undefined;
  const value = special('loop', {
    get: (name) => {
      members ??= membersOf();
      return members.get(name)?.();
    },
    call: (args) => again(readArguments('loop', args, ['items'], budget)[0]),
  });
  /** Goes to the next round. */
  const advance = (): void => {
    index++;
  };
  return { value, advance };
}
