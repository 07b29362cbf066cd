/** What an observer is: functions that are told what steps of a run get and give. */
import type { Observable } from 'rxjs';
import type { StepKind } from './step-kind.js';

/** The step that an observer is told of; the same object for everything about one activation. */
export interface ObservedStep {
  /** Its name; of the run itself, that of the step that was run. */
  readonly name: string;
  readonly kind: StepKind;
  /** Where it is, with rounds, such as `review/each[3]/send`; `tools#call_1` for a part with an id. `''`: the run itself. */
  readonly path: string;
  /** Id of the run. */
  readonly run: string;
  /** Equal for every repetition of the activation; id of the run for the run itself. */
  readonly key: string;
  /** 1 for the first try. */
  readonly attempt: number;
  /** Whether it goes on after an interrupt. Where a graph, or the run, goes on inside, `start` is told of undefined. */
  readonly isResumed: boolean;
}

/**
 * What is called when. All are optional, and what is absent costs nothing.
 *
 * A value is told to `start` and `end`, a stream to `startChunks` and `endChunks`; who has only one of the two is told everything by that one: a
 * stream as one value when all of it has come, a value as a stream of one chunk. Each activation that began ends with one of `end`, `error`, or the
 * end of the stream of `endChunks`; `error` comes alone when the input could not be made.
 *
 * `M` is what `start` or `startChunks` returned: it comes back in the others. Nothing that an observer returns changes the run. The values are
 * those of the run, not copies: they must not be changed.
 */
export interface ObserverCallbacks<I = unknown, O = unknown, M = unknown> {
  /** The step begins with a value: what it gets after `before` and its schema. */
  readonly start?: (input: I, step: ObservedStep) => M;
  /** The step begins and reads chunks. A subscription during the call gets all of them, a later one those from then on. */
  readonly startChunks?: (chunks: Observable<I>, step: ObservedStep) => M;
  /** The step gave its value; before `after`. */
  readonly end?: (output: O, step: ObservedStep, started: M | undefined) => unknown;
  /** The step gives its first chunk, or ends without any. The stream errors when the step fails in the middle, and `error` is told, too. */
  readonly endChunks?: (chunks: Observable<O>, step: ObservedStep, started: M | undefined) => unknown;
  /**
   * The step failed: what it threw; EngineError RUN_INTERRUPTED when it waits for an answer, RUN_CANCELLED when it was stopped before its end.
   */
  readonly error?: (error: unknown, step: ObservedStep, started: M | undefined) => unknown;
}

/** Callbacks for steps of any types. */
// biome-ignore lint/suspicious/noExplicitAny: observers of all types share lists
export type AnyCallbacks = ObserverCallbacks<any, any, any>;

/** Who observes a run, and which steps of it; made by `observe`. */
export class Observer {
  readonly callbacks: AnyCallbacks;
  /** Undefined: steps of all kinds. */
  readonly kind: StepKind | undefined;
  /** Without rounds, from where the observer is given; undefined: everywhere. */
  readonly path: string | undefined;

  constructor(callbacks: AnyCallbacks, { kind, path }: { readonly kind?: StepKind; readonly path?: string } = {}) {
    this.callbacks = callbacks;
    this.kind = kind;
    this.path = path;
    Object.freeze(this);
  }
}

/** An observer that was bound to a step. */
export interface BoundObserver {
  readonly observer: Observer;
  /** Told of the steps inside, too. */
  readonly isDeep: boolean;
}
