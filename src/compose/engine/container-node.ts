/** A node whose step is a graph, a map or a loop. */
import { mergeMap, type Observable, of } from 'rxjs';
import type { NodeActivation, NodeResult } from '../../graph/activation.js';
import type { NodeEvent, Settled } from '../../graph/node-events.js';
import type { ChunkInput } from '../../graph/typed.js';
import type { Room } from '../../operators/chunk-reader.js';
import { Interrupt } from '../interrupt.js';
import type { ConcatRule, NodeBlueprint, StepDefinition } from '../step.js';
import { goRound, itemsOf, mapItems, passThrough } from './containers.js';
import type { RunContext } from './context.js';
import { chunkInput, type Inlet, wholeInput, wholeOf } from './inputs.js';
import { isThenable } from './later.js';
import { runPasses } from './passes.js';
import { interruptedBy } from './questions.js';
import { StepAt } from './step-at.js';
import { eventsOf, type Stops, Surroundings } from './surroundings.js';
import type { StepWatch } from './watch.js';
import { watchedResult } from './watched-result.js';

/** What the node is made of. */
export interface ContainerNodeParts {
  readonly blueprint: NodeBlueprint;
  readonly definition: Extract<StepDefinition, { readonly type: 'graph' | 'map' | 'loop' }>;
  readonly inlet: Inlet;
  /** Chunks of its input go into the body while they come. */
  readonly isLive: boolean;
  readonly stops: Stops;
  /** How the chunks of what its body gives become one value; undefined: by the rule of the run, or their type. */
  readonly rule: ConcatRule<unknown> | undefined;
}

/** The work of one container. */
export class ContainerNode {
  readonly #parts: ContainerNodeParts;
  readonly #around: Surroundings;

  constructor(parts: ContainerNodeParts) {
    const { blueprint, definition, inlet, stops, rule } = parts;
    this.#parts = parts;
    this.#around = new Surroundings(blueprint, definition.options, stops, inlet.path, rule);
  }

  activate(at: NodeActivation): NodeResult {
    const stopped = this.#around.stopped(at);
    if (stopped !== undefined) return stopped;
    const context = at.services as RunContext;
    const step = new StepAt(at, context, this.#around);
    const watch = context.observers?.watch(this.#around.watched, step);
    return watch === undefined ? this.#work(step, undefined) : watchedResult(watch, () => this.#work(step, watch));
  }

  #work(step: StepAt, watch: StepWatch | undefined): NodeResult {
    if (this.#parts.isLive) return this.#passed(step, { source: this.#source(step, watch) }, watch);
    const input = this.#input(step);
    if (isThenable(input)) return step.later(input, (value) => this.#begun(step, value, watch));
    return this.#begun(step, input, watch);
  }

  /** The chunks of the input; whether there is room for them is known once the graph inside takes them. */
  #source(step: StepAt, watch: StepWatch | undefined): ChunkInput {
    let inside: Room | undefined;
    const chunks = chunkInput(this.#parts.inlet, step.node, step.context.chunks, () => inside?.());
    const seen = watch === undefined ? chunks : watch.inputs(chunks);
    return {
      toObservable: (room) => {
        inside = room;
        return seen;
      },
    };
  }

  #input(step: StepAt): unknown {
    const { inlet, definition } = this.#parts;
    // A body that is open goes on with what it has; hooks have had their turn.
    if (step.node.openBodies.length > 0 && definition.type !== 'map') return undefined;
    return this.#around.prepared(step, () => wholeInput(inlet, step.node, step.context.chunks));
  }

  #begun(step: StepAt, input: unknown, watch: StepWatch | undefined): NodeResult {
    const { definition, rule } = this.#parts;
    if (input instanceof Interrupt) return interruptedBy(step, input);
    watch?.start(input);
    if (definition.type === 'graph') return this.#passed(step, { whole: input }, watch);
    const chunks = rule ?? step.context.chunks;
    if (definition.type === 'loop') {
      return this.#ended(step, goRound(step.node, definition, input, chunks), watch);
    }
    // Items whose turn comes after a resume are those that the hook made.
    if (step.node.isResumable) step.keepPrepared();
    const { passes } = definition;
    const items = itemsOf(step, input);
    const work =
      passes === undefined ? mapItems(step, definition, items, chunks) : runPasses(step, passes, items, chunks);
    return this.#ended(step, work, watch);
  }

  #passed(step: StepAt, input: Parameters<typeof passThrough>[1], watch: StepWatch | undefined): NodeResult {
    const told = watch === undefined ? undefined : (chunk: unknown) => watch.output(chunk);
    return this.#ended(step, passThrough(step.node, input, this.#around.isOpenBehind, told), watch);
  }

  /** The body has ended: what comes out goes through schema, hook and stop. */
  #ended(step: StepAt, result: NodeResult, watch: StepWatch | undefined): NodeResult {
    const { isOpenBehind } = this.#around;
    if (isOpenBehind && watch === undefined) return result;
    const finish = (event: Settled): Observable<NodeEvent> => {
      // Chunks that went on while they came were told then.
      if (isOpenBehind && step.node.out !== undefined) return of(event);
      const whole = wholeOf(event.value, this.#parts.rule ?? step.context.chunks, step.path);
      if (!isOpenBehind) return eventsOf(this.#around.finished(step, whole, watch));
      watch?.end(whole);
      return of(event);
    };
    return eventsOf(result).pipe(mergeMap((event) => (event.type === 'settled' ? finish(event) : of(event))));
  }
}
