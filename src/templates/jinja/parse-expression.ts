import { splitTemplate } from '../../dsl/reference.js';
import type { Json } from '../../json.js';
import type { TokenStream } from './lexer.js';
import type { CallArguments, Expression, FilterCall } from './syntax.js';

const COMPARISONS = new Set(['==', '!=', '<', '>', '<=', '>=']);
const CONSTANTS: ReadonlyMap<string, Json> = new Map<string, Json>([
  ['true', true],
  ['True', true],
  ['false', false],
  ['False', false],
  ['none', null],
  ['None', null],
]);
/** Names that continue the expression around a test, so they are not its argument. */
const AFTER_TEST = new Set(['else', 'or', 'and', 'is', 'in', 'not', 'if']);
const NO_ARGUMENTS: CallArguments = { positional: [], keyword: [], spread: undefined, spreadKeywords: undefined };

/** Parses an expression with Jinja's precedence, loosest first: `if`, `or`, `and`, `not`, comparison, `+`, `~`, `*`, `**`. */
export function parseExpression(stream: TokenStream): Expression {
  return stream.nest(() => parseConditional(stream));
}

/** Parses an expression in which commas make a tuple: `for x in 1, 2`. */
export function parseTuple(stream: TokenStream, parse = parseExpression): Expression {
  const first = parse(stream);
  if (!stream.is('operator', ',')) return first;
  const items = [first];
  while (stream.take('operator', ',') && !stream.is('close')) items.push(parse(stream));
  return { kind: 'list', items };
}

/** Parses an expression or tuple that ends before `if`, so that a loop can have a condition. */
export function parseUnconditional(stream: TokenStream): Expression {
  return stream.nest(() => parseTuple(stream, parseOr));
}

/** Parses `name` or `name(arguments)`, and further filters after bars. */
export function parseFilters(stream: TokenStream): readonly FilterCall[] {
  const filters = [parseFilter(stream)];
  while (stream.take('operator', '|')) filters.push(parseFilter(stream));
  return filters;
}

function parseConditional(stream: TokenStream): Expression {
  let then = parseOr(stream);
  while (stream.take('name', 'if')) {
    const test = parseOr(stream);
    const otherwise = stream.take('name', 'else') ? parseExpression(stream) : undefined;
    then = { kind: 'conditional', test, then, otherwise };
  }
  return then;
}

function parseOr(stream: TokenStream): Expression {
  return parseLogic(stream, 'or', parseAnd);
}

function parseAnd(stream: TokenStream): Expression {
  return parseLogic(stream, 'and', parseNot);
}

function parseLogic(
  stream: TokenStream,
  operator: 'and' | 'or',
  parse: (stream: TokenStream) => Expression,
): Expression {
  const operands = [parse(stream)];
  while (stream.take('name', operator)) operands.push(parse(stream));
  return operands.length === 1 ? (operands[0] as Expression) : { kind: 'logic', operator, operands };
}

function parseNot(stream: TokenStream): Expression {
  if (!stream.is('name', 'not') || stream.isNext('name', 'in')) return parseComparison(stream);
  stream.next();
  return { kind: 'not', operand: stream.nest(() => parseNot(stream)) };
}

function parseComparison(stream: TokenStream): Expression {
  const first = parseSum(stream);
  const rest: [string, Expression][] = [];
  for (;;) {
    if (stream.is('operator') && COMPARISONS.has(stream.current.value)) {
      rest.push([stream.next().value, parseSum(stream)]);
    } else if (stream.take('name', 'in')) {
      rest.push(['in', parseSum(stream)]);
    } else if (stream.is('name', 'not') && stream.isNext('name', 'in')) {
      stream.next();
      stream.next();
      rest.push(['not in', parseSum(stream)]);
    } else {
      return rest.length === 0 ? first : { kind: 'compare', first, rest };
    }
  }
}

function parseSum(stream: TokenStream): Expression {
  return parseBinary(stream, ['+', '-'], parseConcat);
}

function parseConcat(stream: TokenStream): Expression {
  const parts = [parseProduct(stream)];
  while (stream.take('operator', '~')) parts.push(parseProduct(stream));
  return parts.length === 1 ? (parts[0] as Expression) : { kind: 'concat', parts };
}

function parseProduct(stream: TokenStream): Expression {
  return parseBinary(stream, ['*', '/', '//', '%'], parsePower);
}

function parsePower(stream: TokenStream): Expression {
  return parseBinary(stream, ['**'], (inner) => parseSigned(inner, true));
}

function parseBinary(
  stream: TokenStream,
  operators: readonly string[],
  parse: (stream: TokenStream) => Expression,
): Expression {
  let left = parse(stream);
  while (stream.is('operator') && operators.includes(stream.current.value)) {
    left = { kind: 'binary', operator: stream.next().value, left, right: parse(stream) };
  }
  return left;
}

/** A sign binds tighter than filters: `-1 | abs` is 1. */
function parseSigned(stream: TokenStream, withFilters: boolean): Expression {
  let expression: Expression;
  if (stream.is('operator', '-') || stream.is('operator', '+')) {
    const operator = stream.next().value as '-' | '+';
    expression = { kind: 'sign', operator, operand: stream.nest(() => parseSigned(stream, false)) };
  } else {
    expression = parsePostfix(stream, parsePrimary(stream));
  }
  return withFilters ? parseFiltered(stream, expression) : expression;
}

function parseFiltered(stream: TokenStream, start: Expression): Expression {
  let expression = start;
  for (;;) {
    if (stream.take('operator', '|')) {
      expression = { kind: 'filter', operand: expression, filter: parseFilter(stream) };
    } else if (stream.take('name', 'is')) {
      expression = parseTest(stream, expression);
    } else if (stream.is('operator', '(')) {
      expression = { kind: 'call', callee: expression, args: parseArguments(stream) };
    } else return expression;
  }
}

function parseFilter(stream: TokenStream): FilterCall {
  const name = parseDottedName(stream);
  return { name, args: stream.is('operator', '(') ? parseArguments(stream) : NO_ARGUMENTS };
}

function parseTest(stream: TokenStream, operand: Expression): Expression {
  const negated = stream.take('name', 'not');
  const name = parseDottedName(stream);
  let args = NO_ARGUMENTS;
  if (stream.is('operator', '(')) args = parseArguments(stream);
  else if (beginsTestArgument(stream)) {
    args = { ...NO_ARGUMENTS, positional: [parsePostfix(stream, parsePrimary(stream))] };
  }
  const test: Expression = { kind: 'test', operand, name, args };
  return negated ? { kind: 'not', operand: test } : test;
}

function beginsTestArgument(stream: TokenStream): boolean {
  const { kind, value } = stream.current;
  if (kind === 'name') return !AFTER_TEST.has(value);
  return (
    kind === 'string' ||
    kind === 'number' ||
    kind === 'reference' ||
    (kind === 'operator' && (value === '[' || value === '{'))
  );
}

function parseDottedName(stream: TokenStream): string {
  let name = stream.expect('name').value;
  while (stream.take('operator', '.')) name += `.${stream.expect('name').value}`;
  return name;
}

function parsePostfix(stream: TokenStream, start: Expression): Expression {
  let object = start;
  for (;;) {
    if (stream.take('operator', '.')) {
      const token = stream.is('number') ? stream.next() : stream.expect('name');
      object =
        token.kind === 'name'
          ? { kind: 'attribute', object, name: token.value }
          : { kind: 'item', object, index: { kind: 'literal', value: Number(token.value) } };
    } else if (stream.take('operator', '[')) {
      object = parseSubscript(stream, object);
    } else if (stream.is('operator', '(')) {
      object = { kind: 'call', callee: object, args: parseArguments(stream) };
    } else return object;
  }
}

function parseSubscript(stream: TokenStream, object: Expression): Expression {
  const bounds: (Expression | undefined)[] = [];
  let colons = 0;
  while (!stream.take('operator', ']')) {
    if (stream.take('operator', ':')) {
      colons++;
      continue;
    }
    if (bounds[colons] !== undefined || colons > 2) stream.refuse('a subscript is one value or start:stop:step');
    bounds[colons] = parseExpression(stream);
  }
  const [start, stop, step] = bounds;
  if (colons > 0) return { kind: 'slice', object, start, stop, step };
  return start === undefined ? stream.refuse('a subscript needs a value') : { kind: 'item', object, index: start };
}

function parseArguments(stream: TokenStream): CallArguments {
  stream.expect('operator', '(');
  const positional: Expression[] = [];
  const keyword: [string, Expression][] = [];
  let spread: Expression | undefined;
  let spreadKeywords: Expression | undefined;
  while (!stream.take('operator', ')')) {
    if (stream.take('operator', '**')) spreadKeywords = parseExpression(stream);
    else if (stream.take('operator', '*')) spread = parseExpression(stream);
    else if (stream.is('name') && stream.isNext('operator', '=')) {
      const name = stream.next().value;
      stream.next();
      keyword.push([name, parseExpression(stream)]);
    } else if (keyword.length > 0) stream.refuse('a positional argument follows a named one');
    else positional.push(parseExpression(stream));
    if (!stream.is('operator', ')')) stream.expect('operator', ',');
  }
  return { positional, keyword, spread, spreadKeywords };
}

function parsePrimary(stream: TokenStream): Expression {
  const { kind, value, reference } = stream.current;
  switch (kind) {
    case 'name':
      stream.next();
      return CONSTANTS.has(value)
        ? { kind: 'literal', value: CONSTANTS.get(value) as Json }
        : { kind: 'name', name: value };
    case 'number':
      stream.next();
      return { kind: 'literal', value: Number(value.replaceAll('_', '')) };
    case 'string':
      return parseStrings(stream);
    case 'reference':
      stream.next();
      return { kind: 'reference', reference: reference as NonNullable<typeof reference>, text: value };
    case 'operator':
      if (value === '(') return parseParentheses(stream);
      if (value === '[') return { kind: 'list', items: parseItems(stream, ']').items };
      if (value === '{') return parseDict(stream);
  }
  return stream.refuse(`expected an expression, got ${stream.describe()}`);
}

/** Texts next to each other are one text; references in them are replaced. */
function parseStrings(stream: TokenStream): Expression {
  let value = '';
  while (stream.is('string')) value += stream.next().value;
  const parts = stream.references ? splitTemplate(value) : [];
  const plain = parts.every((part) => part.kind === 'text');
  return plain ? { kind: 'literal', value } : { kind: 'interpolation', parts };
}

function parseParentheses(stream: TokenStream): Expression {
  const { items, commas } = parseItems(stream, ')');
  return items.length === 1 && commas === 0 ? (items[0] as Expression) : { kind: 'list', items };
}

function parseItems(stream: TokenStream, close: string): { items: readonly Expression[]; commas: number } {
  stream.next();
  const items: Expression[] = [];
  let commas = 0;
  while (!stream.take('operator', close)) {
    items.push(parseExpression(stream));
    if (stream.take('operator', ',')) commas++;
    else if (!stream.is('operator', close)) stream.refuse(`expected "," or "${close}", got ${stream.describe()}`);
  }
  return { items, commas };
}

function parseDict(stream: TokenStream): Expression {
  stream.next();
  const entries: [Expression, Expression][] = [];
  while (!stream.take('operator', '}')) {
    const key = parseExpression(stream);
    stream.expect('operator', ':');
    entries.push([key, parseExpression(stream)]);
    if (!stream.is('operator', '}')) stream.expect('operator', ',');
  }
  return { kind: 'dict', entries };
}
