/** A node whose step is a graph, a map or a loop, with the hooks, stops and observers that the graph around puts to it. */
import { isObservable, mergeMap, type Observable, of } from 'rxjs';
import { EngineError } from '../../errors.js';
import type { NodeActivation, NodeResult } from '../../graph/activation.js';
import type { NodeEvent, Settled } from '../../graph/node-events.js';
import type { ChunkInput } from '../../graph/typed.js';
import type { Room } from '../../operators/chunk-reader.js';
import { Interrupt } from '../interrupt.js';
import { validate } from '../json-schema.js';
import type { ConcatRule, NodeBlueprint, StepDefinition } from '../step.js';
import { goRound, mapItems, passThrough } from './containers.js';
import type { RunContext } from './context.js';
import { chunkInput, type Inlet, wholeInput, wholeOf } from './inputs.js';
import { keptValue } from './kept.js';
import { interruptedBy, outputBeforeStop, stopAfter, stopAt } from './questions.js';
import { StepAt } from './step-at.js';
import { afterwards, isThenable } from './step-node.js';
import { settledValue } from './stream-out.js';
import type { StepWatch, WatchedStep } from './watch.js';
import { watchedResult } from './watched-result.js';

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

  constructor(parts: ContainerNodeParts) {
    this.#parts = parts;
    const { blueprint, definition, inlet } = parts;
    const { name, kind } = blueprint.step;
    const rule = definition.options.chunks as ConcatRule<unknown> | undefined;
    this.#watched = { name, kind, path: inlet.path, rule };
  }

  activate(at: NodeActivation): NodeResult {
    const context = at.services as RunContext;
    const { blueprint, inlet, stops } = this.#parts;
    if (stops.before && at.question === undefined && at.openBodies.length === 0) return stopAt(at, 'before');
    const done = outputBeforeStop(at, context.codec);
    if (done !== undefined) return settledValue(done.value);
    const step = new StepAt(at, context, blueprint.step, blueprint.id, inlet.path);
    const watch = context.observers?.watch(this.#watched, step);
    if (watch === undefined) return this.#work(at, context, step, undefined);
    return watchedResult(watch, () => this.#work(at, context, step, watch));
  }

  #work(at: NodeActivation, context: RunContext, step: StepAt, watch: StepWatch | undefined): NodeResult {
    const { inlet, isLive, definition } = this.#parts;
    if (isLive && definition.type === 'graph') {
      // Known once the graph inside takes its input.
      let inside: Room | undefined;
      const chunks = chunkInput(inlet, at, context.chunks, () => inside?.());
      const seen = watch === undefined ? chunks : watch.inputs(chunks);
      const source: ChunkInput = {
        toObservable: (room) => {
          inside = room;
          return seen;
        },
      };
      return this.#passed(at, step, { source }, watch);
    }
    const input = this.#input(at, context, step);
    if (!isThenable(input)) return this.#begun(at, step, input, watch);
    return step.ending((subscriber) => {
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
      return undefined;
    });
  }

  #passed(
    at: NodeActivation,
    step: StepAt,
    input: Parameters<typeof passThrough>[2],
    watch: StepWatch | undefined,
  ): NodeResult {
    const told = watch === undefined ? undefined : (chunk: unknown) => watch.output(chunk);
    return this.#ended(at, step, passThrough(at, this.#parts.inlet.path, input, this.#isBare, told), watch);
  }

  #input(at: NodeActivation, context: RunContext, step: StepAt): unknown {
    const { blueprint, inlet, definition } = this.#parts;
    // A body that is open goes on with what it has; hooks have had their turn.
    if (at.openBodies.length > 0 && definition.type !== 'map') return undefined;
    const { before } = blueprint;
    const kept = before === undefined ? undefined : keptValue(at, context.codec, 'input');
    if (kept !== undefined) return kept.value;
    const whole = wholeInput(inlet, at, context.chunks);
    const prepared = before === undefined ? whole : afterwards(whole, (value) => before(value as never, step));
    const checked = afterwards(prepared, (value) => {
      const { input: schema } = definition.options;
      if (schema === undefined || value instanceof Interrupt) return value;
      return validate(schema, value, (problems) => this.#invalid('INPUT_INVALID', 'input', problems));
    });
    return before === undefined ? checked : afterwards(checked, (value) => step.prepare(value));
  }

  #invalid(code: 'INPUT_INVALID' | 'OUTPUT_INVALID', what: string, problems: string): EngineError {
    const { path } = this.#parts.inlet;
    return new EngineError(code, `The ${what} of "${path}" does not fit its schema: ${problems}.`, { node: path });
  }

  #begun(at: NodeActivation, step: StepAt, input: unknown, watch: StepWatch | undefined): NodeResult {
    const { definition, inlet } = this.#parts;
    if (input instanceof Interrupt) return interruptedBy(step, input);
    watch?.start(input);
    const rule = definition.options.chunks as never;
    if (definition.type === 'map') {
      // Items whose turn comes after a resume are those that the hook made.
      if (at.isResumable) step.keepPrepared();
      return this.#ended(at, step, mapItems(at, inlet.path, definition, input, rule, step), watch);
    }
    if (definition.type === 'loop')
      return this.#ended(at, step, goRound(at, inlet.path, definition, input, rule), watch);
    return this.#passed(at, step, { whole: input }, watch);
  }

  /** Nothing has to see the whole output before others do. */
  get #isBare(): boolean {
    const { blueprint, definition, stops } = this.#parts;
    return blueprint.after === undefined && definition.options.output === undefined && !stops.after;
  }

  /** The body has ended: what comes out goes through schema, hook and stop. */
  #ended(at: NodeActivation, step: StepAt, result: NodeResult, watch: StepWatch | undefined): NodeResult {
    const { blueprint, definition, stops } = this.#parts;
    const { after } = blueprint;
    const { output: schema, chunks: rule } = definition.options;
    const isBare = this.#isBare;
    if (isBare && watch === undefined) return result;
    const finish = (event: Settled): Observable<NodeEvent> => {
      // Chunks that went on while they came were told then.
      if (isBare && at.out !== undefined) return of(event);
      const whole = wholeOf(event.value, (rule ?? step.context.chunks) as never, step.path);
      if (isBare) {
        watch?.end(whole);
        return of(event);
      }
      const checked =
        schema === undefined
          ? whole
          : validate(schema, whole, (problems) => this.#invalid('OUTPUT_INVALID', 'output', problems));
      const final = afterwards(checked, (value) => {
        watch?.end(value);
        return after === undefined ? value : after(value as never, step);
      });
      const ended = afterwards(final, (value): NodeEvent => {
        if (value instanceof Interrupt) return interruptedBy(step, value);
        if (!stops.after) return settledValue(value);
        // What the body gave is kept as the output; its passes are not needed any more.
        const stop = stopAfter(step, value);
        for (const key of at.openBodies) at.closeBody(key);
        return stop;
      });
      return isThenable(ended) ? (ended as unknown as Observable<NodeEvent>) : of(ended as NodeEvent);
    };
    return step.ending((subscriber) =>
      eventsOf(result)
        .pipe(mergeMap((event) => (event.type === 'settled' ? finish(event) : of(event))))
        .subscribe({
          next: (event) => subscriber.next(event),
          error: (error: unknown) => subscriber.error(error),
        }),
    );
  }
}

function eventsOf(result: NodeResult): Observable<NodeEvent> {
  return isObservable(result) ? (result as Observable<NodeEvent>) : of(result as NodeEvent);
}
