/**
 * From a step to the plan that the engine runs.
 *
 * Chains, parallels and branches are put into the graph around them node by node; a graph with states or limits of its own, the item of a map
 * and the body of a loop are bodies. Each scope begins at a `start` node, which a whole value passes by, and ends at the node that gives its
 * result: its last one, or an `end` node where several lead there.
 */
import { EngineError } from '../errors.js';
import type { NodeActivation } from '../graph/activation.js';
import { link, type NodeSpec } from '../graph/link.js';
import type { NodeFunction } from '../graph/node.js';
import type { Plan } from '../graph/plan.js';
import type { TypedEdge, TypedScope, ValueCodec } from '../graph/typed.js';
import { edgeOf } from './edge-of.js';
import { ContainerNode } from './engine/container-node.js';
import { EndNode } from './engine/end-node.js';
import { InputNode } from './engine/input-node.js';
import { Inlet, type Source } from './engine/inputs.js';
import { RouteNode } from './engine/route-node.js';
import { StepNode } from './engine/step-node.js';
import { leaving } from './engine/stream-out.js';
import type { Stops } from './engine/surroundings.js';
import { inlineBlueprint, makeStep } from './make-step.js';
import { initialOf } from './state.js';
import {
  type AnyStep,
  type ConcatRule,
  DEFINITION,
  END,
  type GraphBlueprint,
  type NodeBlueprint,
  START,
  type StepDefinition,
} from './step.js';

/** A step as a plan, and where its nodes come from. */
export interface CompiledStep {
  readonly plan: Plan;
  /** How the chunks of its result become one value; undefined: by their type. */
  readonly rule: ConcatRule<unknown> | undefined;
  /** By index in the plan; undefined for the nodes that only hold the graph together. */
  readonly steps: readonly (CompiledNode | undefined)[];
  /** Those to which observers are bound. */
  readonly observed: readonly CompiledNode[];
}

/** What a node of the plan does for its graph. */
export interface CompiledNode {
  readonly step: AnyStep;
  /** Ids of the graphs around and its own, without rounds. */
  readonly path: string;
}

/** The plan of a step; made once for each codec. */
export function compileStep(
  step: AnyStep,
  codec: ValueCodec,
  plans: WeakMap<ValueCodec, WeakMap<AnyStep, CompiledStep>>,
): CompiledStep {
  let known = plans.get(codec);
  if (known === undefined) {
    known = new WeakMap();
    plans.set(codec, known);
  }
  const found = known.get(step);
  if (found !== undefined) return found;
  const compiled = new Compiler(codec).compile(step);
  known.set(step, compiled);
  return compiled;
}

/** A node that is being put into the plan. */
interface Draft {
  readonly id: string;
  readonly name: string;
  readonly path: string;
  readonly owner: string | undefined;
  readonly downstream: string[];
  rule: ConcatRule<unknown> | undefined;
  readonly joins: boolean;
  readonly sources: Source[];
  readonly reads: Source[];
  readonly typed: { readsChunks: boolean; isRead: boolean; isResult: boolean; readonly edge: TypedEdge };
  readonly retry: NodeBlueprint['retry'];
  readonly timeoutMs: number | undefined;
  readonly isEntry: boolean;
  readonly isContainer: boolean;
  readonly compiled: CompiledNode | undefined;
  readonly index: number;
  activate: (at: NodeActivation) => ReturnType<NodeFunction>;
}

/** A graph, or an inline one, once it is in the plan: where values come in and where they go out. */
interface Placed {
  readonly heads: readonly Draft[];
  /** The node whose value is that of the graph; undefined only while a scope is laid out. */
  readonly tail: Draft;
}

type GraphScope = Pick<TypedScope, 'isLockstep' | 'maxSteps' | 'states'>;

const PLAIN_SCOPE: GraphScope = { isLockstep: false, maxSteps: undefined, states: [] };

class Compiler {
  readonly #codec: ValueCodec;
  readonly #drafts: Draft[] = [];
  readonly #ids = new Set<string>();
  readonly #scopes = new Map<string | undefined, GraphScope>();

  constructor(codec: ValueCodec) {
    this.#codec = codec;
  }

  compile(step: AnyStep): CompiledStep {
    const rule = this.#scope(graphOf(step), undefined, '');
    const specs = this.#drafts.map((draft) => specOf(draft));
    const scope = (owner: string | undefined) => this.#scopes.get(owner) ?? PLAIN_SCOPE;
    const plan = link(specs, { typed: { values: this.#codec, scope } });
    const steps = this.#drafts.map(({ compiled }) => compiled);
    const observed = steps.flatMap((node) => (node?.step[DEFINITION].options.observe === undefined ? [] : [node]));
    return { plan, rule, steps, observed };
  }

  /** A scope of its own for a graph; `path` is that of the container around. */
  #scope(graph: GraphBlueprint, owner: string | undefined, path: string): ConcatRule<unknown> | undefined {
    this.#scopes.set(owner, {
      isLockstep: graph.pace === 'lockstep',
      maxSteps: graph.maxSteps,
      states: graph.states.map((token) => ({ name: token.name, initial: () => initialOf(token, path) })),
    });
    const prefix = path === '' ? '' : `${path}/`;
    const input = this.#draft({ id: START, owner, prefix, isEntry: true, step: undefined });
    input.typed.readsChunks = true;
    const inputNode = new InputNode(input.path);
    input.activate = (at) => inputNode.activate(at);
    const placed = this.#place(graph, owner, prefix, '', { isScope: true });
    for (const head of placed.heads) connect(input, head, START);
    placed.tail.typed.isResult = true;
    return ruleOf(placed.tail);
  }

  /** Puts the nodes of a graph into a scope. `local` is the prefix of their names in it. */
  #place(
    graph: GraphBlueprint,
    owner: string | undefined,
    prefix: string,
    local: string,
    { isScope }: { readonly isScope: boolean },
  ): Placed {
    const placed = new Map<string, Placed>();
    const routers: {
      readonly node: NodeBlueprint;
      readonly draft: Draft;
      readonly targets: Map<string, readonly string[]>;
    }[] = [];
    const stops = { before: new Set(graph.interruptBefore), after: new Set(graph.interruptAfter) };
    for (const node of graph.nodes) {
      if (node.route !== undefined) {
        const targets = new Map<string, readonly string[]>();
        const draft = this.#router(node, owner, prefix, local, targets);
        routers.push({ node, draft, targets });
        placed.set(node.id, { heads: [draft], tail: draft });
        continue;
      }
      const around = { before: stops.before.has(node.id), after: stops.after.has(node.id) };
      placed.set(node.id, this.#node(node, owner, prefix, local, around));
    }
    const end = this.#end(graph, owner, prefix, local, placed);
    const headsOf = (id: string): readonly Draft[] => (id === END ? [end] : (placed.get(id) as Placed).heads);
    const heads: Draft[] = [];
    const passed = originsOf(graph);
    for (const { from, to } of graph.edges) {
      if (from === START) {
        heads.push(...headsOf(to));
        continue;
      }
      const { tail } = placed.get(from) as Placed;
      if (to === END && tail === end) continue;
      for (const head of headsOf(to)) connect(tail, head, passed.get(from) ?? from);
    }
    for (const { node, targets } of routers) {
      for (const [label, to] of Object.entries(node.route?.routes ?? {}))
        targets.set(
          label,
          headsOf(to).map(({ id }) => id),
        );
    }
    this.#reads(graph, placed, end);
    if (graph.endWith === 'first' && isScope) endAtFirst(end);
    return { heads, tail: end };
  }

  /** The node that gives the result: the only one that leads to the end, or one made for it. */
  #end(
    graph: GraphBlueprint,
    owner: string | undefined,
    prefix: string,
    local: string,
    placed: ReadonlyMap<string, Placed>,
  ): Draft {
    const before = graph.edges.filter(({ to }) => to === END).map(({ from }) => from);
    const isRouted = graph.nodes.some(({ route }) => route !== undefined && Object.values(route.routes).includes(END));
    const [only] = before;
    const isPlain = graph.end === undefined && graph.endWith === 'all' && !isRouted && before.length === 1;
    const tail = only === undefined ? undefined : placed.get(only)?.tail;
    const leadsOn = graph.edges.some(({ from, to }) => from === only && to !== END);
    if (isPlain && tail !== undefined && !leadsOn) return tail;
    // The first result must not wait for the others.
    const trigger = graph.endWith === 'first' ? 'any' : 'all';
    const draft = this.#draft({ id: 'end', owner, prefix, local, step: undefined, node: { trigger } });
    draft.typed.readsChunks = graph.end?.input === undefined || graph.end.input.piece !== undefined;
    const work = new EndNode(inletOf(draft, graph.end ?? {}));
    draft.activate = (at) => work.activate(at);
    return draft;
  }

  #node(node: NodeBlueprint, owner: string | undefined, prefix: string, local: string, stops: Stops): Placed {
    const definition = node.step[DEFINITION];
    if (definition.type === 'graph' && definition.graph.isInline && !isUnit(node, definition.graph, stops)) {
      const inner = this.#place(definition.graph, owner, prefix, `${local}${node.id}/`, { isScope: false });
      return inner;
    }
    if (definition.type !== 'function' && definition.type !== 'operator' && definition.type !== 'generator') {
      if (node.beforeChunks !== undefined || node.afterChunks !== undefined) {
        return this.#place(withChunkHooks(node, stops), owner, prefix, `${local}${node.id}/`, { isScope: false });
      }
      const draft = this.#container(node, definition, owner, prefix, local, stops);
      return { heads: [draft], tail: draft };
    }
    const draft = this.#draft({ id: node.id, owner, prefix, local, step: node.step, node });
    this.#asStep(draft, node, node.step, stops);
    return { heads: [draft], tail: draft };
  }

  #asStep(draft: Draft, blueprint: NodeBlueprint, step: AnyStep, stops: Stops): void {
    const definition = step[DEFINITION] as Extract<StepDefinition, { type: 'function' | 'operator' | 'generator' }>;
    const needsWhole = blueprint.before !== undefined || definition.options.input !== undefined || stops.before;
    const isLive = blueprint.input === undefined || blueprint.input.piece !== undefined;
    draft.typed.readsChunks = definition.type !== 'function' && !needsWhole && isLive;
    const node = new StepNode({ blueprint, definition, inlet: inletOf(draft, blueprint), stops });
    draft.activate = node.activate;
  }

  #container(
    node: NodeBlueprint,
    definition: Extract<StepDefinition, { type: 'graph' | 'map' | 'loop' }>,
    owner: string | undefined,
    prefix: string,
    local: string,
    stops: Stops,
  ): Draft {
    const draft = this.#draft({ id: node.id, owner, prefix, local, step: node.step, node, isContainer: true });
    const first = this.#drafts.length;
    const inner =
      definition.type === 'map'
        ? graphOf(definition.item)
        : definition.type === 'loop'
          ? graphOf(definition.body)
          : definition.graph;
    const rule = this.#scope(inner, draft.id, draft.path);
    // The chunks of a graph are those of the node that gives its result.
    if (definition.type === 'graph') draft.rule ??= rule;
    // The first draft of the scope is its input; what stands behind it decides whether chunks are of use inside.
    const [input] = this.#drafts.slice(first);
    const readers = this.#drafts.filter(({ id }) => input?.downstream.includes(id) === true);
    const isLive =
      definition.type === 'graph' &&
      node.before === undefined &&
      definition.options.input === undefined &&
      !stops.before &&
      (node.input === undefined || node.input.piece !== undefined) &&
      readers.some(({ typed }) => typed.readsChunks);
    draft.typed.readsChunks = isLive;
    // A map has a rule of its own for its list alone.
    const own = definition.type === 'graph' ? draft.rule : definition.type === 'loop' ? (rule ?? draft.rule) : rule;
    const parts = { blueprint: node, definition, inlet: inletOf(draft, node), isLive, stops, rule: own };
    const work = new ContainerNode(parts);
    draft.activate = (at) => work.activate(at);
    return draft;
  }

  #router(
    node: NodeBlueprint,
    owner: string | undefined,
    prefix: string,
    local: string,
    targets: ReadonlyMap<string, readonly string[]>,
  ): Draft {
    const draft = this.#draft({ id: node.id, owner, prefix, local, step: node.step, node });
    const route = node.route as NonNullable<NodeBlueprint['route']>;
    draft.typed.readsChunks = route.choosePrefix !== undefined;
    const work = new RouteNode({
      route,
      inlet: inletOf(draft, node),
      place: { id: node.id, step: node.step, path: draft.path },
      targets,
    });
    draft.activate = (at) => work.activate(at);
    return draft;
  }

  /** Values that are read without an edge are kept by the nodes that give them. */
  #reads(graph: GraphBlueprint, placed: ReadonlyMap<string, Placed>, end: Draft): void {
    const note = (reader: Draft, ids: readonly string[] = []): void => {
      for (const id of ids) {
        const source = placed.get(id)?.tail;
        if (source === undefined) continue;
        source.typed.isRead = true;
        reader.reads.push({ id, node: source.index, rule: source.rule, path: source.path });
      }
    };
    for (const node of graph.nodes) for (const head of placed.get(node.id)?.heads ?? []) note(head, node.input?.reads);
    note(end, graph.end?.input?.reads);
  }

  #draft(given: {
    readonly id: string;
    readonly owner: string | undefined;
    readonly prefix: string;
    readonly local?: string;
    readonly step: AnyStep | undefined;
    readonly node?: Partial<NodeBlueprint>;
    readonly isEntry?: boolean;
    readonly isContainer?: boolean;
  }): Draft {
    let name = `${given.local ?? ''}${given.id}`;
    // Routers are named by the graph, so the names of two may meet: that of a node, and one inside it.
    if (given.node?.route !== undefined) name = uniqueName(name, (free) => !this.#ids.has(`${given.prefix}${free}`));
    const id = `${given.prefix}${name}`;
    if (this.#ids.has(id)) {
      throw new EngineError('PLAN_INVALID', `Two nodes have the path "${id}"; give one of them another id.`, {
        node: id,
      });
    }
    this.#ids.add(id);
    const { step, node } = given;
    const options = step?.[DEFINITION].options;
    const rule = options?.chunks as ConcatRule<unknown> | undefined;
    const draft: Draft = {
      id,
      name,
      path: id,
      owner: given.owner,
      downstream: [],
      rule,
      joins: node?.trigger !== 'any',
      sources: [],
      reads: [],
      typed: { readsChunks: false, isRead: false, isResult: false, edge: edgeOf(node?.edge, rule, id) },
      retry: node?.retry ?? options?.retry,
      timeoutMs: node?.timeoutMs ?? options?.timeoutMs,
      isEntry: given.isEntry ?? false,
      isContainer: given.isContainer ?? options?.waits ?? false,
      compiled: step === undefined ? undefined : { step, path: id },
      index: this.#drafts.length,
      activate: () => NOTHING,
    };
    this.#drafts.push(draft);
    return draft;
  }
}

const NOTHING = Object.freeze({});

function uniqueName(name: string, isFree: (name: string) => boolean): string {
  let unique = name;
  for (let count = 2; !isFree(unique); count += 1) unique = `${name}_${count}`;
  return unique;
}

function inletOf(draft: Draft, { input, merge }: Pick<NodeBlueprint, 'input' | 'merge'>): Inlet {
  return new Inlet({ path: draft.path, sources: draft.sources, reads: draft.reads, input, merge });
}

/** An edge from one node to another; `source` is what the reader's graph calls where it comes from. */
function connect(from: Draft, to: Draft, source: string): void {
  from.downstream.push(to.id);
  // The input of a scope is nothing that a program names.
  const path = source === START ? undefined : from.path;
  to.sources.push({ id: source, node: from.index, rule: from.rule, path });
}

/** Routers that give on what one node gave, by that node: what several of them lead to one node is one value. */
function originsOf({ nodes, edges }: GraphBlueprint): ReadonlyMap<string, string> {
  const routers = new Set(
    nodes.filter(({ route, input }) => route !== undefined && input === undefined).map(({ id }) => id),
  );
  const origins = new Map<string, string>();
  for (const { from, to } of edges) if (routers.has(to)) origins.set(to, from);
  return origins;
}

/** How the chunks of a node become one value: by its own rule, or that of all the nodes whose chunks it passes on. */
function ruleOf({ rule, compiled, sources }: Draft): ConcatRule<unknown> | undefined {
  if (rule !== undefined || compiled !== undefined) return rule;
  const [first] = sources;
  return sources.every((source) => source.rule === first?.rule) ? first?.rule : undefined;
}

/** The first result ends the scope. */
function endAtFirst(end: Draft): void {
  const { activate } = end;
  end.activate = (at) => leaving(activate(at));
}

function hasHooks(node: NodeBlueprint, stops: Stops): boolean {
  const { before, after, beforeChunks, afterChunks, input, merge, retry, timeoutMs } = node;
  const parts = [before, after, beforeChunks, afterChunks, input, merge, retry, timeoutMs];
  return stops.before || stops.after || parts.some((part) => part !== undefined);
}

/**
 * Whether an inline graph has to be a body after all: the node has hooks, or runs for every arrival, so that joins inside must not wait for
 * the next one.
 */
function isUnit(node: NodeBlueprint, { style }: GraphBlueprint, stops: Stops): boolean {
  return hasHooks(node, stops) || (node.trigger === 'any' && style !== 'chain');
}

/** A graph with hooks over chunks: the hooks are steps of their own around it. */
function withChunkHooks(node: NodeBlueprint, stops: Stops): GraphBlueprint {
  const { beforeChunks, afterChunks, input, merge, trigger, ...rest } = node;
  const own = { ...(input && { input }), ...(merge && { merge }), ...(trigger && { trigger }) };
  const hook = (
    id: string,
    operator: NodeBlueprint['beforeChunks'],
    more: Partial<NodeBlueprint> = {},
  ): NodeBlueprint[] =>
    operator === undefined ? [] : [{ id, step: makeStep(id, { type: 'operator', operator, options: {} }), ...more }];
  const inner = { ...rest, id: 'graph', ...(beforeChunks === undefined ? own : {}) };
  const nodes = [...hook('before', beforeChunks, own), inner, ...hook('after', afterChunks)];
  const ids = [START, ...nodes.map(({ id }) => id), END];
  const edges = ids.slice(1).map((to, at) => ({ from: ids[at] as string, to }));
  return {
    ...inlineBlueprint(node.id, 'chain', { nodes, edges }),
    interruptBefore: stops.before ? ['graph'] : [],
    interruptAfter: stops.after ? ['graph'] : [],
  };
}

/** The graph that a step is, or one that holds it alone: only a node has schemas, limits and observers of its own. */
function graphOf(step: AnyStep): GraphBlueprint {
  const definition = step[DEFINITION];
  const { input, output, timeoutMs, retry, observe } = definition.options;
  const isPlain = [input, output, timeoutMs, retry, observe].every((option) => option === undefined);
  if (definition.type === 'graph' && isPlain) return definition.graph;
  return {
    name: step.name,
    style: 'chain',
    nodes: [{ id: step.name, step }],
    edges: [
      { from: START, to: step.name },
      { from: step.name, to: END },
    ],
    isInline: true,
    states: [],
    interruptBefore: [],
    interruptAfter: [],
    pace: 'eager',
    endWith: 'all',
  };
}

function specOf(draft: Draft): NodeSpec {
  const { id, name, owner, downstream, joins, typed, retry, timeoutMs, isEntry, isContainer } = draft;
  return {
    id,
    name,
    type: 'step',
    create: () => draft.activate as NodeFunction,
    downstream,
    parent: owner,
    join: joins ? 'all' : 'any',
    isEntry,
    targets: [],
    needs: [],
    streams: [],
    consumes: [],
    outputs: {},
    ...(retry === undefined ? {} : { retry: { attempts: retry.attempts, delayMs: retry.delayMs ?? 0 } }),
    timeoutMs,
    speaks: false,
    asks: false,
    isContainer,
    typed,
  };
}
