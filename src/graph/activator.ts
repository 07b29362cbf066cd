/** Starting nodes: whether they can run, their stream consumers first, then their function. */
import { Observable } from 'rxjs';
import { EngineError } from '../errors.js';
import { type ActivationHost, ActivationView } from './activation.js';
import type { Frontier } from './frontier.js';
import type { JournalRecord } from './journal.js';
import { LiveText } from './live-text.js';
import type { Node } from './plan.js';
import type { Reporter } from './reporter.js';
import { liveProducer } from './stream-edges.js';
import type { Token } from './token.js';
import type { WaveHost } from './wave-loop.js';
import { isThenable, type NodeResult, NodeWork, toMove, type WorkHost } from './work.js';

/** Stream edges that may follow each other within one wave; further ones wait for the text to be settled. */
const MAX_EARLY_DEPTH = 32;

/** What starting a node needs of the run. */
export interface ActivatorHost extends ActivationHost, WorkHost {
  readonly isStopped: boolean;
  /** Settlements that the run may take. */
  readonly maxSteps: number;
  failRun(error: EngineError): void;
  /** Writes a change of the state into the journal. */
  record(record: JournalRecord): void;
  /** The node is passed over. */
  skip(token: Token): void;
  /** The token's work goes on after its activation. */
  takeSlot(token: Token): void;
}

export class Activator implements WaveHost {
  readonly #host: ActivatorHost;
  readonly #frontier: Frontier;
  readonly #reporter: Reporter;
  #earlyDepth = 0;

  constructor(host: ActivatorHost, frontier: Frontier, reporter: Reporter) {
    this.#host = host;
    this.#frontier = frontier;
    this.#reporter = reporter;
  }

  /** Reports that a node starts, unless it cannot: a node that reads what has no value and gets none is passed over. */
  announce(token: Token): void {
    const node = this.#node(token);
    if (node.needs.length > 0) {
      const missing = this.#missing(token, node);
      if (!this.#isComing(token, missing)) {
        this.#skip(token, node, missing);
        return;
      }
    }
    this.#frontier.setStatus(token, 'running');
    if (token.wasPutOff) return;
    token.startedAt = this.#host.now();
    if (!node.asks) this.#reporter.started(token, node);
  }

  activate(token: Token, isEnding = false): void {
    const node = this.#node(token);
    if (node.needs.length > 0 && this.#isPutOff(token, node)) return;
    const problem = this.#problem(node);
    if (problem !== undefined) {
      if (problem.code === 'RUN_STEPS_EXCEEDED') this.#host.failRun(problem);
      else this.#host.failed(token, problem);
      return;
    }
    if (node.streamsTo.length > 0 && !isEnding) this.#startConsumers(token);
    if (this.#host.isStopped) return;
    const view = new ActivationView(this.#host, token, node);
    let result: NodeResult;
    try {
      result = node.activate(view);
    } catch (error) {
      this.#host.failed(token, error);
      return;
    }
    if (result instanceof Observable || isThenable(result)) this.#follow(token, node, view, result);
    else this.#host.moved(token, toMove(result));
  }

  #problem(node: Node): EngineError | undefined {
    if (this.#frontier.step >= this.#host.maxSteps) {
      const message = `The run took ${this.#host.maxSteps} steps without ending; node "${node.id}" was next. Raise maxSteps or check its loops.`;
      return new EngineError('RUN_STEPS_EXCEEDED', message, { node: node.id });
    }
    if (node.unknownNeeds.length > 0) {
      const unknown = node.unknownNeeds.map((id) => `"${id}"`).join(', ');
      const message = `Node "${node.id}" reads ${unknown}, but there is no such node in this canvas.`;
      return new EngineError('REFERENCE_UNRESOLVED', message, { node: node.id });
    }
    return undefined;
  }

  /** Whether the node cannot run yet: it waits for a node beside it whose output it reads, or is passed over. */
  #isPutOff(token: Token, node: Node): boolean {
    const missing = this.#missing(token, node);
    const [first] = missing;
    if (first === undefined) return false;
    const producer = producerBefore(token, first);
    if (producer === undefined || !this.#isComing(token, missing)) this.#skip(token, node, missing);
    else this.#frontier.putOff(token, producer);
    return true;
  }

  #skip(token: Token, node: Node, missing: readonly number[]): void {
    const ids = missing.map((index) => (this.#host.plan.nodes[index] as Node).id);
    this.#reporter.skipped(token, node, ids);
    this.#host.record({ type: 'skipped', token: token.id });
    this.#host.skip(token);
  }

  /** The nodes that this one needs and that have given nothing. */
  #missing(token: Token, node: Node): number[] {
    const { cells } = token.frame.values;
    return node.needs.filter((needed) => cells.get(needed) === undefined && liveProducer(token, needed) === undefined);
  }

  /** Whether all that is missing is on its way, from nodes that were reached before this one. */
  #isComing(token: Token, missing: readonly number[]): boolean {
    return missing.every((needed) => producerBefore(token, needed) !== undefined);
  }

  #follow(token: Token, node: Node, view: ActivationView, result: Parameters<NodeWork['follow']>[0]): void {
    const work = new NodeWork(this.#host, token, node, view);
    token.work = work;
    // Consumers on stream edges and containers only wait for others, so they take no slot and can never starve them.
    const takesSlot = !node.isContainer && token.awaits === 0;
    work.follow(result);
    if (takesSlot && token.work === work && token.isLive && token.status === 'running') this.#host.takeSlot(token);
  }

  /** Before the producer says its first word, so that the consumers are reported as started before any text. */
  #startConsumers(token: Token): void {
    token.live = new LiveText();
    if (this.#earlyDepth >= MAX_EARLY_DEPTH) return;
    const early: Token[] = [];
    this.#reporter.streaming(token, this.#node(token));
    this.#host.record({ type: 'streaming', token: token.id });
    this.#frontier.startStreaming(token, early);
    this.#earlyDepth += 1;
    for (const consumer of early) if (!this.#host.isStopped) this.announce(consumer);
    for (const consumer of early) if (consumer.isLive && !this.#host.isStopped) this.activate(consumer);
    this.#earlyDepth -= 1;
  }

  #node(token: Token): Node {
    return this.#host.plan.nodes[token.node] as Node;
  }
}

/** A token of `needed` beside this one that was given before it and is about to run or at work. */
function producerBefore({ frame, id }: Token, needed: number): Token | undefined {
  for (let other = frame.first; other !== undefined; other = other.next) {
    if (other.node === needed && other.id < id && (other.status === 'ready' || other.status === 'running'))
      return other;
  }
  return undefined;
}
