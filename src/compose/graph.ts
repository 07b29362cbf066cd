/** Graphs with typed handles: nodes, edges, joins and branches, checked when they are built. */
import { EngineError } from '../errors.js';
import { requireCallable, requireOptions } from '../operators/invalid-option.js';
import { type Chooser, type LabelOf, type PrefixChooser, routerNode } from './branch.js';
import { checkGraph, type NeededPart } from './check-graph.js';
import {
  checkEdge,
  drawnStep,
  type GraphOptions,
  planError,
  readGraphOptions,
  requireNodeId,
  requireOneOf,
  requireOpen,
} from './graph-options.js';
import { idOf, makeHandle, type NodeHandle, type OptionalPart, type Source, type Target } from './handles.js';
import { checkOptions, requireFunction, show, toStep } from './make-step.js';
import { routesOf } from './parallel.js';
import {
  type AnyStepLike,
  type ChunkOperator,
  type EdgeBlueprint,
  type EdgeOptions,
  END,
  type GraphBlueprint,
  type InputRule,
  type NodeBlueprint,
  type RouteBlueprint,
  START,
  type Step,
  type StepActivation,
  type StepLike,
  type StepOptions,
} from './step.js';
import { passthrough } from './steps.js';

/**
 * What a node adds to its step. `In` and `Out` are what its edges bring and take, `I` and `O` what the step takes and gives; they differ
 * only where `before` or `after` change them.
 */
export interface NodeOptions<I = unknown, O = unknown, In = I, Out = O> {
  /** Makes the step's input of the node's input; the place to read and write states. @default the input itself */
  readonly before?: (input: In, at: StepActivation) => I;
  /** Makes the node's output of the step's output. @default the output itself */
  readonly after?: (output: O, at: StepActivation) => Out;
  /** The same for chunks, as they come: an RxJS operator, or a function that uses the activation, too. */
  readonly beforeChunks?: ChunkOperator<In, I>;
  readonly afterChunks?: ChunkOperator<O, Out>;
  /** `all`: once, when nothing can still reach the node. `any`: once for every arrival. @default 'all' */
  readonly trigger?: 'all' | 'any';
  /** Makes one input of several that arrived together. @default objects with different keys become one; else MERGE_CONFLICT */
  readonly merge?: (values: readonly In[]) => In;
  /** What the edges that lead out of it hold for slow readers. */
  readonly edge?: EdgeOptions;
  /** Tries in all, and the pause between them. @default those of the step */
  readonly retry?: NonNullable<StepOptions['retry']>;
  /** Milliseconds that one activation may take. @default that of the step */
  readonly timeoutMs?: number;
}

/** What {@link GraphBuilder.join} makes of its parts: their values by key; optional ones may be missing. */
export type Joined<P> = {
  [K in keyof P as P[K] extends OptionalPart<unknown> ? never : K]: P[K] extends Source<infer T> ? T : never;
} & {
  [K in keyof P as P[K] extends OptionalPart<unknown> ? K : never]?: P[K] extends OptionalPart<infer T> ? T : never;
};

/** What is joined: sources by key. */
export type JoinParts = Readonly<Record<string, Source<unknown> | OptionalPart<unknown>>>;

/** Draws a graph. It is of use only while the function that got it runs. */
export interface GraphBuilder<I, O> {
  /** Gives the graph's input. */
  readonly start: Source<I>;
  /** Takes the graph's output. */
  readonly end: Target<O>;
  /** Adds a node. Ids are part of paths: not `start` or `end`, without `/`, `#`, `[` and `]`. */
  node<SI, SO, In = SI, Out = SO>(
    id: string,
    step: StepLike<SI, SO>,
    options?: NodeOptions<SI, SO, In, Out>,
  ): NodeHandle<In, Out>;
  /** Adds a node that gives on what it gets, to bring ways together or apart. */
  passthrough<T>(id: string): NodeHandle<T, T>;
  /** Leads the output of one node to another. */
  edge<T>(from: Source<T>, to: Target<NoInfer<T>>): void;
  /** Gathers outputs in an object, which is the whole input of `to`. Parts that a branch may skip have to be `optional(…)`. */
  join<P extends JoinParts>(parts: P, to: Target<NoInfer<Joined<P>>>): void;
  /** Leads the output of a node to the routes whose labels `choose` gives: one, several side by side, or a promise of them. */
  branch<T, R extends Readonly<Record<string, Target<NoInfer<T>>>>>(
    from: Source<T>,
    routes: R,
    choose: Chooser<NoInfer<T>, LabelOf<R>>,
  ): void;
  /** The same by the beginning of a stream: chunks wait until `choosePrefix` gives a label, then all of them go on. */
  streamBranch<T, R extends Readonly<Record<string, Target<NoInfer<T>>>>>(
    from: Source<T>,
    routes: R,
    choosePrefix: PrefixChooser<NoInfer<T>, LabelOf<R>>,
  ): void;
}

/**
 * Makes a step of nodes and edges. Nodes are handles, so that an edge that does not fit is a compile error where it is drawn.
 *
 * ```ts
 * import { graph, invoke } from 'runnel';
 *
 * const shout = graph<string, string>('shout', (g) => {
 *   const loud = g.node('loud', (text: string) => text.toUpperCase());
 *   g.branch(g.start, { loud, end: g.end }, (text) => (text.endsWith('!') ? 'loud' : 'end'));
 *   g.edge(loud, g.end);
 * });
 * console.log(await invoke(shout, 'hello!'), await invoke(shout, 'hello'));
 * // => HELLO! hello
 * ```
 *
 * A node runs once per activation, when nothing that runs can still reach it; its input is what arrived: one value as it is, objects with
 * different keys as one object, others by `merge` or a `join`. Cycles run as often as their branches say, at most `maxSteps` nodes.
 *
 * @throws EngineError PLAN_INVALID for what cannot run as it is drawn, naming graph and node: an id that is taken, reserved or malformed, an
 * edge that is there already, nodes of another graph, an unreachable node, a node without a way to the end, a cycle without a way in, a needed
 * part behind a branch, changes after the graph was built. OPTION_INVALID for limits that are none.
 */
export function graph<I, O>(
  name: string,
  build: (g: GraphBuilder<I, O>) => void,
  options: GraphOptions = {},
): Step<I, O> {
  return drawnStep<I, O, Draft<I, O>>('Graph', name, options, build, new Draft(name), build);
}

const HOOKS = ['before', 'after', 'beforeChunks', 'afterChunks', 'merge'] as const;
const NODE_OPTIONS = [...HOOKS, 'trigger', 'edge', 'retry', 'timeoutMs'];

/** The parts of one join. */
interface Join {
  readonly ids: ReadonlyMap<string, { readonly from: string; readonly isOptional: boolean }>;
}

/** A graph while it is drawn. */
class Draft<I, O> implements GraphBuilder<I, O> {
  readonly start: Source<I>;
  readonly end: Target<O>;
  readonly #name: string;
  /** What messages begin with. */
  readonly #owner: string;
  readonly #nodes = new Map<string, NodeBlueprint>();
  readonly #edges = new Map<string, EdgeBlueprint>();
  /** By target: where its first edge comes from. */
  readonly #firstSources = new Map<string, string>();
  readonly #joins = new Map<string, Join>();
  #isBuilt = false;

  constructor(name: string) {
    this.#name = name;
    this.#owner = `Graph "${name}"`;
    this.start = makeHandle<never, I>(START, this);
    this.end = makeHandle<O, never>(END, this);
  }

  node<SI, SO, In, Out>(
    id: string,
    step: StepLike<SI, SO>,
    options: NodeOptions<SI, SO, In, Out> = {},
  ): NodeHandle<In, Out> {
    this.#requireOpen(`node "${id}" was added`);
    requireNodeId(this.#owner, id, (other) => this.#nodes.has(other));
    const owner = `${this.#owner}, node "${id}"`;
    requireOptions(owner, options, NODE_OPTIONS);
    for (const hook of HOOKS) requireCallable(owner, hook, options[hook]);
    checkOptions(owner, options);
    checkEdge(owner, options.edge);
    if (options.trigger !== undefined) requireOneOf(owner, 'trigger', options.trigger, ['all', 'any']);
    const blueprint = { ...options, id, step: toStep(step as AnyStepLike, id, this.#owner) };
    this.#nodes.set(id, blueprint as NodeBlueprint);
    return makeHandle<In, Out>(id, this);
  }

  passthrough<T>(id: string): NodeHandle<T, T> {
    return this.node(id, passthrough<T>());
  }

  edge<T>(from: Source<T>, to: Target<NoInfer<T>>): void {
    const source = this.#idOf(from);
    const target = this.#idOf(to, `an edge from "${source}"`);
    this.#requireOpen(`an edge from "${source}" to "${target}" was added`);
    this.#requireDirection(source, target);
    this.#requireNoJoin(target, `an edge from "${source}"`);
    this.#connect(source, target, true);
  }

  join<P extends JoinParts>(parts: P, to: Target<NoInfer<Joined<P>>>): void {
    const target = this.#idOf(to, 'a join');
    this.#requireOpen(`a join at "${target}" was added`);
    const entries = routesOf(`${this.#owner}: the join at ${show(target)}`, parts, 'part');
    this.#requireNoJoin(target, 'another join');
    const other = this.#firstSources.get(target);
    if (other !== undefined) throw this.#joinError(target, `an edge from "${other}"`);
    const ids = new Map(
      entries.map(([key, part]) => {
        const isOptional = isOptionalPart(part);
        const place = `the join at "${target}", part "${key}",`;
        return [key, { from: this.#idOf(isOptional ? part.optional : part, place), isOptional }];
      }),
    );
    this.#joins.set(target, { ids });
    for (const { from } of ids.values()) this.#connect(from, target, false);
  }

  branch<T, R extends Readonly<Record<string, Target<NoInfer<T>>>>>(
    from: Source<T>,
    routes: R,
    choose: Chooser<NoInfer<T>, LabelOf<R>>,
  ): void {
    this.#requireChooser(from, choose, 'choose');
    this.#route(from, routes, { choose: choose as NonNullable<RouteBlueprint['choose']> });
  }

  streamBranch<T, R extends Readonly<Record<string, Target<NoInfer<T>>>>>(
    from: Source<T>,
    routes: R,
    choosePrefix: PrefixChooser<NoInfer<T>, LabelOf<R>>,
  ): void {
    this.#requireChooser(from, choosePrefix, 'choosePrefix');
    this.#route(from, routes, { choosePrefix: choosePrefix as NonNullable<RouteBlueprint['choosePrefix']> });
  }

  /** Closes the graph and checks it. */
  finish(options: GraphOptions): GraphBlueprint {
    this.#isBuilt = true;
    const nodes = [...this.#nodes.values()].map((node) => this.#withJoin(node));
    const end = this.#joins.get(END);
    if (end !== undefined && options.endWith === 'first') {
      throw planError(this.#owner, 'its end joins several results, so it cannot end with the first one. Use edges.');
    }
    const blueprint: GraphBlueprint = {
      name: this.#name,
      style: 'graph',
      nodes,
      edges: [...this.#edges.values()],
      ...(end === undefined ? {} : { end: { input: joinRule(this.#name, END, end) } }),
      // A graph is a unit with its own end: cycles around it must not mix with what waits inside.
      isInline: false,
      ...readGraphOptions(this.#owner, options, [...this.#nodes.keys()]),
    };
    checkGraph(
      blueprint,
      [...this.#joins].flatMap(([to, join]) => neededParts(to, join)),
    );
    return blueprint;
  }

  #withJoin(node: NodeBlueprint): NodeBlueprint {
    const join = this.#joins.get(node.id);
    if (join === undefined) return node;
    if (node.trigger === 'any') {
      const advice = 'Leave the trigger out, or use edges.';
      throw planError(
        this.#owner,
        `node "${node.id}" cannot join its parts and run at each of them. ${advice}`,
        node.id,
      );
    }
    return { ...node, input: joinRule(this.#name, node.id, join) };
  }

  #requireChooser(from: unknown, choose: unknown, name: string): void {
    const source = this.#idOf(from, 'a branch');
    requireFunction(choose, name, { owner: `${this.#owner}, branch at "${source}"` });
  }

  #route(from: unknown, routes: Readonly<Record<string, unknown>>, chooser: Omit<RouteBlueprint, 'routes'>): void {
    const source = this.#idOf(from, 'a branch');
    this.#requireOpen(`a branch at "${source}" was added`);
    this.#requireDirection(source, END);
    const targets = routesOf(`${this.#owner}: the branch at ${show(source)}`, routes, 'route').map(
      ([label, to]) => [label, this.#idOf(to, `the route "${label}" of the branch at "${source}"`)] as const,
    );
    const id = this.#routerId(source);
    this.#nodes.set(id, routerNode(id, { ...chooser, routes: Object.fromEntries(targets) }));
    this.#connect(source, id, false);
    for (const [label, to] of targets) {
      this.#requireNoJoin(to, `the route "${label}"`);
      this.#connect(id, to, false);
    }
  }

  #requireDirection(source: string, target: string): void {
    if (target === START)
      throw planError(this.#owner, `an edge from "${source}" cannot lead to the start. Lead it to a node.`);
    if (source === END)
      throw planError(this.#owner, `an edge to "${target}" cannot come from the end. Begin it at a node.`);
  }

  #routerId(source: string): string {
    let id = `${source}/branch`;
    for (let count = 2; this.#nodes.has(id); count += 1) id = `${source}/branch_${count}`;
    return id;
  }

  #connect(from: string, to: string, isOnce: boolean): void {
    const key = `${from}#${to}`;
    if (isOnce && this.#edges.has(key)) {
      throw planError(this.#owner, `the edge from "${from}" to "${to}" is there already. Leave one of them out.`, from);
    }
    this.#edges.set(key, { from, to });
    if (!this.#firstSources.has(to)) this.#firstSources.set(to, from);
  }

  #requireNoJoin(target: string, what: string): void {
    if (this.#joins.has(target)) throw this.#joinError(target, what);
  }

  #joinError(target: string, what: string): EngineError {
    const advice = 'Put a g.passthrough(…) behind the join, and lead both there.';
    return planError(
      this.#owner,
      `"${target}" gets its whole input from a join, so ${what} cannot lead there. ${advice}`,
      target,
    );
  }

  #requireOpen(change: string): void {
    requireOpen(this.#owner, this.#isBuilt, change);
  }

  #idOf(handle: unknown, place?: string): string {
    return idOf(handle, this, this.#name, place);
  }
}

function isOptionalPart(part: Source<unknown> | OptionalPart<unknown>): part is OptionalPart<unknown> {
  return typeof part === 'object' && part !== null && Object.hasOwn(part, 'optional');
}

function neededParts(to: string, { ids }: Join): NeededPart[] {
  const parts = [...new Set([...ids.values()].map(({ from }) => from))];
  return [...ids].flatMap(([key, { from, isOptional }]) => (isOptional ? [] : [{ key, from, to, parts }]));
}

/** The input of a join: the values of its parts under their keys. */
function joinRule(graphName: string, to: string, { ids }: Join): InputRule {
  const keys = new Map<string, string[]>();
  for (const [key, { from }] of ids) keys.set(from, [...(keys.get(from) ?? []), key]);
  return {
    whole: (arrived) => {
      const joined: [string, unknown][] = [];
      for (const [key, { from, isOptional }] of ids) {
        if (arrived.has(from)) joined.push([key, arrived.get(from)]);
        else if (!isOptional) throw missingPart(graphName, to, key, from);
      }
      return Object.fromEntries(joined);
    },
    piece: (from, chunk) => keys.get(from)?.map((key) => ({ [key]: chunk })) ?? [],
    mappings: [...ids].map(([key, { from }]) => ({ to: key, from, path: '' })),
  };
}

function missingPart(graphName: string, to: string, key: string, from: string): EngineError {
  const advice = 'Mark the part as optional(…) if a branch may skip it.';
  const message = `Graph "${graphName}", node "${to}": nothing came from "${from}" for the part "${key}". ${advice}`;
  return new EngineError('INPUT_MISSING', message, { node: to, details: { path: key, source: from } });
}
