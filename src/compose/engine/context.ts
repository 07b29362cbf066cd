/** What one run of a step carries beside its plan; every node of the run can read it. */
import type { ValueCodec } from '../../graph/typed.js';
import type { ConcatRule } from '../step.js';
import type { RunObservers, RunOptionsByNode } from './watch.js';

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
  /** Path of the step that this run is part of, and a slash; empty for a run of its own. */
  readonly prefix: string;
}
