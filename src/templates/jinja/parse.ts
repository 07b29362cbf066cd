import { TokenStream, tokenize } from './lexer.js';
import { parseExpression, parseFilters, parseTuple, parseUnconditional } from './parse-expression.js';
import type { Expression, Parameter, Statement, Target } from './syntax.js';

/** Statements that need files or a program around the template. */
const REFUSED = new Set(['import', 'from', 'include', 'extends', 'do', 'trans']);

/**
 * Parses a Jinja template.
 *
 * @throws EngineError `TEMPLATE_INVALID` with the line.
 */
export function parseJinja(template: string, references: boolean): readonly Statement[] {
  const stream = new TokenStream(tokenize(template, references), references);
  const body = parseBody(stream, []);
  if (!stream.is('end')) stream.refuse(`${stream.describe()} has no place here`);
  return body;
}

/** Parses up to a tag with one of the names `ends`, or to the end when there are none; leaves that name current. */
function parseBody(stream: TokenStream, ends: readonly string[]): readonly Statement[] {
  const body: Statement[] = [];
  while (!stream.is('end')) {
    const { kind, value, line, reference } = stream.next();
    if (kind === 'text') body.push({ kind: 'text', text: value, line });
    else if (kind === 'text-reference' && reference !== undefined) body.push({ kind, reference, text: value, line });
    else if (value === 'expression') {
      body.push({ kind: 'output', expression: parseTuple(stream), line });
      stream.expect('close', 'expression');
    } else {
      if (stream.is('name') && ends.includes(stream.current.value)) return body;
      body.push(stream.nest(() => parseStatement(stream, line)));
    }
  }
  if (ends.length > 0) stream.refuse(`"{% ${ends.at(-1)} %}" is missing`);
  return body;
}

function parseStatement(stream: TokenStream, line: number): Statement {
  const name = stream.is('name') ? stream.next().value : stream.refuse(`expected a tag name, got ${stream.describe()}`);
  switch (name) {
    case 'for':
      return parseFor(stream, line);
    case 'if':
      return parseIf(stream, line);
    case 'set':
      return parseSet(stream, line);
    case 'with':
      return parseWith(stream, line);
    case 'macro':
      return parseMacro(stream, line);
    case 'call':
      return parseCallBlock(stream, line);
    case 'filter': {
      const filters = parseFilters(stream);
      return { kind: 'filter-block', filters, body: parseBlock(stream, 'endfilter'), line };
    }
    case 'block': {
      const block = stream.expect('name').value;
      const body = parseBlock(stream, 'endblock', block);
      return { kind: 'scope', body, line };
    }
    case 'autoescape':
      parseExpression(stream);
      return { kind: 'scope', body: parseBlock(stream, 'endautoescape'), line };
    case 'break':
    case 'continue':
      stream.expect('close');
      return { kind: name, line };
  }
  if (REFUSED.has(name)) stream.refuse(`"${name}" is not available in templates of a canvas`);
  return stream.refuse(`"${name}" is no tag that has a place here`);
}

/** Parses the rest of an opening tag, the body and the closing tag, which may repeat a name. */
function parseBlock(stream: TokenStream, end: string, repeated?: string): readonly Statement[] {
  const body = parseUntil(stream, end);
  if (repeated !== undefined) stream.take('name', repeated);
  stream.expect('close');
  return body;
}

function parseFor(stream: TokenStream, line: number): Statement {
  const target = parseTarget(stream);
  stream.expect('name', 'in');
  const iterable = parseUnconditional(stream);
  const condition = stream.take('name', 'if') ? parseExpression(stream) : undefined;
  const recursive = stream.take('name', 'recursive');
  stream.expect('close');
  const body = parseBody(stream, ['else', 'endfor']);
  const otherwise = stream.next().value === 'else' ? parseUntil(stream, 'endfor') : [];
  stream.expect('close');
  return { kind: 'for', target, iterable, condition, recursive, body, otherwise, line };
}

/** Parses the rest of a tag and what follows it, up to the name of the tag `end`. */
function parseUntil(stream: TokenStream, end: string): readonly Statement[] {
  stream.expect('close');
  const body = parseBody(stream, [end]);
  stream.next();
  return body;
}

function parseIf(stream: TokenStream, line: number): Statement {
  const branches: { test: Expression; body: readonly Statement[] }[] = [];
  let otherwise: readonly Statement[] = [];
  for (let tag = 'elif'; tag === 'elif'; ) {
    const test = parseExpression(stream);
    stream.expect('close');
    branches.push({ test, body: parseBody(stream, ['elif', 'else', 'endif']) });
    tag = stream.next().value;
    if (tag === 'else') otherwise = parseUntil(stream, 'endif');
  }
  stream.expect('close');
  return { kind: 'if', branches, otherwise, line };
}

function parseSet(stream: TokenStream, line: number): Statement {
  const target = parseTarget(stream);
  if (stream.take('operator', '=')) {
    const value = parseTuple(stream);
    stream.expect('close');
    return { kind: 'set', target, value, line };
  }
  const filters = stream.take('operator', '|') ? parseFilters(stream) : [];
  return { kind: 'capture', target, filters, body: parseBlock(stream, 'endset'), line };
}

function parseWith(stream: TokenStream, line: number): Statement {
  const assignments: [Target, Expression][] = [];
  while (!stream.is('close')) {
    const target = parseTarget(stream, false);
    stream.expect('operator', '=');
    assignments.push([target, parseExpression(stream)]);
    if (!stream.is('close')) stream.expect('operator', ',');
  }
  return { kind: 'with', assignments, body: parseBlock(stream, 'endwith'), line };
}

function parseMacro(stream: TokenStream, line: number): Statement {
  const name = stream.expect('name').value;
  const parameters = parseParameters(stream);
  return { kind: 'macro', macro: { name, parameters, body: parseBlock(stream, 'endmacro', name) }, line };
}

function parseCallBlock(stream: TokenStream, line: number): Statement {
  const parameters = stream.is('operator', '(') ? parseParameters(stream) : [];
  const call = parseExpression(stream);
  if (call.kind !== 'call') return stream.refuse('"call" needs a call, such as "{% call box() %}"');
  return {
    kind: 'call-block',
    call,
    caller: { name: 'caller', parameters, body: parseBlock(stream, 'endcall') },
    line,
  };
}

function parseParameters(stream: TokenStream): readonly Parameter[] {
  stream.expect('operator', '(');
  const parameters: Parameter[] = [];
  while (!stream.take('operator', ')')) {
    const name = stream.expect('name').value;
    parameters.push({ name, fallback: stream.take('operator', '=') ? parseExpression(stream) : undefined });
    if (!stream.is('operator', ')')) stream.expect('operator', ',');
  }
  return parameters;
}

function parseTarget(stream: TokenStream, tuple = true): Target {
  const first = parseSingleTarget(stream);
  if (!tuple || !stream.is('operator', ',')) return first;
  const targets = [first];
  while (stream.take('operator', ',') && (stream.is('name') || stream.is('operator', '(')))
    targets.push(parseSingleTarget(stream));
  return { kind: 'tuple', targets };
}

function parseSingleTarget(stream: TokenStream): Target {
  if (stream.take('operator', '(')) {
    const target = stream.nest(() => parseTarget(stream));
    stream.expect('operator', ')');
    return target;
  }
  const name = stream.expect('name').value;
  return stream.take('operator', '.')
    ? { kind: 'attribute', object: name, name: stream.expect('name').value }
    : { kind: 'name', name };
}
