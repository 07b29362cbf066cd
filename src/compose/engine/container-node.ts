/** A node whose step is a graph, a map or a loop, with the hooks, stops and observers that the graph around puts to it. */
import { from, isObservable, mergeMap, Observable, of, toArray } from 'rxjs';
import { EngineError } from '../../errors.js';
import type { NodeActivation, NodeResult } from '../../graph/activation.js';
import type { NodeEvent, Settled } from '../../graph/node-events.js';
import { Chunks } from '../../graph/typed.js';
import { isJsonObject } from '../../json.js';
import { Interrupt } from '../interrupt.js';
import { validate } from '../json-schema.js';
import type { ChunkOperator, ConcatRule, NodeBlueprint, StepDefinition } from '../step.js';
import { type BodyOutput, goRound, mapItems, passThrough } from './containers.js';
import type { RunContext } from './context.js';
import { chunkInput, type Inlet, wholeInput, wholeOf } from './inputs.js';
import { interruptedBy, waitFor } from './questions.js';
import { StepAt } from './step-at.js';
import { afterwards, collected, isThenable } from './step-node.js';
import { settledValue, streamOut } from './stream-out.js';
import type { StepWatch, WatchedStep } from './watch.js';
import { watchedResult } from './watched-result.js';

type AnyOperator = ChunkOperator<unknown, unknown>;

/** What the node is made of. */
export interface ContainerNodeParts {
  readonly blueprint: NodeBlueprint;
  readonly definition: Extract<StepDefinition, { readonly type: 'graph' | 'map' | 'loop' }>;
  readonly inlet: Inlet;
  /** Chunks of its input go into the body while they come. */
  readonly isLive: boolean;
  readonly stops: { readonly before: boolean; readonly after: boolean };
}

/** The work of one container. */
export class ContainerNode {
  readonly #parts: ContainerNodeParts;
  readonly #watched: WatchedStep;
  readonly #rule: ConcatRule<unknown> | undefined;
  /** What comes out is needed whole before it goes on. */
  readonly #isHeld: boolean;

  constructor(parts: ContainerNodeParts) {
    this.#parts = parts;
    const { blueprint, definition, inlet, stops } = parts;
    const { name, kind } = blueprint.step;
    this.#rule = definition.options.chunks as ConcatRule<unknown> | undefined;
    this.#watched = { name, kind, path: inlet.path, rule: this.#rule };
    this.#isHeld = blueprint.after !== undefined || definition.options.output !== undefined || stops.after;
  }

  activate(at: NodeActivation): NodeResult {
    const context = at.services as RunContext;
    const { blueprint, inlet, stops } = this.#parts;
    if (stops.before && at.question === undefined && at.openBodies.length === 0) return stopped('before');
    const done = outputBeforeStop(at, context);
    if (done !== undefined) return settledValue(done.value);
    const step = new StepAt(at, context, blueprint.step, blueprint.id, inlet.path);
    const watch = context.observers?.watch(this.#watched, step);
    if (watch === undefined) return this.#work(at, step, undefined);
    return watchedResult(watch, () => this.#work(at, step, watch));
  }

  #work(at: NodeActivation, step: StepAt, watch: StepWatch | undefined): NodeResult {
    const { isLive, definition, blueprint, inlet } = this.#parts;
    if (isLive && definition.type === 'graph') {
      const chunks = chunkInput(inlet, at, step.context.chunks);
      const { beforeChunks } = blueprint;
      const prepared = beforeChunks === undefined ? chunks : (beforeChunks as AnyOperator)(chunks, step);
      const source = watch === undefined ? prepared : watch.inputs(prepared);
      return this.#pass(at, step, { source }, watch);
    }
    const input = this.#input(at, step);
    if (!isThenable(input)) return this.#begun(at, step, input, watch);
    return new Observable<NodeEvent>((subscriber) => {
      input.then(
        (value) => {
          if (subscriber.closed) return;
          try {
            subscriber.add(eventsOf(this.#begun(at, step, value, watch)).subscribe(subscriber));
          } catch (error) {
            subscriber.error(error);
          }
        },
        (error: unknown) => subscriber.error(error),
      );
    });
  }

  #input(at: NodeActivation, step: StepAt): unknown {
    const { blueprint, inlet, definition } = this.#parts;
    const { before, beforeChunks } = blueprint;
    const isOpen = at.openBodies.length > 0;
    // A body that is open goes on with what it has; hooks have had their turn.
    if (isOpen && definition.type !== 'map') return undefined;
    const { chunks } = step.context;
    const whole =
      beforeChunks === undefined || isOpen
        ? wholeInput(inlet, at, chunks)
        : collected(at, (beforeChunks as AnyOperator)(chunkInput(inlet, at, chunks), step), (items) =>
            wholeOf(new Chunks(items), chunks, inlet.path),
          );
    const prepared =
      before === undefined || isOpen ? whole : afterwards(whole, (value) => before(value as never, step));
    return afterwards(prepared, (value) => {
      const { input: schema } = definition.options;
      if (schema === undefined || value instanceof Interrupt) return value;
      return validate(schema, value, (problems) => this.#invalid('INPUT_INVALID', 'input', problems));
    });
  }

  #invalid(code: 'INPUT_INVALID' | 'OUTPUT_INVALID', what: string, problems: string): EngineError {
    const { path } = this.#parts.inlet;
    return new EngineError(code, `The ${what} of "${path}" does not fit its schema: ${problems}.`, { node: path });
  }

  #begun(at: NodeActivation, step: StepAt, input: unknown, watch: StepWatch | undefined): NodeResult {
    const { definition, inlet } = this.#parts;
    if (input instanceof Interrupt) return interruptedBy(at, step.context.codec, input);
    watch?.start(input);
    if (definition.type === 'graph') return this.#pass(at, step, { whole: input }, watch);
    const result =
      definition.type === 'map'
        ? mapItems(at, inlet.path, definition, input, this.#rule)
        : goRound(at, inlet.path, definition, input, this.#rule);
    return this.#ended(at, step, result, watch);
  }

  /** Through a graph; its chunks go on while they come, unless something needs them whole. */
  #pass(
    at: NodeActivation,
    step: StepAt,
    input: Parameters<typeof passThrough>[2],
    watch: StepWatch | undefined,
  ): NodeResult {
    const { path } = this.#parts.inlet;
    const isLive = !this.#isHeld && this.#parts.blueprint.afterChunks === undefined;
    const output: BodyOutput = { isLive, ...(watch && { passed: (chunk: unknown) => watch.output(chunk) }) };
    return this.#ended(at, step, passThrough(at, path, input, output), watch);
  }

  /** The body has ended: what comes out goes through schema, hooks and stop. */
  #ended(at: NodeActivation, step: StepAt, result: NodeResult, watch: StepWatch | undefined): NodeResult {
    const isBare = !this.#isHeld && this.#parts.blueprint.afterChunks === undefined;
    if (isBare && watch === undefined) return result;
    return eventsOf(result).pipe(
      mergeMap((event) => {
        if (event.type !== 'settled') return of(event);
        // Chunks that went on while they came were told then.
        if (isBare) {
          if (at.out === undefined) watch?.end(this.#whole(step, event.value));
          return of(event);
        }
        return this.#finished(at, step, event, watch);
      }),
    );
  }

  #whole(step: StepAt, value: unknown): unknown {
    return wholeOf(value, this.#rule ?? step.context.chunks, this.#parts.inlet.path);
  }

  #finished(at: NodeActivation, step: StepAt, event: Settled, watch: StepWatch | undefined): Observable<NodeEvent> {
    const { blueprint, definition } = this.#parts;
    const { output: schema } = definition.options;
    const { afterChunks } = blueprint;
    if (afterChunks === undefined || schema !== undefined || watch !== undefined) {
      const whole = this.#whole(step, event.value);
      const checked =
        schema === undefined
          ? whole
          : validate(schema, whole, (problems) => this.#invalid('OUTPUT_INVALID', 'output', problems));
      const told = afterwards(checked, (value) => {
        watch?.end(value);
        return value;
      });
      if (afterChunks === undefined) return settling(afterwards(told, (value) => this.#released(at, step, value)));
      if (isThenable(told)) return settling(told).pipe(mergeMap(() => this.#changed(at, step, event.value)));
    }
    return this.#changed(at, step, event.value);
  }

  /** What came out in chunks, through `afterChunks`. */
  #changed(at: NodeActivation, step: StepAt, value: unknown): Observable<NodeEvent> {
    const chunks = value instanceof Chunks ? from(value.items) : of(value);
    const changed = (this.#parts.blueprint.afterChunks as AnyOperator)(chunks, step);
    if (!this.#isHeld) return streamOut(at, changed);
    return changed.pipe(
      toArray(),
      mergeMap((items) => settling(this.#released(at, step, this.#whole(step, new Chunks(items))))),
    );
  }

  /** Through `after` and the stop behind the node. */
  #released(at: NodeActivation, step: StepAt, whole: unknown): unknown {
    const { after } = this.#parts.blueprint;
    const final = after === undefined ? whole : after(whole as never, step);
    return afterwards(final, (value): NodeEvent => {
      if (value instanceof Interrupt) return interruptedBy(at, step.context.codec, value);
      if (!this.#parts.stops.after) return settledValue(value);
      at.say({ type: 'progress', nodeState: { output: step.context.codec.toJson(value, at.path) } });
      return stopped('after');
    });
  }
}

function eventsOf(result: NodeResult): Observable<NodeEvent> {
  return isObservable(result) ? (result as Observable<NodeEvent>) : of(result as NodeEvent);
}

/** An event, or the promise of one. */
function settling(event: unknown): Observable<NodeEvent> {
  return isThenable(event) ? from(event as PromiseLike<NodeEvent>) : of(event as NodeEvent);
}

function stopped(kind: 'before' | 'after') {
  return waitFor(kind, [{ suffix: '', question: null }]);
}

function outputBeforeStop(at: NodeActivation, { codec }: RunContext): { readonly value: unknown } | undefined {
  const { nodeState, question } = at;
  if (question?.kind !== 'after' || !isJsonObject(nodeState) || nodeState.output === undefined) return undefined;
  return { value: codec.fromJson(nodeState.output) };
}
