/** A node whose step is a graph, a map or a loop, with the hooks, stops and observers that the graph around puts to it. */
import { isObservable, mergeMap, Observable, of } from 'rxjs';
import { EngineError } from '../../errors.js';
import type { NodeActivation, NodeResult } from '../../graph/activation.js';
import type { NodeEvent, Settled } from '../../graph/node-events.js';
import type { ChunkSource } from '../../graph/tokens.js';
import { isJsonObject } from '../../json.js';
import type { Room } from '../../operators/chunk-reader.js';
import { Interrupt } from '../interrupt.js';
import { validate } from '../json-schema.js';
import type { NodeBlueprint, StepDefinition } from '../step.js';
import { goRound, mapItems, passThrough } from './containers.js';
import type { RunContext } from './context.js';
import { chunkInput, type Inlet, wholeInput, wholeOf } from './inputs.js';
import { interruptedBy, waitFor } from './questions.js';
import { StepAt } from './step-at.js';
import { afterwards, isThenable } from './step-node.js';
import { settledValue } from './stream-out.js';
import type { StepWatch } from './watch.js';

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

  constructor(parts: ContainerNodeParts) {
    this.#parts = parts;
  }

  activate(at: NodeActivation): NodeResult {
    const context = at.services as RunContext;
    const { blueprint, inlet, stops, isLive, definition } = this.#parts;
    if (stops.before && at.question === undefined && at.openBodies.length === 0) return stopped('before');
    const done = outputBeforeStop(at, context);
    if (done !== undefined) return settledValue(done.value);
    const step = new StepAt(at, context, blueprint.step, blueprint.id, inlet.path);
    const { name, kind } = blueprint.step;
    const watched = { name, kind, path: inlet.path, step: blueprint.step };
    const watch = context.observers?.watch(watched, step.path, { emit: (n, message) => step.emit(n, { message }) });
    try {
      if (isLive && definition.type === 'graph') {
        // Known once the graph inside takes its input.
        let inside: Room | undefined;
        const chunks = chunkInput(inlet, at, context.chunks, () => inside?.());
        const watched$ = watch === undefined ? chunks : watch.inputs(chunks);
        const source: ChunkSource = {
          toObservable: (room) => {
            inside = room;
            return watched$;
          },
        };
        return this.#ended(at, step, passThrough(at, inlet.path, { source }), watch);
      }
      const input = this.#input(at, context, step);
      if (!isThenable(input)) return this.#begun(at, step, input, watch);
      return new Observable<NodeEvent>((subscriber) => {
        input.then(
          (value) => {
            if (subscriber.closed) return;
            const result: unknown = this.#begun(at, step, value, watch);
            const events = isObservable(result) ? (result as Observable<NodeEvent>) : of(result as NodeEvent);
            subscriber.add(events.subscribe(subscriber));
          },
          (error: unknown) => subscriber.error(error),
        );
      });
    } catch (error) {
      watch?.error(error);
      throw error;
    }
  }

  #input(at: NodeActivation, context: RunContext, step: StepAt): unknown {
    const { blueprint, inlet, definition } = this.#parts;
    // A body that is open goes on with what it has; hooks have had their turn.
    if (at.openBodies.length > 0 && definition.type !== 'map') return undefined;
    const whole = wholeInput(inlet, at, context.chunks);
    const { before } = blueprint;
    const prepared =
      before === undefined || at.openBodies.length > 0
        ? whole
        : afterwards(whole, (value) => before(value as never, step));
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
    const rule = definition.options.chunks as never;
    if (definition.type === 'map')
      return this.#ended(at, step, mapItems(at, inlet.path, definition, input, rule), watch);
    if (definition.type === 'loop')
      return this.#ended(at, step, goRound(at, inlet.path, definition, input, rule), watch);
    return this.#ended(at, step, passThrough(at, inlet.path, { whole: input }), watch);
  }

  /** The body has ended: what comes out goes through schema, hook and stop. */
  #ended(at: NodeActivation, step: StepAt, result: NodeResult, watch: StepWatch | undefined): NodeResult {
    const { blueprint, definition, stops } = this.#parts;
    const { after } = blueprint;
    const { output: schema, chunks: rule } = definition.options;
    const isBare = after === undefined && schema === undefined && !stops.after;
    if (isBare && watch === undefined) return result;
    const events = isObservable(result) ? (result as Observable<NodeEvent>) : of(result as NodeEvent);
    const finish = (event: Settled): Observable<NodeEvent> => {
      const whole =
        isBare && watch === undefined
          ? event.value
          : wholeOf(event.value, (rule ?? step.context.chunks) as never, step.path);
      watch?.end(whole);
      if (isBare) return of(event);
      const checked =
        schema === undefined
          ? whole
          : validate(schema, whole, (problems) => this.#invalid('OUTPUT_INVALID', 'output', problems));
      const final = afterwards(checked, (value) => (after === undefined ? value : after(value as never, step)));
      const ended = afterwards(final, (value): NodeEvent => {
        if (value instanceof Interrupt) return interruptedBy(at, step.context.codec, value);
        if (!stops.after) return settledValue(value);
        at.say({ type: 'progress', nodeState: { output: step.context.codec.toJson(value, at.path) } });
        return stopped('after');
      });
      return isThenable(ended) ? (ended as unknown as Observable<NodeEvent>) : of(ended as NodeEvent);
    };
    return new Observable<NodeEvent>((subscriber) =>
      events.pipe(mergeMap((event) => (event.type === 'settled' ? finish(event) : of(event)))).subscribe({
        next: (event) => subscriber.next(event),
        error: (error: unknown) => {
          watch?.error(error);
          subscriber.error(error);
        },
      }),
    );
  }
}

function stopped(kind: 'before' | 'after') {
  return waitFor(kind, [{ suffix: '', question: null }]);
}

function outputBeforeStop(at: NodeActivation, { codec }: RunContext): { readonly value: unknown } | undefined {
  const { nodeState, question } = at;
  if (question?.kind !== 'after' || !isJsonObject(nodeState) || nodeState.output === undefined) return undefined;
  return { value: codec.fromJson(nodeState.output) };
}
