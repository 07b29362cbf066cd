/** What a running node sees of its run: the engine's side of `Activation`. */
import { EMPTY, type Observable, of } from 'rxjs';
import { parseReference } from '../dsl/reference.js';
import { renderValue } from '../dsl/render-value.js';
import { type Lookup, readReference, type ValueSource } from '../dsl/resolve.js';
import type { Json } from '../json.js';
import type { Activation, BodyEnd, BodyRound } from './component.js';
import { type Delta, delta, type Outputs } from './node-events.js';
import { indexOfNode, type Node, type Plan } from './plan.js';
import { liveText } from './stream-edges.js';
import type { Token } from './token.js';
import { FrameSource } from './values.js';

/** Why the signal of an activation was aborted; shared, because making one with its stack costs most of an abort. */
const STOPPED = new DOMException('The node was stopped before it settled.', 'AbortError');

/** What an activation needs of the run it belongs to. */
export interface ActivationHost {
  readonly plan: Plan;
  readonly run: string;
  readonly input: Json;
  readonly services: unknown;
  random(): number;
  now(): number;
  openBody(token: Token, round: BodyRound): Observable<BodyEnd>;
}

/** One activation; also owns its lazy AbortController. */
export class ActivationView implements Activation {
  readonly #host: ActivationHost;
  readonly #token: Token;
  readonly #node: Node;
  #source: ValueSource | undefined = undefined;
  #controller: AbortController | undefined = undefined;

  constructor(host: ActivationHost, token: Token, node: Node) {
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
  get attempt(): number {
    return this.#token.attempt;
  }
  get run(): string {
    return this.#host.run;
  }
  get input(): Json {
    return this.#host.input;
  }
  get answer(): Json | undefined {
    return this.#token.answer;
  }
  get nodeState(): Json | undefined {
    return this.#token.nodeState;
  }
  get outputs(): Outputs {
    return this.#token.frame.values.cells.get(this.#node.index) ?? {};
  }
  get closing(): boolean {
    return this.#token.frame.isClosing;
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
      const live = comesLive ? liveText(this.#token, producer) : undefined;
      if (live !== undefined) return live;
    }
    const found = readReference(parsed, this.source);
    const text = found.status === 'found' ? renderValue(found.value) : '';
    return text === '' ? EMPTY : of(delta('content', text));
  }

  runBody(round: BodyRound): Observable<BodyEnd> {
    return this.#host.openBody(this.#token, round);
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

  /** Tells the node that it is no longer wanted; does nothing when it never looked at its signal. */
  abort(): void {
    this.#controller?.abort(STOPPED);
  }
}
