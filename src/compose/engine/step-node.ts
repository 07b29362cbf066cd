/** A node whose work is one step of code, with all that a graph puts around it: hooks, schemas, stops, observers. */
import {
  concat,
  connect,
  defaultIfEmpty,
  defer,
  EMPTY,
  finalize,
  isObservable,
  map,
  mergeAll,
  mergeMap,
  Observable,
  of,
  take,
  toArray,
} from 'rxjs';
import { EngineError } from '../../errors.js';
import type { NodeActivation, NodeResult } from '../../graph/activation.js';
import type { NodeEvent, Settled } from '../../graph/node-events.js';
import { Chunks } from '../../graph/typed.js';
import type { Room } from '../../operators/chunk-reader.js';
import { failureOf, Interrupt } from '../interrupt.js';
import { validate } from '../json-schema.js';
import { looksLikeOperator, operatorError } from '../make-step.js';
import type { AnyStep, ChunkOperator, ConcatRule, NodeBlueprint, StepDefinition, StepOptions } from '../step.js';
import type { RunContext } from './context.js';
import { chunkInput, type Inlet, pulled, pulledInput, wholeInput, wholeOf } from './inputs.js';
import { keptValue } from './kept.js';
import { interruptedBy, outputBeforeStop, stopAfter, stopAt } from './questions.js';
import { StepAt } from './step-at.js';
import { settledValue, streamOut } from './stream-out.js';
import type { StepWatch, WatchedStep } from './watch.js';
import { watchedResult } from './watched-result.js';

type AnyOperator = ChunkOperator<unknown, unknown>;

type CodeDefinition = Extract<StepDefinition, { readonly type: 'function' | 'operator' | 'generator' }>;

/** What a node is made of. */
export interface StepNodeParts {
  readonly blueprint: NodeBlueprint;
  readonly definition: CodeDefinition;
  readonly inlet: Inlet;
  /** The graph stops before it, or after it. */
  readonly stops: { readonly before: boolean; readonly after: boolean };
  /** It only holds the graph together: no observer is told of it. @default false */
  readonly isHidden?: boolean;
}

/** The work of one node; one object for all runs of its plan. */
export class StepNode {
  readonly #parts: StepNodeParts;
  readonly #definition: CodeDefinition;
  readonly #inlet: Inlet;
  readonly #step: AnyStep;
  readonly #options: StepOptions;
  readonly #watched: WatchedStep;
  /** A function with nothing around it. */
  readonly #isBare: boolean;

  constructor(parts: StepNodeParts) {
    this.#parts = parts;
    this.#definition = parts.definition;
    this.#inlet = parts.inlet;
    this.#step = parts.blueprint.step;
    this.#options = parts.definition.options;
    const { name, kind } = this.#step;
    this.#watched = {
      name,
      kind,
      path: parts.inlet.path,
      rule: this.#options.chunks as ConcatRule<unknown> | undefined,
    };
    this.#isBare = parts.definition.type === 'function' && !hasAround(parts);
  }

  activate(at: NodeActivation): NodeResult {
    const context = at.services as RunContext;
    const { observers } = context;
    const step = this.#at(at, context);
    if (observers === undefined || this.#parts.isHidden === true)
      return this.#activateWith(at, context, step, undefined);
    const { before } = this.#parts.stops;
    // It has not begun yet, or had ended before its graph stopped.
    if ((before && at.question === undefined) || at.question?.kind === 'after')
      return this.#activateWith(at, context, step, undefined);
    const watch = observers.watch(this.#watched, step);
    if (watch === undefined) return this.#activateWith(at, context, step, undefined);
    return watchedResult(watch, () => this.#activateWith(at, context, step, watch));
  }

  #activateWith(at: NodeActivation, context: RunContext, step: StepAt, watch: StepWatch | undefined): NodeResult {
    if (!this.#isBare || this.#definition.type !== 'function') return this.#activateWithAll(at, context, step, watch);
    const input = wholeInput(this.#inlet, at, context.chunks);
    watch?.start(input);
    return this.#delivered(at, step, this.#call(this.#definition.run, input, step), watch);
  }

  #at(at: NodeActivation, context: RunContext): StepAt {
    return new StepAt(at, context, this.#step, this.#parts.blueprint.id, this.#inlet.path);
  }

  #activateWithAll(at: NodeActivation, context: RunContext, step: StepAt, watch: StepWatch | undefined): NodeResult {
    const { before: stopsBefore } = this.#parts.stops;
    if (stopsBefore && at.question === undefined) return stopAt(at, 'before');
    const stored = outputBeforeStop(at, context.codec);
    if (stored !== undefined) return settledValue(stored.value);
    const result = afterwards(this.#input(at, context, step, watch), (input) =>
      this.#work(input, at, context, step, watch),
    );
    return isThenable(result) ? this.#later(at, step, result, watch) : this.#delivered(at, step, result, watch);
  }

  /** What the step begins with: a whole value for functions; for the others chunks, unless something needs the whole before. */
  #input(at: NodeActivation, context: RunContext, step: StepAt, watch: StepWatch | undefined): unknown {
    const { before } = this.#parts.blueprint;
    const { type } = this.#definition;
    const needsWhole = type === 'function' || before !== undefined || this.#options.input !== undefined;
    if (!needsWhole) return undefined;
    const prepared = this.#prepared(at, context, step);
    return afterwards(prepared, (input) => {
      if (!(input instanceof Interrupt)) watch?.start(input);
      return input;
    });
  }

  /** The whole input as hook and schema leave it. A hook that has had its effects is not called again. */
  #prepared(at: NodeActivation, context: RunContext, step: StepAt): unknown {
    const { before, beforeChunks } = this.#parts.blueprint;
    const kept = before === undefined ? undefined : keptValue(at, context.codec, 'input');
    if (kept !== undefined) {
      step.prepared = kept;
      return kept.value;
    }
    const whole =
      beforeChunks === undefined
        ? wholeInput(this.#inlet, at, context.chunks)
        : collected(at, (beforeChunks as AnyOperator)(chunkInput(this.#inlet, at, context.chunks), step), (items) =>
            wholeOf(new Chunks(items), context.chunks, this.#inlet.path),
          );
    const prepared = before === undefined ? whole : afterwards(whole, (input) => before(input as never, step));
    const checked = afterwards(prepared, (input) => (input instanceof Interrupt ? input : this.#checked(input)));
    return before === undefined ? checked : afterwards(checked, (input) => step.prepare(input));
  }

  #checked(input: unknown): unknown {
    const { input: schema } = this.#options;
    if (schema === undefined) return input;
    return validate(schema, input, (problems) => this.#invalid('INPUT_INVALID', 'input', problems));
  }

  #invalid(code: 'INPUT_INVALID' | 'OUTPUT_INVALID', what: string, problems: string): EngineError {
    const message = `The ${what} of step "${this.#inlet.path}" does not fit its schema: ${problems}.`;
    return new EngineError(code, message, { node: this.#inlet.path });
  }

  #work(input: unknown, at: NodeActivation, context: RunContext, step: StepAt, watch: StepWatch | undefined): unknown {
    if (input instanceof Interrupt) return input;
    const definition = this.#definition;
    if (definition.type === 'function') return this.#call(definition.run, input, step);
    const isWhole = this.#parts.blueprint.before !== undefined || this.#options.input !== undefined;
    const { beforeChunks } = this.#parts.blueprint;
    if (definition.type === 'operator') {
      const chunks = isWhole ? of(input) : this.#chunks(at, context, step, watch);
      return (definition.operator as AnyOperator)(chunks, step);
    }
    const isPlain = !isWhole && beforeChunks === undefined;
    const input$ = (room: Room) => (isWhole ? of(input) : this.#chunks(at, context, step, undefined, room));
    const { chunks, release } = isPlain
      ? pulledInput(this.#inlet, at, context.chunks)
      : pulled(input$, this.#inlet.path, context.chunks);
    // A generator may end without having read everything, or anything.
    step.release = release;
    const seen = watch === undefined || isWhole ? chunks : watch.pulledInputs(chunks);
    return definition.run(seen as never, step);
  }

  #chunks(
    at: NodeActivation,
    context: RunContext,
    step: StepAt,
    watch: StepWatch | undefined,
    room?: Room,
  ): Observable<unknown> {
    const { beforeChunks } = this.#parts.blueprint;
    const chunks = chunkInput(this.#inlet, at, context.chunks, room);
    const prepared = beforeChunks === undefined ? chunks : (beforeChunks as AnyOperator)(chunks, step);
    return watch === undefined ? prepared : watch.inputs(prepared);
  }

  #call(run: (input: never, at: StepAt) => unknown, input: unknown, step: StepAt): unknown {
    let result: unknown;
    try {
      result = run(input as never, step);
    } catch (thrown) {
      if (looksLikeOperator({ thrown })) throw operatorError(this.#step.name);
      throw failureOf(thrown, step.path);
    }
    if (typeof result === 'function' && looksLikeOperator({ returned: result })) throw operatorError(this.#step.name);
    return result;
  }

  // ── what comes out ────────────────────────────────────────────────────────────────────────────────────────────────────────

  #delivered(at: NodeActivation, step: StepAt, result: unknown, watch: StepWatch | undefined): NodeResult {
    if (typeof result !== 'object' || result === null) return this.#settled(at, step, result, watch);
    if (result instanceof Interrupt) return interruptedBy(step, result);
    if (isObservable(result) && this.#options.mayAsk === true) return this.#asking(at, step, result, watch);
    if (isObservable(result) || isAsyncIterable(result)) return this.#streamed(at, step, result, watch);
    if (isThenable(result)) return this.#later(at, step, result, watch);
    return this.#settled(at, step, result, watch);
  }

  /** A stream, unless it begins with a question. */
  #asking(at: NodeActivation, step: StepAt, source: Observable<unknown>, watch: StepWatch | undefined): NodeResult {
    const begun = (first: unknown, chunks$: Observable<unknown>): Observable<NodeEvent> => {
      if (first instanceof Interrupt) return of(interruptedBy(step, first));
      return eventsOf(this.#streamed(at, step, concat(of(first), chunks$), watch));
    };
    return source.pipe(
      connect((chunks$) =>
        chunks$.pipe(
          take(1),
          map((first) => begun(first, chunks$)),
          defaultIfEmpty(defer(() => eventsOf(this.#streamed(at, step, EMPTY, watch)))),
          mergeAll(),
        ),
      ),
    );
  }

  /** A promise; a step that is run inside this one may end it sooner, with a question. */
  #later(at: NodeActivation, step: StepAt, result: PromiseLike<unknown>, watch: StepWatch | undefined): NodeResult {
    return step.ending((subscriber) => {
      result.then(
        (value) => {
          if (subscriber.closed) return;
          try {
            const delivered = this.#delivered(at, step, value, watch);
            if (isObservable(delivered)) subscriber.add(delivered.subscribe(subscriber));
            else subscriber.next(delivered as Settled);
          } catch (error) {
            subscriber.error(error);
          }
        },
        (thrown: unknown) => subscriber.error(failureOf(thrown, step.path)),
      );
      return undefined;
    });
  }

  #settled(at: NodeActivation, step: StepAt, result: unknown, watch: StepWatch | undefined): NodeResult {
    const { after, afterChunks } = this.#parts.blueprint;
    const { output } = this.#options;
    if (afterChunks !== undefined) {
      watch?.end(result);
      return this.#streamed(at, step, of(result), undefined);
    }
    if (after === undefined && output === undefined && !this.#parts.stops.after) {
      watch?.end(result);
      return settledValue(result);
    }
    return this.#finished(step, result, watch);
  }

  /** A whole output on its way through its schema, its hook and the stop behind it. */
  #finished(step: StepAt, result: unknown, watch: StepWatch | undefined): NodeResult {
    const { after } = this.#parts.blueprint;
    const { output: schema } = this.#options;
    const checked =
      schema === undefined
        ? result
        : validate(schema, result, (problems) => this.#invalid('OUTPUT_INVALID', 'output', problems));
    const final = afterwards(checked, (value) => {
      watch?.end(value);
      return after === undefined ? value : after(value as never, step);
    });
    const ended = afterwards(final, (value): unknown => {
      if (value instanceof Interrupt) return interruptedBy(step, value);
      return this.#parts.stops.after ? stopAfter(step, value) : settledValue(value);
    });
    return isThenable(ended) ? this.#endedLater(step, ended) : (ended as NodeResult);
  }

  #endedLater(step: StepAt, ended: PromiseLike<unknown>): NodeResult {
    return step.ending((subscriber) => {
      ended.then(
        (event) => subscriber.next(event as NodeEvent),
        (error: unknown) => subscriber.error(error),
      );
      return undefined;
    });
  }

  #streamed(
    at: NodeActivation,
    step: StepAt,
    source: Observable<unknown> | AsyncIterable<unknown>,
    watch: StepWatch | undefined,
  ): NodeResult {
    const { after, afterChunks } = this.#parts.blueprint;
    // What its schema has still to accept is told when it has.
    const isHeld = this.#options.output !== undefined;
    const seen = watch === undefined || isHeld ? source : seenBy(watch, source);
    const changed = afterChunks === undefined ? seen : (afterChunks as AnyOperator)(asObservable(seen), step);
    if (after === undefined && this.#options.output === undefined && !this.#parts.stops.after) {
      const { release } = step;
      const events = streamOut(at, changed, {
        ask: (question) => interruptedBy(step, question),
      });
      const ending = this.#definition.type === 'operator' ? events : step.ending((s) => events.subscribe(s));
      return release === undefined ? ending : ending.pipe(finalize(release));
    }
    const rule = this.#options.chunks ?? step.context.chunks;
    return asObservable(changed).pipe(
      toArray(),
      mergeMap((items) => {
        const whole = wholeOf(new Chunks(items), rule as never, this.#inlet.path);
        const finished: unknown = this.#finished(step, whole, isHeld ? watch : undefined);
        return isObservable(finished) || isThenable(finished)
          ? (finished as Observable<NodeEvent>)
          : of(finished as NodeEvent);
      }),
    );
  }
}

function eventsOf(result: NodeResult): Observable<NodeEvent> {
  return isObservable(result) ? (result as Observable<NodeEvent>) : of(result as NodeEvent);
}

function hasAround({ blueprint, definition, stops }: StepNodeParts): boolean {
  const { before, after, beforeChunks, afterChunks } = blueprint;
  const { input, output } = definition.options;
  return (
    [before, after, beforeChunks, afterChunks, input, output].some((part) => part !== undefined) ||
    stops.before ||
    stops.after
  );
}

function seenBy(
  watch: StepWatch,
  chunks: Observable<unknown> | AsyncIterable<unknown>,
): Observable<unknown> | AsyncIterable<unknown> {
  return isObservable(chunks) ? watch.outputs(chunks) : watch.pulledOutputs(chunks);
}

/** Calls `next` with a value, now or when it has come. */
export function afterwards(value: unknown, next: (value: unknown) => unknown): unknown {
  return isThenable(value) ? value.then(next) : next(value);
}

/** All chunks; synchronous when they come synchronously. They are not read on when the node is stopped. */
export function collected(
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

export function asObservable(source: Observable<unknown> | AsyncIterable<unknown>): Observable<unknown> {
  return isObservable(source) ? source : new Observable((subscriber) => iterateInto(source, subscriber));
}

function iterateInto(
  source: AsyncIterable<unknown>,
  subscriber: { readonly closed: boolean; next(value: unknown): void; error(error: unknown): void; complete(): void },
): () => void {
  const iterator = source[Symbol.asyncIterator]();
  const read = async (): Promise<void> => {
    while (!subscriber.closed) {
      const { done, value } = await iterator.next();
      if (done === true) {
        subscriber.complete();
        return;
      }
      subscriber.next(value);
    }
  };
  read().catch((error: unknown) => subscriber.error(error));
  return () => {
    Promise.resolve(iterator.return?.()).catch(() => {});
  };
}

export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}

export function isAsyncIterable(value: object): value is AsyncIterable<unknown> {
  return Symbol.asyncIterator in value;
}
