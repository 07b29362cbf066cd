/** Plans made in code: functions and edges instead of a document. */
import { EngineError } from '../errors.js';
import { requireList, requireObject } from '../operators/invalid-option.js';
import { link, type NodeSpec } from './link.js';
import type { NodeFunction } from './node.js';
import type { Plan } from './plan.js';

/** A node of a plan made in code. */
export interface GraphNode {
  readonly activate: NodeFunction;
  /** @default 'all' */
  readonly join?: 'any' | 'all';
  /** Ids that the node may name as `next` beside its edges. */
  readonly targets?: readonly string[];
  /** Milliseconds an activation may take. @default no limit */
  readonly timeoutMs?: number;
  /** Outputs whose text comes live, for nodes that list this one in `consumes`. @default none */
  readonly streams?: readonly string[];
  /** Ids of the nodes whose text it reads live. */
  readonly consumes?: readonly string[];
  /** Its deltas are the answer that the user reads. @default false */
  readonly speaks?: boolean;
  readonly retry?: { readonly attempts: number; readonly delayMs: number };
}

/**
 * Makes a plan of functions and edges; without `edges` the nodes run one after the other, in the order in which they are written.
 * The run starts at the nodes without a way in.
 *
 * ```ts
 * import { execute, planOf } from 'runnel';
 *
 * const plan = planOf(
 *   {
 *     hello: () => ({ text: 'hi' }),
 *     loud: (at) => {
 *       const said = at.lookup('hello@text');
 *       return { text: said.status === 'found' ? String(said.value).toUpperCase() : '' };
 *     },
 *   },
 *   [['hello', 'loud']],
 * );
 * const { outputs } = await execute(plan, { input: null });
 * console.log(outputs);
 * // => { text: 'HI' }
 * ```
 *
 * @throws EngineError PLAN_INVALID for an edge to a node that does not exist, or a plan without a start.
 */
export function planOf(
  nodes: Readonly<Record<string, NodeFunction | GraphNode>>,
  given?: readonly (readonly [from: string, to: string])[],
): Plan {
  requireObject('planOf', 'nodes', nodes, 'an object of nodes by id');
  if (given !== undefined) requireList('planOf', 'edges', given, 'a list of pairs of ids');
  const edges = given ?? oneAfterTheOther(Object.keys(nodes));
  const downstream = new Map<string, string[]>(Object.keys(nodes).map((id) => [id, []]));
  for (const [from, to] of edges) {
    const list = downstream.get(from);
    const missing = list === undefined ? from : downstream.has(to) ? undefined : to;
    if (missing !== undefined) {
      throw new EngineError(
        'PLAN_INVALID',
        `The edge from "${from}" to "${to}" names "${missing}", which is not a node.`,
      );
    }
    list?.push(to);
  }
  const specs = Object.entries(nodes).map(([id, node]) => toSpec(id, node, downstream.get(id) ?? []));
  if (specs.length === 0) throw new EngineError('PLAN_INVALID', 'A plan needs at least one node.');
  return link(specs);
}

function oneAfterTheOther(ids: readonly string[]): [from: string, to: string][] {
  return ids.slice(1).map((id, at) => [ids[at] as string, id]);
}

function toSpec(id: string, node: NodeFunction | GraphNode, downstream: readonly string[]): NodeSpec {
  const spec: GraphNode = typeof node === 'function' ? { activate: node } : node;
  return {
    id,
    name: id,
    type: 'function',
    create: () => spec.activate,
    downstream,
    join: spec.join ?? 'all',
    isEntry: false,
    targets: spec.targets ?? [],
    needs: [],
    streams: spec.streams ?? [],
    consumes: spec.consumes ?? [],
    outputs: {},
    ...(spec.retry === undefined ? {} : { retry: spec.retry }),
    timeoutMs: spec.timeoutMs,
    speaks: spec.speaks ?? false,
    asks: false,
    isContainer: false,
  };
}
