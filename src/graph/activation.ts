/** One execution of a node: what the node sees of its run, and what the run keeps about the execution. */
import { EMPTY, Observable, of, Subject, type Unsubscribable } from 'rxjs';
import { parseReference } from '../dsl/reference.js';
import { renderValue } from '../dsl/render-value.js';
import { type Lookup, readReference, type ValueSource } from '../dsl/resolve.js';
import { EngineError } from '../errors.js';
import type { Json, JsonObject } from '../json.js';
import type { ChunkReader } from '../operators/chunk-reader.js';
import type { ChunkStream } from '../operators/chunk-stream.js';
import type { ErrorInfo } from './events.js';
import type { LogWriter } from './log.js';
import type { Activation, BodyEnd } from './node.js';
import {
  type BodyRound,
  type Delta,
  delta,
  type Interrupt,
  type NodeEvent,
  type Outputs,
  type Settled,
} from './node-events.js';
import { indexOfNode, type Node, nameInPath, type Plan } from './plan.js';
import type { State } from './state.js';
import type { StateCell, StatePatch } from './state-cell.js';
import { type Activity, framePath, type Token, type TypedFrame } from './tokens.js';
import { cellOf } from './transition.js';
import type { Arrival, ChunkInput, ResultSink } from './typed.js';
import { FrameSource } from './values.js';

/** Why the signal of an activation was aborted; shared, because making one with its stack costs most of an abort. */
const STOPPED = new DOMException('The node was stopped before it settled.', 'AbortError');

/** What an activation needs of the run it belongs to. */
export interface ActivationHost {
  readonly plan: Plan;
  readonly run: string;
  readonly input: Json;
  readonly services: unknown;
  readonly state$: Observable<State>;
  random(): number;
  now(): number;
  /** Where what happens is stored, if it is. */
  readonly log: Pick<LogWriter, 'ready' | 'stored'> | undefined;
  /** Whether a reader of events is there. */
  readonly isObserved: boolean;
  /** Whether what happens is stored, so that it has to be storable. */
  readonly isStored: boolean;
  openBody(token: Token, round: BodyRound, live?: LiveEnds): Observable<BodyEnd>;
  closeBody(token: Token, key: string): void;
  /** Streams and states of a typed plan. */
  readonly flow: ActivationFlow;
  receive(token: Token, event: Report): void;
  /** Chunks of a producer that is still at work, from the first one; undefined when it has settled. */
  chunksFrom(consumer: Token, producer: number): ChunkReader<unknown> | undefined;
  /** The text of a producer as it comes, for a consumer that was started before it settled; else undefined. */
  liveText(consumer: Token, producer: number): LiveText | undefined;
}

/** What a node of a typed plan does with streams and states; see `chunk-flow.ts`. */
export interface ActivationFlow {
  /** The run may go on from where it is stopped. */
  readonly isResumable: boolean;
  open(token: Token, activation: NodeActivation, opening: StreamOpening): ChunkStream<unknown>;
  report(token: Token, chunk: unknown): void;
  patch(token: Token, state: string, patch: StatePatch): void;
}

/** The ends of a body through which chunks come and go while it works. */
export interface LiveEnds {
  readonly source?: ChunkInput | undefined;
  readonly output?: ResultSink | undefined;
}

/** How a node begins to give chunks. */
export interface StreamOpening {
  /** Ids of the nodes that the chunks go to. @default all successors */
  readonly next?: readonly string[] | undefined;
  /** Called when every reader has left before the end, and nothing else needs the chunks. */
  readonly onUnread?: (() => void) | undefined;
}

/** How an activation ends. */
export type Outcome = Settled | Interrupt | { readonly type: 'error'; readonly error: unknown };

/** One activation; also owns its lazy AbortController. The fields are the engine's: `Activation` is what nodes are given. */
export class NodeActivation implements Activation, Activity {
  readonly attempt: number;
  startedAt = 0;
  /** It failed, and the node is tried again: the next start is another activation. */
  isRetried = false;
  /** It took longer than it may, and is being stopped. */
  lateness: EngineError | undefined = undefined;
  /** The node's Observable while it is subscribed, or the pause before the next try. */
  work: Unsubscribable | undefined = undefined;
  /** The node's text, when other nodes read it while it comes. */
  text: LiveText | undefined = undefined;
  /** The node's chunks, once it has opened its stream. */
  out: ChunkStream<unknown> | undefined = undefined;
  /** Whether the node's text is reported; decided at its first piece, undefined before. */
  isTextReported: boolean | undefined = undefined;
  /** How the node ended while a producer whose text it read was still at work. */
  deferred: { readonly outcome: Outcome; readonly recovered: ErrorInfo | undefined } | undefined = undefined;
  readonly #host: ActivationHost;
  readonly #token: Token;
  readonly #node: Node;
  #source: ValueSource | undefined = undefined;
  #controller: AbortController | undefined = undefined;

  constructor(host: ActivationHost, token: Token, node: Node, attempt: number) {
    this.attempt = attempt;
    this.#host = host;
    this.#token = token;
    this.#node = node;
  }

  get node(): string {
    return this.#node.id;
  }
  get name(): string {
    return this.#node.name;
  }
  get token(): string {
    return `${this.#host.run}/${this.#token.id}`;
  }
  get run(): string {
    return this.#host.run;
  }
  get input(): Json {
    return this.#host.input;
  }
  get answer(): Json | undefined {
    return this.#token.data?.answer;
  }
  get nodeState(): Json | undefined {
    return this.#token.data?.nodeState;
  }
  get outputs(): Outputs {
    return this.#token.frame.values.cells.get(this.#node.index) ?? {};
  }
  get closing(): boolean {
    return this.#token.frame.isClosing;
  }
  get state$(): Observable<State> {
    return this.#host.state$;
  }
  get services(): unknown {
    return this.#host.services;
  }
  get source(): ValueSource {
    this.#source ??= new FrameSource(this.#host.plan, this.#token.frame);
    return this.#source;
  }
  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    return this.#controller.signal;
  }

  lookup(reference: string): Lookup {
    const parsed = parseReference(reference);
    return parsed === undefined ? { status: 'unresolved' } : readReference(parsed, this.source);
  }

  stream(reference: string): Observable<Delta> {
    const parsed = parseReference(reference);
    if (parsed === undefined) return EMPTY;
    if (parsed.kind === 'output' && parsed.path.length === 0) {
      const producer = indexOfNode(this.#host.plan, parsed.component);
      const comesLive =
        producer !== undefined && this.#host.plan.nodes[producer]?.streams.includes(parsed.name) === true;
      const live = comesLive ? this.#host.liveText(this.#token, producer)?.read() : undefined;
      if (live !== undefined) return live;
    }
    const found = readReference(parsed, this.source);
    const text = found.status === 'found' ? renderValue(found.value) : '';
    return text === '' ? EMPTY : of(delta('content', text));
  }

  runBody(round: BodyRound, live?: LiveEnds): Observable<BodyEnd> {
    return this.#host.openBody(this.#token, round, live);
  }

  // ── in a typed plan ─────────────────────────────────────────────────────────────────────────────────────────────────────

  /** What came over the edges, the newest first. */
  get arrival(): Arrival | undefined {
    return this.#token.input;
  }

  /** Whether the run keeps what happens, in a log or a checkpoint. */
  get isStored(): boolean {
    return this.#host.isStored;
  }

  /** Whether the run can be stopped, and go on later with the inputs that its nodes had. */
  get isResumable(): boolean {
    return this.#host.flow.isResumable;
  }

  /** What the node asked for when it interrupted the run last; undefined when it never did. */
  get question(): JsonObject | undefined {
    return this.#token.data?.payload;
  }

  /** What other activations of the same node ask for that wait in the same pass. */
  get waitingBeside(): readonly JsonObject[] {
    const { frame, node } = this.#token;
    const payloads: JsonObject[] = [];
    for (let other = frame.first; other !== undefined; other = other.next) {
      const payload = other.data?.payload;
      if (other.node === node && other !== this.#token && other.status === 'waiting' && payload !== undefined)
        payloads.push(payload);
    }
    return payloads;
  }

  /** Keys of the passes through the body that are open, also those of a run that was restored. */
  get openBodies(): readonly string[] {
    return this.#token.frames === undefined ? [] : [...this.#token.frames.keys()];
  }

  /** Ends of the frame that the node is in. */
  get frame(): TypedFrame {
    return this.#token.frame.typed as TypedFrame;
  }

  /** The path of the node: ids of the graphs around it with their rounds, and its own. */
  get path(): string {
    const { frame } = this.#token;
    // No closure where most nodes are.
    if (frame.owner === undefined) return this.#node.name;
    return `${framePath(frame, (index) => nameInPath(this.#host.plan, index))}/${this.#node.name}`;
  }

  /** The value of a node without an edge to this one; undefined when it has not run. */
  read(node: number): { readonly value: unknown } | undefined {
    return this.#token.frame.values.cells.get(node) as { readonly value: unknown } | undefined;
  }

  /** Whether what it says now becomes an event. */
  get isHeard(): boolean {
    return this.#token.isLive && this.#host.isObserved;
  }

  /** Graphs around, the nearest first, with the names of their states; the outermost one has no name of its own. */
  statesAround(): readonly { readonly graph: string | undefined; readonly states: readonly string[] }[] {
    const around: { readonly graph: string | undefined; readonly states: readonly string[] }[] = [];
    for (let frame: Token['frame'] | undefined = this.#token.frame; frame !== undefined; frame = frame.owner?.frame) {
      const graph = frame.owner === undefined ? undefined : nameInPath(this.#host.plan, frame.owner.node);
      around.push({ graph, states: [...(frame.typed?.states.keys() ?? [])] });
    }
    return around;
  }

  stateNamed(name: string): StateCell | undefined {
    return cellOf(this.#token, name);
  }

  /** Changes a state of a graph around. */
  patch(state: string, patch: StatePatch): void {
    this.#host.flow.patch(this.#token, state, patch);
  }

  /** Chunks of a producer that is still at work, from the first one; undefined when it has settled. */
  chunksFrom(producer: number): ChunkReader<unknown> | undefined {
    return this.#host.chunksFrom(this.#token, producer);
  }

  /** The node gives chunks from now on. */
  open(opening: StreamOpening = {}): ChunkStream<unknown> {
    return this.#host.flow.open(this.#token, this, opening);
  }

  /** Gives a chunk. @throws EngineError LIMIT_REACHED when a reader is slower than its edge allows. */
  write(chunk: unknown): void {
    this.out?.write(chunk);
    if (this.#node.typed?.isResult === true) this.frame.output?.write(chunk);
    if (this.#host.isObserved) this.#host.flow.report(this.#token, chunk);
  }

  /** A promise while the node should make no further chunk. */
  room(): Promise<void> | undefined {
    const { output } = this.frame;
    return (
      this.out?.room() ?? (output !== undefined && this.#node.typed?.isResult === true ? output.room() : undefined)
    );
  }

  /** Says something while the node is at work, beside what its function gives. */
  say(event: NodeEvent): void {
    this.#host.receive(this.#token, event);
  }

  closeBody(key: string): void {
    this.#host.closeBody(this.#token, key);
  }

  nameOf(node: string): string {
    const index = indexOfNode(this.#host.plan, node);
    return index === undefined ? node : (this.#host.plan.nodes[index] as Node).name;
  }

  random(): number {
    return this.#host.random();
  }

  now(): number {
    return this.#host.now();
  }

  ready(): Promise<void> | undefined {
    return this.#host.log?.ready();
  }

  stored(): Promise<void> | undefined {
    return this.#host.log?.stored();
  }

  stop(): void {
    this.work?.unsubscribe();
    this.work = undefined;
  }

  /** Raises the node's signal; does nothing when it never read it. */
  abort(): void {
    this.#controller?.abort(STOPPED);
  }
}

/** The activation of a token that was announced. */
export function activationOf(token: Token): NodeActivation {
  return token.activity as NodeActivation;
}

/** What a node function returns. */
export type NodeResult = ReturnType<Node['activate']>;

/** Everything that comes from a node, its failure included. */
export type Report = NodeEvent | Outcome;

/** What the result of a node function stands for: plain outputs settle the node. */
export function toOutcome(result: Outputs | Settled | Interrupt): Settled | Interrupt {
  // A node's outputs are data: only objects made by `settled` and `interrupt` carry these types with their fields.
  const { type } = result as { readonly type?: unknown };
  if (type === 'settled' && 'outputs' in result) return result as Settled;
  if (type === 'interrupt') return result as Interrupt;
  return { type: 'settled', outputs: result as Outputs };
}

/** Whether a node settles later. */
export function isThenable(result: NodeResult): result is Promise<Outputs | Settled | Interrupt> {
  return typeof (result as { readonly then?: unknown }).then === 'function';
}

/** What a promise of a node gives, as an Observable of one value. */
export function fromPromise(result: Promise<Outputs | Settled | Interrupt>): Observable<Report> {
  return new Observable((subscriber) => {
    result.then(
      (value) => subscriber.next(toOutcome(value)),
      (error: unknown) => subscriber.error(error),
    );
  });
}

/** Characters that one node may stream; a model that never stops ends here. */
const MAX_CHARACTERS = 32 * 1024 * 1024;

export class LiveText {
  readonly #pieces: Delta[] = [];
  readonly #arrivals = new Subject<Delta>();
  #characters = 0;

  /** @throws EngineError LIMIT_REACHED when the text grows beyond 32 million characters. */
  append(piece: Delta): void {
    this.#characters += piece.text.length;
    if (this.#characters > MAX_CHARACTERS) {
      throw new EngineError('LIMIT_REACHED', `A node streamed more than ${MAX_CHARACTERS} characters; it was stopped.`);
    }
    this.#pieces.push(piece);
    this.#arrivals.next(piece);
  }

  get isEmpty(): boolean {
    return this.#pieces.length === 0;
  }

  end(): void {
    this.#arrivals.complete();
  }

  /** Every piece from the first, then what comes; completes with the text. */
  read(): Observable<Delta> {
    return new Observable((subscriber) => {
      // By index: a piece that arrives while earlier ones are replayed is taken by this same loop.
      for (let at = 0; at < this.#pieces.length && !subscriber.closed; at += 1) {
        subscriber.next(this.#pieces[at] as Delta);
      }
      return this.#arrivals.subscribe(subscriber);
    });
  }
}
