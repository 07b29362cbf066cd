/** The seam between a node at work and those who observe it: everything that an observer may be told. */
import type { Observable } from 'rxjs';
import type { StepKind } from '../step.js';

/** What is observed: a node of a plan, or the whole graph. */
export interface WatchedStep {
  readonly name: string;
  readonly kind: StepKind;
  /** Ids of the graphs around and its own, without rounds; the same in every run. */
  readonly path: string;
  /** The step itself, to which observers may be bound. */
  readonly step: object;
}

/** The observers of one activation. Not one of its functions may change or fail the run. */
export interface StepWatch {
  start(input: unknown): void;
  /** The chunks of the input, told as they pass. */
  inputs<T>(chunks: Observable<T>): Observable<T>;
  end(output: unknown): void;
  /** A chunk of the output; then `ended`, or `error`. */
  output(chunk: unknown): void;
  ended(): void;
  error(error: unknown): void;
}

/** Those who observe one run. */
export interface RunObservers {
  /** Undefined when no observer asks for this step. `path` is that of the activation, with its rounds. */
  watch(step: WatchedStep, path: string, at: { emit(name: string, message: string): void }): StepWatch | undefined;
}

/** The call options of one run. */
export interface RunOptionsByNode {
  /** Options for the step at a path without rounds; frozen, `{}` without any. */
  at(step: object, path: string): Readonly<Record<string, unknown>>;
}
