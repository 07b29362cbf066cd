/** Starting a run: as an Observable of events, or as a Promise of its end. */
import { randomUUID } from 'node:crypto';
import { EMPTY, NEVER, Observable, type Subscription, switchMap, timer } from 'rxjs';
import { EngineError, toEngineError } from '../errors.js';
import type { Json } from '../json.js';
import { requireList, requireObject } from '../operators/invalid-option.js';
import { answeredState, freshState, recoveredState, resumedState } from './beginnings.js';
import type { PendingQuestion, RunEvent, TerminalEvent, Unstamped } from './events.js';
import { LogWriter, storedEvent, storedInput } from './log.js';
import type { Outputs } from './node-events.js';
import { Performance } from './perform.js';
import type { Plan, Variables } from './plan.js';
import { EventReporter, pendingQuestions, SILENT } from './reporter.js';
import { Retractions } from './retractions.js';
import { checkOptions, type RunEnd, type RunOptions, type RunOutcome, type Start } from './run-options.js';
import { readCheckpoint, stateFromJson, stateToJson } from './snapshot.js';
import { type Checkpoint, NO_USAGE, type State } from './state.js';
import type { Token } from './tokens.js';
import type { LiveState } from './transition.js';
import type { ValueCodec } from './typed.js';

/**
 * Runs a plan. Cold: one subscription is one run, unsubscribing stops it at once.
 *
 * Errors of nodes are events, not errors of the stream: it completes after exactly one of `run-settled`, `run-interrupted`,
 * `run-failed`, `run-cancelled`.
 *
 * @throws EngineError OPTION_INVALID at once; PLAN_CHANGED, CHECKPOINT_INVALID through the stream.
 */
export function run(plan: Plan, start: Start, options: RunOptions = {}): Observable<RunEvent> {
  requirePlanAndStart('run', plan, start);
  checkOptions(options);
  return new Observable<RunEvent>((subscriber) => {
    const subscription = new RunSubscription(plan, start, options, {
      event: (event) => subscriber.next(event),
      closed: (error) => (error === undefined ? subscriber.complete() : subscriber.error(error)),
    });
    subscriber.add(() => subscription.dispose());
    subscription.start();
  });
}

/**
 * Runs a plan without an observer: unless it has a log no event is built, which makes it several times faster.
 *
 * @throws EngineError as `run`; a failed run is an outcome, not an error.
 */
export function execute(plan: Plan, start: Start, options: RunOptions = {}): Promise<RunOutcome> {
  requirePlanAndStart('execute', plan, start);
  checkOptions(options);
  return new Promise((resolve, reject) => {
    let outcome: RunOutcome | undefined;
    const subscription = new RunSubscription(plan, start, options, {
      ended: (end) => {
        outcome = end;
      },
      closed: (error) => (error === undefined && outcome !== undefined ? resolve(outcome) : reject(error)),
    });
    subscription.start();
  });
}

/**
 * The same as an Observable of the outcome, which begins at once and synchronously. Cold; unsubscribing stops the run without an outcome.
 *
 * ```text
 * run       --------(end)
 * result    --------(outcome|)
 * ```
 */
export function outcomeOf(plan: Plan, start: Start, options: RunOptions = {}): Observable<RunOutcome> {
  checkOptions(options);
  return new Observable((subscriber) => {
    const subscription = new RunSubscription(plan, start, options, {
      ended: (end) => subscriber.next(end),
      closed: (error) => (error === undefined ? subscriber.complete() : subscriber.error(error)),
    });
    subscriber.add(() => subscription.dispose());
    subscription.start();
  });
}

function requirePlanAndStart(owner: string, plan: Plan, start: Start): void {
  requireList(owner, 'plan', plan?.nodes, 'a plan, as planOf(…) gives it');
  requireObject(owner, 'start', start, 'an object with "input"');
}

/** A checkpoint of a State, as JSON. */
export function checkpointOf(plan: Plan, state: State, run: string, at: number, seq: number): Checkpoint {
  return { version: 1, run, planHash: plan.hash, at, seq, state: stateToJson(plan, state) };
}

/** @throws EngineError PLAN_CHANGED when a checkpoint belongs to another graph. */
export function requirePlan(plan: Plan, { run, planHash }: Checkpoint): void {
  if (planHash === plan.hash) return;
  const message = `Checkpoint of run "${run}" belongs to another version of the graph (${planHash}, now ${plan.hash}); resume it with the version it was started with.`;
  throw new EngineError('PLAN_CHANGED', message);
}

/** A run that is ready to start. */
interface Prepared {
  readonly live: LiveState;
  /** The first wave. */
  readonly ready: Token[];
  readonly input: Json;
  /** For the forms of bodies that continue. */
  readonly answers: Json | undefined;
  /** `answered`: resumed with answers for some of the nodes that wait; the bodies around them go on where they were. */
  readonly kind: 'fresh' | 'resumed' | 'answered' | 'recovered';
  readonly retractions?: Retractions;
}

/**
 * From what a run is started with to its state in working form.
 *
 * @param isStored The run is stored, so its input has to be storable. @default false
 * @throws EngineError PLAN_CHANGED when the checkpoint belongs to another graph, CHECKPOINT_INVALID when it cannot be read,
 * VALUE_NOT_STORABLE.
 */
export function prepare(plan: Plan, start: Start, now: number, run: string, isStored = false): Prepared {
  const open = (variables: Variables, input: Json, resumed: boolean) =>
    plan.hooks.open?.(variables, input, { resumed, now }) ?? variables;
  const ready: Token[] = [];
  if (!('checkpoint' in start)) {
    const { input, variables } = start;
    const { chunks } = start;
    const whole = plan.values === undefined || chunks !== undefined ? undefined : { value: input };
    // Before anything runs whose results would be lost with it.
    if (whole !== undefined && isStored) storedInput(plan.values as ValueCodec, input);
    const live = freshState(plan, open(variables ?? plan.variables, input, false), ready, whole);
    if (live.root.typed !== undefined) live.root.typed.source = chunks;
    return { live, ready, input, answers: undefined, kind: 'fresh' };
  }
  const checkpoint = readCheckpoint(start.checkpoint);
  requirePlan(plan, checkpoint);
  const stored = stateFromJson(plan, checkpoint.state);
  // A fork and the next turn are other runs: they have taken no step and used nothing yet.
  const state = checkpoint.run === run ? stored : { ...stored, step: 0, usage: NO_USAGE };
  const { recovery, answers, answerOf } = start;
  if (answerOf !== undefined) {
    const isRecovered = recovery !== undefined;
    return {
      live: answeredState(plan, state, answerOf, ready, { isRecovered }),
      ready,
      input: inputOf(plan, checkpoint),
      answers: undefined,
      kind: isRecovered ? 'recovered' : 'answered',
      ...(recovery && { retractions: new Retractions(plan, state, recovery.starts) }),
    };
  }
  if (recovery !== undefined) {
    // Its variables were opened when it began, and its forms still wait for their answers.
    const usage = state.usage ?? NO_USAGE;
    return {
      live: recoveredState(plan, state, usage, ready),
      ready,
      input: checkpoint.input ?? {},
      answers: undefined,
      kind: 'recovered',
      retractions: new Retractions(plan, state, recovery.starts),
    };
  }
  const input: Json = answers ?? {};
  const live = resumedState(plan, { ...state, variables: open(state.variables, input, true) }, answers, ready);
  return { live, ready, input, answers, kind: 'resumed' };
}

/** What a run was started with. A typed plan has its values as JSON in the checkpoint. */
function inputOf({ values }: Plan, { input }: Checkpoint): Json {
  return input === undefined || values === undefined ? (input ?? null) : (values.fromJson(input) as Json);
}

/**
 * Who is told of a run. Given when it is made: V8 puts a function that is assigned to a property into old space at once, where it keeps all
 * of its run until the next full collection.
 */
interface Told {
  /** Undefined: no event is built unless there is a log. */
  readonly event?: (event: RunEvent) => void;
  /** Told of the outcome behind `whenEnded` of the options. */
  readonly ended?: (end: RunOutcome) => void;
  readonly closed: (error?: unknown) => void;
}

/** One subscription: a performance, its reporter, and the ends of a run that come from outside. */
class RunSubscription {
  readonly #plan: Plan;
  readonly #start: Start;
  readonly #options: RunOptions;
  readonly #run: string;
  readonly #now: () => number;
  readonly #told: Told;
  readonly #reporter: EventReporter | undefined;
  readonly #startedAt: number;
  #prepared: Prepared | undefined = undefined;
  #performance: Performance | undefined = undefined;
  #log: LogWriter | undefined = undefined;
  #timer: Subscription | undefined = undefined;
  #drain: Subscription | undefined = undefined;
  #endListening: (() => void) | undefined = undefined;
  #isOver = false;
  /** Depth of calls into the listener: a cancel from within an event waits until that event is delivered. */
  #delivering = 0;
  #cancelled = false;

  constructor(plan: Plan, start: Start, options: RunOptions, told: Told) {
    this.#plan = plan;
    this.#start = start;
    this.#options = options;
    this.#run = options.run ?? randomUUID().replaceAll('-', '');
    this.#now = options.now ?? Date.now;
    this.#startedAt = options.startedAt ?? this.#now();
    this.#told = told;
    const { log } = options;
    if (log !== undefined) {
      this.#log = new LogWriter({
        log,
        durability: options.durability ?? 'async',
        checkpoint: () => this.#checkpoint(),
        minBytes: options.historyBytes,
        whenBroken: (error) => this.#end({ kind: 'failed', error: errorInfo(error) }),
      });
    }
    if (log !== undefined || told.event !== undefined) {
      const deliver = (event: RunEvent) => this.#deliver(event);
      const isForLog = told.event === undefined;
      this.#reporter = new EventReporter(plan, this.#run, this.#now, options.seq ?? this.#lastSeq, deliver, isForLog);
    }
  }

  /** Number of the last event that the run's log has. */
  get #lastSeq(): number {
    const start = this.#start;
    // What is no checkpoint is refused where it is read.
    const isSame = 'checkpoint' in start && (start.checkpoint as Checkpoint | null)?.run === this.#run;
    return isSame ? (start.recovery?.seq ?? 0) : 0;
  }

  start(): void {
    try {
      const prepared = prepare(this.#plan, this.#start, this.#now(), this.#run, this.#isStored);
      const { input, kind, retractions } = prepared;
      this.#prepared = prepared;
      this.#performance = this.#perform(prepared);
      this.#log?.begin();
      this.#options.watch?.(this.#performance.state$);
      const { signal, timeoutMs, drain$, output } = this.#options;
      const { typed } = prepared.live.root;
      if (typed !== undefined) typed.output = output;
      if (drain$ !== undefined) this.#drainWhen(drain$);
      if (signal?.aborted === true) this.#cancelled = true;
      else if (signal !== undefined) this.#listenTo(signal);
      if (timeoutMs !== undefined) this.#timer = timer(timeoutMs).subscribe(() => this.#timedOut(timeoutMs));
      if (retractions !== undefined) this.#reporter?.retract(retractions);
      const isSame = kind === 'recovered' && 'checkpoint' in this.#start && this.#start.checkpoint.run === this.#run;
      const recovered = isSame ? ({ recovered: true } as const) : {};
      this.#reporter?.report({ type: 'run-started', input, resumed: kind !== 'fresh', ...recovered });
      if (this.#cancelled) this.#close({ kind: 'cancelled' });
      // Persist the first snapshot before any node has an effect: token ids serve as idempotency keys.
      else if (this.#log?.isAwaited === true && !this.#startsRepeatable(prepared))
        this.#log.afterCommit(() => this.#begin(prepared));
      else this.#begin(prepared);
    } catch (error) {
      this.dispose();
      this.#told.closed(error);
    }
  }

  /** Whether the run begins with nodes that may run again, unnoticed, when its start is lost: their settlements are stored with it. */
  #startsRepeatable({ kind, ready }: Prepared): boolean {
    return kind === 'fresh' && ready.every(({ node }) => this.#plan.nodes[node]?.isRepeatable === true);
  }

  /** Stops the run without another event. */
  dispose(): void {
    this.#isOver = true;
    this.#endListening?.();
    this.#timer?.unsubscribe();
    this.#drain?.unsubscribe();
    this.#performance?.stop();
  }

  #begin({ ready }: Prepared): void {
    try {
      if (!this.#isOver) this.#performance?.start(ready);
    } catch (error) {
      this.dispose();
      this.#told.closed(error);
    }
  }

  #perform({ live, input, answers, kind }: Prepared): Performance {
    const { services, concurrency = 5, maxSteps = 10_000_000, random = Math.random } = this.#options;
    return new Performance(live, this.#reporter ?? SILENT, {
      run: this.#run,
      input,
      answers,
      isRecovered: kind === 'recovered' || kind === 'answered',
      isStored: this.#isStored,
      isResumable: this.#isStored || this.#options.isResumable === true,
      services,
      concurrency,
      maxSteps,
      now: this.#now,
      random,
      log: this.#log,
      ended: (end) => this.#close(end),
    });
  }

  #checkpoint(): Checkpoint {
    const { live, input } = this.#prepared as Prepared;
    const checkpoint = checkpointOf(this.#plan, live.state, this.#run, this.#now(), this.#reporter?.seq ?? 0);
    const { values } = this.#plan;
    return { ...checkpoint, input: values === undefined ? input : storedInput(values, input) };
  }

  get #isStored(): boolean {
    return this.#log !== undefined || this.#options.checkpoints !== undefined;
  }

  #drainWhen(drain$: NonNullable<RunOptions['drain$']>): void {
    const end = () => this.#end({ kind: 'cancelled' });
    const begin = ({ withinMs }: { readonly withinMs?: number | undefined }) => {
      if (withinMs === 0) {
        this.#cancel();
        return EMPTY;
      }
      this.#performance?.drain(end);
      return withinMs === undefined ? NEVER : timer(withinMs);
    };
    // A later wish takes the place of one before: what is at work may be stopped while it is waited for.
    this.#drain = drain$.pipe(switchMap(begin)).subscribe(end);
  }

  #listenTo(signal: AbortSignal): void {
    const cancel = () => this.#cancel();
    const endListening = () => signal.removeEventListener('abort', cancel);
    signal.addEventListener('abort', cancel);
    this.#endListening = endListening;
  }

  #cancel(): void {
    this.#cancelled = true;
    // Inside an event the engine is still on the stack below: stop its work now, report the end when it has returned.
    this.#performance?.stop();
    this.#reporter?.mute();
    if (this.#delivering === 0) this.#close({ kind: 'cancelled' });
  }

  #deliver(event: RunEvent): void {
    this.#delivering += 1;
    const { values } = this.#plan;
    this.#log?.append(values === undefined ? event : storedEvent(values, event));
    this.#told.event?.(event);
    this.#delivering -= 1;
    if (this.#cancelled && this.#delivering === 0) this.#close({ kind: 'cancelled' });
  }

  #timedOut(timeoutMs: number): void {
    const message = `The run did not end within ${timeoutMs / 1000} s and was stopped.`;
    this.#end({ kind: 'failed', error: { code: 'RUN_TIMEOUT', message } });
  }

  #end(end: RunEnd | { readonly kind: 'cancelled' }): void {
    this.#performance?.stop();
    this.#close(end);
  }

  #close(end: RunEnd | { readonly kind: 'cancelled' }): void {
    const prepared = this.#prepared;
    if (this.#isOver || prepared === undefined) return;
    this.dispose();
    this.#reporter?.mute();
    const { live } = prepared;
    const outputs = end.kind === 'settled' ? live.lastOutputs : null;
    const { close } = this.#plan.hooks;
    const { variables } = live.root.values;
    const context = { resumed: 'checkpoint' in this.#start, now: this.#now() };
    const state: State =
      close === undefined ? live.state : { ...live.state, variables: close(variables, outputs, context) };
    const pending = end.kind === 'interrupted' ? pendingQuestions(this.#plan, live.root) : [];
    const finish = (end: RunEnd | { readonly kind: 'cancelled' }) => {
      try {
        this.#tell(end, outputs, pending, state);
      } catch (thrown) {
        // The outcome was not taken: without it the run must not look as if it had ended well.
        this.#told.closed(thrown);
        return;
      }
      this.#reporter?.report(this.#terminal(end, outputs, pending));
      if (this.#options.log === undefined || this.#options.log.storesEndAtOnce === true) this.#told.closed();
      else
        this.#options.log
          .flush()
          .finally(() => this.#told.closed())
          .catch(() => {});
    };
    if (this.#options.checkpoints === undefined && this.#log === undefined) finish(end);
    else this.#store(state).then((broken) => finish(broken ?? end), this.#told.closed);
  }

  #tell(
    end: RunEnd | { readonly kind: 'cancelled' },
    outputs: Outputs | null,
    pending: readonly PendingQuestion[],
    state: State,
  ): void {
    const { whenEnded } = this.#options;
    if (whenEnded === undefined && this.#told.ended === undefined) return;
    const { live } = this.#prepared as Prepared;
    const error = end.kind === 'failed' ? { error: end.error, ...(end.cause && { cause: end.cause }) } : {};
    const result = live.root.typed?.result;
    const outcome: RunOutcome = {
      run: this.#run,
      status: STATUS[end.kind],
      outputs,
      pending,
      ...error,
      ...(result && { result }),
      usage: live.usage,
      plan: this.#plan,
      state,
    };
    whenEnded?.(outcome);
    this.#told.ended?.(outcome);
  }

  /** Everything is durable before the last event is delivered. */
  async #store(state: State): Promise<RunEnd | undefined> {
    try {
      await this.#log?.beforeEnd();
    } catch (error) {
      return { kind: 'failed', error: errorInfo(error) };
    }
    // Written only when there is a store: a large state takes longer than the run that led to it.
    const seq = (this.#reporter?.seq ?? 0) + 1;
    try {
      await this.#options.checkpoints?.save(checkpointOf(this.#plan, state, this.#run, this.#now(), seq));
    } catch (error) {
      throw toEngineError(error, 'JOURNAL_FAILED');
    }
    return undefined;
  }

  #terminal(
    end: RunEnd | { readonly kind: 'cancelled' },
    outputs: Outputs | null,
    pending: readonly PendingQuestion[],
  ): Unstamped<TerminalEvent> {
    const { input, live } = this.#prepared as Prepared;
    const openCalls = this.#reporter?.openCalls() ?? [];
    const fields = {
      elapsedMs: Math.max(0, this.#now() - this.#startedAt),
      input,
      usage: live.usage,
      ...(openCalls.length === 0 ? {} : { openCalls }),
    };
    switch (end.kind) {
      case 'settled':
        return {
          type: 'run-settled',
          outputs,
          ...(this.#plan.values && { value: live.root.typed?.result?.value }),
          ...fields,
        };
      case 'interrupted':
        return { type: 'run-interrupted', pending, ...fields };
      case 'failed':
        return { type: 'run-failed', error: end.error, ...fields };
      case 'cancelled':
        return { type: 'run-cancelled', ...fields };
    }
  }
}

function errorInfo(thrown: unknown) {
  const { code, message } = toEngineError(thrown, 'JOURNAL_FAILED');
  return { code, message };
}

const STATUS = {
  settled: 'succeeded',
  interrupted: 'waiting',
  failed: 'failed',
  cancelled: 'cancelled',
} as const satisfies Record<(RunEnd | { kind: 'cancelled' })['kind'], RunOutcome['status']>;
