/** How steps are made: the object itself, names for functions, and steps in a row. */
import { identity, map } from 'rxjs';
import { EngineError } from '../errors.js';
import type { StepLabel } from '../knowledge/component-function.js';
import {
  invalidOption,
  requireCallable,
  requireObject,
  requireOptions,
  requireSchema,
  requireWhole,
} from '../operators/invalid-option.js';
import { pathOf, placeOf } from './reference.js';
import {
  type AnyStep,
  type AnyStepLike,
  DEFINITION,
  END,
  type GraphBlueprint,
  type NodeBlueprint,
  START,
  type Step,
  type StepActivation,
  type StepDefinition,
  type StepKind,
  type StepOptions,
} from './step.js';

/** The text of every operator that RxJS makes itself. */
const STOCK_OPERATOR = sourceOf(map(identity));

/** Under which a step keeps how many graphs, maps and loops are inside each other in it, itself included. */
const NESTING: unique symbol = Symbol('nesting');

/** What a graph in a graph needs of the stack is bounded; deeper ones are a mistake of what makes them. */
const MAX_NESTING = 200;

/** Characters that paths and addresses are made of. */
const RESERVED_CHARACTERS = /[/#[\]]/;

/**
 * Makes a step of a definition: the one place where step objects come from.
 *
 * `kind` is what observers see; by default the `kind` of the definition's options, `graph` for graphs, else `function`.
 *
 * @throws EngineError PLAN_INVALID for more than 200 graphs, maps and loops inside each other.
 */
export function makeStep<I, O>(name: string, definition: StepDefinition, kind?: StepKind): Step<I, O> {
  requireObject('makeStep', 'definition', definition, 'a definition of a step');
  requireObject('makeStep', 'definition.options', definition.options);
  const nesting = nestingOf(definition);
  if (nesting > MAX_NESTING) throw tooDeep(name);
  const made: AnyStep = Object.freeze({
    name,
    kind: kind ?? definition.options.kind ?? (definition.type === 'graph' ? 'graph' : 'function'),
    [DEFINITION]: definition,
    [NESTING]: nesting,
    pipe: (...others: AnyStepLike[]) => chainOf([made, ...others]),
  });
  return made;
}

function nestingOf(definition: StepDefinition): number {
  switch (definition.type) {
    case 'graph':
      return definition.graph.nodes.reduce((deepest, { step }) => Math.max(deepest, nestingIn(step)), 0) + 1;
    case 'map':
      return nestingIn(definition.item) + 1;
    case 'loop':
      return nestingIn(definition.body) + 1;
    default:
      return 0;
  }
}

function nestingIn(step: AnyStep): number {
  return (step as { readonly [NESTING]?: number })[NESTING] ?? 0;
}

function tooDeep(name: string): EngineError {
  return new EngineError(
    'PLAN_INVALID',
    `"${name}" holds more than ${MAX_NESTING} graphs, maps or loops inside each other. Put steps into one chain, or run the inner one by a step: invoke(inner, input, { within: at }).`,
  );
}

/** Whether a value is a step: an object with a definition. */
export function isStep(value: unknown): value is AnyStep {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, DEFINITION);
}

/**
 * Gives a step back as it is, and makes one of a function, which gets the function's own name, or `fallbackName` without one. A function
 * that carries a name and a kind, such as a retriever, becomes a step of that kind. `owner` begins the message: `Graph "review"`.
 *
 * @throws EngineError PLAN_INVALID for anything else, and for an RxJS operator, which has to be wrapped with `operator(…)`.
 */
export function toStep(stepLike: AnyStepLike, fallbackName: string, owner?: string): AnyStep {
  if (isStep(stepLike)) return stepLike;
  requireFunction(stepLike, fallbackName, { owner, allowed: 'a function or a step' });
  if (isLabelled(stepLike)) return labelledStep(stepLike);
  const own = cleanName(stepLike.name);
  const name = own === '' ? fallbackName : own;
  return makeStep(name, { type: 'function', run: stepLike, options: {}, isAnonymous: own === '' });
}

/** A function with the name and the kind under which its step is reported. */
type LabelledFunction = ((input: never, options?: never) => unknown) & StepLabel;

/**
 * The step of a function that carries name and kind; it gets the call options of the step, with the signal.
 *
 * @throws EngineError PLAN_INVALID for a function without them.
 */
export function labelledStep(component: LabelledFunction): AnyStep {
  if (!isLabelled(component)) {
    throw new EngineError(
      'PLAN_INVALID',
      `A component is a function with "stepName" and "stepKind"; received ${show(component)}. Make one with componentFunction(name, kind, fn).`,
    );
  }
  const { stepName, stepKind } = component;
  const call: (input: never, options: never) => unknown = component;
  // A prompt is made of its fields at once.
  const run =
    stepKind === 'prompt'
      ? (input: unknown) => call(input as never, {} as never)
      : (input: unknown, at: StepActivation) => call(input as never, { ...at.options, signal: at.signal } as never);
  return makeStep(cleanName(stepName), { type: 'function', run, options: { kind: stepKind }, origin: component });
}

function isLabelled(value: unknown): value is LabelledFunction {
  return (
    typeof value === 'function' && 'stepName' in value && 'stepKind' in value && typeof value.stepName === 'string'
  );
}

/** What a step was made of: its first definition, also behind observers, or the component. */
export function originOf(definition: StepDefinition): object {
  return ('origin' in definition ? definition.origin : undefined) ?? definition;
}

/** Steps one behind the other as one step; chains that were given no name of their own are taken apart. */
export function chainOf(parts: readonly AnyStepLike[]): AnyStep {
  const steps = parts.flatMap((part, at) => chainMembers(toStep(part, `step_${at + 1}`, 'chain')));
  if (steps.length === 0) throw new EngineError('PLAN_INVALID', 'A chain needs at least one step; received none.');
  const taken: TakenIds = new Map();
  const nodes = steps.map((step, at): NodeBlueprint => {
    const named = nameByPosition(step, at);
    return { id: uniqueId(named.name, taken), step: named };
  });
  const ids = [START, ...nodes.map(({ id }) => id), END];
  const edges = ids.slice(1).map((to, at) => ({ from: ids[at] as string, to }));
  return graphStep(inlineBlueprint('chain', 'chain', { nodes, edges }));
}

/** A blueprint that is put into the graph around it, without states, interrupts and limits of its own. */
export function inlineBlueprint(
  name: string,
  style: GraphBlueprint['style'],
  parts: Pick<GraphBlueprint, 'nodes' | 'edges' | 'end'>,
): GraphBlueprint {
  return {
    name,
    style,
    isInline: true,
    states: [],
    interruptBefore: [],
    interruptAfter: [],
    pace: 'eager',
    endWith: 'all',
    ...parts,
  };
}

/** The step that a blueprint is. */
export function graphStep<I, O>(graph: GraphBlueprint): Step<I, O> {
  return makeStep(graph.name, { type: 'graph', graph, options: {} }, graph.style === 'branch' ? 'branch' : 'graph');
}

/**
 * The name as an id that nothing else in `taken` has, and puts it there: `load`, `load_2`, `load_3` …; the names of the two ends and the
 * empty name count as taken, and characters that paths are made of become `_`.
 */
export function uniqueId(name: string, taken: TakenIds): string {
  const base = cleanName(name) || 'step';
  let id = base;
  let count = taken.get(base) ?? 1;
  while (taken.has(id) || id === START || id === END) {
    count += 1;
    id = `${base}_${count}`;
  }
  taken.set(base, count);
  // Where a name is that of many, the next number is known.
  if (id !== base) taken.set(id, 1);
  return id;
}

/** Ids that are taken, with the number that was given last to others of the same name. */
export type TakenIds = Map<string, number>;

/**
 * Refuses a name that no path could hold. `owner` begins the message: `Step "a/b"`.
 *
 * @throws EngineError PLAN_INVALID for an empty name, and for one with `/`, `#`, `[` or `]`.
 */
export function requireName(owner: string, name: unknown): asserts name is string {
  if (typeof name !== 'string' || name === '') {
    throw new EngineError('PLAN_INVALID', `${owner} needs a name: text that is not empty; received ${show(name)}.`);
  }
  if (!RESERVED_CHARACTERS.test(name)) return;
  throw new EngineError(
    'PLAN_INVALID',
    `${owner} cannot be called ${show(name)}: "/", "#", "[" and "]" separate the parts of paths. Use other characters.`,
  );
}

/**
 * Refuses what is not a function, and what is an RxJS operator. `name` is that of the step, or of the argument; `owner`, of whatever takes it,
 * begins the message: `Graph "review"`.
 *
 * @throws EngineError PLAN_INVALID saying what was received and what to do.
 */
export function requireFunction(
  value: unknown,
  name: string,
  { owner, allowed = 'a function' }: { readonly owner?: string | undefined; readonly allowed?: string } = {},
): asserts value is (...values: never[]) => unknown {
  if (typeof value !== 'function' || placeOf(value) !== undefined) {
    const beginning = owner === undefined ? '' : `${owner}: `;
    throw new EngineError('PLAN_INVALID', `${beginning}"${name}" must be ${allowed}; received ${show(value)}.`);
  }
  if (isStockOperator(value as (...values: never[]) => unknown)) throw operatorError(name);
}

/**
 * Refuses limits that are no limits: the options of a step, or those of a node of a graph.
 *
 * @throws EngineError OPTION_INVALID for a time or a number of tries that is not a whole number of at least 1, or a pause below 0.
 */
export function checkOptions(owner: string, { timeoutMs, retry }: Pick<StepOptions, 'timeoutMs' | 'retry'>): void {
  if (timeoutMs !== undefined) requireWhole(owner, 'timeoutMs', timeoutMs, 1);
  if (retry === undefined) return;
  if (typeof retry !== 'object' || retry === null) throw invalidOption(owner, 'retry', 'an object', retry);
  requireWhole(owner, 'retry.attempts', retry.attempts, 1);
  if (retry.delayMs !== undefined) requireWhole(owner, 'retry.delayMs', retry.delayMs, 0);
}

/** Every option of a step by name. */
const STEP_OPTIONS = ['input', 'output', 'timeoutMs', 'retry', 'chunks', 'mayAsk', 'waits', 'kind', 'observe'] as const;

/**
 * Refuses options of a step that cannot be used; see {@link checkOptions}.
 *
 * @throws EngineError OPTION_INVALID also for names that are no options, schemas that are none, and a rule that is no function.
 */
export function checkStepOptions(owner: string, options: StepOptions): void {
  requireOptions(owner, options, STEP_OPTIONS);
  requireSchema(owner, 'input', options.input);
  requireSchema(owner, 'output', options.output);
  requireCallable(owner, 'chunks', options.chunks);
  checkOptions(owner, options);
}

/** How calling a function ended: what it gave, or what it threw. */
export type CallOutcome = { readonly returned: unknown } | { readonly thrown: unknown };

/**
 * Whether a function that was called with a value was an RxJS operator after all: a function came out, or it failed as operators do when
 * they get something else than an Observable. Such a call is answered with {@link operatorError}.
 *
 * Operators that RxJS makes itself are seen when a step is made; this finds those that are written by hand.
 */
export function looksLikeOperator(outcome: CallOutcome): boolean {
  if ('returned' in outcome) return typeof outcome.returned === 'function';
  if (!(outcome.thrown instanceof TypeError)) return false;
  return /lift unknown Observable type|\.(?:pipe|subscribe) is not a function/.test(outcome.thrown.message);
}

/** The error for an RxJS operator in the place of a function. */
export function operatorError(name: string): EngineError {
  return new EngineError(
    'PLAN_INVALID',
    `"${name}" is an RxJS operator, but a step's function gets a value. Wrap the operator: operator(${name}(…)).`,
    { node: name },
  );
}

/** A value in an error message, short. */
export function show(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.length > 80 ? `${value.slice(0, 80)}…` : value);
  const place = placeOf(value);
  if (place !== undefined) return `the reference "${pathOf(place)}"`;
  if (typeof value === 'function') return 'a function';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' && value !== null ? 'an object' : String(value);
}

function cleanName(name: string): string {
  return name.replace(/[/#[\]]/g, '_');
}

/** What a chain is made of; anything else is its own only part. */
function chainMembers(step: AnyStep): readonly AnyStep[] {
  const definition = step[DEFINITION];
  const isOpen = definition.type === 'graph' && definition.graph.style === 'chain' && definition.graph.isInline;
  return isOpen ? definition.graph.nodes.map((node) => node.step) : [step];
}

function nameByPosition(step: AnyStep, at: number): AnyStep {
  const definition = step[DEFINITION];
  const isAnonymous = 'isAnonymous' in definition && definition.isAnonymous === true;
  return isAnonymous ? makeStep(`step_${at + 1}`, definition, step.kind) : step;
}

/** Operators of RxJS share the text of one closure, whatever they do; other functions do not have it. */
function isStockOperator(value: (...values: never[]) => unknown): boolean {
  return value.length === 1 && value.name === '' && sourceOf(value) === STOCK_OPERATOR;
}

function sourceOf(value: object): string {
  return Function.prototype.toString.call(value);
}
