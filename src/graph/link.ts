/** Links nodes into a plan: scopes, edges, levels, joins and stream edges. Knows neither documents nor components. */
import { createHash } from 'node:crypto';
import { canonicalId } from '../dsl/component-id.js';
import { EngineError } from '../errors.js';
import type { JsonObject } from '../json.js';
import type { NodeFunction } from './node.js';
import {
  indexOfNode,
  measure,
  type Node,
  type Plan,
  type PlanHooks,
  type Port,
  Reach,
  type Scope,
  type Variables,
} from './plan.js';
import type { TypedEdge, TypedNode, TypedScope, ValueCodec } from './typed.js';

/** A node before it is linked; names other nodes by id. */
export interface NodeSpec {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  /** Makes the node; `isStreamed` tells whether another node reads it live. */
  create(isStreamed: boolean): NodeFunction;
  readonly downstream: readonly string[];
  /** Id of the container whose body the node belongs to. */
  readonly parent?: string | undefined;
  readonly join: 'any' | 'all';
  readonly isEntry: boolean;
  /** Ids that may be named as next beside the downstream. */
  readonly targets: readonly string[];
  readonly needs: readonly string[];
  /** Output ports that come live. */
  readonly streams: readonly string[];
  /** Ids of nodes whose text is read live. */
  readonly consumes: readonly string[];
  readonly outputs: Readonly<Record<string, Port>>;
  readonly onError?:
    | {
        readonly method: 'default' | 'continue-at';
        readonly outputs: JsonObject;
        readonly targets: readonly string[];
        readonly next?: readonly string[];
      }
    | undefined;
  readonly retry?: Node['retry'];
  readonly timeoutMs?: number | undefined;
  readonly thoughts?: string | undefined;
  readonly speaks: boolean;
  readonly asks: boolean;
  /** See {@link Node.isRepeatable}. @default false */
  readonly isRepeatable?: boolean;
  readonly isContainer: boolean;
  /** In a typed plan. */
  readonly typed?: (Omit<TypedNode, 'keepsChunks'> & { readonly edge: TypedEdge }) | undefined;
}

/** What else a plan carries. */
export interface LinkOptions {
  /** Makes the plan a typed one: how values are stored, and what its scopes have, by id of the node whose body they are. */
  readonly typed?: {
    readonly values: ValueCodec;
    readonly scope: (owner: string | undefined) => Omit<TypedScope, 'hasReads'>;
  };
  readonly variables?: Variables;
  readonly hooks?: PlanHooks;
}

/**
 * Builds the frozen plan. Ids in `downstream`, `targets`, `needs` and `consumes` that do not exist in the right scope are
 * left out here, except needs, which the node fails with; the compiler of the specs has reported them.
 *
 * @throws EngineError PLAN_INVALID when ids repeat, a parent does not exist, or parents form a circle.
 */
export function link(specs: readonly NodeSpec[], options: LinkOptions = {}): Plan {
  const byId = indexIds(specs);
  const byCanonicalId = new Map<string, number>();
  for (const [index, { id }] of specs.entries()) {
    const form = canonicalId(id);
    if (!byCanonicalId.has(form)) byCanonicalId.set(form, index);
  }
  const indexOf = (id: string) => indexOfNode({ byId, byCanonicalId }, id);
  const parentOf = specs.map((spec) => parentIndex(spec, byId));
  const { scopeOf, owners } = assignScopes(specs, parentOf);
  const inScope = (from: number, ids: readonly string[]): number[] => {
    const found = new Set<number>();
    for (const id of ids) {
      const to = indexOf(id);
      if (to !== undefined && scopeOf[to] === scopeOf[from]) found.add(to);
    }
    return [...found];
  };

  // An edge back to the entry of a body means the end of the pass: what follows is for the container to say.
  const staysInPass = (to: number) => scopeOf[to] === 0 || !(specs[to] as NodeSpec).isEntry;
  const successors = specs.map((spec, at) => inScope(at, spec.downstream).filter(staysInPass));
  const reachable = specs.map((spec, at) => [
    ...new Set([
      ...(successors[at] as number[]),
      ...inScope(at, spec.targets),
      ...inScope(at, spec.onError?.targets ?? []),
    ]),
  ]);
  const predecessors: number[][] = specs.map(() => []);
  for (const [from, targets] of reachable.entries())
    for (const to of targets) (predecessors[to] as number[]).push(from);
  const { level, cycle } = measure(reachable);
  const reach = new Reach({ predecessors, level, cycle });

  const bodyOf = new Map(owners.map((owner, scope) => [owner, scope]));
  const shared = sharing();
  const nodes = specs.map((spec, index): Node => {
    const needed = [...new Set(spec.needs.flatMap((id) => indexOf(id) ?? []))];
    const streamsTo =
      spec.typed === undefined
        ? streamEdges(index, specs, reachable, reach)
        : readersAmong(successors[index] as number[], specs, reach);
    return Object.freeze({
      index,
      id: spec.id,
      name: spec.name,
      type: spec.type,
      activate: spec.create(streamsTo.length > 0),
      scope: scopeOf[index] as number,
      body: bodyOf.get(index) ?? -1,
      successors: frozen(successors[index] as number[]),
      predecessors: frozen(predecessors[index] as number[]),
      isJoin: spec.join === 'all' && (predecessors[index] as number[]).length > 1,
      level: level[index] as number,
      cycle: cycle[index] as number,
      needs: frozen(needed.filter((other) => other !== index && !isAncestor(other, index, parentOf))),
      unknownNeeds: frozen(spec.needs.filter((id) => indexOf(id) === undefined)),
      streams: frozen(spec.streams),
      streamsTo: frozen(streamsTo),
      outputs: spec.outputs,
      onError:
        spec.onError === undefined
          ? undefined
          : Object.freeze({
              method: spec.onError.method,
              outputs: spec.onError.outputs,
              targets: inScope(index, spec.onError.targets),
              next: spec.onError.next,
            }),
      retry: spec.retry,
      timeoutMs: spec.isContainer ? undefined : spec.timeoutMs,
      thoughts: spec.thoughts ?? '',
      speaks: spec.speaks,
      asks: spec.asks,
      isRepeatable: spec.isRepeatable ?? false,
      isContainer: spec.isContainer,
      typed:
        spec.typed === undefined
          ? undefined
          : shared(typedNode(spec.typed, reachable[index] as number[], specs, predecessors)),
      edge: spec.typed?.edge,
    });
  });

  const membersOf: number[][] = owners.map(() => []);
  for (const { index, scope } of nodes) (membersOf[scope] as number[]).push(index);
  const scopes = owners.map((owner, index) =>
    scopeTable(index, owner, nodes, specs, predecessors, membersOf[index] as number[], options.typed),
  );
  return Object.freeze({
    nodes: Object.freeze(nodes),
    scopes: Object.freeze(scopes),
    byId,
    byCanonicalId,
    variables: options.variables ?? {},
    hooks: options.hooks ?? {},
    hash: hashOf(specs),
    reach,
    values: options.typed?.values,
  });
}

const NONE: readonly never[] = Object.freeze([]);

/** A copy of exact size that lies beside its node, empty ones shared: a large plan does not fit into the cache of a processor. */
function frozen<T>(list: readonly T[]): readonly T[] {
  return list.length === 0 ? NONE : Object.freeze(list.slice());
}

function indexIds(specs: readonly NodeSpec[]): Map<string, number> {
  const byId = new Map<string, number>();
  for (const [index, spec] of specs.entries()) {
    if (byId.has(spec.id)) {
      throw new EngineError('PLAN_INVALID', `Two nodes have the id "${spec.id}"; every id may be used once.`, {
        node: spec.id,
      });
    }
    byId.set(spec.id, index);
  }
  return byId;
}

function parentIndex(spec: NodeSpec, byId: ReadonlyMap<string, number>): number {
  if (spec.parent === undefined) return -1;
  const parent = byId.get(spec.parent);
  if (parent !== undefined) return parent;
  throw new EngineError('PLAN_INVALID', `Node "${spec.id}" lies in "${spec.parent}", which does not exist.`, {
    node: spec.id,
  });
}

/** Scope 0 is the top level; each container with members owns one more. */
function assignScopes(
  specs: readonly NodeSpec[],
  parentOf: readonly number[],
): { scopeOf: number[]; owners: number[] } {
  const owners = [-1];
  const scopeByOwner = new Map<number, number>([[-1, 0]]);
  const scopeOf = parentOf.map((parent, index) => {
    for (let above = parent, steps = 0; above !== -1; above = parentOf[above] as number, steps += 1) {
      if (above === index || steps > specs.length) {
        const { id } = specs[index] as NodeSpec;
        throw new EngineError('PLAN_INVALID', `Node "${id}" lies in its own body.`, { node: id });
      }
    }
    let scope = scopeByOwner.get(parent);
    if (scope === undefined) {
      scope = owners.push(parent) - 1;
      scopeByOwner.set(parent, scope);
    }
    return scope;
  });
  return { scopeOf, owners };
}

function isAncestor(maybe: number, of: number, parentOf: readonly number[]): boolean {
  for (let above = parentOf[of] as number; above !== -1; above = parentOf[above] as number) {
    if (above === maybe) return true;
  }
  return false;
}

/**
 * Consumers that may start while `from` still streams: direct successors that read it live and that `from` can reach in
 * no other way, so that starting them early starts nothing twice.
 */
function streamEdges(
  from: number,
  specs: readonly NodeSpec[],
  reachable: readonly (readonly number[])[],
  reach: Reach,
): number[] {
  const spec = specs[from] as NodeSpec;
  if (spec.streams.length === 0 || spec.onError?.method === 'continue-at') return [];
  const next = reachable[from] as readonly number[];
  return next.filter(
    (to) =>
      to !== from &&
      (specs[to] as NodeSpec).consumes.some((id) => canonicalId(id) === canonicalId(spec.id)) &&
      next.every((other) => other === to || !reach.canReach(other, to)) &&
      !reach.canReach(to, from),
  );
}

/** Of successors that all get a node's chunks: those that may start with it, for they read chunks and none of the others leads to them. */
function readersAmong(next: readonly number[], specs: readonly NodeSpec[], reach: Reach): number[] {
  return next.filter(
    (to) =>
      (specs[to] as NodeSpec).typed?.readsChunks === true &&
      next.every((other) => other === to || !reach.canReach(other, to)),
  );
}

/** Chunks are kept for those who read all of them at the end, and for joins, which may begin to read late. */
function typedNode(
  { readsChunks, isRead, isResult }: Omit<TypedNode, 'keepsChunks'>,
  next: readonly number[],
  specs: readonly NodeSpec[],
  predecessors: readonly (readonly number[])[],
): TypedNode {
  const keepsChunks =
    isRead ||
    next.some(
      (to) => (specs[to] as NodeSpec).typed?.readsChunks !== true || (predecessors[to] as readonly number[]).length > 1,
    );
  return Object.freeze({ readsChunks, isRead, isResult, keepsChunks });
}

/** Equal ones become one object, which then stays in the cache of a processor. */
function sharing(): (typed: TypedNode) => TypedNode {
  const known: TypedNode[] = [];
  return (typed) => {
    const { readsChunks, isRead, isResult, keepsChunks } = typed;
    const at = Number(readsChunks) + 2 * Number(isRead) + 4 * Number(isResult) + 8 * Number(keepsChunks);
    known[at] ??= typed;
    return known[at];
  };
}

function scopeTable(
  index: number,
  owner: number,
  nodes: readonly Node[],
  specs: readonly NodeSpec[],
  predecessors: readonly (readonly number[])[],
  members: readonly number[],
  typed: LinkOptions['typed'],
): Scope {
  const declared = members.filter((member) => (specs[member] as NodeSpec).isEntry);
  const sources = members.filter((member) => (predecessors[member] as readonly number[]).length === 0);
  const entries = declared.length > 0 ? declared.slice(0, 1) : sources.length > 0 ? sources : members.slice(0, 1);
  return Object.freeze({
    index,
    owner,
    entries: Object.freeze(entries),
    hasDeclaredEntry: declared.length > 0,
    members: Object.freeze(members),
    levels: members.reduce((most, member) => Math.max(most, (nodes[member] as Node).level + 1), 0),
    hasJoins: members.some((member) => (nodes[member] as Node).isJoin),
    hasCycles: members.some((member) => (nodes[member] as Node).cycle !== -1),
    typed:
      typed === undefined
        ? undefined
        : Object.freeze({
            ...typed.scope(specs[owner]?.id),
            hasReads: owner !== -1 && members.some((member) => specs[member]?.typed?.isRead === true),
          }),
  });
}

/** Ids, types and edges decide whether a checkpoint still fits; wording of parameters does not. */
function hashOf(specs: readonly NodeSpec[]): string {
  const shape = specs.map((spec) => [spec.id, spec.type, spec.parent ?? null, spec.downstream]);
  return createHash('sha256').update(JSON.stringify(shape)).digest('hex').slice(0, 32);
}
