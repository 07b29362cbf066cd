/**
 * The compiled graph: flat tables of nodes and scopes, frozen, shared by any number of runs.
 *
 * A *scope* is a set of nodes that are scheduled together: the document's top level, or the body of one container. Edges
 * never leave their scope; a container stands for its whole body.
 */
import { canonicalId } from '../dsl/component-id.js';
import type { Json, JsonObject } from '../json.js';
import type { NodeFunction } from './node.js';
import type { TypedEdge, TypedNode, TypedScope, ValueCodec } from './typed.js';

/** One output of a node, for documentation, validation and the editor. */
export interface Port {
  readonly type: 'string' | 'number' | 'boolean' | 'object' | 'array' | 'any';
  readonly description: string;
}

/** What happens when a node fails. */
export interface ErrorHandling {
  /** `default`: `outputs` stand in for the result and the run continues. `continue-at`: `targets` run instead of the successors. */
  readonly method: 'default' | 'continue-at';
  readonly outputs: JsonObject;
  readonly targets: readonly number[];
  /** Ids of the successors that run when `outputs` stand in. Default: all. */
  readonly next?: readonly string[] | undefined;
}

/** A component with its parameters at a place in the plan. */
export interface Node {
  readonly index: number;
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly activate: NodeFunction;
  /** Index of the scope the node belongs to. */
  readonly scope: number;
  /** Index of the scope that is the node's body, or -1. */
  readonly body: number;
  /** Where a token goes when the node names no successors. */
  readonly successors: readonly number[];
  /** Nodes that may lead here, also by name or on an error. */
  readonly predecessors: readonly number[];
  /** Whether tokens wait here until no live token can still reach the node. */
  readonly isJoin: boolean;
  /** Distance from the entry over the condensed graph; equal inside a cycle. */
  readonly level: number;
  /** Number of the cycle the node lies in, or -1. */
  readonly cycle: number;
  /** Nodes that must have a value before this one can run. */
  readonly needs: readonly number[];
  /** Ids that the node reads and that no node has. */
  readonly unknownNeeds: readonly string[];
  /** Output ports that come live. */
  readonly streams: readonly string[];
  /** Nodes that read this node live, over a stream edge. */
  readonly streamsTo: readonly number[];
  readonly outputs: Readonly<Record<string, Port>>;
  readonly onError: ErrorHandling | undefined;
  readonly retry: { readonly attempts: number; readonly delayMs: number } | undefined;
  /** Milliseconds an activation may take; undefined: no clock. */
  readonly timeoutMs: number | undefined;
  /** One sentence shown while the node works; may be empty. */
  readonly thoughts: string;
  readonly speaks: boolean;
  readonly asks: boolean;
  /** Whether it changes nothing outside of the run, so that it may run before the start of the run is stored. */
  readonly isRepeatable: boolean;
  readonly isContainer: boolean;
  /** What it does with values; undefined in a plan of a canvas, whose edges carry order alone. */
  readonly typed: TypedNode | undefined;
  /** How the edges behind it hold chunks, in a typed plan. */
  readonly edge: TypedEdge | undefined;
}

/** The top level, or the body of one container. */
export interface Scope {
  readonly index: number;
  /** Node whose body this is, or -1 for the top level. */
  readonly owner: number;
  /** Where an execution of the scope starts. */
  readonly entries: readonly number[];
  /** Whether the scope starts at a node made for that, such as an item node. */
  readonly hasDeclaredEntry: boolean;
  readonly members: readonly number[];
  /** Number of levels among the members. */
  readonly levels: number;
  readonly hasJoins: boolean;
  readonly hasCycles: boolean;
  /** Undefined in a plan of a canvas. */
  readonly typed: TypedScope | undefined;
}

/** Values that are not outputs of a node: `sys.*`, `env.*`, and what else the host of the engine keeps. */
export type Variables = JsonObject;

/** What a host of the engine adds to every run of a plan; pure functions. */
export interface PlanHooks {
  /** The variables a run starts with, from those the run before left (or `plan.variables`). */
  readonly open?: (variables: Variables, input: Json, context: HookContext) => Variables;
  /** The variables a run leaves, given the outputs of the node that ran last. */
  readonly close?: (variables: Variables, outputs: JsonObject | null, context: HookContext) => Variables;
}

/** What a hook may know about its run. */
export interface HookContext {
  readonly resumed: boolean;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** The compiled graph. */
export interface Plan {
  readonly nodes: readonly Node[];
  readonly scopes: readonly Scope[];
  readonly byId: ReadonlyMap<string, number>;
  /** Indexes by canonical id, for references that spell an id in the other version's way. */
  readonly byCanonicalId: ReadonlyMap<string, number>;
  /** Variables of a first run. */
  readonly variables: Variables;
  readonly hooks: PlanHooks;
  /** Changes when the graph changes in a way that a checkpoint cannot survive. */
  readonly hash: string;
  /** Which node can reach which; computed on demand. */
  readonly reach: Reach;
  /** How values are stored, in a plan whose edges carry values; undefined in one of a canvas. */
  readonly values: ValueCodec | undefined;
}

/** Index of the node with an id: the exact spelling first, then the canonical form; undefined when there is none. */
export function indexOfNode(plan: Pick<Plan, 'byId' | 'byCanonicalId'>, id: string): number | undefined {
  return plan.byId.get(id) ?? plan.byCanonicalId.get(canonicalId(id));
}

/** What a node is called in the paths of its plan: ids of typed plans are paths themselves. */
export function nameInPath(plan: Plan, index: number): string {
  const { id, name, typed } = plan.nodes[index] as Node;
  return typed === undefined ? id : name;
}

/** The node with an id, found as `indexOfNode` does. */
export function findNode(plan: Plan, id: string): Node | undefined {
  const index = indexOfNode(plan, id);
  return index === undefined ? undefined : plan.nodes[index];
}

// ── reach: which node can reach which, for the join rule ───────────────────────────────────────────────────────────────────
// Levels answer most questions at once: an edge never leads to a lower level, and from a node outside every cycle it leads to a higher
// one. What remains is looked up in ancestor sets, one bit per node, computed when first needed.

/** The edges of a plan as tables by node index. */
export interface EdgeTables {
  readonly predecessors: readonly (readonly number[])[];
  readonly level: readonly number[];
  /** Number of the cycle a node lies in, or -1. */
  readonly cycle: readonly number[];
}

/** Bytes that the ancestor sets of one plan may take before they are computed anew. */
const MAX_CACHE_BYTES = 32 * 1024 * 1024;

/** Which nodes can be reached from which; worked out once per plan. */
export class Reach {
  readonly #tables: EdgeTables;
  readonly #ancestors = new Map<number, Uint32Array>();
  #bytes = 0;

  constructor(tables: EdgeTables) {
    this.#tables = tables;
  }

  /** Whether a token at `from`, once it moves on, may come to `to`. */
  canReach(from: number, to: number): boolean {
    const { level, cycle, predecessors } = this.#tables;
    const gap = (level[to] as number) - (level[from] as number);
    if (gap < 0) return false;
    if (gap === 0) return cycle[to] !== -1 && cycle[to] === cycle[from];
    if (gap === 1 && cycle[to] === -1 && cycle[from] === -1) {
      return (predecessors[to] as readonly number[]).includes(from);
    }
    const set = this.#ancestors.get(to) ?? this.#compute(to);
    return ((set[from >> 5] as number) & (1 << (from & 31))) !== 0;
  }

  #compute(to: number): Uint32Array {
    const { predecessors } = this.#tables;
    const set = new Uint32Array((predecessors.length + 31) >> 5);
    const open = [to];
    while (open.length > 0) {
      for (const before of predecessors[open.pop() as number] as readonly number[]) {
        const bit = 1 << (before & 31);
        const at = before >> 5;
        if (((set[at] as number) & bit) !== 0) continue;
        set[at] = (set[at] as number) | bit;
        open.push(before);
      }
    }
    if (this.#bytes + set.byteLength > MAX_CACHE_BYTES) {
      this.#ancestors.clear();
      this.#bytes = 0;
    }
    this.#ancestors.set(to, set);
    this.#bytes += set.byteLength;
    return set;
  }
}

/** Levels and cycles of a graph; Tarjan's strongly connected components, without recursion. */
export function measure(successors: readonly (readonly number[])[]): { level: number[]; cycle: number[] } {
  const count = successors.length;
  const order = new Int32Array(count).fill(-1);
  const low = new Int32Array(count);
  const component = new Int32Array(count).fill(-1);
  const stack: number[] = [];
  const onStack = new Uint8Array(count);
  const cycle = new Array<number>(count).fill(-1);
  let clock = 0;
  let components = 0;
  let cycles = 0;

  const visit = (root: number): void => {
    const path = [root];
    const edge = [0];
    order[root] = low[root] = clock++;
    stack.push(root);
    onStack[root] = 1;
    while (path.length > 0) {
      const node = path[path.length - 1] as number;
      const next = (successors[node] as readonly number[])[edge[edge.length - 1] as number];
      if (next !== undefined) {
        edge[edge.length - 1] = (edge[edge.length - 1] as number) + 1;
        if (order[next] === -1) {
          order[next] = low[next] = clock++;
          stack.push(next);
          onStack[next] = 1;
          path.push(next);
          edge.push(0);
        } else if (onStack[next] === 1) {
          low[node] = Math.min(low[node] as number, order[next] as number);
        }
        continue;
      }
      path.pop();
      edge.pop();
      const parent = path[path.length - 1];
      if (parent !== undefined) low[parent] = Math.min(low[parent] as number, low[node] as number);
      if (low[node] !== order[node]) continue;
      const size = stack.length - stack.lastIndexOf(node);
      const isCycle = size > 1 || (successors[node] as readonly number[]).includes(node);
      for (const member of stack.splice(stack.length - size)) {
        onStack[member] = 0;
        component[member] = components;
        if (isCycle) cycle[member] = cycles;
      }
      components += 1;
      if (isCycle) cycles += 1;
    }
  };
  for (let node = 0; node < count; node += 1) if (order[node] === -1) visit(node);

  // Tarjan numbers components in reverse topological order, so walking down from the highest sees sources first.
  const members: number[][] = Array.from({ length: components }, () => []);
  for (let node = 0; node < count; node += 1) (members[component[node] as number] as number[]).push(node);
  const depth = new Int32Array(components);
  for (let at = components - 1; at >= 0; at -= 1) {
    for (const node of members[at] as number[]) {
      for (const next of successors[node] as readonly number[]) {
        const to = component[next] as number;
        if (to !== at) depth[to] = Math.max(depth[to] as number, (depth[at] as number) + 1);
      }
    }
  }
  const level = Array.from({ length: count }, (_, node) => depth[component[node] as number] as number);
  return { level, cycle };
}
