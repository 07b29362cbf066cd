/** What graphs and workflows are given beside their nodes, and the rules for their ids. */
import { EngineError } from '../errors.js';
import { didYouMean } from '../nearest-name.js';
import { invalidOption, requireOptions, requireWhole } from '../operators/invalid-option.js';
import { describe, type StepDescription } from './describe.js';
import { graphStep, requireName, show } from './make-step.js';
import type { StateToken } from './state.js';
import { type EdgeOptions, END, type GraphBlueprint, START, type Step } from './step.js';

/** What a graph is given beside its nodes. */
export interface GraphOptions {
  /** States that it owns, fresh for every pass through it. @default none */
  readonly state?: StateToken<unknown> | readonly StateToken<unknown>[];
  /** Ids of nodes before which a run stops until it is resumed. @default none */
  readonly interruptBefore?: readonly string[];
  /** Ids of nodes after which a run stops until it is resumed. @default none */
  readonly interruptAfter?: readonly string[];
  /** Nodes that may run in one pass, each time counted; one more is RUN_STEPS_EXCEEDED. @default that of the run */
  readonly maxSteps?: number;
  /** `lockstep`: nodes start wave by wave, a wave when the one before has ended. @default 'eager' */
  readonly pace?: 'eager' | 'lockstep';
  /** `first`: the first result stops everything else. @default 'all' */
  readonly endWith?: 'all' | 'first';
  /** Called once, with what the graph is made of, when it is built. @default not called */
  readonly onBuilt?: (description: StepDescription) => void;
}

const NAMES = ['state', 'interruptBefore', 'interruptAfter', 'maxSteps', 'pace', 'endWith', 'onBuilt'];

/** The part of a blueprint that comes from options. */
type Settings = Pick<GraphBlueprint, 'states' | 'interruptBefore' | 'interruptAfter' | 'maxSteps' | 'pace' | 'endWith'>;

/**
 * The error for a graph or workflow that cannot be built. `owner` begins the message: `Graph "review"`.
 *
 * Code `PLAN_INVALID`; `node` is the id of the node that it is about.
 */
export function planError(owner: string, problem: string, node?: string): EngineError {
  return new EngineError('PLAN_INVALID', `${owner}: ${problem}`, node === undefined ? {} : { node });
}

/**
 * Reads the options of a graph with the nodes `ids`.
 *
 * @throws EngineError PLAN_INVALID for two states of one name and for interrupts at unknown nodes; OPTION_INVALID for other values.
 */
export function readGraphOptions(owner: string, options: GraphOptions, ids: readonly string[]): Settings {
  requireOptions(owner, options, NAMES);
  const { state = [], interruptBefore = [], interruptAfter = [], maxSteps, pace = 'eager', endWith = 'all' } = options;
  if (maxSteps !== undefined) requireWhole(owner, 'maxSteps', maxSteps, 1);
  requireOneOf(owner, 'pace', pace, ['eager', 'lockstep']);
  requireOneOf(owner, 'endWith', endWith, ['all', 'first']);
  const states = isList(state) ? [...state] : [state];
  for (const token of states) {
    if (isToken(token)) continue;
    throw invalidOption(owner, 'state', 'what defineState(…) gives, or a list of it', token);
  }
  const double = states.find(({ name }, at) => states.findIndex((other) => other.name === name) < at);
  if (double !== undefined) {
    throw planError(owner, `two of its states are called "${double.name}". Give one another name.`);
  }
  requireKnown(owner, 'interruptBefore', interruptBefore, ids);
  requireKnown(owner, 'interruptAfter', interruptAfter, ids);
  // Copies: a graph that was built does not change.
  return {
    states,
    interruptBefore: [...interruptBefore],
    interruptAfter: [...interruptAfter],
    maxSteps,
    pace,
    endWith,
  };
}

/**
 * Refuses an id that a new node cannot have.
 *
 * @throws EngineError PLAN_INVALID for an id that is empty, has `/`, `#`, `[` or `]`, names an end, or is taken.
 */
export function requireNodeId(owner: string, id: string, isTaken: (id: string) => boolean): void {
  requireName(`${owner}: a node`, id);
  if (id === START || id === END) {
    throw planError(owner, `a node cannot be called "${id}", which is an end of the graph. Give it another id.`, id);
  }
  if (isTaken(id)) throw planError(owner, `there are two nodes "${id}". Give one another id.`, id);
}

/** Refuses options of edges that are none. @throws EngineError OPTION_INVALID. */
export function checkEdge(owner: string, edge: EdgeOptions | undefined): void {
  if (edge === undefined) return;
  if (edge.size !== undefined) requireWhole(owner, 'edge.size', edge.size, 1);
  if (edge.whenFull !== undefined)
    requireOneOf(owner, 'edge.whenFull', edge.whenFull, ['pause', 'concat', 'fail', 'latest']);
}

/** Refuses a word that is not one of a few. @throws EngineError OPTION_INVALID. */
export function requireOneOf(owner: string, option: string, value: unknown, allowed: readonly string[]): void {
  if (typeof value === 'string' && allowed.includes(value)) return;
  const words = allowed.map((word) => `"${word}"`).join(', ');
  throw new EngineError('OPTION_INVALID', `${owner}: "${option}" must be one of ${words}; received ${show(value)}.`);
}

function requireKnown(owner: string, option: string, named: readonly string[], ids: readonly string[]): void {
  if (!Array.isArray(named)) throw invalidOption(owner, option, 'a list of ids of its nodes', named);
  const known = new Set(ids);
  const unknown = named.find((id) => !known.has(id));
  if (unknown === undefined) return;
  throw planError(
    owner,
    `${option} names "${unknown}", which is not a node of it.${didYouMean(unknown, ids)}`,
    unknown,
  );
}

function isToken(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { name, initial } = value as Partial<StateToken<unknown>>;
  return typeof name === 'string' && typeof initial === 'function';
}

function isList<T>(value: T | readonly T[]): value is readonly T[] {
  return Array.isArray(value);
}

/** What a graph or a workflow is drawn on. */
export interface DrawnBoard {
  /** Closes it and gives what was drawn. */
  finish(options: GraphOptions): GraphBlueprint;
}

/**
 * Makes the step of a graph or a workflow: `draw` calls `build`, the function that draws it, with the board; then `onBuilt` is told.
 *
 * @throws EngineError PLAN_INVALID for a name that cannot be one, for something else than a function, for one that draws later, and for what
 * cannot run as it was drawn.
 */
export function drawnStep<I, O, B extends DrawnBoard>(
  kind: 'Graph' | 'Workflow',
  name: string,
  options: GraphOptions,
  build: unknown,
  board: B,
  draw: (board: B) => unknown,
): Step<I, O> {
  requireName(`A ${kind.toLowerCase()}`, name);
  const owner = `${kind} "${name}"`;
  if (typeof build !== 'function') throw planError(owner, 'it needs a function that draws it, behind its name.');
  const result = draw(board);
  if (result instanceof Promise) {
    // What it does later is refused there as well, and this error says it all.
    result.catch(() => {});
    throw planError(
      owner,
      `its function is async, but a ${kind.toLowerCase()} is drawn at once. Wait for what it needs before the call.`,
    );
  }
  const made = graphStep<I, O>(board.finish(options));
  options.onBuilt?.(describe(made));
  return made;
}

/** Refuses a change of what was built. @throws EngineError PLAN_INVALID. */
export function requireOpen(owner: string, isBuilt: boolean, change: string): void {
  if (!isBuilt) return;
  const kind = owner.slice(0, owner.indexOf(' ')).toLowerCase();
  throw planError(owner, `${change} after it was built. Do it inside the function that draws the ${kind}.`);
}
