/** A node whose work is one step of code. */
import { filter, finalize, isObservable, mergeMap, type Observable, of, toArray } from 'rxjs';
import { EngineError } from '../../errors.js';
import type { NodeActivation, NodeResult } from '../../graph/activation.js';
import type { NodeEvent } from '../../graph/node-events.js';
import { Chunks } from '../../graph/typed.js';
import type { Room } from '../../operators/chunk-reader.js';
import { toObservable } from '../../operators/pour.js';
import { failureOf, Interrupt } from '../interrupt.js';
import { looksLikeOperator, operatorError, show } from '../make-step.js';
import type { ChunkOperator, ConcatRule, NodeBlueprint, StepDefinition } from '../step.js';
import type { RunContext } from './context.js';
import { chunkInput, type Inlet, pulled, pulledInput, wholeInput, wholeOf } from './inputs.js';
import { afterwards, isThenable } from './later.js';
import { interruptedBy } from './questions.js';
import { StepAt } from './step-at.js';
import { settledValue, streamOut } from './stream-out.js';
import { eventsOf, type Stops, Surroundings } from './surroundings.js';
import type { StepWatch } from './watch.js';
import { watchedEnd, watchedResult } from './watched-result.js';

type AnyOperator = ChunkOperator<unknown, unknown>;

type CodeDefinition = Extract<StepDefinition, { readonly type: 'function' | 'operator' | 'generator' }>;

/** What a node is made of. */
export interface StepNodeParts {
  readonly blueprint: NodeBlueprint;
  readonly definition: CodeDefinition;
  readonly inlet: Inlet;
  readonly stops: Stops;
}

/** The work of one node; one object for all runs of its plan. */
export class StepNode {
  readonly #blueprint: NodeBlueprint;
  readonly #definition: CodeDefinition;
  readonly #inlet: Inlet;
  readonly #around: Surroundings;
  readonly activate: (at: NodeActivation) => NodeResult;

  constructor({ blueprint, definition, inlet, stops }: StepNodeParts) {
    this.#blueprint = blueprint;
    this.#definition = definition;
    this.#inlet = inlet;
    this.#around = new Surroundings(blueprint, definition.options, stops, inlet.path, definition.options.chunks);
    const { isOpenBefore, isOpenBehind } = this.#around;
    const { beforeChunks, afterChunks } = blueprint;
    const hasHooks = !isOpenBefore || !isOpenBehind || beforeChunks !== undefined || afterChunks !== undefined;
    const isBare = !hasHooks && !stops.before;
    this.activate =
      definition.type === 'function' && isBare
        ? bareActivation(definition.run, this.#around, inlet, this)
        : (at) => this.#activate(at);
  }

  #activate(at: NodeActivation): NodeResult {
    const stopped = this.#around.stopped(at);
    if (stopped !== undefined) return stopped;
    const context = at.services as RunContext;
    const step = new StepAt(at, context, this.#around);
    const watch = context.observers?.watch(this.#around.watched, step);
    return watch === undefined ? this.#work(step, undefined) : watchedResult(watch, () => this.#work(step, watch));
  }

  #work(step: StepAt, watch: StepWatch | undefined): NodeResult {
    const result = afterwards(this.#input(step, watch), (input) => this.#begun(input, step, watch));
    return this.delivered(step, result, watch);
  }

  /** What the step begins with: a whole value for functions; for the others chunks, unless something needs the whole before. */
  #input(step: StepAt, watch: StepWatch | undefined): unknown {
    if (this.#definition.type !== 'function' && this.#around.isOpenBefore) return undefined;
    const prepared = this.#around.prepared(step, () => this.#whole(step));
    return afterwards(prepared, (input) => {
      if (!(input instanceof Interrupt)) watch?.start(input);
      return input;
    });
  }

  #whole(step: StepAt): unknown {
    const { chunks: rule } = step.context;
    if (this.#blueprint.beforeChunks === undefined) return wholeInput(this.#inlet, step.node, rule);
    const { node } = step;
    return collected(node, this.#chunks(step, undefined), (items) => wholeOf(new Chunks(items), rule, node));
  }

  #begun(input: unknown, step: StepAt, watch: StepWatch | undefined): unknown {
    if (input instanceof Interrupt) return input;
    const definition = this.#definition;
    if (definition.type === 'function') return call(definition.run, input, step);
    const isWhole = !this.#around.isOpenBefore;
    if (definition.type === 'operator') {
      const given = (definition.operator as AnyOperator)(isWhole ? of(input) : this.#chunks(step, watch), step);
      return requireStream(given, step.path, 'an Observable, as RxJS operators do');
    }
    const { chunks, release } = this.#pulled(step, isWhole ? of(input) : undefined);
    // A generator may end without having read everything, or anything.
    step.release = release;
    const seen = watch === undefined || isWhole ? chunks : watch.pulledInputs(chunks);
    const given = definition.run(seen as never, step);
    return requireStream(given, step.path, 'an async iterable: async function* (chunks) { yield …; }');
  }

  #pulled(step: StepAt, whole: Observable<unknown> | undefined) {
    const { chunks: rule } = step.context;
    const { beforeChunks } = this.#blueprint;
    if (whole === undefined && beforeChunks === undefined) return pulledInput(this.#inlet, step.node, rule);
    return pulled((room) => whole ?? this.#chunks(step, undefined, room), this.#inlet.path, rule);
  }

  #chunks(step: StepAt, watch: StepWatch | undefined, room?: Room): Observable<unknown> {
    const { beforeChunks } = this.#blueprint;
    const chunks = chunkInput(this.#inlet, step.node, step.context.chunks, room);
    const prepared = beforeChunks === undefined ? chunks : (beforeChunks as AnyOperator)(chunks, step);
    return watch === undefined ? prepared : watch.inputs(prepared);
  }

  // ── what comes out ────────────────────────────────────────────────────────────────────────────────────────────────────────

  /** How a result ends the activation, or what it ends later with. */
  delivered(step: StepAt, result: unknown, watch: StepWatch | undefined): NodeResult {
    if (typeof result !== 'object' || result === null) return this.#settled(step, result, watch);
    if (result instanceof Interrupt) return interruptedBy(step, result);
    if (isObservable(result) || isAsyncIterable(result)) return this.#streamed(step, result, watch);
    if (isThenable(result)) return step.later(result, (value) => this.delivered(step, value, watch));
    if ((result as { readonly [Symbol.toStringTag]?: unknown })[Symbol.toStringTag] === 'Generator') {
      const message = `Step "${step.path}" gave a generator that is not async; write async function*, or give a list.`;
      throw new EngineError('NODE_PROTOCOL', message, { node: step.path });
    }
    return this.#settled(step, result, watch);
  }

  #settled(step: StepAt, result: unknown, watch: StepWatch | undefined): NodeResult {
    if (this.#blueprint.afterChunks !== undefined) {
      watch?.end(result);
      return this.#streamed(step, of(result), undefined);
    }
    if (!this.#around.isOpenBehind) return this.#around.finished(step, result, watch);
    watch?.end(result);
    return settledValue(result);
  }

  #streamed(
    step: StepAt,
    source: Observable<unknown> | AsyncIterable<unknown>,
    watch: StepWatch | undefined,
  ): NodeResult {
    const { afterChunks } = this.#blueprint;
    const { options, type } = this.#definition;
    const { release } = step;
    const { isOpenBehind } = this.#around;
    // What its schema has still to accept is told when it has.
    const isHeld = options.output !== undefined;
    const seen = watch === undefined || isHeld ? source : seenBy(watch, source);
    const isPlain = isOpenBehind && afterChunks === undefined;
    const asking = isPlain ? seen : withoutQuestions(step, seen);
    const changed = afterChunks === undefined ? asking : (afterChunks as AnyOperator)(toObservable(asking), step);
    const events = isOpenBehind
      ? streamOut(step.node, changed, { ask: (asked) => interruptedBy(step, asked), mayAsk: options.mayAsk })
      : this.#joined(step, changed, isHeld ? watch : undefined);
    const ending = isPlain && type === 'operator' ? events : step.ending((s) => events.subscribe(s));
    return release === undefined ? ending : ending.pipe(finalize(release));
  }

  /** What has to see the whole output gets it when the last chunk has come. */
  #joined(
    step: StepAt,
    chunks: Observable<unknown> | AsyncIterable<unknown>,
    watch: StepWatch | undefined,
  ): Observable<NodeEvent> {
    const rule = (this.#definition.options.chunks as ConcatRule<unknown> | undefined) ?? step.context.chunks;
    return toObservable(chunks).pipe(
      toArray(),
      mergeMap((items) => {
        const whole = wholeOf(new Chunks(items), rule, step.node);
        return eventsOf(this.#around.finished(step, whole, watch));
      }),
    );
  }
}

/** A question in the place of a chunk ends the activation before a hook sees it. */
function withoutQuestions(step: StepAt, chunks: Observable<unknown> | AsyncIterable<unknown>): Observable<unknown> {
  return toObservable(chunks).pipe(
    filter((chunk) => {
      if (!(chunk instanceof Interrupt)) return true;
      step.endEarly(() => interruptedBy(step, chunk));
      return false;
    }),
  );
}

type Run = Extract<CodeDefinition, { readonly type: 'function' }>['run'];

/**
 * The activation of a function with nothing around it, as most steps are. It touches little that is the node's own: a plan of 10,000 nodes
 * does not fit into the cache of a processor.
 */
function bareActivation(run: Run, place: Surroundings, inlet: Inlet, node: StepNode) {
  const isPlain = inlet.input === undefined;
  const inputOf = (at: NodeActivation, rule: RunContext['chunks']): unknown => {
    const { arrival } = at;
    const isOne = isPlain && arrival?.next === undefined && !(arrival?.value instanceof Chunks);
    return isOne ? arrival?.value : wholeInput(inlet, at, rule);
  };
  return (at: NodeActivation): NodeResult => {
    const context = at.services as RunContext;
    const step = new StepAt(at, context, place);
    const watch = context.observers?.watch(place.watched, step);
    if (watch !== undefined) {
      let result: NodeResult;
      try {
        const input = inputOf(at, context.chunks);
        watch.start(input);
        result = node.delivered(step, call(run, input, step), watch);
      } catch (error) {
        watch.error(error);
        throw error;
      }
      return watchedEnd(watch, result);
    }
    const result = call(run, inputOf(at, context.chunks), step);
    return typeof result === 'object' ? node.delivered(step, result, undefined) : settledValue(result);
  };
}

function call(run: (input: never, at: StepAt) => unknown, input: unknown, step: StepAt): unknown {
  let result: unknown;
  try {
    result = run(input as never, step);
  } catch (thrown) {
    if (looksLikeOperator({ thrown })) throw operatorError(step.made.name);
    throw failureOf(thrown, step.path);
  }
  if (typeof result === 'function' && looksLikeOperator({ returned: result })) throw operatorError(step.made.name);
  return result;
}

function seenBy(
  watch: StepWatch,
  chunks: Observable<unknown> | AsyncIterable<unknown>,
): Observable<unknown> | AsyncIterable<unknown> {
  return isObservable(chunks) ? watch.outputs(chunks) : watch.pulledOutputs(chunks);
}

/** All chunks; synchronous when they come synchronously. They are not read on when the node is stopped. */
function collected(
  at: NodeActivation,
  chunks: Observable<unknown>,
  whole: (items: readonly unknown[]) => unknown,
): unknown {
  let now: readonly unknown[] | undefined;
  let failure: { readonly error: unknown } | undefined;
  let later: { resolve(items: readonly unknown[]): void; reject(error: unknown): void } | undefined;
  const subscription = chunks.pipe(toArray()).subscribe({
    next: (items) => {
      now = items;
      later?.resolve(items);
    },
    error: (error: unknown) => {
      failure = { error };
      later?.reject(error);
    },
  });
  if (now !== undefined) return whole(now);
  if (failure !== undefined) throw failure.error;
  at.signal.addEventListener('abort', () => subscription.unsubscribe(), { once: true });
  return new Promise<readonly unknown[]>((resolve, reject) => {
    later = { resolve, reject };
  }).then(whole);
}

/** What an operator or a generator gave. @throws EngineError NODE_PROTOCOL for no stream, such as of a function that forgets its return */
function requireStream(given: unknown, path: string, wanted: string): unknown {
  const isObject = typeof given === 'object' && given !== null;
  if (isObject && (given instanceof Interrupt || isObservable(given) || isAsyncIterable(given))) return given;
  const message = `The function of step "${path}" must give ${wanted}; received ${show(given)}.`;
  throw new EngineError('NODE_PROTOCOL', message, { node: path });
}

function isAsyncIterable(value: object): value is AsyncIterable<unknown> {
  return Symbol.asyncIterator in value;
}
