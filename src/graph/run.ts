/** Starting a run: as an Observable of events, or as a Promise of its end. */
import { randomUUID } from 'node:crypto';
import { Observable, type Subscription, timer } from 'rxjs';
import { type EngineError, toEngineError } from '../errors.js';
import { Driver } from './driver.js';
import type { RunEnd } from './driver-options.js';
import type { PendingQuestion, RunEvent, TerminalEvent, Unstamped } from './events.js';
import { Recorder } from './journal.js';
import type { Outputs } from './node-events.js';
import type { Plan } from './plan.js';
import { type Prepared, prepare } from './prepare.js';
import { EventReporter, pendingQuestions, type Reporter, SILENT } from './reporter.js';
import { checkOptions, type RunOptions, type RunOutcome, type Start } from './run-options.js';
import type { Checkpoint, State } from './state.js';
import { stateToJson } from './state-json.js';

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
  #prepared: Prepared | undefined = undefined;
  #driver: Driver | undefined = undefined;
  #recorder: Recorder | undefined = undefined;
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
    this.#startedAt = options.startedAt ?? this.#now();
    this.#reporter =
      listener === undefined
        ? undefined
        : new EventReporter(plan, this.#run, this.#now, options.seq ?? 0, (event) => this.#deliver(listener, event));
  }

  start(): void {
    try {
      const prepared = prepare(this.#plan, this.#start, this.#now(), this.#run);
      const { input, kind, retractions } = prepared;
      this.#prepared = prepared;
      this.#driver = this.#createDriver(prepared);
      this.#recorder?.begin();
      this.#options.watch?.(this.#driver.state$);
      const { signal, timeoutMs } = this.#options;
      if (signal?.aborted === true) this.#cancelled = true;
      else signal?.addEventListener('abort', this.#cancel);
      if (timeoutMs !== undefined) this.#timer = timer(timeoutMs).subscribe(() => this.#timedOut(timeoutMs));
      if (retractions !== undefined) this.#reporter?.retract(retractions);
      const isSame = kind === 'takenOver' && 'checkpoint' in this.#start && this.#start.checkpoint.run === this.#run;
      const recovered = isSame ? ({ recovered: true } as const) : {};
      this.#reporter?.report({ type: 'run-started', input, resumed: kind !== 'fresh', ...recovered });
      if (this.#cancelled) this.#close({ kind: 'cancelled' });
      // What outsiders know the first nodes by is kept before they start.
      else if (this.#recorder?.isWaitedFor === true) this.#recorder.whenKept(() => this.#begin(prepared));
      else this.#begin(prepared);
    } catch (error) {
      this.dispose();
      this.whenClosed(error);
    }
  }

  #begin({ ready }: Prepared): void {
    try {
      if (!this.#isOver) this.#driver?.start(ready);
    } catch (error) {
      this.dispose();
      this.whenClosed(error);
    }
  }

  #createDriver({ frontier, root, last, usage, input, answers, kind }: Prepared): Driver {
    const {
      services,
      concurrency = 5,
      maxSteps = 10_000_000,
      random = Math.random,
      journal,
      durability,
    } = this.#options;
    if (journal !== undefined && durability !== undefined && durability !== 'exit') {
      this.#recorder = new Recorder({
        journal,
        durability,
        checkpoint: () => this.#checkpoint(),
        position: this.#position,
        historyBytes: this.#options.historyBytes,
        whenBroken: (error) => this.#broke(toEngineError(error, 'JOURNAL_FAILED')),
      });
    }
    const reporter: Reporter = this.#reporter ?? SILENT;
    return new Driver(
      { plan: this.#plan, frontier, root, last, usage, reporter },
      {
        run: this.#run,
        input,
        wake: { answers, isTakeover: kind === 'takenOver' },
        services,
        concurrency,
        maxSteps,
        now: this.#now,
        random,
        recorder: this.#recorder,
        whenEnded: (end) => this.#close(end),
      },
    );
  }

  #checkpoint(): Checkpoint {
    const { state } = this.#driver as Driver;
    const checkpoint = checkpointOf(this.#plan, state, this.#run, this.#now(), this.#reporter?.seq ?? 0);
    return { ...checkpoint, input: (this.#prepared as Prepared).input, mark: this.#position() };
  }

  readonly #position = (): number => this.#options.position?.() ?? this.#reporter?.seq ?? 0;

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

  #broke({ code, message }: EngineError): void {
    this.#driver?.stop();
    this.#close({ kind: 'failed', error: { code, message } });
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
    const { state, usage } = driver;
    const finish = (end: RunEnd | { readonly kind: 'cancelled' }) => {
      const status = STATUS[end.kind];
      const error = end.kind === 'failed' ? { error: end.error } : {};
      try {
        this.#options.whenEnded?.({ status, outputs, pending, ...error, usage, plan: this.#plan, state });
      } catch (thrown) {
        // Whoever keeps the outcome could not: without it the run must not look as if it had ended well.
        this.whenClosed(thrown);
        return;
      }
      this.#reporter?.report(this.#terminal(end, outputs, pending));
      this.whenClosed();
    };
    const { checkpoints } = this.#options;
    if (checkpoints === undefined && this.#recorder === undefined) {
      finish(end);
      return;
    }
    this.#keep(state).then((broken) => finish(broken ?? end), this.whenClosed);
  }

  /** Everything is durable before the last event is told. */
  async #keep(state: State): Promise<RunEnd | undefined> {
    try {
      await this.#recorder?.flush();
    } catch (error) {
      const { code, message } = toEngineError(error, 'JOURNAL_FAILED');
      return { kind: 'failed', error: { code, message } };
    }
    // Written down only for who wants it: a large state takes longer than the run that led to it.
    const { checkpoints } = this.#options;
    const seq = (this.#reporter?.seq ?? 0) + 1;
    await checkpoints?.save(checkpointOf(this.#plan, state, this.#run, this.#now(), seq));
    return undefined;
  }

  #terminal(
    end: RunEnd | { readonly kind: 'cancelled' },
    outputs: Outputs | null,
    pending: readonly PendingQuestion[],
  ): Unstamped<TerminalEvent> {
    const openCalls = this.#reporter?.openCalls() ?? [];
    const fields = {
      elapsedMs: Math.max(0, this.#now() - this.#startedAt),
      input: (this.#prepared as Prepared).input,
      usage: (this.#driver as Driver).usage,
      ...(openCalls.length === 0 ? {} : { openCalls }),
    };
    switch (end.kind) {
      case 'settled':
        return { type: 'run-settled', outputs, ...fields };
      case 'interrupted':
        return { type: 'run-interrupted', pending, ...fields };
      case 'failed':
        return { type: 'run-failed', error: end.error, ...fields };
      case 'cancelled':
        return { type: 'run-cancelled', ...fields };
    }
  }
}

const STATUS = {
  settled: 'succeeded',
  interrupted: 'waiting',
  failed: 'failed',
  cancelled: 'cancelled',
} as const satisfies Record<(RunEnd | { kind: 'cancelled' })['kind'], RunOutcome['status']>;
