/** What a driver is told by whoever starts it, and what it tells at the end. */
import type { Json } from '../json.js';
import type { ErrorInfo, RunUsage } from './events.js';
import type { Frontier, Wake } from './frontier.js';
import type { Recorder } from './journal.js';
import type { Plan } from './plan.js';
import type { Reporter } from './reporter.js';
import type { State } from './state.js';
import type { Frame } from './token.js';

/** How a run ended. */
export type RunEnd =
  | { readonly kind: 'settled' }
  | { readonly kind: 'interrupted' }
  | { readonly kind: 'failed'; readonly error: ErrorInfo };

export interface DriverOptions {
  readonly run: string;
  readonly input: Json;
  /** How restored bodies go on. */
  readonly wake: Wake;
  readonly services: unknown;
  readonly concurrency: number;
  readonly maxSteps: number;
  readonly now: () => number;
  readonly random: () => number;
  /** Writes the journal; undefined when the run keeps none. */
  readonly recorder: Recorder | undefined;
  /** Called once, when nothing can move any more. */
  readonly whenEnded: (end: RunEnd) => void;
}

/** What a driver works on. */
export interface DriverParts {
  readonly plan: Plan;
  readonly frontier: Frontier;
  readonly root: Frame;
  /** Token and outputs of the node that ran last, before the driver started. */
  readonly last: State['last'];
  readonly usage: RunUsage;
  readonly reporter: Reporter;
}
