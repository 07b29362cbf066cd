/** Starting a run: as an Observable of events, or as a Promise of its end. */
import { randomUUID } from 'node:crypto';
import { Observable, type Subscription, timer } from 'rxjs';
import { EngineError } from '../errors.js';
import type { Json } from '../json.js';
import { Cells } from './cells.js';
import { Driver, type RunEnd } from './driver.js';
import type { PendingQuestion, RunEvent, TerminalEvent, Unstamped } from './events.js';
import { Frontier } from './frontier.js';
import type { Outputs } from './node-events.js';
import type { Plan, Scope, Variables } from './plan.js';
import { EventReporter, pendingQuestions, type Reporter, SILENT } from './reporter.js';
import { checkOptions, type RunOptions, type RunOutcome, type Start } from './run-options.js';
import { type Checkpoint, restore, type State } from './state.js';
import { readCheckpoint, stateFromJson, stateToJson } from './state-json.js';
import { Frame } from './token.js';

/**
 * Runs a plan. Cold: one subscription is one run, unsubscribing stops it at once.
 *
 * Errors of nodes are events, not errors of the stream: it completes after exactly one of `run-settled`, `run-interrupted`,
 * `run-failed`, `run-cancelled`.
 *
 * @throws EngineError OPTION_INVALID at once; PLAN_CHANGED, CHECKPOINT_INVALID through the stream.
 */
export function run(plan: Plan, start: Start, options: RunOptions = {}): Observable<RunEvent> {
  checkOptions(options);
  return new Observable<RunEvent>((subscriber) => {
    const subscription = new RunSubscription(plan, start, options, (event) => subscriber.next(event));
    subscriber.add(() => subscription.dispose());
    subscription.whenClosed = (error) => (error === undefined ? subscriber.complete() : subscriber.error(error));
    subscription.start();
  });
}

/**
 * Runs a plan that nobody watches: no event is built, which makes it several times faster.
 *
 * @throws EngineError as `run`; a failed run is an outcome, not an error.
 */
export function execute(plan: Plan, start: Start, options: RunOptions = {}): Promise<RunOutcome> {
  checkOptions(options);
  return new Promise((resolve, reject) => {
    let outcome: RunOutcome | undefined;
    const whenEnded = (end: RunOutcome) => {
      outcome = end;
      options.whenEnded?.(end);
    };
    const subscription = new RunSubscription(plan, start, { ...options, whenEnded }, undefined);
    subscription.whenClosed = (error) =>
      error === undefined && outcome !== undefined ? resolve(outcome) : reject(error);
    subscription.start();
  });
}

/** A checkpoint of a State, as JSON. */
export function checkpointOf(plan: Plan, state: State, run: string, at: number, seq: number): Checkpoint {
  return { version: 1, run, planHash: plan.hash, at, seq, state: stateToJson(plan, state) };
}

/** One subscription: a driver, its reporter, and the ends of a run that come from outside. */
class RunSubscription {
  whenClosed: (error?: unknown) => void = () => {};
  readonly #plan: Plan;
  readonly #start: Start;
  readonly #options: RunOptions;
  readonly #run: string;
  readonly #now: () => number;
  readonly #reporter: EventReporter | undefined;
  readonly #startedAt: number;
  #driver: Driver | undefined = undefined;
  #timer: Subscription | undefined = undefined;
  #isOver = false;
  /** Depth of calls into the listener: a cancel from within an event waits until that event is delivered. */
  #saying = 0;
  #cancelled = false;

  constructor(plan: Plan, start: Start, options: RunOptions, listener: ((event: RunEvent) => void) | undefined) {
    this.#plan = plan;
    this.#start = start;
    this.#options = options;
    this.#run = options.run ?? randomUUID().replaceAll('-', '');
    this.#now = options.now ?? Date.now;
    this.#startedAt = this.#now();
    this.#reporter =
      listener === undefined
        ? undefined
        : new EventReporter(plan, this.#run, this.#now, options.seq ?? 0, (event) => this.#deliver(listener, event));
  }

  start(): void {
    try {
      const { frontier, root, ready, last, input, answers } = this.#prepare();
      const resumed = 'checkpoint' in this.#start;
      const driver = new Driver(this.#plan, frontier, root, last, (this.#reporter ?? SILENT) as Reporter, {
        run: this.#run,
        input,
        answers,
        services: this.#options.services,
        concurrency: this.#options.concurrency ?? 5,
        maxSteps: this.#options.maxSteps ?? 10_000_000,
        now: this.#now,
        random: this.#options.random ?? Math.random,
        whenEnded: (end) => this.#ended(end),
      });
      this.#driver = driver;
      const { signal, timeoutMs } = this.#options;
      if (signal?.aborted === true) {
        this.#cancelled = true;
      } else {
        signal?.addEventListener('abort', this.#cancel);
      }
      if (timeoutMs !== undefined) this.#timer = timer(timeoutMs).subscribe(() => this.#timedOut(timeoutMs));
      this.#reporter?.say({ type: 'run-started', input, resumed });
      if (this.#cancelled) this.#close({ kind: 'cancelled' });
      else if (!this.#isOver) driver.start(ready);
    } catch (error) {
      this.dispose();
      this.whenClosed(error);
    }
  }

  /** Stops the run without another word. */
  dispose(): void {
    this.#isOver = true;
    this.#options.signal?.removeEventListener('abort', this.#cancel);
    this.#timer?.unsubscribe();
    this.#driver?.stop();
  }

  readonly #cancel = (): void => {
    this.#cancelled = true;
    // Inside an event the engine is still on the stack below: stop its work now, say so when it has returned.
    this.#driver?.stop();
    this.#reporter?.mute();
    if (this.#saying === 0) this.#close({ kind: 'cancelled' });
  };

  #deliver(listener: (event: RunEvent) => void, event: RunEvent): void {
    this.#saying += 1;
    listener(event);
    this.#saying -= 1;
    if (this.#cancelled && this.#saying === 0) this.#close({ kind: 'cancelled' });
  }

  #timedOut(timeoutMs: number): void {
    const message = `The run did not end within ${timeoutMs / 1000} s and was stopped.`;
    this.#driver?.stop();
    this.#close({ kind: 'failed', error: { code: 'RUN_TIMEOUT', message } });
  }

  #ended(end: RunEnd): void {
    this.#close(end);
  }

  #close(end: RunEnd | { readonly kind: 'cancelled' }): void {
    const driver = this.#driver;
    if (this.#isOver || driver === undefined) return;
    this.dispose();
    this.#reporter?.mute();
    const outputs = end.kind === 'settled' ? driver.lastOutputs : null;
    const { close } = this.#plan.hooks;
    if (close !== undefined) {
      const context = { resumed: 'checkpoint' in this.#start, now: this.#now() };
      driver.closeVariables(close(driver.root.values.variables, outputs, context));
    }
    const pending = end.kind === 'interrupted' ? pendingQuestions(this.#plan, driver.root) : [];
    const { state } = driver;
    const finish = () => {
      const status = STATUS[end.kind];
      const error = end.kind === 'failed' ? { error: end.error } : {};
      this.#options.whenEnded?.({ status, outputs, pending, ...error, plan: this.#plan, state });
      this.#reporter?.say(this.#terminal(end, outputs, pending));
      this.whenClosed();
    };
    const { checkpoints } = this.#options;
    if (checkpoints === undefined) {
      finish();
      return;
    }
    const seq = (this.#reporter?.seq ?? 0) + 1;
    Promise.resolve()
      .then(() => checkpoints.save(checkpointOf(this.#plan, state, this.#run, this.#now(), seq)))
      .then(finish, (error: unknown) => this.whenClosed(error));
  }

  #terminal(
    end: RunEnd | { readonly kind: 'cancelled' },
    outputs: Outputs | null,
    pending: readonly PendingQuestion[],
  ): Unstamped<TerminalEvent> {
    const elapsedMs = this.#now() - this.#startedAt;
    switch (end.kind) {
      case 'settled':
        return { type: 'run-settled', outputs, elapsedMs };
      case 'interrupted':
        return { type: 'run-interrupted', pending, elapsedMs };
      case 'failed':
        return { type: 'run-failed', error: end.error, elapsedMs };
      case 'cancelled':
        return { type: 'run-cancelled', elapsedMs };
    }
  }

  #prepare() {
    const plan = this.#plan;
    const open = (variables: Variables, input: Json, resumed: boolean) =>
      plan.hooks.open?.(variables, input, { resumed, now: this.#now() }) ?? variables;
    if (!('checkpoint' in this.#start)) {
      const { input, variables } = this.#start;
      const frontier = new Frontier(plan);
      const values = {
        cells: Cells.empty<Outputs>(plan.nodes.length),
        variables: open(variables ?? plan.variables, input, false),
      };
      const root = new Frame(plan.scopes[0] as Scope, undefined, '', values);
      return { frontier, root, ready: frontier.enter(root), last: undefined, input, answers: undefined };
    }
    const { answers } = this.#start;
    const checkpoint = readCheckpoint(this.#start.checkpoint);
    if (checkpoint.planHash !== plan.hash) {
      const message = `Checkpoint of run "${checkpoint.run}" belongs to another version of the graph (${checkpoint.planHash}, now ${plan.hash}); resume it with the version it was started with.`;
      throw new EngineError('PLAN_CHANGED', message);
    }
    const state = stateFromJson(plan, checkpoint.state);
    const { frontier, root } = restore(plan, state);
    const input: Json = answers ?? {};
    root.values.variables = open(root.values.variables, input, true);
    const ready = frontier.wake(root);
    return { frontier, root, ready, last: state.last, input, answers };
  }
}

const STATUS = {
  settled: 'succeeded',
  interrupted: 'waiting',
  failed: 'failed',
  cancelled: 'cancelled',
} as const satisfies Record<(RunEnd | { kind: 'cancelled' })['kind'], RunOutcome['status']>;
