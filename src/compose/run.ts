/**
 * Running a step: for its value, for its chunks, with chunks as its input, or for its events. All are cold and all agree: what `invoke` gives is
 * what the chunks of `stream` are when they are joined.
 */
import { randomUUID } from 'node:crypto';
import {
  catchError,
  defer,
  EMPTY,
  finalize,
  firstValueFrom,
  from,
  ignoreElements,
  isObservable,
  map,
  mergeMap,
  NEVER,
  Observable,
  type OperatorFunction,
  of,
  switchMap,
  tap,
} from 'rxjs';
import { EngineError, movedError } from '../errors.js';
import type { RunEvent } from '../graph/events.js';
import type { Plan } from '../graph/plan.js';
import { checkpointOf, outcomeOf, run as runPlan } from '../graph/run.js';
import type { RunOptions, RunOutcome, Start } from '../graph/run-options.js';
import type { Checkpoint } from '../graph/state.js';
import { type ChunkInput, Chunks, type ResultSink, type ValueCodec } from '../graph/typed.js';
import type { Json } from '../json.js';
import { ChunkStream as Edge } from '../operators/chunk-stream.js';
import { invalidOption } from '../operators/invalid-option.js';
import { toObservable } from '../operators/pour.js';
import { callOptionsFor } from './call-options.js';
import { concatValues } from './chunks/concat-values.js';
import { type CompiledStep, compileStep } from './compile.js';
import { noOutput } from './engine/containers.js';
import type { RunContext } from './engine/context.js';
import { wholeOf } from './engine/inputs.js';
import type { OuterStep } from './engine/nested.js';
import type { StoredQuestion } from './engine/questions.js';
import { questionsIn } from './engine/questions.js';
import { observersFor } from './engine/run-observers.js';
import { watchRun } from './engine/watched-run.js';
import { toStep } from './make-step.js';
import { type Question, questionsOf, Resumption, startOf } from './resume.js';
import {
  checkRunOptions,
  codecOf,
  contextOf,
  engineOptions,
  innerPathsOf,
  outerStep,
  placeOf,
  type StepRunOptions,
  warningOf,
} from './run-context.js';
import { type AnyStep, type AnyStepLike, type ConcatRule, DEFINITION, type StepLike } from './step.js';

/**
 * The chunks of a result: subscribed to, they come as they are made; in a `for await` loop the steps that can wait are read no faster than the
 * loop goes. Each subscription and each loop is a run of its own.
 */
export interface ChunkStream<O> extends Observable<O>, AsyncIterable<O> {}

/** Plans by codec and step: a step is compiled once. */
const PLANS = new WeakMap<ValueCodec, WeakMap<AnyStep, CompiledStep>>();

/**
 * Runs a step and gives its whole result.
 *
 * ```ts
 * import { chain, invoke } from 'runnel';
 *
 * const shout = chain((text: string) => text.trim(), (text) => `${text.toUpperCase()}!`);
 * console.log(await invoke(shout, ' hello '));
 * // => HELLO!
 * ```
 *
 * @param input the input of the step, or `resumeFrom(checkpoint, answers)`
 * @throws EngineError RUN_INTERRUPTED (its details have the questions and the checkpoint), RUN_CANCELLED, and what a step failed with: an
 * EngineError as it is, anything else as the `cause` of NODE_FAILED.
 */
export async function invoke<I, O>(
  step: StepLike<I, O>,
  input: I | Resumption,
  options: StepRunOptions = {},
): Promise<O> {
  const launch = new Launch(step, options);
  const end = await firstValueFrom(launch.outcome$(input));
  return launch.valueOf(end) as O;
}

/** The same with an input that comes in chunks. The step may start before they have all come. */
export async function collect<I, O>(
  step: StepLike<I, O>,
  chunks: Observable<I> | AsyncIterable<I>,
  options: StepRunOptions = {},
): Promise<O> {
  const launch = new Launch(step, options);
  const end = await firstValueFrom(launch.outcome$(undefined, { chunks: sourceOf(chunks) }));
  return launch.valueOf(end) as O;
}

/**
 * Runs a step and gives its result in chunks; a result that is no stream is one chunk.
 *
 * ```text
 * stream(step, x)   a--b--c--|
 * invoke(step, x)   ---------(abc)
 * ```
 *
 * It errors as `invoke` rejects. Unsubscribing, or leaving the loop, stops the run at once.
 */
export function stream<I, O>(
  step: StepLike<I, O>,
  input: I | Resumption,
  options: StepRunOptions = {},
): ChunkStream<O> {
  return streamOf<O>(() => new Launch(step, options), input, undefined);
}

/**
 * A step as an RxJS operator: chunks in, chunks out, one run for each subscription.
 *
 * ```text
 * source            a--b--c--|
 * transform(step)   A--B--C--|
 * ```
 */
export function transform<I, O>(step: StepLike<I, O>, options: StepRunOptions = {}): OperatorFunction<I, O> {
  toStep(step as AnyStepLike, 'step', 'run');
  checkRunOptions(options);
  return (source) => streamOf<O>(() => new Launch(step, options), undefined, sourceOf(source));
}

/**
 * Runs a step for its events: those of canvases, with `node-chunk` for chunks and the result as `value` of `run-settled`.
 *
 * Errors of steps are events, not errors of the stream; it errors only when the run cannot start. A plan of the engine may stand for the step;
 * then `start` and `options` are those of the engine.
 */
export function run<I, O>(
  step: StepLike<I, O>,
  start: { readonly input: I | Resumption },
  options?: StepRunOptions,
): Observable<RunEvent>;
export function run(plan: Plan, start: Start, options?: RunOptions): Observable<RunEvent>;
export function run(
  step: AnyStepLike | Plan,
  start: Start | { readonly input: unknown },
  options: StepRunOptions | RunOptions = {},
): Observable<RunEvent> {
  if (typeof start !== 'object' || start === null) throw invalidOption('run', 'start', 'an object with "input"', start);
  if (isPlan(step)) return runPlan(step, start as Start, options as RunOptions);
  requireStart(start);
  return runForEvents(step, (start as { readonly input: unknown }).input, options as StepRunOptions);
}

/** Refuses what belongs elsewhere, such as options. @throws EngineError OPTION_INVALID */
function requireStart(start: object): void {
  const other = Object.keys(start).find((name) => name !== 'input');
  if (other === undefined && 'input' in start) return;
  if (other === undefined) throw invalidOption('run', 'start', 'an object with "input"', start);
  const message = `run: there is no "${other}" beside "input"; options are the third argument: run(step, { input }, { … }).`;
  throw new EngineError('OPTION_INVALID', message);
}

function isPlan(value: AnyStepLike | Plan): value is Plan {
  return typeof value === 'object' && value !== null && 'nodes' in value && 'scopes' in value;
}

/** The events of a run of a step; `waits` is given the checkpoint of a run that waits, before its last event. */
export function runForEvents(
  step: AnyStepLike,
  input: unknown,
  options: StepRunOptions,
  waits?: (checkpoint: Checkpoint) => void,
): Observable<RunEvent> {
  const launch = new Launch(step, options);
  const whenEnded = (end: RunOutcome): void => void (end.status === 'waiting' && waits?.(launch.checkpointOf(end)));
  const more = waits === undefined ? {} : { isResumable: true, whenEnded };
  return defer(() => {
    const prepared = launch.startFrom(input, undefined);
    const go = (given: Start) =>
      launch
        .begin(given, more, (started, settings) => runPlan(launch.compiled.plan, started, settings))
        .pipe(map((event) => launch.joined(event)));
    return prepared instanceof Promise ? from(prepared).pipe(switchMap(go)) : go(prepared);
  });
}

/** How a run of a step ended that did not fail. */
export type StepOutcome =
  | { readonly status: 'succeeded'; readonly value: unknown }
  | { readonly status: 'waiting'; readonly questions: readonly Question[]; readonly checkpoint: Checkpoint };

/**
 * Runs a step for those who put it into something else: its chunks as they come, then how it ended. Errors as `invoke` rejects, but for a run
 * that waits.
 *
 * @param take is given every chunk; a result that is no stream is none
 */
export function stepOutcome(
  step: AnyStepLike,
  input: unknown,
  options: StepRunOptions,
  take: (chunk: unknown) => void,
): Observable<StepOutcome> {
  const launch = new Launch(step, options);
  const taken: unknown[] = [];
  const output: ResultSink = {
    open: () => {},
    write: (chunk) => {
      taken.push(chunk);
      take(chunk);
    },
    room: () => undefined,
  };
  return launch.outcome$(input, { output }).pipe(
    map((end): StepOutcome => {
      if (end.status === 'waiting') {
        return { status: 'waiting', questions: launch.questionsOf(end), checkpoint: launch.checkpointOf(end) };
      }
      launch.requireResult(end);
      const value = taken.length === 0 ? end.result?.value : new Chunks(taken);
      return { status: 'succeeded', value: wholeOf(value, launch.ruleOfResult, launch.step.name) };
    }),
  );
}

function sourceOf<I>(chunks: Observable<I> | AsyncIterable<I>): ChunkInput {
  const isAsked = (chunks as Partial<AsyncIterable<I>> | null | undefined)?.[Symbol.asyncIterator] !== undefined;
  if (!isAsked && !isObservable(chunks)) {
    const allowed = 'an Observable or an AsyncIterable (a value goes to invoke or stream)';
    throw invalidOption('run', 'chunks', allowed, chunks);
  }
  return { toObservable: (room) => toObservable(chunks, room) };
}

/** Through which chunks come and go while a run is under way. */
interface RunEnds {
  readonly chunks?: ChunkInput;
  readonly output?: ResultSink;
}

/** How a run ended; of a call that had ended before its step was resumed only the result is known. */
type StepEnd = RunOutcome | { readonly status: 'succeeded'; readonly result: { readonly value: unknown } };

/** What one run of a step needs; for several runs when it is subscribed to several times. */
class Launch {
  readonly step: AnyStep;
  readonly options: StepRunOptions;
  readonly codec: ValueCodec;
  readonly compiled: CompiledStep;
  readonly context: RunContext;

  constructor(stepLike: AnyStepLike, options: StepRunOptions) {
    checkRunOptions(options);
    this.step = toStep(stepLike, 'step', 'run');
    this.options = options;
    const outer = outerStep(options);
    this.codec =
      outer !== undefined && options.serializer === undefined && options.values === undefined
        ? outer.context.codec
        : codecOf(options);
    this.compiled = compileStep(this.step, this.codec, PLANS);
    const place = placeOf(outer, this.step.name);
    this.context = contextOf(
      options,
      this.codec,
      {
        observers: observersFor(this.compiled, {
          observe: options.observe,
          around: outer?.context.observers,
          place,
          chunks: (options.chunks as ConcatRule<unknown> | undefined) ?? outer?.context.chunks,
        }),
        options: callOptionsFor(this.compiled, { with: options.with, around: outer?.context.options, place }),
        inside: innerPathsOf(this.compiled, options, outer, place),
      },
      this.step.name,
    );
  }

  startFrom(input: unknown, chunks: ChunkInput | undefined): Start | Promise<Start> {
    if (input instanceof Resumption) return startOf(this.compiled, this.codec, input, this.options);
    if (chunks !== undefined) return { input: null, chunks };
    return { input: input as Json };
  }

  optionsFor(start: Start, more: Partial<RunOptions>): RunOptions {
    const given = more.run ?? this.options.run ?? ('checkpoint' in start ? start.checkpoint.run : undefined);
    // Observers of the run itself are told its id before it begins.
    const isNamed = given === undefined && this.context.observers !== undefined;
    const run = isNamed ? randomUUID().replaceAll('-', '') : given;
    const unused = outerStep(this.options) === undefined ? warningOf(this.context.inside) : {};
    return engineOptions(
      this.options,
      this.context,
      run === undefined ? { ...unused, ...more } : { run, ...unused, ...more },
    );
  }

  /** One run: begins with the subscription, gives one outcome, is stopped by unsubscribing. */
  outcome$(input: unknown, { chunks, output }: RunEnds = {}): Observable<StepEnd> {
    return defer(() => {
      const outer = outerStep(this.options);
      if (outer !== undefined) return this.#inside(outer, input, chunks, output);
      return this.#begun(this.startFrom(input, chunks), output === undefined ? {} : { output });
    });
  }

  #begun(prepared: Start | Promise<Start>, more: Partial<RunOptions>): Observable<RunOutcome> {
    const go = (start: Start) =>
      this.begin(start, more, (given, options) => outcomeOf(this.compiled.plan, given, options));
    return prepared instanceof Promise ? from(prepared).pipe(switchMap(go)) : go(prepared);
  }

  /** Begins a run in the engine; those who observe the run itself are told of its start and its end. */
  begin<T>(
    start: Start,
    more: Partial<RunOptions>,
    engine: (start: Start, options: RunOptions) => Observable<T>,
  ): Observable<T> {
    const options = this.optionsFor(start, more);
    const { observers } = this.context;
    if (observers === undefined) return engine(start, options);
    const watched = watchRun(observers, { start, options: options as RunOptions & { run: string }, of: this });
    return watched === undefined ? engine(start, options) : watched.through(engine);
  }

  /** As part of a step: where it stands is kept with the step, its questions are passed up, and then it gives nothing. */
  #inside(
    outer: OuterStep,
    input: unknown,
    chunks: ChunkInput | undefined,
    output: ResultSink | undefined,
  ): Observable<StepEnd> {
    const { nested } = outer;
    // An id of the run names the call, so that calls which begin in any order are told apart.
    const { name, kept } = nested.begin(this.options.run ?? this.step.name);
    if (kept?.type === 'done') {
      nested.done(name, kept.value);
      return of({ status: 'succeeded', result: { value: kept.value } });
    }
    const answers = outer.isAnswered ? nested.answersTo(name) : undefined;
    const resumed = kept === undefined ? input : new Resumption(kept.checkpoint, answers, {});
    const services: RunContext = { ...this.context, prefix: `${outer.path}/${name}/` };
    const more = { run: `${outer.key}/${name}`, services, isResumable: true, ...(output && { output }) };
    return defer(() => this.#begun(this.startFrom(resumed, chunks), more)).pipe(
      mergeMap((end) => {
        if (end.status === 'waiting') {
          nested.waits(name, this.checkpointOf(end), this.#stored(end));
          return NEVER;
        }
        if (end.status === 'succeeded') nested.done(name, end.result?.value);
        return of(end.status === 'failed' ? failedInside(end, services.prefix) : end);
      }),
      // A call that failed, or that its caller has given up.
      finalize(() => nested.leave(name)),
    );
  }

  /** The questions of an end as the step around stores them, with addresses in place of suffixes. */
  #stored(end: RunOutcome): readonly StoredQuestion[] {
    const addresses = questionsOf(this.compiled, this.codec, end.pending).map(({ address }) => address);
    const stored = end.pending.flatMap(({ payload }) => questionsIn(payload).questions);
    return stored.map((question, at) => ({ ...question, suffix: addresses[at] as string }));
  }

  checkpointOf({ run, state }: RunOutcome): Checkpoint {
    return checkpointOf(this.compiled.plan, state, run, (this.options.now ?? Date.now)(), 0);
  }

  questionsOf(end: RunOutcome): readonly Question[] {
    return questionsOf(this.compiled, this.codec, end.pending, this.context.prefix);
  }

  /** The whole result of a run. @throws what the run failed with */
  valueOf(end: StepEnd): unknown {
    this.requireResult(end);
    return wholeOf(end.result?.value, this.ruleOfResult, this.step.name);
  }

  /** The end of a run with its result as one value, or its questions by address. */
  joined(event: RunEvent): RunEvent {
    if (event.type === 'run-interrupted')
      return { ...event, questions: questionsOf(this.compiled, this.codec, event.pending, this.context.prefix) };
    if (event.type !== 'run-settled' || !(event.value instanceof Chunks)) return event;
    return { ...event, value: wholeOf(event.value, this.ruleOfResult, this.step.name) };
  }

  get ruleOfResult(): ConcatRule<unknown> | undefined {
    const own = this.step[DEFINITION].options.chunks as ConcatRule<unknown> | undefined;
    return own ?? this.compiled.rule ?? this.context.chunks;
  }

  requireResult(end: StepEnd): void {
    switch (end.status) {
      case 'succeeded':
        if (end.result === undefined) throw noOutput(this.step.name);
        return;
      case 'waiting':
        throw this.#interrupted(end);
      case 'failed': {
        const { code = 'INTERNAL', message = 'The run failed.', node } = end.error ?? {};
        throw end.cause ?? new EngineError(code, message, node === undefined ? {} : { node });
      }
      case 'cancelled': {
        const checkpoint = this.options.cancel$ === undefined ? undefined : this.checkpointOf(end);
        const details = checkpoint === undefined ? {} : { details: { checkpoint } };
        const cause: unknown = this.options.signal?.aborted === true ? this.options.signal.reason : undefined;
        throw new EngineError('RUN_CANCELLED', `The run of "${this.step.name}" was cancelled.`, { ...details, cause });
      }
    }
  }

  #interrupted(end: RunOutcome): EngineError {
    const questions = this.questionsOf(end);
    const checkpoint = this.checkpointOf(end);
    const where = questions.map(({ address }) => `"${address}"`).join(', ');
    const message = `The run of "${this.step.name}" waits for answers at ${where}; go on with resumeFrom(error.details.checkpoint, { [address]: answer }).`;
    return new EngineError('RUN_INTERRUPTED', message, { details: { questions, checkpoint } });
  }
}

/** The error of a run inside a step names its node by the path in the run around. */
function failedInside(end: RunOutcome, prefix: string): RunOutcome {
  const { cause } = end;
  const node = cause?.node;
  if (cause === undefined || node === undefined || node.startsWith(prefix)) return end;
  return { ...end, cause: movedError(cause, prefix + node) };
}

function streamOf<O>(launchOf: () => Launch, input: unknown, chunks: ChunkInput | undefined): ChunkStream<O> {
  const stream$ = new Observable<O>((subscriber) => {
    const { edge, outcome$ } = flowOf(launchOf(), input, chunks);
    subscriber.add(
      edge
        .reader()
        .toObservable()
        .subscribe(subscriber as never),
    );
    subscriber.add(outcome$.subscribe(NOTHING));
  });
  const iterate = (): AsyncIterator<O> => {
    const { edge, outcome$ } = flowOf(launchOf(), input, chunks);
    const iterator = edge.reader()[Symbol.asyncIterator]();
    const subscription = outcome$.subscribe(NOTHING);
    return {
      next: () => iterator.next() as Promise<IteratorResult<O>>,
      return: async () => {
        subscription.unsubscribe();
        await iterator.return?.();
        return { done: true, value: undefined };
      },
    };
  };
  return Object.assign(stream$, { [Symbol.asyncIterator]: iterate });
}

const NOTHING = {};

/** A run whose chunks go into an edge; an error of the run is one of the edge. */
function flowOf(
  launch: Launch,
  input: unknown,
  chunks: ChunkInput | undefined,
): { readonly edge: Edge<unknown>; readonly outcome$: Observable<never> } {
  const rule = launch.ruleOfResult;
  const edge = new Edge<unknown>({ name: launch.step.name, concat: (neighbours) => concatValues(neighbours, rule) });
  let isOpen = false;
  const output: ResultSink = {
    open: () => {
      isOpen = true;
    },
    write: (chunk) => edge.write(chunk),
    room: () => edge.room(),
  };
  const finish = (end: StepEnd): void => {
    launch.requireResult(end);
    const value = end.result?.value;
    if (!isOpen) for (const chunk of value instanceof Chunks ? value.items : [value]) edge.write(chunk);
    edge.end();
  };
  const outcome$ = launch.outcome$(input, { ...(chunks && { chunks }), output }).pipe(
    tap(finish),
    ignoreElements(),
    catchError((error: unknown) => {
      edge.fail(error);
      return EMPTY;
    }),
  );
  return { edge, outcome$ };
}
