/**
 * What a node type is, and what a node sees when it runs.
 *
 * A component is data plus one function. The engine never asks for a component's name: whatever it must know about a type,
 * the type declares here as a property.
 */
import { type Observable, type OperatorFunction, of } from 'rxjs';
import type { ZodType } from 'zod';
import type { Lookup, ValueSource } from '../dsl/resolve.js';
import type { Json, JsonObject } from '../json.js';
import type { BodyRound, Delta, Interrupt, NodeEvent, Outputs, Settled } from './node-events.js';
import type { State } from './state.js';

export type { BodyRound } from './node-events.js';

/** One output of a component, for documentation, validation and the editor. */
export interface Port {
  readonly type: 'string' | 'number' | 'boolean' | 'object' | 'array' | 'any';
  readonly description: string;
}

/** How a pass through a body ended. */
export interface BodyEnd {
  /** `exited`: a node of the body left it early; `interrupted`: something in the body waits for an answer. */
  readonly status: 'done' | 'exited' | 'interrupted';
  /** Reads values as a node of the body would. */
  readonly source: ValueSource;
}

/** What a node sees while it runs. Values are those of the moment at which they are read. */
export interface Activation {
  /** Id of the node. */
  readonly node: string;
  /** Display name of the node. */
  readonly name: string;
  /** Stable over resumes and takeovers: `<run>/<token>`; offer it to the outside as an idempotency key. */
  readonly token: string;
  /** 1 for the first try. */
  readonly attempt: number;
  /** Id of the run. */
  readonly run: string;
  /** What the run was started (or resumed) with. */
  readonly input: Json;
  /** The answers a resumed run was given; undefined when the run was not resumed at this node. */
  readonly answer: Json | undefined;
  /** What the node last kept with `Progress.nodeState`, when it is run again after a resume. */
  readonly nodeState: Json | undefined;
  /** The node's own outputs as they are now: after a `Progress`, and with what others wrote to them. */
  readonly outputs: Outputs;
  /** Whether this is the visit that only closes a body. */
  readonly closing: boolean;
  /** Where references are read: see `interpolate`, `resolveParam`, `readReference` of `dsl`. */
  readonly source: ValueSource;
  /**
   * The state of the run: the current State first, then one after every change that ends an activation. Nothing is built while it has
   * no subscriber.
   */
  readonly state$: Observable<State>;
  /** What the caller of `run` passed in; components narrow it. */
  readonly services: unknown;
  /** Aborted when the activation is torn down before it settled. */
  readonly signal: AbortSignal;
  /** The value of a reference given as text (`a@b`, `{sys.query}` …); see `Lookup`. */
  lookup(reference: string): Lookup;
  /**
   * The text of a reference as it comes. Over a stream edge these are the producer's live pieces, from its first one;
   * otherwise the settled value, rendered, as one piece. Completes with the producer.
   */
  stream(reference: string): Observable<Delta>;
  /** Runs the node's body once. Emits one `BodyEnd`; errors with the error of a body node that nobody handled. */
  runBody(round: BodyRound): Observable<BodyEnd>;
  /** Display name of a node of the same plan, its id when there is no such node. */
  nameOf(node: string): string;
  /** Uniform in [0, 1); injectable through the run options. */
  random(): number;
  /** Milliseconds since 1970; injectable through the run options. */
  now(): number;
}

/** What a node does: plain outputs or `settled(…)`/`interrupt(…)` at once or later, or a stream of events. */
export type NodeFunction = (
  activation: Activation,
) => Outputs | Settled | Interrupt | Promise<Outputs | Settled | Interrupt> | Observable<NodeEvent>;

/** A node written as an operator over its activation. */
export type NodeOperator = OperatorFunction<Activation, NodeEvent>;

/** Lets a node be written as an RxJS operator: the activation goes in, events come out. */
export function fromOperator(operator: NodeOperator): NodeFunction {
  return (activation) => of(activation).pipe(operator);
}

/** Where a node stands in its plan, for components that look around when they are created. */
export interface Placement {
  /** Id of the node. */
  readonly id: string;
  /** Display name of the node. */
  readonly name: string;
  /** Declared downstream ids. */
  readonly downstream: readonly string[];
  /** Ids of the nodes whose downstream this one is. */
  readonly upstream: readonly string[];
  /** Ids of the enclosing containers, innermost first. */
  readonly containers: readonly string[];
  /** Their types, as registered. */
  readonly containerTypes: readonly string[];
  /** Ids of the nodes in the node's own body; empty without one. */
  readonly body: readonly string[];
  /** Whether another node reads this one live, over a stream edge. */
  readonly isStreamed: boolean;
}

/** A node type. `P` is what `params` gives after validation. */
export interface Component<P = JsonObject> {
  /** The name in documents, such as `Switch`. Compared without regard to case. */
  readonly type: string;
  /** Older names of the same type. */
  readonly aliases?: readonly string[];
  /** One sentence for the catalogue. */
  readonly summary: string;
  /** Validates and completes the parameters; unknown keys must pass. Describe each with unit and default. */
  readonly params: ZodType<P>;
  /** One sentence that users see while a node of the type works. @default none */
  readonly thoughts?: string;
  /** Named outputs that every node of the type has. */
  readonly outputs: Readonly<Record<string, Port>>;
  /** `all` (default): one run per activation, when no live token can still reach it. `any`: one run per arriving token. */
  readonly join?: 'any' | 'all';
  /** Where a scope starts: Begin for a document, item nodes for a body. */
  readonly isEntry?: boolean;
  /** Its deltas are the answer that the user reads. */
  readonly speaks?: boolean;
  /** It may wait for an answer: it is reported as started only when it goes on. */
  readonly asks?: boolean;
  /** It has a body: nodes whose `parent` it is. It has no clock of its own and takes no slot. */
  readonly isContainer?: boolean;
  /** Seconds an activation may take; default 600. Null: no clock. */
  readonly timeoutSeconds?: number | null;
  /** Output that a default value (`exception_method: comment`) goes to; default `result`. */
  readonly primaryOutput?: string;
  /** Ids that `next` may name beside the declared downstream. */
  targets?(params: P): readonly string[];
  /** References that must have a value before the node can run; reached without, it is passed over. */
  needs?(params: P): readonly string[];
  /** Output ports that come live while the node runs; only when this node's parameters allow it. */
  streams?(params: P): readonly string[];
  /** References that the node reads live with `activation.stream`. */
  consumes?(params: P): readonly string[];
  /** How often and how far apart the engine tries again after a retryable error. */
  retry?(params: P): { readonly attempts: number; readonly delayMs: number };
  /** Problems that the schema cannot see, such as parameters that contradict each other. */
  check?(params: P, placement: Placement): readonly string[];
  /** What its author should look at although it runs, such as a tool that does not exist here. */
  advise?(params: P, placement: Placement): readonly string[];
  /** Makes the node. Called once per node when the plan is compiled. */
  create(params: P, placement: Placement): NodeFunction;
}

/** Types a component literal without losing `P`. */
export function defineComponent<P>(component: Component<P>): Component<P> {
  return component;
}

/** A component whose parameters are its own business. */
// biome-ignore lint/suspicious/noExplicitAny: components of different parameter types share lists and registries
export type AnyComponent = Component<any>;

/** Components by lower-case name, aliases included. */
export type Registry = ReadonlyMap<string, AnyComponent>;

/** Builds a registry; later components replace earlier ones of the same name. */
export function createRegistry(components: readonly AnyComponent[]): Registry {
  const registry = new Map<string, AnyComponent>();
  for (const component of components) {
    registry.set(component.type.toLowerCase(), component);
    for (const alias of component.aliases ?? []) registry.set(alias.toLowerCase(), component);
  }
  return registry;
}
