/** What a node is: one function, and what it sees of its run while it works. */
import { type Observable, type OperatorFunction, of } from 'rxjs';
import type { Lookup, ValueSource } from '../dsl/resolve.js';
import type { Json } from '../json.js';
import type { BodyRound, Delta, Interrupt, NodeEvent, Outputs, Settled } from './node-events.js';
import type { State } from './state.js';

/** How a pass through a body ended. */
export interface BodyEnd {
  /** `exited`: a node of the body left it early; `interrupted`: something in the body waits for an answer. */
  readonly status: 'done' | 'exited' | 'interrupted';
  /** In a typed plan: the result, when the body has given one. */
  readonly result?: { readonly value: unknown } | undefined;
  /** Reads values as a node of the body would. */
  readonly source: ValueSource;
}

/** What a node sees while it runs. Values are those of the moment at which they are read. */
export interface Activation {
  /** Id of the node. */
  readonly node: string;
  /** Display name of the node. */
  readonly name: string;
  /** Stable over resumes and recoveries: `<run>/<token>`; offer it to the outside as an idempotency key. */
  readonly token: string;
  /** 1 for the first try. */
  readonly attempt: number;
  /** Id of the run. */
  readonly run: string;
  /** What the run was started (or resumed) with. */
  readonly input: Json;
  /** The answers a resumed run was given; undefined when the run was not resumed at this node. */
  readonly answer: Json | undefined;
  /** What the node last stored with `Progress.nodeState`, when it is run again after a resume. */
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
  /** Runs the node's body once. Emits one `BodyEnd`; errors with the error of a body node that the body does not handle. */
  runBody(round: BodyRound): Observable<BodyEnd>;
  /** Display name of a node of the same plan, its id when there is no such node. */
  nameOf(node: string): string;
  /** Uniform in [0, 1); injectable through the run options. */
  random(): number;
  /** Milliseconds since 1970; injectable through the run options. */
  now(): number;
  /**
   * A promise while the run has more unstored events than it may have; it settles when there is room again. A node that reads a source
   * of its own should wait for it before it reads on; calls of models do. Undefined while there is room.
   */
  ready(): Promise<void> | undefined;
  /**
   * A promise that resolves when all that the run has reported so far is stored: what a node does in the world once, it reports first and waits for this. Undefined
   * where nothing is stored while the run goes on.
   */
  stored(): Promise<void> | undefined;
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
