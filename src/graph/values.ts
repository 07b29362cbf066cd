/** Reading and writing the values of a run: outputs of nodes, variables, aliases of the bodies around. */
import type { AliasName, Reference } from '../dsl/reference.js';
import { type Lookup, type ValueSource, writePath } from '../dsl/resolve.js';
import { EngineError } from '../errors.js';
import type { JsonObject } from '../json.js';
import type { Outputs, Write } from './node-events.js';
import { indexOfNode, type Node, type Plan } from './plan.js';
import type { FrameState, State } from './state.js';
import type { Frame } from './tokens.js';

const UNSET: Lookup = { status: 'unset' };
const UNDECLARED: Lookup = { status: 'undeclared' };
const UNRESOLVED: Lookup = { status: 'unresolved' };

/** The values that a node in `frame` sees, at the moment of each look. */
export class FrameSource implements ValueSource {
  readonly #plan: Plan;
  readonly #frame: Frame;

  constructor(plan: Plan, frame: Frame) {
    this.#plan = plan;
    this.#frame = frame;
  }

  output(component: string, name: string): Lookup {
    return outputIn(this.#plan, this.#frame.values.cells, component, name);
  }

  variable(key: string): Lookup {
    return variableIn(this.#frame.values.variables, key);
  }

  alias(name: AliasName): Lookup {
    for (let frame: Frame | undefined = this.#frame; frame !== undefined; frame = frame.owner?.frame) {
      const { aliases } = frame;
      if (aliases !== undefined && Object.hasOwn(aliases, name))
        return { status: 'found', value: aliases[name] ?? null };
    }
    return UNRESOLVED;
  }
}

/** The values that the node of a token sees in a State: what {@link FrameSource} has while the run is at work. */
export class TokenSource implements ValueSource {
  readonly #plan: Plan;
  readonly #values: Pick<State, 'cells' | 'variables'>;
  /** The passes that it runs in, innermost first. */
  readonly #frames: readonly FrameState[];

  private constructor(plan: Plan, values: Pick<State, 'cells' | 'variables'>, frames: readonly FrameState[]) {
    this.#plan = plan;
    this.#values = values;
    this.#frames = frames;
  }

  /** Undefined for a token that the State does not have. */
  static of(plan: Plan, state: State, token: number): TokenSource | undefined {
    const frames = framesTo(state.root, token)?.reverse();
    return frames && new TokenSource(plan, frames.find(({ values }) => values !== undefined)?.values ?? state, frames);
  }

  output(component: string, name: string): Lookup {
    return outputIn(this.#plan, this.#values.cells, component, name);
  }

  variable(key: string): Lookup {
    return variableIn(this.#values.variables, key);
  }

  alias(name: AliasName): Lookup {
    for (const { aliases } of this.#frames) {
      if (aliases !== undefined && Object.hasOwn(aliases, name))
        return { status: 'found', value: aliases[name] ?? null };
    }
    return UNRESOLVED;
  }
}

/** The executions of scopes around a token, outermost first. */
function framesTo(frame: FrameState, token: number): FrameState[] | undefined {
  for (const { id, frames = [] } of frame.tokens) {
    if (id === token) return [frame];
    for (const inner of frames) {
      const found = framesTo(inner, token);
      if (found !== undefined) return [frame, ...found];
    }
  }
  return undefined;
}

function outputIn(plan: Plan, cells: State['cells'], component: string, name: string): Lookup {
  const index = indexOfNode(plan, component);
  if (index === undefined) return UNRESOLVED;
  const outputs = cells.get(index);
  if (outputs === undefined) return UNSET;
  if (Object.hasOwn(outputs, name)) return { status: 'found', value: outputs[name] ?? null };
  return Object.hasOwn((plan.nodes[index] as Node).outputs, name) ? UNSET : UNDECLARED;
}

function variableIn(variables: JsonObject, key: string): Lookup {
  return Object.hasOwn(variables, key) ? { status: 'found', value: variables[key] ?? null } : UNRESOLVED;
}

/**
 * Applies the writes of a settled node, all of them or none.
 *
 * @throws EngineError as `applyWrite`.
 */
export function applyWrites(plan: Plan, frame: Frame, writes: readonly Write[]): void {
  const { values } = frame;
  const { cells, variables } = values;
  const before = new Map<number, Outputs | undefined>();
  for (const { to } of writes) {
    const index = to.kind === 'output' ? indexOfNode(plan, to.component) : undefined;
    if (index !== undefined) before.set(index, cells.get(index));
  }
  try {
    for (const write of writes) applyWrite(plan, frame, write);
  } catch (error) {
    values.variables = variables;
    for (const [index, outputs] of before) cells.set(index, outputs);
    throw error;
  }
}

/**
 * Applies one write of a settled node to the values of its frame.
 *
 * @throws EngineError REFERENCE_UNRESOLVED for a node that does not exist, REFERENCE_READ_ONLY for an alias.
 */
function applyWrite(plan: Plan, frame: Frame, write: Write): void {
  const { to, value } = write;
  const { values } = frame;
  switch (to.kind) {
    case 'output': {
      const index = indexOfNode(plan, to.component);
      if (index === undefined) {
        throw new EngineError(
          'REFERENCE_UNRESOLVED',
          `Cannot write "${to.component}@${to.name}": there is no such node.`,
        );
      }
      const outputs = values.cells.get(index) ?? {};
      const before = Object.hasOwn(outputs, to.name) ? outputs[to.name] : undefined;
      values.cells.set(index, { ...outputs, [to.name]: writePath(before, to.path, value) });
      return;
    }
    case 'variable':
      values.variables = writeVariable(values.variables, to, value);
      return;
    case 'alias':
      throw new EngineError(
        'REFERENCE_READ_ONLY',
        `Cannot write "${to.name}": the current item of a body is read-only.`,
      );
  }
}

/** `env.a.b` addresses the variable of that exact name first, then a path into `env.a`. */
function writeVariable(
  variables: Frame['values']['variables'],
  to: Extract<Reference, { kind: 'variable' }>,
  value: Write['value'],
): Frame['values']['variables'] {
  if (!Object.hasOwn(variables, to.key)) {
    const parts = to.key.split('.');
    for (let cut = parts.length - 1; cut >= 2; cut -= 1) {
      const root = parts.slice(0, cut).join('.');
      if (Object.hasOwn(variables, root)) {
        return { ...variables, [root]: writePath(variables[root], parts.slice(cut), value) };
      }
    }
  }
  return { ...variables, [to.key]: value };
}
