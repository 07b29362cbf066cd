/**
 * One run at work: performs the nodes of tokens, applies what they do, and reports it.
 *
 * ```text
 *  ready tokens ─> announce ─> perform: node.activate(activation) ─┬─ outcome ──────────────────┐
 *      ^                                                          └─ Observable of events ─────┤
 *      │                                                                                       v
 *      └───────────── frontier: who may run next <── apply(state, token, change) <── settled / interrupted / failed
 * ```
 *
 * The loop is the operator `expandWaves`, which merges the Observables of nodes, bounds and stops them. Here is what happens at each turn.
 */
import { BehaviorSubject, isObservable, Observable, Subject, Subscription, timer } from 'rxjs';
import { EngineError, toEngineError } from '../errors.js';
import type { Json } from '../json.js';
import type { ChunkReader } from '../operators/chunk-reader.js';
import { ChunkStream } from '../operators/chunk-stream.js';
import { expandWaves, type Inner, type Waves, type WaveWorker } from '../operators/expand-waves.js';
import {
  type ActivationHost,
  activationOf,
  fromPromise,
  isThenable,
  type LiveEnds,
  LiveText,
  NodeActivation,
  type NodeResult,
  type Outcome,
  type Report,
  type StreamOpening,
  toOutcome,
} from './activation.js';
import { Bodies } from './bodies.js';
import { type ErrorInfo, errorOutputs, infoOf } from './events.js';
import { isComing, missing, problemOf, producerBefore } from './frontier.js';
import type { BodyEnd } from './node.js';
import { type BodyRound, delta, type Interrupt, type Settled, settled } from './node-events.js';
import type { ErrorHandling, Node, Plan } from './plan.js';
import { type Reporter, SILENT } from './reporter.js';
import type { PerformOptions } from './run-options.js';
import type { State } from './state.js';
import type { StatePatch } from './state-cell.js';
import { endStates, type Frame, liveProducer, type Token, type TypedFrame } from './tokens.js';
import { apply, type LiveState } from './transition.js';
import { storeValue, type TypedNode, type ValueCodec } from './typed.js';

/** Stream edges that may follow each other within one wave; further ones wait for the text to be settled. */
const MAX_EARLY_DEPTH = 32;

const STARTED = { type: 'started' } as const;
const STREAMING = { type: 'streaming' } as const;
const SKIPPED = { type: 'skipped' } as const;

/** Readers of chunks that start within each other; further ones start when the chunks are all there. */
const MAX_EARLY_CHUNKS = 256;

const NEVER = new Promise<void>(() => {});

/** One run at work. */
export class Performance implements WaveWorker<Token, Report>, ActivationHost {
  readonly plan: Plan;
  readonly run: string;
  readonly input: Json;
  readonly services: unknown;
  readonly now: () => number;
  readonly random: () => number;
  isStopped = false;
  readonly isObserved: boolean;
  readonly isStored: boolean;
  /** Called when nothing that was at work is left, after the run was told to begin nothing new. */
  #whenDrained: (() => void) | undefined = undefined;
  readonly #live: LiveState;
  readonly #options: PerformOptions;
  /** Whether successors wait until a settlement is stored. */
  readonly #isAwaited: boolean;
  readonly #reporter: Reporter;
  readonly #arrivals = new Subject<Token[]>();
  readonly #subscription = new Subscription();
  /** Made for the first container. */
  #bodies: Bodies | undefined = undefined;
  #waves: Waves<Token> | undefined = undefined;
  /** The shared state, made for its first subscriber. */
  #state$: BehaviorSubject<State> | undefined = undefined;
  /** What ends bodies, or the run, once the wave under way is over; in this order. */
  readonly #endings: (() => void)[] = [];
  /** The run ends with the wave under way: no consumer is started any more. */
  #isEnding = false;
  #earlyDepth = 0;
  /** An activation has ended since the last State was published. */
  #hasChanged = false;
  /** For changes that make nothing ready. */
  readonly #noneReady: Token[] = [];
  /** The producer that is settling while its last text is read: what ends its consumers then is applied behind it. */
  #completing: Token | undefined = undefined;
  /** Errors that were already reported for the node they happened in. */
  #reported: Set<EngineError> | undefined = undefined;

  constructor(live: LiveState, reporter: Reporter, options: PerformOptions) {
    this.plan = live.plan;
    this.run = options.run;
    this.input = options.input;
    this.services = options.services;
    this.now = options.now;
    this.random = options.random;
    this.#live = live;
    this.#options = options;
    this.#isAwaited = options.log?.isAwaited === true;
    this.#reporter = reporter;
    this.isObserved = reporter !== SILENT;
    this.isStored = options.isStored;
  }

  /** The current State, then one after every change that ends an activation; completes with the run. */
  get state$(): Observable<State> {
    return new Observable((subscriber) => {
      const { state } = this.#live;
      this.#state$ ??= new BehaviorSubject(state);
      if (!this.#state$.observed && !this.isStopped) this.#state$.next(state);
      return this.#state$.subscribe(subscriber);
    });
  }

  /** Performs the first wave; afterwards the run moves by itself. */
  start(first: Token[]): void {
    const { root } = this.#live;
    root.observer = {
      ended: (status) => this.#options.ended(status === 'interrupted' ? { kind: 'interrupted' } : { kind: 'settled' }),
      failed: () => {},
    };
    const isHeldUp = this.#options.log !== undefined || this.plan.values !== undefined;
    const ready = isHeldUp ? () => (this.#whenDrained === undefined ? this.ready() : NEVER) : undefined;
    const changes$ = this.#arrivals.pipe(expandWaves(this, { concurrency: this.#options.concurrency, ready }));
    this.#subscription.add(
      changes$.subscribe({
        next: () => this.#publish(),
        error: (error: unknown) => this.#fail(toEngineError(error, 'INTERNAL')),
      }),
    );
    if (root.scope.typed?.isLockstep === true) this.proceed(root, first, undefined);
    else this.#arrivals.next(first);
    this.#checkFrame(root);
  }

  /** Begins nothing new; `whenDrained` is called once, when what is at work has ended. */
  drain(whenDrained: () => void): void {
    this.#whenDrained ??= whenDrained;
    this.#checkDrained();
  }

  #checkDrained(): void {
    const whenDrained = this.#whenDrained;
    if (whenDrained === undefined || this.isStopped) return;
    // Containers only wait for what is in their bodies.
    for (const token of this.#waves?.running() ?? []) if (!this.#nodeOf(token).isContainer) return;
    whenDrained();
  }

  /** Stops all work at once; nothing is reported afterwards. */
  stop(): void {
    if (this.isStopped) return;
    this.isStopped = true;
    this.#subscription.unsubscribe();
    this.#publish();
    this.#state$?.complete();
    endStates(this.#live.root);
  }

  /** Reports that a node starts, unless it cannot: a node that reads what has no value and gets none is passed over. */
  announce(token: Token): void {
    if (!token.isLive) return;
    const node = this.#nodeOf(token);
    if (node.needs.length > 0) {
      const absent = missing(token, node);
      if (!isComing(token, absent)) {
        this.#skip(token, node, absent);
        return;
      }
    }
    apply(this.#live, token, STARTED, this.#noneReady);
    const before = token.activity as NodeActivation | undefined;
    // It was put off after it had been announced.
    if (before !== undefined && !before.isRetried) return;
    const activation = new NodeActivation(this, token, node, before === undefined ? 1 : before.attempt + 1);
    activation.startedAt = this.#reporter.time();
    token.activity = activation;
    if (!node.asks) this.#reporter.started(token, node);
  }

  /** Starts the node, its consumers on stream edges first. */
  perform(token: Token, waves: Waves<Token>): Report | Observable<Report> | undefined {
    if (!token.isLive) return undefined;
    this.#waves ??= waves;
    const node = this.#nodeOf(token);
    if (node.needs.length > 0 && this.#isPutOff(token, node)) return undefined;
    const problem = problemOf(this.plan, token, this.#live.frontier.step, this.#options.maxSteps);
    const isEnd = problem?.code === 'RUN_STEPS_EXCEEDED';
    if (isEnd) this.#failRun(problem);
    if (problem !== undefined) return isEnd ? undefined : { type: 'error', error: problem };
    const activation = activationOf(token);
    // A node of a typed plan starts them when it opens its stream.
    const isText = node.streamsTo.length > 0 && node.typed === undefined;
    if (isText && !this.#isEnding) this.#startConsumers(token, node, activation, waves);
    if (this.isStopped) return undefined;
    let result: NodeResult;
    try {
      result = node.activate(activation);
    } catch (error) {
      return { type: 'error', error };
    }
    if (isObservable(result)) return result;
    return isThenable(result) ? fromPromise(result) : toOutcome(result);
  }

  /** Consumers on stream edges and containers only wait for others, so they take no slot and can never starve them. */
  begin(token: Token, work: Subscription): boolean {
    activationOf(token).work = work;
    return token.awaits === 0 && !this.#nodeOf(token).isContainer;
  }

  /** The node's work has not ended at once: its clock starts. */
  continues(token: Token, work: Inner<Token, Report>): void {
    const { timeoutMs, id } = this.#nodeOf(token);
    if (timeoutMs === undefined) return;
    const late = () => {
      const message = `Node "${id}" did not finish within ${timeoutMs / 1000} s; raise its timeout or make its work smaller.`;
      const error = new EngineError('NODE_TIMEOUT', message, { node: id });
      activationOf(token).lateness = error;
      work.fail(error);
    };
    work.add(timer(timeoutMs).subscribe(late));
  }

  stopped(token: Token): void {
    activationOf(token).abort();
  }

  /** Whether the node cannot run yet: it waits for a node beside it whose output it reads, or is passed over. */
  #isPutOff(token: Token, node: Node): boolean {
    const absent = missing(token, node);
    const [first] = absent;
    if (first === undefined) return false;
    const producer = producerBefore(token, first);
    if (producer === undefined || !isComing(token, absent)) this.#skip(token, node, absent);
    else apply(this.#live, token, { type: 'put-off', producer }, this.#noneReady);
    return true;
  }

  #skip(token: Token, node: Node, missing: readonly number[]): void {
    const ready: Token[] = [];
    apply(this.#live, token, SKIPPED, ready);
    this.#reporter.skipped(token, node, this.#idsOf(missing));
    if (this.isStopped) return;
    this.#add(ready);
    this.#checkFrame(token.frame);
  }

  /** Before the producer reports its first text, so that the consumers are reported as started before any of it. */
  #startConsumers(token: Token, node: Node, activation: NodeActivation, waves: Waves<Token>): void {
    activation.text = new LiveText();
    if (this.#earlyDepth >= MAX_EARLY_DEPTH) return;
    const early: Token[] = [];
    apply(this.#live, token, STREAMING, early);
    this.#reporter.streaming(token, node);
    this.#earlyDepth += 1;
    waves.performNow(early);
    this.#earlyDepth -= 1;
  }

  ready(): Promise<void> | undefined {
    return this.#options.log?.ready();
  }

  openBody(token: Token, round: BodyRound, live?: LiveEnds): Observable<BodyEnd> {
    this.#bodies ??= new Bodies(this.#live, this.#reporter, this.#options, this);
    return this.#bodies.open(token, round, live);
  }

  closeBody(token: Token, key: string): void {
    this.#bodies?.close(token, key);
  }

  // ── a node of a typed plan ────────────────────────────────────────────────────────────────────────────────────────────────

  openStream(token: Token, activation: NodeActivation, { next, onUnread }: StreamOpening): ChunkStream<unknown> {
    const node = this.#nodeOf(token);
    const { typed, frame } = { typed: node.typed as TypedNode, frame: token.frame };
    const output = typed.isResult ? frame.typed?.output : undefined;
    const isDeep = this.#earlyDepth >= MAX_EARLY_CHUNKS;
    const isLockstep = frame.scope.typed?.isLockstep === true;
    const isNeeded = typed.keepsChunks || isDeep || isLockstep || typed.isResult;
    const isKept = this.isStored || (isNeeded && !(typed.isResult && output !== undefined && !typed.keepsChunks));
    const stream = new ChunkStream<unknown>({
      ...typed.edge,
      name: node.id,
      isKept,
      onUnread: isNeeded ? undefined : onUnread,
    });
    activation.out = stream;
    if (output !== undefined) output.open();
    if (isDeep || isLockstep || this.#isEnding || (next === undefined && node.streamsTo.length === 0)) return stream;
    const early: Token[] = [];
    apply(this.#live, token, { type: 'streaming', next }, early);
    this.#reporter.streaming(token, node, next);
    this.#earlyDepth += 1;
    this.#waves?.performNow(early);
    this.#earlyDepth -= 1;
    return stream;
  }

  reportChunk(token: Token, chunk: unknown): void {
    const activation = activationOf(token);
    const node = this.#nodeOf(token);
    // What a reader passes on is reported there, what comes out of a body was reported in it.
    activation.isTextReported ??=
      node.body === -1 && (token.startedEarly === undefined || token.startedEarly.length === 0);
    if (activation.isTextReported) this.#reporter.chunk(token, node, chunk);
  }

  patch(token: Token, state: string, patch: StatePatch): void {
    const { values } = this.plan;
    const stored = values !== undefined && this.isStored ? storeValue(values, patch, `$.${state}`) : undefined;
    apply(this.#live, token, { type: 'patched', state, patch }, this.#noneReady);
    this.#reporter.patched(token, this.#nodeOf(token), state, patch, stored);
  }

  chunksFrom(consumer: Token, producer: number): ChunkReader<unknown> | undefined {
    const completing = this.#completing;
    const isCompleting = completing?.node === producer && completing.startedEarly?.includes(consumer) === true;
    const token = isCompleting ? completing : liveProducer(consumer, producer);
    return token === undefined ? undefined : activationOf(token).out?.reader();
  }

  liveText(consumer: Token, producer: number): LiveText | undefined {
    const completing = this.#completing;
    const isCompleting = completing?.node === producer && completing.startedEarly?.includes(consumer) === true;
    const token = isCompleting ? completing : liveProducer(consumer, producer);
    return token === undefined ? undefined : activationOf(token).text;
  }

  // ── a node reports ────────────────────────────────────────────────────────────────────────────────────────────────────────

  isLast({ type }: Report): boolean {
    return type === 'settled' || type === 'interrupt' || type === 'error';
  }

  failure(error: unknown): Report {
    return { type: 'error', error };
  }

  unfinished(token: Token): Report {
    const { id } = this.#nodeOf(token);
    const message = `Node "${id}" ended without settling; the last event of a node is "settled" or "interrupt".`;
    return { type: 'error', error: new EngineError('NODE_PROTOCOL', message, { node: id }) };
  }

  /** Dispatches what a node reports while it is at work. */
  receive(token: Token, event: Report): void {
    if (this.isStopped || !token.isLive) return;
    const node = this.#nodeOf(token);
    switch (event.type) {
      case 'delta': {
        const activation = activationOf(token);
        activation.text?.append(event);
        // Over a stream edge the consumer passes the text on; reporting it here too would double the log.
        activation.isTextReported ??= token.startedEarly === undefined;
        if (activation.isTextReported) this.#reporter.delta(token, node, event);
        return;
      }
      case 'progress':
        apply(this.#live, token, event, this.#noneReady);
        this.#reporter.progress(token, node, event);
        return;
      case 'usage':
        apply(this.#live, token, event, this.#noneReady);
        this.#reporter.usage(token, node, event);
        return;
      case 'call':
        this.#reporter.call(token, node, event);
        return;
      case 'notice':
        this.#reporter.notice(token, node, event);
    }
  }

  /** The activation is over: it settled, waits or failed. */
  apply(token: Token, outcome: Report, next: Token[]): void {
    if (this.isStopped || !token.isLive) return;
    this.#hasChanged = true;
    if (this.#completing?.startedEarly?.includes(token) === true) {
      activationOf(token).deferred = { outcome: outcome as Outcome, recovered: undefined };
      return;
    }
    if (outcome.type === 'error') {
      this.#failed(token, outcome.error, next);
      return;
    }
    try {
      if (outcome.type === 'settled') this.#settle(token, outcome, undefined, next);
      else this.#interrupt(token, outcome as Interrupt, next);
    } catch (error) {
      this.#failed(token, error, next);
    }
  }

  waveEnded(): void {
    // An ending may add another: a body that fails can fail the run.
    for (let at = 0; at < this.#endings.length; at += 1) this.#endings[at]?.();
    while (this.#endings.length > 0) this.#endings.pop();
    if (this.#whenDrained !== undefined) this.#checkDrained();
  }

  #settle(token: Token, outcome: Settled, recovered: ErrorInfo | undefined, next: Token[]): void {
    const activation = activationOf(token);
    if (token.awaits > 0) {
      activation.deferred = { outcome, recovered };
      return;
    }
    const consumers = token.startedEarly;
    const isDirect = consumers === undefined && !this.#isAwaited && token.frame.scope.typed?.isLockstep !== true;
    const ready = isDirect ? next : [];
    const settlement = this.isStored && this.plan.values !== undefined ? this.#storable(token, outcome) : outcome;
    apply(this.#live, token, settlement, ready);
    if (activation.text !== undefined) this.#completeText(token, activation.text);
    if (activation.out !== undefined) this.#endChunks(token, activation.out);
    if (this.isStopped) return;
    const node = this.#nodeOf(token);
    if (node.asks) this.#reporter.started(token, node);
    this.#reporter.settled(token, node, settlement, recovered);
    if (this.isStopped) return;
    this.stopRemoved();
    if (consumers !== undefined) for (const consumer of consumers) this.#producerSettled(consumer, next);
    this.proceed(token.frame, ready, next);
  }

  /** Before anything changes: a value that cannot be stored fails its node. */
  #storable(token: Token, outcome: Settled): Settled {
    const stored = storeValue(this.plan.values as ValueCodec, outcome.value, activationOf(token).path);
    return this.#options.log === undefined ? outcome : { ...outcome, stored };
  }

  /** The node's last text is read before the node is reported as settled; what its readers do then is applied behind it. */
  #completeText(token: Token, text: LiveText): void {
    const around = this.#completing;
    this.#completing = token;
    text.complete();
    this.#completing = around;
  }

  #endChunks(token: Token, stream: ChunkStream<unknown>): void {
    const around = this.#completing;
    this.#completing = token;
    stream.end();
    this.#completing = around;
  }

  #producerSettled(consumer: Token, next: Token[]): void {
    // A consumer that became ready behind this wave has no activation yet.
    const activation = consumer.activity as NodeActivation | undefined;
    const deferred = activation?.deferred;
    if (activation === undefined || deferred === undefined || consumer.awaits > 0 || this.isStopped) return;
    activation.deferred = undefined;
    const { outcome, recovered } = deferred;
    if (outcome.type !== 'settled' || recovered === undefined) this.apply(consumer, outcome, next);
    else this.#settle(consumer, outcome, recovered, next);
  }

  #interrupt(token: Token, event: Interrupt, next: Token[]): void {
    apply(this.#live, token, event, next);
    activationOf(token).text = undefined;
    this.stopRemoved();
    this.#reporter.interrupted(token, this.#nodeOf(token), event);
    if (this.isStopped) return;
    if (token.frame.scope.typed?.isLockstep === true) this.#proceedInStep(token.frame, []);
    this.#checkFrame(token.frame);
  }

  // ── a node fails: it is tried again, a default value stands in, other nodes run instead, or the error goes to the body around ──

  #failed(token: Token, thrown: unknown, next: Token[]): void {
    const node = this.#nodeOf(token);
    const error = toEngineError(thrown, 'NODE_FAILED', { node: node.id });
    const info = infoOf(error, node.id);
    const { retry, onError } = node;
    if (retry !== undefined && error.retryable && activationOf(token).attempt < retry.attempts) {
      this.#tryAgain(token, node, info, retry.delayMs, next);
    } else if (onError?.method === 'default') {
      this.#substitute(token, onError, info, next);
    } else if (onError?.method === 'continue-at' && onError.targets.length > 0) {
      const ready = this.#isAwaited ? [] : next;
      const outputs = errorOutputs(info);
      const ids = this.#idsOf(onError.targets);
      apply(this.#live, token, { type: 'failed', handling: 'goto', outputs, next: ids }, ready);
      this.#reporter.failed(token, node, info, outputs, 'goto', ids);
      if (!this.isStopped) this.proceed(token.frame, ready, next);
    } else {
      this.#propagate(token, node, error, info);
    }
  }

  #tryAgain(token: Token, node: Node, info: ErrorInfo, delayMs: number, next: Token[]): void {
    const activation = activationOf(token);
    const outputs = errorOutputs(info);
    activation.isRetried = true;
    apply(this.#live, token, { type: 'failed', handling: 'retry', outputs }, next);
    this.stopRemoved();
    this.#reporter.failed(token, node, info, outputs, 'retry');
    if (this.isStopped || !token.isLive) return;
    const pause = timer(delayMs).subscribe(() => {
      this.#subscription.remove(pause);
      this.#add([token]);
    });
    this.#subscription.add(pause);
    activation.work = pause;
  }

  #substitute(token: Token, { outputs, next: ids }: ErrorHandling, info: ErrorInfo, next: Token[]): void {
    const { text } = activationOf(token);
    // Readers of a stream that never began get the default value as its text.
    if (text?.isEmpty === true) {
      for (const value of Object.values(outputs)) text.append(delta('content', String(value)));
    }
    this.#settle(token, settled(outputs, ids === undefined ? {} : { next: ids }), info, next);
  }

  /** Nothing handles the error here: the body around fails with it, or the run. */
  #propagate(token: Token, node: Node, error: EngineError, info: ErrorInfo): void {
    const { frame } = token;
    const { owner } = frame;
    this.#reported ??= new Set();
    if (!this.#reported.has(error)) {
      this.#reported.add(error);
      const outputs = errorOutputs(info);
      const handling = owner === undefined ? 'run' : 'body';
      apply(this.#live, token, { type: 'failed', handling, outputs }, this.#noneReady);
      this.#reporter.failed(token, node, info, outputs, handling);
    }
    if (owner === undefined) this.#failRun(error);
    // The container is told of the first error; nodes that were announced with the one that failed have had their turn.
    else this.#endings.push(() => this.#closeFailed(frame, owner, error));
  }

  #closeFailed(frame: Frame, owner: Token, error: EngineError): void {
    const { observer, key } = frame;
    if (this.isStopped || !owner.isLive || observer === undefined) return;
    this.#bodies?.close(owner, key);
    observer.failed(error);
  }

  /** The first error is what the run ends with; nodes that were announced with the one that failed still have their turn. */
  #failRun(error: EngineError): void {
    this.#isEnding = true;
    this.#endings.push(() => this.#fail(error));
  }

  #fail(error: EngineError): void {
    if (this.isStopped) return;
    this.stop();
    this.#options.ended({ kind: 'failed', error: infoOf(error), cause: error });
  }

  /** Lets tokens run, with durability `sync` as soon as what made them ready is stored. */
  proceed(frame: Frame, ready: Token[], next: Token[] | undefined): void {
    if (frame.scope.typed?.isLockstep === true) {
      this.#proceedInStep(frame, ready);
      return;
    }
    this.#proceedNow(frame, ready, next);
  }

  /** A node of the wave has ended, or the frame begins: the next wave begins when all of this one have. */
  #proceedInStep(frame: Frame, ready: readonly Token[]): void {
    const typed = frame.typed as TypedFrame;
    typed.parked.push(...ready);
    typed.open = Math.max(0, typed.open - 1);
    if (typed.open > 0) return;
    const wave = typed.parked.splice(0).filter(({ isLive }) => isLive);
    typed.open = wave.length;
    this.#proceedNow(frame, wave, undefined);
  }

  #proceedNow(frame: Frame, ready: Token[], next: Token[] | undefined): void {
    // No closure where nothing is waited for: this is the hot path. What starts when the frame has ended waits for its own settlement.
    if (this.#isAwaited && ready.length > 0) {
      this.#options.log?.afterCommit(() => {
        if (this.isStopped) return;
        this.#add(ready);
        this.#checkFrame(frame);
      });
      return;
    }
    if (next === undefined) this.#add(ready);
    else if (ready !== next) for (const token of ready) next.push(token);
    this.#checkFrame(frame);
  }

  #add(ready: Token[]): void {
    if (this.#waves === undefined) this.#arrivals.next(ready);
    else this.#waves.add(ready);
  }

  /** Ends a frame in which nothing can move by itself any more. */
  #checkFrame(frame: Frame): void {
    const { observer } = frame;
    if (frame.movingCount > 0 || observer === undefined || this.isStopped) return;
    frame.observer = undefined;
    observer.ended(frame.isLeft ? 'exited' : frame.liveCount === 0 ? 'done' : 'interrupted');
  }

  /** Stops the work of tokens that the last change took out of the run. */
  stopRemoved(): void {
    const { removed } = this.#live;
    if (removed.length === 0) return;
    for (const token of removed.splice(0)) token.activity?.stop();
  }

  #publish(): void {
    // While the last text of a producer is read its settlement is not reported yet.
    if (!this.#hasChanged || this.#completing !== undefined || this.#state$?.observed !== true) return;
    this.#hasChanged = false;
    this.#state$.next(this.#live.state);
  }

  #nodeOf(token: Token): Node {
    return this.plan.nodes[token.node] as Node;
  }

  #idsOf(nodes: readonly number[]): readonly string[] {
    return nodes.map((index) => (this.plan.nodes[index] as Node).id);
  }
}
