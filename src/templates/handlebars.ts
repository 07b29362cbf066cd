/** Handlebars, interpreted: parsing within bounds, scopes and paths, rendering. No template becomes code. */
import { createRequire } from 'node:module';
import type Handlebars from 'handlebars';
import { renderValue } from '../dsl/render-value.js';
import { EngineError } from '../errors.js';
import { isJsonObject, type Json, type JsonObject } from '../json.js';
import { Budget, guardTemplate, type TemplateLimits } from './template-budget.js';

/** Loaded with the first template: most canvases have none, and it takes a tenth of the time of a start. */
const load: (name: 'handlebars') => typeof Handlebars = createRequire(import.meta.url);

/** Limits of a rendering, and whether `{{x}}` leaves characters of HTML as they are. */
export interface HandlebarsOptions extends TemplateLimits {
  /** Writes `{{x}}` like `{{{x}}}`; default false. */
  readonly noEscape?: boolean;
}

/** What a canvas adds to a template. */
export interface HandlebarsHost {
  readonly context: HandlebarsValue;
  /** Data that every block sees, without the `@`. */
  readonly data: ReadonlyMap<string, HandlebarsValue>;
  /** Gives literal text its last form. */
  readonly content: (text: string) => string;
}

/**
 * Renders a Handlebars template with `values` as its context.
 *
 * Handlebars itself turns templates into JavaScript; here its parser alone is used and the tree is walked. The blocks are
 * `if unless each with raw` and plain sections, the one helper is `lookup`, partials are those that the template
 * defines inline. Paths read own keys, positions and `length`. Lists and objects are written as JSON.
 *
 * @throws EngineError `TEMPLATE_INVALID` (does not parse), `TEMPLATE_FAILED` (unknown helper or partial),
 * `TEMPLATE_TOO_LARGE` (exceeds a limit).
 */
export function renderHandlebars(template: string, values: JsonObject, options: HandlebarsOptions = {}): string {
  return renderHandlebarsWith(template, { context: values, data: new Map(), content: (text) => text }, options);
}

/** Renders a Handlebars template inside of a host. */
export function renderHandlebarsWith(template: string, host: HandlebarsHost, options: HandlebarsOptions = {}): string {
  return guardTemplate(template, () => render(parseHandlebars(template), host, options));
}

/**
 * Reads a Handlebars template once, to be rendered often; see {@link renderHandlebars}. Its context has the names that it is given.
 *
 * @throws EngineError `TEMPLATE_INVALID` with the line, `TEMPLATE_TOO_LARGE`; when it is rendered `TEMPLATE_FAILED`, `TEMPLATE_TOO_LARGE`.
 */
export function prepareHandlebars(
  template: string,
): (name: (name: string) => Json | undefined, options?: HandlebarsOptions) => string {
  const program = guardTemplate(template, () => parseHandlebars(template));
  return (name, options = {}) => {
    const host: HandlebarsHost = { context: new Names(name), data: new Map(), content: (text) => text };
    return guardTemplate(template, () => render(program, host, options));
  };
}

function render(program: hbs.AST.Program, host: HandlebarsHost, options: HandlebarsOptions): string {
  const renderer = new Renderer(new Budget(options), host.content, options.noEscape ?? false);
  const data: Data = { values: new Map(host.data).set('root', host.context), parent: undefined };
  return renderer.program(program, {
    context: host.context,
    parent: undefined,
    data,
    blockNames: new Map(),
    partials: new Map(),
  });
}

/** Walks one tree. */
class Renderer {
  private length = 0;
  constructor(
    private readonly budget: Budget,
    private readonly content: (text: string) => string,
    private readonly noEscape: boolean,
  ) {}

  /** Gives the text of a program; the partials that it defines inline count from its beginning. */
  program(program: hbs.AST.Program | undefined, outer: Frame): string {
    if (program === undefined) return '';
    return this.budget.nest(() => {
      const frame = this.definePartials(program, outer);
      let text = '';
      for (const statement of program.body) {
        this.budget.spend();
        this.budget.line = statement.loc?.start.line ?? this.budget.line;
        text += this.statement(statement, frame);
      }
      return text;
    });
  }

  private statement(statement: hbs.AST.Statement, frame: Frame): string {
    switch (statement.type) {
      case 'ContentStatement':
        return this.emit(this.content((statement as hbs.AST.ContentStatement).value));
      case 'MustacheStatement':
        return this.mustache(statement as hbs.AST.MustacheStatement, frame);
      case 'BlockStatement':
        return this.block(statement as hbs.AST.BlockStatement, frame);
      case 'PartialStatement':
        return this.partial(statement as hbs.AST.PartialStatement, undefined, frame);
      case 'PartialBlockStatement': {
        const block = statement as hbs.AST.PartialBlockStatement;
        return this.partial(block, block.program, frame);
      }
      case 'CommentStatement':
      case 'DecoratorBlock':
        return '';
    }
    return this.budget.fail(`a ${statement.type} is not available`);
  }

  private mustache(mustache: hbs.AST.MustacheStatement, frame: Frame): string {
    const value = this.call(mustache as unknown as hbs.AST.SubExpression, frame);
    const text = value instanceof Names ? '' : renderValue(value);
    return this.emit(mustache.escaped && !this.noEscape ? load('handlebars').escapeExpression(text) : text);
  }

  /** Gives the value of a path, or of the helper `lookup`. */
  private call({ path, params, hash }: hbs.AST.SubExpression, frame: Frame): HandlebarsValue {
    if (params.length === 0 && hash === undefined) {
      // A literal in the place of a path is a name: {{"first name"}}.
      return path.type === 'PathExpression'
        ? this.expression(path, frame)
        : readMember(frame.context, String(path.original ?? ''));
    }
    if (path.original !== 'lookup')
      return this.budget.fail(`there is no helper "${path.original}"; "lookup" is the only one`);
    const [object, key] = params.map((param) => this.expression(param, frame));
    return key === null || typeof key === 'object' || key === undefined ? undefined : readMember(object, String(key));
  }

  private expression(expression: hbs.AST.Expression, frame: Frame): HandlebarsValue {
    this.budget.spend();
    switch (expression.type) {
      case 'PathExpression':
        return readHandlebarsPath(expression as hbs.AST.PathExpression, frame);
      case 'SubExpression':
        return this.budget.nest(() => this.call(expression as hbs.AST.SubExpression, frame));
      case 'UndefinedLiteral':
        return undefined;
      case 'NullLiteral':
        return null;
    }
    return (expression as hbs.AST.StringLiteral | hbs.AST.NumberLiteral | hbs.AST.BooleanLiteral).value;
  }

  private block(block: hbs.AST.BlockStatement, frame: Frame): string {
    const { path, params, hash, program, inverse } = block;
    const name = isScoped(path) ? '' : path.original;
    if (name === 'raw' && params.length === 0) return this.program(program, frame);
    if (name !== 'if' && name !== 'unless' && name !== 'each' && name !== 'with') return this.section(block, frame);
    if (params.length !== 1) return this.budget.fail(`"#${name}" needs one value, but got ${params.length}`);
    const value = this.expression(params[0] as hbs.AST.Expression, frame);
    switch (name) {
      case 'if':
      case 'unless': {
        const includeZero = hash?.pairs.find(({ key }) => key === 'includeZero')?.value;
        const empty = isEmpty(value, includeZero !== undefined && !isEmpty(this.expression(includeZero, frame)));
        return this.program(empty === (name === 'unless') ? program : inverse, frame);
      }
      case 'each':
        return this.each(value, block, frame);
      case 'with':
        return isEmpty(value)
          ? this.program(inverse, frame)
          : this.program(program, inside(frame, value, block, [value]));
    }
  }

  /** A block without a helper: a list is iterated, other values become the context, an empty value gives the `else` part. */
  private section(block: hbs.AST.BlockStatement, frame: Frame): string {
    const value = this.call(block as unknown as hbs.AST.SubExpression, frame);
    if (Array.isArray(value)) return this.each(value, block, frame);
    if (value === true) return this.program(block.program, frame);
    if (value === undefined || value === null || value === false) return this.program(block.inverse, frame);
    return this.program(block.program, inside(frame, value, block, [value]));
  }

  private each(value: HandlebarsValue, block: hbs.AST.BlockStatement, frame: Frame): string {
    const isPlain = isJsonObject(value) && !(value instanceof Names);
    const entries: readonly (readonly [string | number, Json])[] = Array.isArray(value)
      ? value.map((item: Json, i) => [i, item] as const)
      : isPlain
        ? Object.entries(value as JsonObject)
        : [];
    if (entries.length === 0) return this.program(block.inverse, frame);
    this.budget.visit(entries.length);
    let text = '';
    entries.forEach(([key, item], index) => {
      this.budget.spend();
      const data = new Map<string, HandlebarsValue>([
        ['key', key],
        ['index', index],
        ['first', index === 0],
        ['last', index === entries.length - 1],
      ]);
      text += this.program(block.program, inside(frame, item, block, [item, key], data));
    });
    return text;
  }

  private definePartials(program: hbs.AST.Program, frame: Frame): Frame {
    const definitions = program.body.filter(
      ({ type }) => type === 'DecoratorBlock' || type === 'Decorator',
    ) as hbs.AST.DecoratorBlock[];
    if (definitions.length === 0) return frame;
    const partials = new Map(frame.partials);
    for (const { type, path, params, program: body } of definitions) {
      const [name] = params.map((param) => this.expression(param, frame));
      if ((type as string) !== 'DecoratorBlock' || path.original !== 'inline' || typeof name !== 'string') {
        return this.budget.fail(`the decorator "${path.original}" is not available; only inline "name" is`);
      }
      partials.set(name, { program: body, partials });
    }
    return { ...frame, partials };
  }

  private partial(
    { name, params, hash, ...rest }: hbs.AST.PartialStatement | hbs.AST.PartialBlockStatement,
    fallback: hbs.AST.Program | undefined,
    frame: Frame,
  ): string {
    const key =
      name.type === 'SubExpression'
        ? this.call(name as hbs.AST.SubExpression, frame)
        : (name as hbs.AST.PathExpression).original;
    const partial = frame.partials.get(String(key));
    if (partial === undefined) {
      return fallback === undefined
        ? this.budget.fail(`there is no partial "${String(key)}"; define it inline`)
        : this.program(fallback, frame);
    }
    let context = params[0] === undefined ? frame.context : this.expression(params[0], frame);
    if (hash !== undefined) {
      const named = hash.pairs.map(({ key: each, value }) => [each, this.expression(value, frame)] as const);
      const base = context;
      const own = new Map(named);
      context = new Names((each) => (own.has(each) ? own.get(each) : readMember(base, each)));
    }
    const seen = new Map<string, Partial>(partial.partials);
    if (fallback !== undefined) seen.set('@partial-block', { program: fallback, partials: frame.partials });
    const inner: Frame = { ...frame, context, parent: frame, blockNames: new Map(), partials: seen };
    const text = this.program(partial.program, inner);
    const indent = 'indent' in rest ? rest.indent : '';
    return indent === '' ? text : this.emit(text.replace(/^(?=.)/gm, indent));
  }

  /** Charges the budget for text; the text of an inner program is charged again only where it is changed. */
  private emit(text: string): string {
    this.length = this.budget.append(this.length, text);
    return text;
  }
}

/** Builds the frame inside of a block that has a context of its own. */
function inside(
  frame: Frame,
  context: HandlebarsValue,
  block: hbs.AST.BlockStatement,
  given: readonly HandlebarsValue[],
  values: ReadonlyMap<string, HandlebarsValue> = new Map(),
): Frame {
  const names = block.program?.blockParams ?? [];
  const blockNames =
    names.length === 0
      ? frame.blockNames
      : new Map([...frame.blockNames, ...names.map((name, i) => [name, given[i]] as const)]);
  return { context, parent: frame, data: { values, parent: frame.data }, blockNames, partials: frame.partials };
}

/** Deepest nesting of blocks, with their `else` chains; the parser's time grows with its cube. */
const MAX_BLOCKS = 200;

/** Deepest nesting of parentheses in one tag. */
const MAX_PARENTHESES = 50;

const OPEN = /^\{\{~?(?:[#^]\s*[^\s~}]|\{\{)/;
const CLOSE = /^\{\{~?\//;
const CHAIN = /^\{\{~?\s*else\s+[^\s~}]/;

/**
 * Parses a Handlebars template with Handlebars' own parser. Only text is accepted, never a tree from elsewhere.
 *
 * @throws EngineError `TEMPLATE_INVALID` with the line, `TEMPLATE_TOO_LARGE` for deep nesting.
 */
function parseHandlebars(template: string): hbs.AST.Program {
  checkNesting(template);
  try {
    return load('handlebars').parse(template);
  } catch (thrown) {
    if (thrown instanceof RangeError) throw thrown;
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    const [first = ''] = message.split('\n');
    const line = Number(/\bline (\d+)/.exec(first)?.[1] ?? / - (\d+):\d+$/.exec(first)?.[1] ?? 1);
    const problem = /got '([A-Z_]+)'$/.exec(message)?.[1];
    const shown = problem === undefined ? first : `unexpected ${problem.toLowerCase().replaceAll('_', ' ')}`;
    throw new EngineError('TEMPLATE_INVALID', `Template line ${line}: ${shown}.`, { details: { line }, cause: thrown });
  }
}

/** Counts the openings of all tags, also those in comments and raw blocks, so it never counts too few. */
function checkNesting(template: string): void {
  const open: number[] = [];
  let depth = 0;
  for (let at = template.indexOf('{{'); at !== -1; ) {
    const end = template.indexOf('}}', at);
    const tag = template.slice(at, end === -1 ? undefined : end + 2);
    const start = tag.slice(0, 64);
    if (OPEN.test(start)) {
      open.push(1);
      depth++;
    } else if (CLOSE.test(start)) {
      depth -= open.pop() ?? 0;
    } else if (CHAIN.test(start) && open.length > 0) {
      open.push((open.pop() ?? 0) + 1);
      depth++;
    }
    if (depth > MAX_BLOCKS) refuse(`${MAX_BLOCKS} levels of blocks`);
    if (parentheses(tag) > MAX_PARENTHESES) refuse(`${MAX_PARENTHESES} levels of parentheses`);
    at = end === -1 ? -1 : template.indexOf('{{', end);
  }
}

function parentheses(tag: string): number {
  let depth = 0;
  let most = 0;
  for (const char of tag) {
    if (char === '(') most = Math.max(most, ++depth);
    else if (char === ')') depth--;
  }
  return most;
}

function refuse(what: string): never {
  throw new EngineError('TEMPLATE_TOO_LARGE', `The Handlebars template has more than ${what}. Make it flatter.`);
}

/** A value inside of a template: JSON, undefined, or {@link Names}. */
export type HandlebarsValue = Json | undefined | Names;

/** Names that are looked up on access, such as those of a canvas. */
export class Names {
  constructor(readonly get: (name: string) => HandlebarsValue) {}
}

/** The data of a block (`@index`, `@key`, `@root` …) and that around it. */
export interface Data {
  readonly values: ReadonlyMap<string, HandlebarsValue>;
  readonly parent: Data | undefined;
}

/** Where a program runs: its context, its data, the names that its blocks gave, and the partials that it can see. */
export interface Frame {
  readonly context: HandlebarsValue;
  readonly parent: Frame | undefined;
  readonly data: Data;
  readonly blockNames: ReadonlyMap<string, HandlebarsValue>;
  readonly partials: ReadonlyMap<string, Partial>;
}

/** A piece of the template that was given a name, with the partials that it can see itself. */
export interface Partial {
  /** Named by the package, and not by its global name, so that readers of our types find it. */
  readonly program: ReturnType<typeof Handlebars.parse>;
  readonly partials: ReadonlyMap<string, Partial>;
}

/** Follows a path such as `../user.[first name]` or `@index`; own keys, positions and `length` only. */
function readHandlebarsPath(path: hbs.AST.PathExpression, frame: Frame): HandlebarsValue {
  const [first, ...rest] = path.parts;
  if (path.data) {
    let data: Data | undefined = frame.data;
    for (let i = 0; i < path.depth; i++) data = data?.parent;
    return follow(findData(data, first ?? ''), rest);
  }
  if (path.depth === 0 && first !== undefined && !isScoped(path) && frame.blockNames.has(first)) {
    return follow(frame.blockNames.get(first), rest);
  }
  let outer: Frame | undefined = frame;
  for (let i = 0; i < path.depth; i++) outer = outer?.parent;
  return follow(outer?.context, path.parts);
}

/** Reads one own key or position. */
function readMember(object: HandlebarsValue, key: string): HandlebarsValue {
  if (object instanceof Names) return object.get(key);
  if (Array.isArray(object) || typeof object === 'string') {
    if (key === 'length') return object.length;
    return /^\d{1,15}$/.test(key) ? object[Number(key)] : undefined;
  }
  return isJsonObject(object) && Object.hasOwn(object, key) ? object[key] : undefined;
}

/** Whether a path is explicitly bound to the context: `./if` and `this.if` are never helpers. */
function isScoped(path: hbs.AST.PathExpression): boolean {
  return /^(?:\.|this\b)/.test(path.original);
}

/** Handlebars' truth for `if`: empty texts and lists, zero, null and undefined are false. */
function isEmpty(value: HandlebarsValue, includeZero = false): boolean {
  if (Array.isArray(value)) return value.length === 0;
  return !value && !(includeZero && value === 0);
}

function findData(from: Data | undefined, name: string): HandlebarsValue {
  for (let data = from; data !== undefined; data = data.parent) {
    if (data.values.has(name)) return data.values.get(name);
  }
  return undefined;
}

function follow(root: HandlebarsValue, parts: readonly string[]): HandlebarsValue {
  return parts.reduce(readMember, root);
}
