/** What a graph puts around the step of a node: hooks, schemas, stops; the same for a step of code and for one with a body. */
import { isObservable, type Observable, of } from 'rxjs';
import { EngineError } from '../../errors.js';
import type { NodeActivation, NodeResult } from '../../graph/activation.js';
import type { NodeEvent } from '../../graph/node-events.js';
import { Interrupt } from '../interrupt.js';
import { validate } from '../json-schema.js';
import type { AnyStep, ConcatRule, NodeBlueprint, StepOptions } from '../step.js';
import type { RunContext } from './context.js';
import { keptValue } from './kept.js';
import { afterwards, isThenable } from './later.js';
import { interruptedBy, outputBeforeStop, stopAfter, stopAt } from './questions.js';
import type { StepAt, StepPlace } from './step-at.js';
import { settledValue } from './stream-out.js';
import type { StepWatch, WatchedStep } from './watch.js';

/** The graph stops before a node, or behind it. */
export interface Stops {
  readonly before: boolean;
  readonly after: boolean;
}

/** One node's surroundings; one object for all runs of its plan. */
export class Surroundings implements StepPlace {
  readonly step: AnyStep;
  readonly id: string;
  readonly path: string;
  /** The node, as observers know it. */
  readonly watched: WatchedStep;
  /** Nothing has to see the whole input before the step begins. */
  readonly isOpenBefore: boolean;
  /** Nothing has to see the whole output before others do. */
  readonly isOpenBehind: boolean;
  readonly #hooks: Pick<NodeBlueprint, 'before' | 'after'>;
  readonly #options: StepOptions;
  readonly #stops: Stops;

  /**
   * @param path ids of the graphs around and its own, without rounds
   * @param rule how the chunks of its output become one value; undefined: by the rule of the run, or their type
   */
  constructor(blueprint: NodeBlueprint, options: StepOptions, stops: Stops, path: string, rule: unknown) {
    const { id, step } = blueprint;
    const { name, kind } = step;
    this.step = step;
    this.id = id;
    this.path = path;
    this.watched = { name, kind, path, rule: rule as ConcatRule<unknown> | undefined };
    this.isOpenBefore = blueprint.before === undefined && options.input === undefined;
    this.isOpenBehind = blueprint.after === undefined && options.output === undefined && !stops.after;
    this.#hooks = blueprint;
    this.#options = options;
    this.#stops = stops;
  }

  /** How the activation ends when the graph stops before the step, or had stopped behind it; undefined when the step is to run. */
  stopped(at: NodeActivation): NodeResult | undefined {
    if (this.#stops.before && at.question === undefined && at.openBodies.length === 0) return stopAt(at, 'before');
    const done = outputBeforeStop(at, (at.services as RunContext).codec);
    return done === undefined ? undefined : settledValue(done.value);
  }

  /** The whole input as hook and schema leave it, or the question of the hook. A hook that has had its effects is not called again. */
  prepared(step: StepAt, whole: () => unknown): unknown {
    const { before } = this.#hooks;
    if (before === undefined) return afterwards(whole(), (input) => this.#checkedInput(step, input));
    const kept = keptValue(step.node, step.context.codec, 'input');
    if (kept !== undefined) {
      step.prepared = kept;
      return kept.value;
    }
    const hooked = afterwards(whole(), (input) => before(input as never, step));
    const checked = afterwards(hooked, (input) =>
      input instanceof Interrupt ? input : this.#checkedInput(step, input),
    );
    return afterwards(checked, (input) => step.prepare(input));
  }

  #checkedInput(step: StepAt, input: unknown): unknown {
    const { input: schema } = this.#options;
    if (schema === undefined) return input;
    return validate(schema, input, (problems) => invalidBySchema(step, 'INPUT_INVALID', 'input', problems));
  }

  /** A whole output on its way through its schema, its hook and the stop behind it. */
  finished(step: StepAt, output: unknown, watch: StepWatch | undefined): NodeResult {
    const { after } = this.#hooks;
    const { output: schema } = this.#options;
    const checked =
      schema === undefined
        ? output
        : validate(schema, output, (problems) => invalidBySchema(step, 'OUTPUT_INVALID', 'output', problems));
    const final = afterwards(checked, (value) => {
      watch?.end(value);
      return after === undefined ? value : after(value as never, step);
    });
    const ended = afterwards(final, (value) => this.#ended(step, value));
    return isThenable(ended) ? step.later(ended, (event) => event as NodeResult) : (ended as NodeResult);
  }

  #ended(step: StepAt, value: unknown): NodeEvent {
    if (value instanceof Interrupt) return interruptedBy(step, value);
    if (!this.#stops.after) return settledValue(value);
    const stop = stopAfter(step, value);
    // What a body gave is kept as the output; its passes are not needed any more.
    for (const key of step.node.openBodies) step.node.closeBody(key);
    return stop;
  }
}

function invalidBySchema(
  { path }: StepAt,
  code: 'INPUT_INVALID' | 'OUTPUT_INVALID',
  what: string,
  problems: string,
): EngineError {
  return new EngineError(
    code,
    `The ${what} of step "${path}" does not fit its schema: ${problems.replace(/\.$/, '')}.`,
    { node: path },
  );
}

export function eventsOf(result: NodeResult): Observable<NodeEvent> {
  return isObservable(result) ? (result as Observable<NodeEvent>) : of(result as NodeEvent);
}
