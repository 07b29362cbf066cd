/** What one run of a step carries beside its plan; every node of the run can read it. */
import type { Call, Usage } from '../../graph/node-events.js';
import type { StateCell, StatePatch } from '../../graph/state-cell.js';
import type { ValueCodec } from '../../graph/typed.js';
import type { Json } from '../../json.js';
import type { StateToken } from '../state.js';
import type { ConcatRule } from '../step.js';
import type { RunInnerPaths, RunObservers, RunOptionsByNode } from './watch.js';

/** Handed to the nodes of a run in place of its services, which it holds. */
export interface RunContext {
  /** What the caller gave. */
  readonly services: unknown;
  readonly codec: ValueCodec;
  /** The rule of the run for chunks that have none of their own. */
  readonly chunks: ConcatRule<unknown> | undefined;
  /** Undefined when nothing observes the run. */
  readonly observers: RunObservers | undefined;
  /** Undefined when no call options were given. */
  readonly options: RunOptionsByNode | undefined;
  /** Paths inside steps of code that the outermost run was given something for; undefined when there are none. */
  readonly inside: RunInnerPaths | undefined;
  /** Path of the step that this run is part of, with the name of the run and a slash; empty for a run of its own. */
  readonly prefix: string;
  /** The same without rounds. */
  readonly place: string;
  /** Name of the step that is run. */
  readonly name: string;
  /** The step that this run is part of; undefined for a run of its own. */
  readonly outer: StepAround | undefined;
}

/** The step around a run, or the call of a tool. */
export interface StepAround {
  /** Its path from the outermost run, without rounds. */
  readonly place: string;
  /** Whether what it says now becomes an event. */
  readonly canTell: boolean;
  emit(name: string, data: Json): void;
  /** What is used inside counts for it, too. */
  report(event: Usage | Call): void;
  /** Of the call of a tool, the id that it is reported under; calls of models inside are part of it. */
  readonly call: string | undefined;
  /** The state as that step sees it; undefined when no graph around declares it. */
  findState(token: StateToken<unknown>): FoundState | undefined;
  /** Graphs around, the nearest first, each with the states that it declares. */
  graphsAround(): readonly GraphAround[];
}

/** A state, and the step that changes it. */
export interface FoundState {
  readonly step: { patch(state: string, patch: StatePatch): void };
  readonly cell: StateCell;
}

/** A graph around a step. */
export interface GraphAround {
  readonly name: string;
  readonly states: readonly string[];
}
