/**
 * Asynchronous work of one node: a promise or a stream of events, with its clock.
 *
 * Inside an activation branching is `partition` and `merge` (the operator `route`): what moves the graph goes one way, what
 * only streams out goes the other.
 */
import { ignoreElements, isObservable, type Observable, Subscription, tap, timer } from 'rxjs';
import { EngineError } from '../errors.js';
import { route } from '../operators/route.js';
import type { ActivationView } from './activation.js';
import type { Interrupt, NodeEvent, Outputs, Settled } from './node-events.js';
import type { Node } from './plan.js';
import type { Token, Work } from './token.js';

/** What a node function may return. */
export type NodeResult = ReturnType<Node['activate']>;

/** An event that ends an activation. */
export type Move = Settled | Interrupt;

/** Who is told what the work does. */
export interface WorkHost {
  moved(token: Token, move: Move): void;
  said(token: Token, event: Exclude<NodeEvent, Move>): void;
  failed(token: Token, error: unknown): void;
}

const isMove = (event: NodeEvent): event is Move => event.type === 'settled' || event.type === 'interrupt';

/** What plain outputs stand for. */
export function toMove(result: Outputs | Move): Move {
  // A node's outputs are data: only objects made by `settled` and `interrupt` carry these types with their fields.
  const { type } = result as { readonly type?: unknown };
  if (type === 'settled' && 'outputs' in result) return result as Settled;
  if (type === 'interrupt') return result as Interrupt;
  return { type: 'settled', outputs: result as Outputs };
}

export function isThenable(result: NodeResult): result is Promise<Outputs | Settled | Interrupt> {
  return typeof (result as { readonly then?: unknown }).then === 'function';
}

/** Follows work until it moves, fails or is stopped. */
export class NodeWork implements Work {
  readonly #host: WorkHost;
  readonly #token: Token;
  readonly #node: Node;
  readonly #view: ActivationView;
  readonly #subscription = new Subscription();
  #isOver = false;

  constructor(host: WorkHost, token: Token, node: Node, view: ActivationView) {
    this.#host = host;
    this.#token = token;
    this.#node = node;
    this.#view = view;
  }

  follow(result: Promise<Outputs | Settled | Interrupt> | Observable<NodeEvent>): void {
    if (isObservable(result)) this.#followStream(result);
    else this.#followPromise(result);
    if (!this.#isOver) this.#startClock();
  }

  stop(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#subscription.unsubscribe();
    this.#view.abort();
  }

  #followPromise(result: Promise<Outputs | Settled | Interrupt>): void {
    result.then(
      (value) => this.#end(() => this.#host.moved(this.#token, toMove(value))),
      (error: unknown) => this.#end(() => this.#host.failed(this.#token, error)),
    );
  }

  #followStream(events$: Observable<NodeEvent>): void {
    const routed$ = events$.pipe(
      route(isMove, {
        matched: (moves$) => moves$.pipe(tap((move) => this.#end(() => this.#host.moved(this.#token, move)))),
        rest: (said$) =>
          said$.pipe(
            tap((event) => {
              if (!this.#isOver) this.#host.said(this.#token, event as Exclude<NodeEvent, Move>);
            }),
            // Nobody reads what comes out, and nearly every event of a node is a piece of text that would go through it.
            ignoreElements(),
          ),
      }),
    );
    this.#subscription.add(
      routed$.subscribe({
        error: (error: unknown) => this.#end(() => this.#host.failed(this.#token, error)),
        complete: () =>
          this.#end(() =>
            this.#host.failed(
              this.#token,
              new EngineError(
                'NODE_PROTOCOL',
                `Node "${this.#node.id}" ended without settling; the last event of a node is "settled" or "interrupt".`,
                { node: this.#node.id },
              ),
            ),
          ),
      }),
    );
  }

  #startClock(): void {
    const { timeoutMs, id } = this.#node;
    if (timeoutMs === undefined) return;
    const late = () => {
      const error = new EngineError(
        'NODE_TIMEOUT',
        `Node "${id}" did not finish within ${timeoutMs / 1000} s; raise its timeout or make its work smaller.`,
        { node: id },
      );
      this.stop();
      this.#host.failed(this.#token, error);
    };
    this.#subscription.add(timer(timeoutMs).subscribe(late));
  }

  /** The first end wins; whatever the work says afterwards is ignored. */
  #end(report: () => void): void {
    if (this.#isOver) return;
    this.#isOver = true;
    report();
    this.#subscription.unsubscribe();
  }
}
