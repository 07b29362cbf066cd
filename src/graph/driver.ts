/**
 * One run at work: activates the nodes of tokens, applies what they do, and lets the frontier say what may run next.
 */
import { BehaviorSubject, type Observable } from 'rxjs';
import { type EngineError, toEngineError } from '../errors.js';
import type { Json } from '../json.js';
import { Activator, type ActivatorHost } from './activator.js';
import { type BodyHost, openBody } from './bodies.js';
import type { BodyEnd, BodyRound } from './component.js';
import type { DriverOptions, DriverParts } from './driver-options.js';
import type { ErrorInfo, RunUsage } from './events.js';
import { type FailureHost, Failures, infoOf } from './failures.js';
import type { Frontier } from './frontier.js';
import { type JournalRecord, type Recorder, settledRecord } from './journal.js';
import type { Interrupt, NodeEvent, Outputs, Settled } from './node-events.js';
import type { Node, Plan, Variables } from './plan.js';
import type { Reporter } from './reporter.js';
import { passOn } from './saying.js';
import { applyOutcome } from './settle.js';
import { addUsage, type State, snapshot } from './state.js';
import { detachConsumers } from './stream-edges.js';
import { type Frame, leave, retire, type Token } from './token.js';
import { WaveLoop } from './wave-loop.js';
import type { Move, WorkHost } from './work.js';

export class Driver implements ActivatorHost, BodyHost, FailureHost, WorkHost {
  readonly plan: Plan;
  readonly run: string;
  readonly input: Json;
  readonly services: unknown;
  readonly maxSteps: number;
  readonly now: () => number;
  readonly random: () => number;
  readonly #options: DriverOptions;
  readonly reporter: Reporter;
  readonly #frontier: Frontier;
  readonly #root: Frame;
  /** The shared state, for whoever subscribed; made for the first one. */
  #state$: BehaviorSubject<State> | undefined = undefined;
  readonly #loop: WaveLoop;
  readonly #failures: Failures;
  readonly #recorder: Recorder | undefined;
  /** Token and outputs of the node that ran last; 0 and null before. */
  #lastToken = 0;
  #lastOutputs: Outputs | null = null;
  #usage: RunUsage;
  isStopped = false;

  constructor({ plan, frontier, root, last, usage, reporter }: DriverParts, options: DriverOptions) {
    this.plan = plan;
    this.run = options.run;
    this.input = options.input;
    this.services = options.services;
    this.maxSteps = options.maxSteps;
    this.now = options.now;
    this.random = options.random;
    this.#options = options;
    this.reporter = reporter;
    this.#frontier = frontier;
    this.#root = root;
    this.#lastToken = last?.token ?? 0;
    this.#lastOutputs = last?.outputs ?? null;
    this.#usage = usage;
    this.#failures = new Failures(this, reporter);
    this.#recorder = options.recorder;
    this.#loop = new WaveLoop(new Activator(this, frontier, reporter), options.concurrency);
  }

  /** State after every settlement, starting with the current one. */
  get state$(): Observable<State> {
    this.#state$ ??= new BehaviorSubject(this.state);
    return this.#state$.asObservable();
  }

  get state(): State {
    const outputs = this.#lastOutputs;
    const last = outputs === null ? undefined : { token: this.#lastToken, outputs };
    return snapshot(this.#frontier, this.#root, last, this.#usage);
  }

  get usage(): RunUsage {
    return this.#usage;
  }

  get lastOutputs(): Outputs | null {
    return this.#lastOutputs;
  }

  get root(): Frame {
    return this.#root;
  }

  /** Replaces the variables at the end of the run. */
  closeVariables(variables: Variables): void {
    this.#root.values.variables = variables;
  }

  start(ready: Token[]): void {
    this.#root.whenEnded = (status) =>
      this.#options.whenEnded(status === 'interrupted' ? { kind: 'interrupted' } : { kind: 'settled' });
    this.#loop.start(ready, (error) => this.#fail(toEngineError(error, 'INTERNAL')));
    this.#checkFrame(this.#root);
  }

  /** Ends everything at once; nothing is reported afterwards. */
  stop(): void {
    if (this.isStopped) return;
    this.isStopped = true;
    this.stopFrame(this.#root);
    this.#loop.stop();
    this.#state$?.complete();
  }

  skip(token: Token): void {
    const ready: Token[] = [];
    this.#frontier.countStep();
    this.#frontier.drop(token, ready);
    this.#goOn(token.frame, ready);
  }

  takeSlot(token: Token): void {
    this.#loop.takeSlot(token);
  }

  moved(token: Token, move: Move): void {
    if (this.isStopped || !token.isLive) return;
    try {
      if (move.type === 'settled') this.settle(token, move, undefined);
      else this.#interrupt(token, move);
    } catch (error) {
      this.failed(token, error);
    }
  }

  said(token: Token, event: Exclude<NodeEvent, Move>): void {
    if (this.isStopped) return;
    if (event.type === 'usage') this.#usage = addUsage(this.#usage, event);
    passOn(token, this.plan.nodes[token.node] as Node, event, this.reporter, this.#recorder);
  }

  failed(token: Token, thrown: unknown): void {
    if (this.isStopped || !token.isLive) return;
    this.#failures.handle(token, this.plan.nodes[token.node] as Node, thrown);
  }

  settle(token: Token, outcome: Settled, recovered: ErrorInfo | undefined): void {
    if (token.awaits > 0) {
      token.deferred = { outcome, recovered };
      return;
    }
    const { frame } = token;
    const node = this.plan.nodes[token.node] as Node;
    const targets = applyOutcome(this.plan, this.#frontier, token, outcome);
    // Before this node is reported as settled: whoever reads it live says its last words first.
    if (token.live !== undefined) token.live.complete();
    if (this.isStopped) return;
    if (token.id >= this.#lastToken) {
      this.#lastToken = token.id;
      this.#lastOutputs = outcome.outputs;
    }
    if (node.asks) this.reporter.started(token, node);
    this.reporter.settled(token, node, outcome, recovered);
    if (this.isStopped) return;
    this.#recorder?.add(settledRecord(token, outcome));
    if (outcome.exit === true && frame.owner !== undefined && !frame.hasFailed) {
      this.#frontier.countStep();
      this.#endWork(leave(frame));
      this.#goOnWhenKept(frame, []);
      return;
    }
    this.moveTo(token, targets);
  }

  #interrupt(token: Token, event: Interrupt): void {
    const node = this.plan.nodes[token.node] as Node;
    this.release(token);
    if (!token.isLive || this.isStopped) return;
    this.dropConsumers(token);
    token.answer = undefined;
    this.#recorder?.add({ ...event, type: 'waiting', token: token.id });
    this.#frontier.setStatus(token, 'waiting');
    if (event.outputs !== undefined) token.frame.values.cells.set(node.index, event.outputs);
    if (event.payload !== undefined) token.payload = event.payload;
    this.reporter.interrupted(token, node, event);
    const ready: Token[] = [];
    this.#frontier.breakTie(token.frame, ready);
    this.#goOn(token.frame, ready);
  }

  moveTo(token: Token, targets: readonly number[] | undefined): void {
    const mayGoAtOnce = token.startedEarly === undefined && this.#recorder?.isWaitedFor !== true;
    const ready = mayGoAtOnce ? this.#loop.gather() : [];
    this.#frontier.advance(token, targets, ready);
    if (token.startedEarly !== undefined) for (const consumer of token.startedEarly) this.#producerSettled(consumer);
    this.release(token);
    this.#goOnWhenKept(token.frame, ready);
  }

  /** Lets tokens run, or sees that nothing in their frame can move any more. */
  #goOn(frame: Frame, ready: Token[]): void {
    this.#loop.schedule(ready);
    this.#checkFrame(frame);
  }

  /** The state changed: lets tokens run, with durability `sync` as soon as it is kept. */
  #goOnWhenKept(frame: Frame, ready: Token[]): void {
    if (this.#state$?.observed === true) this.#state$.next(this.state);
    this.#recorder?.commit();
    // No closure where nobody is waited for: this is the hot path.
    if (this.#recorder?.isWaitedFor !== true) this.#goOn(frame, ready);
    else this.#recorder.whenKept(() => this.isStopped || this.#goOn(frame, ready));
  }

  record(record: JournalRecord): void {
    this.#recorder?.add(record);
  }

  /** The node starts anew: consumers that read what it said so far are taken back, and start again with it. */
  dropConsumers(producer: Token): void {
    for (const consumer of detachConsumers(producer)) {
      const { work } = consumer;
      this.release(consumer);
      this.skip(consumer);
      work?.stop();
    }
  }

  #producerSettled(consumer: Token): void {
    consumer.awaits -= 1;
    const { deferred } = consumer;
    if (consumer.awaits > 0 || deferred === undefined || this.isStopped) return;
    consumer.deferred = undefined;
    try {
      this.settle(consumer, deferred.outcome, deferred.recovered);
    } catch (error) {
      this.failed(consumer, error);
    }
  }

  /** The first error is what the run ends with; nodes that were announced with the one that failed still have their turn. */
  failRun(error: EngineError): void {
    this.#loop.endWithWave(() => this.#fail(error));
  }

  afterWave(callback: () => void): void {
    this.#loop.whenWaveIsOver(callback);
  }

  #fail(error: EngineError): void {
    if (this.isStopped) return;
    this.stop();
    this.#options.whenEnded({ kind: 'failed', error: infoOf(error) });
  }

  release(token: Token): void {
    token.work = undefined;
    this.#loop.releaseSlot(token);
  }

  schedule(ready: Token[]): void {
    this.#loop.schedule(ready);
  }

  // ── bodies ──────────────────────────────────────────────────────────────────────────────────────────────────────────

  openBody(token: Token, round: BodyRound): Observable<BodyEnd> {
    return openBody(this, token, round);
  }

  begin(frame: Frame, isRestored: boolean): void {
    const { wake } = this.#options;
    if (isRestored && !wake.isTakeover && frame.owner !== undefined) {
      this.reporter.bodyResumed(frame.owner, frame.key, wake.answers);
      this.#recorder?.add({ type: 'woken', token: frame.owner.id, key: frame.key, answers: wake.answers });
    }
    const ready = isRestored ? this.#frontier.wake(frame, wake) : this.#frontier.enter(frame);
    // The tokens of a pass are names for the outside: they must be kept before they are used.
    this.#goOnWhenKept(frame, ready);
  }

  #checkFrame(frame: Frame): void {
    const { whenEnded } = frame;
    if (frame.movingCount > 0 || whenEnded === undefined || this.isStopped) return;
    frame.whenEnded = undefined;
    whenEnded(frame.isLeft ? 'exited' : frame.liveCount === 0 ? 'done' : 'interrupted');
  }

  stopFrame(frame: Frame): void {
    this.#endWork(retire(frame));
  }

  #endWork(tokens: readonly Token[]): void {
    for (const token of tokens) {
      const { work } = token;
      // A slot that this frees may let others start at once, but never one of those that are stopped here.
      if (!this.isStopped) this.release(token);
      work?.stop();
    }
  }
}
