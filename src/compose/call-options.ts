/** Options for single steps that are given to a run. */
import { EngineError } from '../errors.js';
import type { StepLabel } from '../knowledge/component-function.js';
import { invalidOption, requireOptions } from '../operators/invalid-option.js';
import type { CompiledNode, CompiledStep } from './compile.js';
import { isCode, requirePath } from './engine/run-observers.js';
import type { PathClaim, RunOptionsByNode } from './engine/watch.js';
import { isStep, originOf, show } from './make-step.js';
import { type AnyStep, type AnyStepLike, DEFINITION, type OptionsOf } from './step.js';

/** The call options of what a graph takes as a step; of a function that says nothing of them, anything by name. */
export type CallOptionsOf<S> = S extends AnyStep
  ? OptionsOf<S>
  : S extends ((input: never, options?: infer P) => unknown) & StepLabel
    ? Omit<NonNullable<P>, 'signal'>
    : Readonly<Record<string, unknown>>;

/** Where options hold. */
export interface CallOptionsPlace {
  /** Path of one step, such as `writer/tools`: ids of the graphs around and its own, without rounds. @default wherever the step stands */
  readonly at?: string;
}

/** Options for a step; made by `options`. */
export class StepCallOptions {
  readonly step: AnyStepLike;
  readonly values: Readonly<Record<string, unknown>>;
  readonly at: string | undefined;

  constructor(step: AnyStepLike, values: Readonly<Record<string, unknown>>, at: string | undefined) {
    this.step = step;
    this.values = values;
    this.at = at;
    Object.freeze(this);
  }
}

/**
 * Options for one step in one run: `invoke(graph, input, { with: [options(model, { temperature: 0 })] })`.
 *
 * They hold wherever the step object stands, or at one path (`{ at: 'writer/tools' }`), where the step, or another one of its kind, has to be. Of
 * several for one step the later win, field by field; fields that are undefined say nothing. Steps that a step runs inside itself with
 * `{ within: at }` have them, too, with those of their own run over them. The step reads them as `at.options`; it is for the component to know
 * which there are, and their types are those of the step.
 *
 * A path that the graph does not have, a step that is not in the graph, and a graph, map or loop, which have none, are OPTION_INVALID when the
 * run starts; one inside a step of code, where only the run can tell, is a process warning at its end when other steps ran there. For a step that runs
 * only inside another one (`within`), say where, as its `at.path` does without rounds:
 * `{ at: 'outer/chain/inner' }` where `outer` runs `chain(inner, …)`, `'outer/inner/inner'` where it runs `inner` alone.
 *
 * @throws EngineError OPTION_INVALID for something else than a step and an object.
 */
export function options<S extends AnyStepLike>(
  step: S,
  values: CallOptionsOf<S>,
  place: CallOptionsPlace = {},
): StepCallOptions {
  if (!isStep(step) && typeof step !== 'function') throw invalidOption('options', 'step', 'a step or a function', step);
  const name = step.name;
  requireOptions(`options for "${name}"`, place, ['at']);
  const { at } = place;
  const given: unknown = values;
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw invalid(`options for "${name}" are an object of its options; received ${show(given)}`);
  }
  if (at !== undefined && (typeof at !== 'string' || at === '')) {
    throw invalid(`options for "${name}": "at" is a path such as "writer/tools"; received ${show(at)}`);
  }
  const said = Object.entries(given).filter(([, value]) => value !== undefined);
  return new StepCallOptions(step, Object.freeze(Object.fromEntries(said)), at);
}

/** What a run is given. */
export interface CallOptionsGiven {
  readonly with: readonly StepCallOptions[] | undefined;
  /** Options of the run around. */
  readonly around: RunOptionsByNode | undefined;
  /** As with observers: the path of the run in the outermost one, and a slash. */
  readonly place: string;
}

/**
 * The call options of a run by step; undefined when there are none.
 *
 * @throws EngineError OPTION_INVALID; see {@link options}.
 */
export function callOptionsFor(compiled: CompiledStep, given: CallOptionsGiven): RunOptionsByNode | undefined {
  const { with: list = [], around, place } = given;
  const inherited = around instanceof OptionsByNode ? around.entries : [];
  if (!Array.isArray(list)) {
    throw invalidOption('run', 'with', 'a list of what options(step, …) gives', list);
  }
  if (list.length === 0 && inherited.length === 0) return undefined;
  for (const one of list) {
    if (!(one instanceof StepCallOptions)) {
      throw invalidOption('run', 'with', 'a list of what options(step, …) gives', one);
    }
    requirePlace(compiled, one);
  }
  const own = list.map(({ step, values, at }) => ({ step, values, at: at === undefined ? undefined : place + at }));
  return new OptionsByNode([...inherited, ...own], place);
}

/** The options that were given for one path, as {@link InnerPaths} watches over them. */
export function claimsOfOptions(list: readonly StepCallOptions[] = []): readonly PathClaim[] {
  return list.flatMap(({ step, at }): PathClaim[] =>
    at === undefined
      ? []
      : [{ at, what: `There were options for "${step.name}" at "${at}"`, warning: 'OptionsWarning' }],
  );
}

interface Entry {
  readonly step: AnyStepLike;
  readonly values: Readonly<Record<string, unknown>>;
  /** From the outermost run. */
  readonly at: string | undefined;
}

const NONE: Readonly<Record<string, unknown>> = Object.freeze({});

class OptionsByNode implements RunOptionsByNode {
  readonly entries: readonly Entry[];
  readonly #place: string;
  /** By path in the plan. */
  readonly #known = new Map<string, Readonly<Record<string, unknown>>>();

  constructor(entries: readonly Entry[], place: string) {
    this.entries = entries;
    this.#place = place;
  }

  at(step: object, path: string): Readonly<Record<string, unknown>> {
    let found = this.#known.get(path);
    if (found === undefined) {
      const where = `${this.#place}${path}`;
      const fitting = this.entries.filter((entry) =>
        entry.at === undefined ? isSame(entry.step, step as AnyStep) : entry.at === where,
      );
      const fields = fitting.flatMap(({ values }) => Object.entries(values));
      found = fitting.length === 0 ? NONE : Object.freeze(Object.fromEntries(fields));
      this.#known.set(path, found);
    }
    return found;
  }
}

/** Whether a node's step is the one that options were given for: itself, with another name by its position, with observers, or its function. */
function isSame(given: AnyStepLike, standing: AnyStep): boolean {
  const definition = standing[DEFINITION];
  if (isStep(given)) return originOf(given[DEFINITION]) === originOf(definition);
  return originOf(definition) === given || (definition.type === 'function' && definition.run === given);
}

/** @throws EngineError OPTION_INVALID when no step of the graph gets the options. */
function requirePlace(compiled: CompiledStep, { step, at }: StepCallOptions): void {
  const { name } = step;
  const nodes = compiled.steps.filter((node): node is CompiledNode => node !== undefined);
  if (isStep(step)) requireCode(step, 'options');
  if (at === undefined) {
    if (nodes.some((node) => isSame(step, node.step))) return;
    const near = nodes.filter((node) => node.step.name === name).map(({ path }) => path);
    const hint =
      near.length > 0
        ? ` Another step of that name is at "${near[0]}": give options for the object that stands there, or say { at: "${near[0]}" }.`
        : ' If a step runs it inside itself, say where, with the name of what it runs between: { at: "<path of that step>/chain/<name>" }, as at.path says.';
    throw invalid(`options for "${name}": this step is not in the graph.${hint}`);
  }
  requirePath(compiled.steps, at, `options for "${name}" at "${at}"`);
  const standing = nodes.find(({ path }) => path === at)?.step;
  if (standing === undefined) return;
  requireCode(standing, `options for "${name}" at "${at}"`);
  const kind = isStep(step) ? step.kind : 'stepKind' in step ? String(step.stepKind) : 'function';
  if (isSame(step, standing) || (kind === standing.kind && kind !== 'function')) return;
  const fitting = nodes.filter((node) => isSame(step, node.step)).map(({ path }) => `"${path}"`);
  const where = fitting.length === 0 ? '' : ` "${name}" stands at ${fitting.join(', ')}.`;
  throw invalid(
    `options for "${name}" (${kind}) at "${at}" would go to the step "${standing.name}" (${standing.kind}).${where}`,
  );
}

function requireCode(step: AnyStep, owner: string): void {
  if (isCode(step)) return;
  throw invalid(
    `${owner}: "${step.name}" is a ${step[DEFINITION].type}, which takes no options; give them for a step inside it`,
  );
}

function invalid(problem: string): EngineError {
  return new EngineError('OPTION_INVALID', problem.endsWith('.') ? problem : `${problem}.`);
}
