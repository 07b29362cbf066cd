/** Reading and writing the values of a run: outputs of nodes, variables, aliases of the bodies around. */
import type { Reference } from '../dsl/reference.js';
import { type Lookup, type ValueSource, writePath } from '../dsl/resolve.js';
import { EngineError } from '../errors.js';
import type { Outputs, Write } from './node-events.js';
import { indexOfNode, type Node, type Plan } from './plan.js';
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
    const index = indexOfNode(this.#plan, component);
    if (index === undefined) return UNRESOLVED;
    const outputs = this.#frame.values.cells.get(index);
    if (outputs === undefined) return UNSET;
    if (Object.hasOwn(outputs, name)) return { status: 'found', value: outputs[name] ?? null };
    return Object.hasOwn((this.#plan.nodes[index] as Node).outputs, name) ? UNSET : UNDECLARED;
  }

  variable(key: string): Lookup {
    const { variables } = this.#frame.values;
    return Object.hasOwn(variables, key) ? { status: 'found', value: variables[key] ?? null } : UNRESOLVED;
  }

  alias(name: 'item' | 'index' | 'result'): Lookup {
    for (let frame: Frame | undefined = this.#frame; frame !== undefined; frame = frame.owner?.frame) {
      const { aliases } = frame;
      if (aliases !== undefined && Object.hasOwn(aliases, name))
        return { status: 'found', value: aliases[name] ?? null };
    }
    return UNRESOLVED;
  }
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
