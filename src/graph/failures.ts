/** A node fails: it is tried again, a default value stands in, other nodes run instead, or the error goes to the body around. */
import type { Unsubscribable } from 'rxjs';
import { EngineError, errorAt, movedError, toEngineError } from '../errors.js';
import { activationOf, type NodeActivation } from './activation.js';
import { type ErrorInfo, errorOutputs, infoOf } from './events.js';
import { delta, type Settled, settled } from './node-events.js';
import type { ErrorHandling, Node, Plan } from './plan.js';
import type { Reporter } from './reporter.js';
import type { Frame, Token } from './tokens.js';
import { apply, type LiveState } from './transition.js';

/** What the run does about it. */
interface FailingRun {
  readonly isStopped: boolean;
  /** Whether successors wait until a settlement is stored. */
  readonly isAwaited: boolean;
  settle(token: Token, outcome: Settled, recovered: ErrorInfo | undefined, next: Token[]): void;
  proceed(frame: Frame, ready: Token[], next: Token[] | undefined): void;
  stopRemoved(): void;
  /** Lets a token run again after a pause, which unsubscribing ends. */
  tryLater(token: Token, delayMs: number): Unsubscribable;
  /** Ends a body with an error once the wave under way is over. */
  closeFailed(frame: Frame, owner: Token, error: EngineError): void;
  /** Ends the run so. The first error is what it ends with; nodes that were announced with the one that failed still have their turn. */
  failRun(error: EngineError): void;
}

/** The failures of one run. */
export class Failures {
  readonly #plan: Plan;
  readonly #live: LiveState;
  readonly #reporter: Reporter;
  readonly #run: FailingRun;
  /** Errors that were already reported for the node they happened in. */
  readonly #reported = new Set<EngineError>();
  readonly #noneReady: Token[] = [];

  constructor(live: LiveState, reporter: Reporter, run: FailingRun) {
    this.#plan = live.plan;
    this.#live = live;
    this.#reporter = reporter;
    this.#run = run;
  }

  /** @param next receives tokens that may run because of it */
  handle(token: Token, thrown: unknown, next: Token[]): void {
    const node = this.#plan.nodes[token.node] as Node;
    const failure = toEngineError(thrown, 'NODE_FAILED', { node: node.id });
    const error = node.typed === undefined ? failure : errorIn(failure, node, activationOf(token).path);
    const info = infoOf(error, node.id);
    const { onError } = node;
    if (isTriedAgain(node, error, activationOf(token).attempt)) {
      this.#tryAgain(token, node, info, next);
    } else if (onError?.method === 'default') {
      this.#substitute(token, onError, info, next);
    } else if (onError?.method === 'continue-at' && onError.targets.length > 0) {
      const ready = this.#run.isAwaited ? [] : next;
      const outputs = errorOutputs(info);
      const ids = onError.targets.map((index) => (this.#plan.nodes[index] as Node).id);
      apply(this.#live, token, { type: 'failed', handling: 'goto', outputs, next: ids }, ready);
      this.#reporter.failed(token, node, info, outputs, 'goto', ids);
      if (!this.#run.isStopped) this.#run.proceed(token.frame, ready, next);
    } else {
      this.#propagate(token, node, error, info);
    }
  }

  #tryAgain(token: Token, node: Node, info: ErrorInfo, next: Token[]): void {
    const activation = activationOf(token);
    const outputs = errorOutputs(info);
    activation.isRetried = true;
    apply(this.#live, token, { type: 'failed', handling: 'retry', outputs }, next);
    this.#run.stopRemoved();
    this.#reporter.failed(token, node, info, outputs, 'retry');
    if (this.#run.isStopped || !token.isLive) return;
    activation.work = this.#run.tryLater(token, node.retry?.delayMs ?? 0);
  }

  #substitute(token: Token, { outputs, next: ids }: ErrorHandling, info: ErrorInfo, next: Token[]): void {
    const { text } = activationOf(token);
    // Readers of a stream that never began get the default value as its text.
    if (text?.isEmpty === true) {
      for (const value of Object.values(outputs)) text.append(delta('content', String(value)));
    }
    this.#run.settle(token, settled(outputs, ids === undefined ? {} : { next: ids }), info, next);
  }

  /** Nothing handles the error here: the body around fails with it, or the run. */
  #propagate(token: Token, node: Node, error: EngineError, info: ErrorInfo): void {
    const { frame } = token;
    const { owner } = frame;
    if (!this.#reported.has(error)) {
      this.#reported.add(error);
      const outputs = errorOutputs(info);
      const handling = owner === undefined ? 'run' : 'body';
      apply(this.#live, token, { type: 'failed', handling, outputs }, this.#noneReady);
      this.#reporter.failed(token, node, info, outputs, handling);
    }
    if (owner === undefined) this.#run.failRun(error);
    else this.#run.closeFailed(frame, owner, error);
  }
}

/** The error with the path of its node in the run: ids in the plan are paths without rounds, `each/send` for `each[3]/send`. */
function errorIn(failure: EngineError, { id, name }: Node, path: string): EngineError {
  const error = errorAt(failure, path);
  // It may be about a node beside this one.
  const around = id.slice(0, -name.length);
  const { node = '' } = error;
  if (id === path || !node.startsWith(around)) return error;
  return movedError(error, path.slice(0, -name.length) + node.slice(around.length));
}

/** In a typed plan every error of a step's own code may pass; other errors say it themselves. */
function isTriedAgain({ retry, typed }: Node, error: EngineError, attempt: number): boolean {
  const mayPass = error.retryable || (typed !== undefined && error.code === 'NODE_FAILED');
  return retry !== undefined && mayPass && attempt < retry.attempts;
}

/** The error of a node that took longer than it may; the activation keeps it, so that what is stopped can tell why. */
export function lateError({ id, typed, timeoutMs = 0 }: Node, activation: NodeActivation): EngineError {
  const where = typed === undefined ? id : activation.path;
  const message = `Node "${where}" did not finish within ${timeoutMs / 1000} s; raise its timeout or make its work smaller.`;
  const error = new EngineError('NODE_TIMEOUT', message, { node: id });
  activation.lateness = error;
  return error;
}

/** The error of a node whose Observable completed without an outcome. */
export function unfinishedError({ id }: Node): EngineError {
  const message = `Node "${id}" ended without settling; the last event of a node is "settled" or "interrupt".`;
  return new EngineError('NODE_PROTOCOL', message, { node: id });
}
