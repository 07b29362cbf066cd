/**
 * What happens when a node fails, in this order: it is tried again, a default value stands in for its result, other nodes take
 * over, or the error goes to the body around and in the end to the run.
 */
import { timer } from 'rxjs';
import { type EngineError, toEngineError } from '../errors.js';
import type { ErrorInfo, NodeFailed } from './events.js';
import type { JournalRecord } from './journal.js';
import { delta, type Settled, settled } from './node-events.js';
import type { ErrorHandling, Node, Plan } from './plan.js';
import type { Reporter } from './reporter.js';
import type { Frame, Token } from './token.js';

/** What handling a failure needs of the run. */
export interface FailureHost {
  readonly plan: Plan;
  /** The node's work is over: its slot is free. */
  release(token: Token): void;
  /** Writes a change of the state into the journal. */
  record(record: JournalRecord): void;
  /** Takes back the consumers that were started before the node settled. */
  dropConsumers(token: Token): void;
  /** Lets the token run (again). */
  schedule(ready: Token[]): void;
  settle(token: Token, outcome: Settled, recovered: ErrorInfo): void;
  /** Goes on at other nodes. */
  moveTo(token: Token, targets: readonly number[]): void;
  stopFrame(frame: Frame): void;
  failRun(error: EngineError): void;
  /** Calls back when the nodes that were announced together have had their turn. */
  afterWave(callback: () => void): void;
}

export class Failures {
  readonly #host: FailureHost;
  readonly #reporter: Reporter;
  /** Errors that were already reported for the node they happened in. */
  #reported: Set<EngineError> | undefined = undefined;

  constructor(host: FailureHost, reporter: Reporter) {
    this.#host = host;
    this.#reporter = reporter;
  }

  handle(token: Token, node: Node, thrown: unknown): void {
    const error = toEngineError(thrown, 'NODE_FAILED', { node: node.id });
    const info = infoOf(error, node.id);
    this.#host.release(token);
    if (!token.isLive) return;
    if (node.retry !== undefined && error.retryable && token.attempt < node.retry.attempts) {
      this.#tryAgain(token, node, info, node.retry.delayMs);
    } else if (node.onError?.method === 'comment') {
      this.#substitute(token, node.onError, info);
    } else if (node.onError?.method === 'goto' && node.onError.targets.length > 0) {
      const { targets } = node.onError;
      this.#report(token, node, info, 'goto', this.#idsOf(targets));
      this.#host.record({ type: 'rerouted', token: token.id, outputs: errorOutputs(info), targets });
      this.#host.moveTo(token, targets);
    } else {
      this.#propagate(token, node, error, info);
    }
  }

  #tryAgain(token: Token, node: Node, info: ErrorInfo, delayMs: number): void {
    this.#report(token, node, info, 'retry');
    // Whoever heard of the failure may have stopped the run.
    if (!token.isLive) return;
    this.#host.dropConsumers(token);
    this.#host.record({ type: 'restarted', token: token.id });
    token.attempt += 1;
    const pause = timer(delayMs).subscribe(() => {
      token.work = undefined;
      this.#host.schedule([token]);
    });
    token.work = { stop: () => pause.unsubscribe() };
  }

  #substitute(token: Token, { outputs, next }: ErrorHandling, info: ErrorInfo): void {
    // Readers of a stream that never began get the default value as its text.
    if (token.live?.isEmpty === true) {
      for (const text of Object.values(outputs)) token.live.append(delta('content', String(text)));
    }
    this.#host.settle(token, settled(outputs, next === undefined ? {} : { next }), info);
  }

  /** Nobody handles the error here: the body around fails with it, or the run. */
  #propagate(token: Token, node: Node, error: EngineError, info: ErrorInfo): void {
    const { frame } = token;
    const { owner } = frame;
    // Made when first needed: most runs have no failure, and a set costs more than starting a run.
    this.#reported ??= new Set();
    if (!this.#reported.has(error)) {
      this.#reported.add(error);
      this.#report(token, node, info, owner === undefined ? 'run' : 'body');
      this.#host.record({ type: 'failed', token: token.id, outputs: errorOutputs(info) });
    }
    if (owner === undefined) {
      this.#host.failRun(error);
      return;
    }
    if (frame.hasFailed) return;
    frame.hasFailed = true;
    this.#host.afterWave(() => this.#closeBody(frame, owner, error));
  }

  /** The container hears of the first error; nodes that were announced with the one that failed have had their turn. */
  #closeBody(frame: Frame, owner: Token, error: EngineError): void {
    const { whenFailed, key } = frame;
    if (!owner.isLive || whenFailed === undefined) return;
    this.#host.stopFrame(frame);
    owner.frames?.delete(key);
    this.#reporter.bodyClosed(owner, key);
    this.#host.record({ type: 'closed', token: owner.id, key });
    whenFailed(error);
  }

  #idsOf(nodes: readonly number[]): readonly string[] {
    return nodes.map((index) => (this.#host.plan.nodes[index] as Node).id);
  }

  #report(token: Token, node: Node, info: ErrorInfo, then: NodeFailed['then'], next?: readonly string[]): void {
    const outputs = errorOutputs(info);
    if (then !== 'retry') token.frame.values.cells.set(node.index, outputs);
    this.#reporter.failed(token, node, info, outputs, then, next);
  }
}

/** What other nodes can read of a node that failed. */
function errorOutputs({ message }: ErrorInfo): Settled['outputs'] {
  return { _ERROR: message };
}

/** An error as events carry it. */
export function infoOf(error: EngineError, node: string | undefined = error.node): ErrorInfo {
  return { code: error.code, message: error.message, ...(node === undefined ? {} : { node }) };
}
