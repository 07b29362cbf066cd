/** The seam between a step at work and those who observe it: everything that an observer may be told. */
import type { Observable } from 'rxjs';
import type { Json } from '../../json.js';
import type { ConcatRule, StepKind } from '../step.js';

/** What is observed: a node of a plan, a part of one, or a whole run. */
export interface WatchedStep {
  readonly name: string;
  readonly kind: StepKind;
  /** Ids of the graphs around and its own, without rounds; the same in every run. `''`: the run itself. */
  readonly path: string;
  /** How the chunks of its output become one value; undefined: by the rule of the run, or their type. */
  readonly rule: ConcatRule<unknown> | undefined;
}

/** One activation of it. */
export interface WatchedActivation {
  /** With rounds. */
  readonly path: string;
  readonly run: string;
  readonly key: string;
  readonly attempt: number;
  readonly isResumed: boolean;
  /** Whether what it says now becomes an event. */
  readonly canTell: boolean;
  /** Why it is stopped, when it took longer than it may. */
  readonly lateness: unknown;
  emit(name: string, data: Json): void;
}

/** The observers of one activation. Not one of its functions may change or fail the run. */
export interface StepWatch {
  start(input: unknown): void;
  /** The chunks of the input, told as they pass. */
  inputs<T>(chunks: Observable<T>): Observable<T>;
  /** The same for chunks that are pulled; what is not asked for is not read. */
  pulledInputs<T>(chunks: AsyncIterable<T>): AsyncIterable<T>;
  /** A whole output. */
  end(output: unknown): void;
  /** The chunks of the output, told as they pass; behind them `end` or `error`. */
  outputs<T>(chunks: Observable<T>): Observable<T>;
  pulledOutputs<T>(chunks: AsyncIterable<T>): AsyncIterable<T>;
  /** A chunk of the output; then `ended`, or `error`. */
  output(chunk: unknown): void;
  ended(): void;
  error(error: unknown): void;
  /** It waits for an answer. */
  interrupted(): void;
  /** It is over; when it has not ended it was stopped. */
  closed(): void;
}

/** Those who observe one run. */
export interface RunObservers {
  /** Undefined when no observer asks for this step. */
  watch(step: WatchedStep, at: WatchedActivation): StepWatch | undefined;
  /** The same for what is not a node of the plan: the run itself, and parts that steps report. */
  watchPart(step: WatchedStep, at: WatchedActivation): StepWatch | undefined;
}

/** The call options of one run. */
export interface RunOptionsByNode {
  /** Options for the step at a path without rounds; frozen, `{}` without any. */
  at(step: object, path: string): Readonly<Record<string, unknown>>;
}

/** Something that was given to a run for one path. */
export interface PathClaim {
  readonly at: string;
  /** Begins the warning: `There were options for "ask" at "outer/ask"`. */
  readonly what: string;
  /** The name of the warning. */
  readonly warning: 'OptionsWarning' | 'ObserverWarning';
}

/** What lies inside the steps of code of a run, as far as options or observers were given for it. */
export interface RunInnerPaths {
  /** A run begins inside a step; `place` is its path with a slash behind, `paths` are those of its nodes. */
  begun(place: string, paths: readonly string[]): void;
  /** Something stands at a path. */
  seen(path: string): void;
  /** Warns of paths where nothing was, although something else ran inside the step around. To be called when the run has ended. */
  warnOfUnused(): void;
}
