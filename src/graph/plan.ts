/**
 * The compiled graph: flat tables of nodes and scopes, frozen, shared by any number of runs.
 *
 * A *scope* is a set of nodes that are scheduled together: the document's top level, or the body of one container. Edges
 * never leave their scope; a container stands for its whole body.
 */
import { canonicalId } from '../dsl/component-id.js';
import type { Json, JsonObject } from '../json.js';
import type { NodeFunction, Port } from './component.js';
import type { Reach } from './reach.js';

/** What happens when a node fails. */
export interface ErrorHandling {
  /** `comment`: `outputs` stand in for the result and the run goes on. `goto`: `targets` run instead of the successors. */
  readonly method: 'comment' | 'goto';
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
  readonly isContainer: boolean;
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
}

/** Index of the node with an id: the exact spelling first, then the canonical form; undefined when there is none. */
export function indexOfNode(plan: Pick<Plan, 'byId' | 'byCanonicalId'>, id: string): number | undefined {
  return plan.byId.get(id) ?? plan.byCanonicalId.get(canonicalId(id));
}

/** The node with an id, found as `indexOfNode` does. */
export function findNode(plan: Plan, id: string): Node | undefined {
  const index = indexOfNode(plan, id);
  return index === undefined ? undefined : plan.nodes[index];
}
