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
import { isObservable, type Observable, Subject, Subscription, timer } from 'rxjs';
import { type EngineError, toEngineError } from '../errors.js';
import type { Json } from '../json.js';
import type { ChunkReader } from '../operators/chunk-reader.js';
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
  toOutcome,
} from './activation.js';
import { Bodies } from './bodies.js';
import { ChunkFlow, nextWave } from './chunk-flow.js';
import { type ErrorInfo, infoOf } from './events.js';
import { Failures, lateError, unfinishedError } from './failures.js';
import { isComing, missing, problemOf, producerBefore } from './frontier.js';
import type { BodyEnd } from './node.js';
import type { BodyRound, Interrupt, Settled } from './node-events.js';
import type { Node, Plan } from './plan.js';
import { type Reporter, SILENT } from './reporter.js';
import type { PerformOptions } from './run-options.js';
import { SharedState } from './shared-state.js';
import type { State } from './state.js';
import { endStates, type Frame, liveProducer, type Token } from './tokens.js';
import { apply, type LiveState } from './transition.js';

/** Stream edges that may follow each other within one wave; further ones wait for the text to be settled. */
const MAX_EARLY_DEPTH = 32;

const STARTED = { type: 'started' } as const;
const SKIPPED = { type: 'skipped' } as const;
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
  #activating = 0;
  readonly #live: LiveState;
  readonly #options: PerformOptions;
  /** Whether successors wait until a settlement is stored. */
  readonly isAwaited: boolean;
  readonly #reporter: Reporter;
  readonly #arrivals = new Subject<Token[]>();
  readonly #subscription = new Subscription();
  /** Made for the first container. */
  #bodies: Bodies | undefined = undefined;
  /** Made for the first node that fails. */
  #failures: Failures | undefined = undefined;
  /** Made for the first node that needs it. */
  #flow: ChunkFlow | undefined = undefined;
  #waves: Waves<Token> | undefined = undefined;
  readonly #shared: SharedState;
  /** What ends bodies, or the run, once the wave under way is over; in this order. */
  readonly #endings: (() => void)[] = [];
  /** The run ends with the wave under way: no consumer is started any more. */
  #isEnding = false;
  /** For changes that make nothing ready. */
  readonly #noneReady: Token[] = [];
  /** The producer that is settling while its last text is read: what ends its consumers then is applied behind it. */
  #completing: Token | undefined = undefined;

  constructor(live: LiveState, reporter: Reporter, options: PerformOptions) {
    this.plan = live.plan;
    this.run = options.run;
    this.input = options.input;
    this.services = options.services;
    this.now = options.now;
    this.random = options.random;
    this.#live = live;
    this.#shared = new SharedState(live);
    this.#options = options;
    this.isAwaited = options.log?.isAwaited === true;
    this.#reporter = reporter;
    this.isObserved = reporter !== SILENT;
    this.isStored = options.isStored;
  }

  get state$(): Observable<State> {
    return this.#shared.state$;
  }

  get flow(): ChunkFlow {
    this.#flow ??= new ChunkFlow(this.#live, this.#reporter, {
      options: this.#options,
      isEnding: () => this.#isEnding,
      start: (tokens) => this.#waves?.performNow(tokens),
    });
    return this.#flow;
  }

  /** Performs the first wave; afterwards the run moves by itself. */
  start(first: Token[]): void {
    const { root } = this.#live;
    const ended = (kind: 'interrupted' | 'settled') => this.#options.ended({ kind });
    root.observer = { ended: (how) => ended(how === 'interrupted' ? how : 'settled'), failed: () => {} };
    const isHeld = this.#options.log !== undefined || this.plan.values !== undefined;
    const ready = isHeld ? () => (this.#whenDrained === undefined ? this.log?.ready() : NEVER) : undefined;
    const changes$ = this.#arrivals.pipe(expandWaves(this, { concurrency: this.#options.concurrency, ready }));
    this.#subscription.add(
      changes$.subscribe({
        next: () => this.#publish(),
        error: (error: unknown) => this.#fail(toEngineError(error, 'INTERNAL')),
      }),
    );
    this.#arrivals.next(root.scope.typed?.isLockstep === true ? nextWave(root, first) : first);
    this.#checkFrame(root);
  }

  /** Begins nothing new; `whenDrained` is called once, when what is at work has ended. */
  drain(whenDrained: () => void): void {
    this.#whenDrained ??= whenDrained;
    this.#checkDrained();
  }

  #checkDrained(): void {
    if (this.isStopped || this.#activating > 0) return;
    // Containers only wait for their bodies; a node whose function has not returned is at work.
    for (const token of this.#waves?.running() ?? []) if (!this.#nodeOf(token).isContainer) return;
    this.#whenDrained?.();
  }

  /** Stops all work at once; nothing is reported afterwards. */
  stop(): void {
    if (this.isStopped) return;
    this.isStopped = true;
    this.#subscription.unsubscribe();
    this.#publish();
    this.#shared.end();
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
    if (isEnd) this.failRun(problem);
    if (problem !== undefined) return isEnd ? undefined : { type: 'error', error: problem };
    const activation = activationOf(token);
    // A node of a typed plan starts them when it opens its stream.
    const isText = node.streamsTo.length > 0 && node.typed === undefined;
    if (isText && !this.#isEnding) this.#startConsumers(token, node, activation);
    if (this.isStopped) return undefined;
    this.#reporter.timePasses();
    let result: NodeResult;
    this.#activating += 1;
    try {
      result = node.activate(activation);
    } catch (error) {
      return { type: 'error', error };
    } finally {
      this.#activating -= 1;
    }
    // A node of a typed plan gives events alone, and mostly its end.
    if (node.typed !== undefined && 'type' in result && result.type === 'settled') return result as Settled;
    return isObservable(result) ? result : isThenable(result) ? fromPromise(result) : toOutcome(result);
  }

  /** Consumers on stream edges and containers only wait for others, so they take no slot and can never starve them. */
  begin(token: Token, work: Subscription): boolean {
    activationOf(token).work = work;
    return token.awaits === 0 && !this.#nodeOf(token).isContainer;
  }

  /** The node's work has not ended at once: its clock starts. */
  continues(token: Token, work: Inner<Token, Report>): void {
    const node = this.#nodeOf(token);
    const late = (): void => work.fail(lateError(node, activationOf(token)));
    if (node.timeoutMs !== undefined) work.add(timer(node.timeoutMs).subscribe(late));
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
    const ids = missing.map((index) => (this.plan.nodes[index] as Node).id);
    this.#reporter.skipped(token, node, ids);
    if (this.isStopped) return;
    this.#add(ready);
    this.#checkFrame(token.frame);
  }

  /** Before the producer reports its first text, so that the consumers are reported as started before any of it. */
  #startConsumers(token: Token, node: Node, activation: NodeActivation): void {
    activation.text = new LiveText();
    if (this.flow.depth < MAX_EARLY_DEPTH) this.flow.startReaders(token, node);
  }

  get log(): ActivationHost['log'] {
    return this.#options.log;
  }

  openBody(token: Token, round: BodyRound, live?: LiveEnds): Observable<BodyEnd> {
    this.#bodies ??= new Bodies(this.#live, this.#reporter, this.#options, this);
    return this.#bodies.open(token, round, live);
  }

  closeBody(token: Token, key: string): void {
    this.#bodies?.close(token, key);
  }

  // ── a node of a typed plan; see `chunk-flow.ts` ─────────────────────────────────────────────────────────────────────────

  chunksFrom(consumer: Token, producer: number): ChunkReader<unknown> | undefined {
    const token = this.#producerOf(consumer, producer);
    return token === undefined ? undefined : activationOf(token).out?.reader();
  }

  liveText(consumer: Token, producer: number): LiveText | undefined {
    const token = this.#producerOf(consumer, producer);
    return token === undefined ? undefined : activationOf(token).text;
  }

  /** A producer that is at work, or about to settle, and that a consumer was started with. */
  #producerOf(consumer: Token, producer: number): Token | undefined {
    const completing = this.#completing;
    const isCompleting = completing?.node === producer && completing.startedEarly?.includes(consumer) === true;
    return isCompleting ? completing : liveProducer(consumer, producer);
  }

  // ── a node reports ────────────────────────────────────────────────────────────────────────────────────────────────────────

  isLast({ type }: Report): boolean {
    return type === 'settled' || type === 'interrupt' || type === 'error';
  }

  failure(error: unknown): Report {
    return { type: 'error', error };
  }

  unfinished(token: Token): Report {
    return { type: 'error', error: unfinishedError(this.#nodeOf(token)) };
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
    this.#shared.hasChanged = true;
    if (this.#completing?.startedEarly?.includes(token) === true) {
      activationOf(token).deferred = { outcome: outcome as Outcome, recovered: undefined };
      return;
    }
    if (outcome.type === 'error') {
      this.#failed(token, outcome.error, next);
      return;
    }
    try {
      if (outcome.type === 'settled') this.settle(token, outcome, undefined, next);
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

  paused(): void {
    this.#reporter.timePasses();
  }

  settle(token: Token, outcome: Settled, recovered: ErrorInfo | undefined, next: Token[]): void {
    const activation = activationOf(token);
    if (token.awaits > 0) {
      activation.deferred = { outcome, recovered };
      return;
    }
    const consumers = token.startedEarly;
    const isDirect = consumers === undefined && !this.isAwaited && token.frame.scope.typed?.isLockstep !== true;
    const ready = isDirect ? next : [];
    const settlement = this.isStored && this.plan.values !== undefined ? this.flow.storable(token, outcome) : outcome;
    apply(this.#live, token, settlement, ready);
    if (activation.text !== undefined) this.#endStream(token, activation.text);
    if (activation.out !== undefined) this.#endStream(token, activation.out);
    if (this.isStopped) return;
    const node = this.#nodeOf(token);
    if (node.asks) this.#reporter.started(token, node);
    this.#reporter.settled(token, node, settlement, recovered);
    if (this.isStopped) return;
    this.stopRemoved();
    if (consumers !== undefined) for (const consumer of consumers) this.#producerSettled(consumer, next);
    this.proceed(token.frame, ready, next);
  }

  /** The node's last text, or chunk, is read before the node is reported as settled; what its readers do then is applied behind it. */
  #endStream(token: Token, stream: { end(): void }): void {
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
    else this.settle(consumer, outcome, recovered, next);
  }

  #interrupt(token: Token, event: Interrupt, next: Token[]): void {
    apply(this.#live, token, event, next);
    activationOf(token).text = undefined;
    this.stopRemoved();
    this.#reporter.interrupted(token, this.#nodeOf(token), event);
    if (this.isStopped) return;
    if (token.frame.scope.typed?.isLockstep === true)
      this.#proceedNow(token.frame, nextWave(token.frame, []), undefined);
    this.#checkFrame(token.frame);
  }

  // ── a node fails: see `failures.ts` ───────────────────────────────────────────────────────────────────────────────────────

  #failed(token: Token, thrown: unknown, next: Token[]): void {
    this.#failures ??= new Failures(this.#live, this.#reporter, this);
    this.#failures.handle(token, thrown, next);
  }

  closeFailed(frame: Frame, owner: Token, error: EngineError): void {
    // The container is told of the first error; nodes that were announced with the one that failed have had their turn.
    this.#endings.push(() => {
      const { observer, key } = frame;
      if (this.isStopped || !owner.isLive || observer === undefined) return;
      this.#bodies?.close(owner, key);
      observer.failed(error);
    });
  }

  failRun(error: EngineError): void {
    this.#isEnding = true;
    this.#endings.push(() => this.#fail(error));
  }

  tryLater(token: Token, delayMs: number): Subscription {
    const pause = timer(delayMs).subscribe(() => {
      this.#subscription.remove(pause);
      this.#add([token]);
    });
    this.#subscription.add(pause);
    return pause;
  }

  #fail(error: EngineError): void {
    if (this.isStopped) return;
    this.stop();
    this.#options.ended({ kind: 'failed', error: infoOf(error), cause: error });
  }

  /** Lets tokens run, with durability `sync` as soon as what made them ready is stored. */
  proceed(frame: Frame, ready: Token[], next: Token[] | undefined): void {
    if (frame.scope.typed?.isLockstep !== true) this.#proceedNow(frame, ready, next);
    else this.#proceedNow(frame, nextWave(frame, ready), undefined);
  }

  #proceedNow(frame: Frame, ready: Token[], next: Token[] | undefined): void {
    // No closure where nothing is waited for: this is the hot path. What starts when the frame has ended waits for its own settlement.
    if (this.isAwaited && ready.length > 0) {
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
    if (removed.length > 0) for (const token of removed.splice(0)) token.activity?.stop();
  }

  #publish(): void {
    // While the last text of a producer is read its settlement is not reported yet.
    if (this.#completing === undefined) this.#shared.publish();
  }

  #nodeOf(token: Token): Node {
    return this.plan.nodes[token.node] as Node;
  }
}
