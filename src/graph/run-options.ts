/** What a run is started with, and what it leaves. */

import type { Observable } from 'rxjs';
import type { EngineError } from '../errors.js';
import type { Json } from '../json.js';
import { requireWhole } from '../operators/invalid-option.js';
import type { ErrorInfo, PendingQuestion, RunUsage } from './events.js';
import type { Durability, EventLog, LogWriter } from './log.js';
import type { Outputs } from './node-events.js';
import type { Plan, Variables } from './plan.js';
import type { Checkpoint, State } from './state.js';
import type { ChunkInput, ResultSink } from './typed.js';

/**
 * Where checkpoints are stored; one per run, the newest wins.
 *
 * `save` may be synchronous. A run that ends with a checkpoint is reported as ended only after `save` is done.
 */
export interface CheckpointStore {
  save(checkpoint: Checkpoint): Promise<void> | void;
  /** Undefined when the run has none. */
  load(run: string): Promise<Checkpoint | undefined>;
  /** Does nothing when the run has none. */
  delete(run: string): Promise<void>;
}

/** What a run starts from. */
export type Start =
  | {
      /** Given to the entry nodes. */
      readonly input: Json;
      /** What the run before left; default the plan's own. */
      readonly variables?: Variables;
      /** In a typed plan: the input in chunks, instead of `input`. */
      readonly chunks?: ChunkInput;
    }
  | {
      readonly checkpoint: Checkpoint;
      /** Given to the nodes that wait for an answer. */
      readonly answers?: Json;
      /** In a typed plan, instead of `answers`: what a waiting node gets; undefined leaves it waiting. Everything that is ready runs. */
      readonly answerOf?: (question: PendingQuestion) => { readonly answer: Json | undefined } | undefined;
      /** The run continues after its process was lost: forms keep waiting, hooks do not open it again. May stand beside `answerOf`. */
      readonly recovery?: Recovery;
    };

/** What the log of a lost run tells beside its state. */
export interface Recovery {
  /** seq of the `node-started` of each token that had started and not ended: the start that repeats it has it as `retractFrom`. */
  readonly starts: ReadonlyMap<number, number>;
  /** Number of the last event of that log; it stands in for the option `seq` while the run keeps its id. @default 0 */
  readonly seq?: number;
}

/** Options of a run, all optional. */
export interface RunOptions {
  /** Id of the run. @default a random one */
  readonly run?: string;
  /** Cancels the run: its work stops at once and `run-cancelled` is its last event. Unsubscribing cancels silently. */
  readonly signal?: AbortSignal;
  /** Nodes that may be at work at once; at least 1. @default 5 */
  readonly concurrency?: number;
  /** Settlements after which the run fails with RUN_STEPS_EXCEEDED. @default 10 million */
  readonly maxSteps?: number;
  /** Milliseconds after which the run fails with RUN_TIMEOUT. @default no limit */
  readonly timeoutMs?: number;
  /** Handed to every node as `activation.services`. */
  readonly services?: unknown;
  /** Where the State is stored when the run ends or waits. */
  readonly checkpoints?: CheckpointStore;
  /** Where the run writes its events and snapshots, see `durability`. */
  readonly log?: EventLog;
  /** When a settlement is durable. @default 'async' with a `log`, 'exit' without */
  readonly durability?: Durability;
  /** Bytes of events in the log after which a snapshot is taken; more when the last snapshot was larger. @default 96 KiB */
  readonly historyBytes?: number;
  /** Number of the last event that the run's log already holds. @default 0 */
  readonly seq?: number;
  /** When the run first started, in milliseconds since 1970; `elapsedMs` counts from it. @default now */
  readonly startedAt?: number;
  /** Clock in milliseconds since 1970. @default Date.now */
  readonly now?: () => number;
  /** Uniform in [0, 1). @default Math.random */
  readonly random?: () => number;
  /**
   * Given the state of the run as a stream when it starts: the current State first, then the State after every settlement;
   * completes with the run. States share what did not change, and no State is built while there is no subscriber.
   */
  readonly watch?: (state$: Observable<State>) => void;
  /** In a typed plan: takes the chunks of the result while they come. */
  readonly output?: ResultSink;
  /** In a typed plan: the chunks of streams are kept, so that the state which `whenEnded` gets can be resumed. @default when it is stored */
  readonly isResumable?: boolean;
  /** Begins nothing new once this emits, and ends the run as cancelled when what is at work has ended, or `withinMs` later. */
  readonly drain$?: Observable<{ readonly withinMs?: number | undefined }>;
  /** Called once with the outcome, right before the last event. */
  readonly whenEnded?: (outcome: RunOutcome) => void;
}

/** How a run ended. */
export interface RunOutcome {
  /** Id of the run. */
  readonly run: string;
  readonly status: 'succeeded' | 'waiting' | 'failed' | 'cancelled';
  /** Outputs of the node that ran last; null when none ran. */
  readonly outputs: Outputs | null;
  readonly pending: readonly PendingQuestion[];
  readonly error?: ErrorInfo;
  /** What the error was made of; not for storage. */
  readonly cause?: EngineError;
  /** In a typed plan: the result of the graph, when it gave one. */
  readonly result?: { readonly value: unknown } | undefined;
  readonly usage: RunUsage;
  readonly plan: Plan;
  readonly state: State;
}

/** How a run ends by itself. */
export type RunEnd =
  | { readonly kind: 'settled' }
  | { readonly kind: 'interrupted' }
  | { readonly kind: 'failed'; readonly error: ErrorInfo; readonly cause?: EngineError };

/** What a run is performed with. */
export interface PerformOptions {
  readonly run: string;
  readonly input: Json;
  /** For the forms of bodies that continue after a resume. */
  readonly answers: Json | undefined;
  /** The process of the run was lost: what waits in bodies keeps waiting. */
  readonly isRecovered: boolean;
  readonly services: unknown;
  /** Nodes that may be at work at once. */
  readonly concurrency: number;
  /** Settlements that the run may take. */
  readonly maxSteps: number;
  readonly now: () => number;
  readonly random: () => number;
  /** The run has a log, or checkpoints. */
  readonly isStored: boolean;
  /** It can go on from where it is stopped: it is stored, or `isResumable` was given. */
  readonly isResumable: boolean;
  /** Undefined when the run has no log. */
  readonly log: LogWriter | undefined;
  /** Called once, when nothing can move any more. */
  readonly ended: (end: RunEnd) => void;
}

/** @throws EngineError OPTION_INVALID naming the option and what was received. */
export function checkOptions({ concurrency, maxSteps, timeoutMs, historyBytes, seq }: RunOptions): void {
  const whole = (name: string, value: number | undefined, least: 0 | 1) => {
    if (value !== undefined) requireWhole('run', name, value, least);
  };
  whole('concurrency', concurrency, 1);
  whole('maxSteps', maxSteps, 1);
  whole('timeoutMs', timeoutMs, 1);
  whole('historyBytes', historyBytes, 0);
  whole('seq', seq, 0);
}
