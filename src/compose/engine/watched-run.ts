/** A whole run, for its observers: it is told of as a graph, with the path of the step that it is part of. */
import { finalize, type Observable, tap } from 'rxjs';
import type { RunOptions, RunOutcome, Start } from '../../graph/run-options.js';
import { Chunks, type ResultSink } from '../../graph/typed.js';
import type { Json } from '../../json.js';
import { type AnyStep, type ConcatRule, DEFINITION } from '../step.js';
import type { RunContext, StepAround } from './context.js';
import type { RunObservers, StepWatch, WatchedActivation, WatchedStep } from './watch.js';

/** What is run, as its observers need it. */
interface Watched {
  readonly step: AnyStep;
  /** How the chunks of the result become one value. */
  readonly ruleOfResult: ConcatRule<unknown> | undefined;
  /** The whole result. @throws what the run failed with */
  valueOf(end: RunOutcome): unknown;
}

/** A run that is about to begin. */
interface Beginning {
  readonly start: Start;
  readonly options: RunOptions & { readonly run: string };
  readonly of: Watched;
}

/** The run with its observers told; undefined when none of them asks for it. */
export function watchRun(observers: RunObservers, beginning: Beginning): WatchedRun | undefined {
  const { step, ruleOfResult } = beginning.of;
  const definition = step[DEFINITION];
  const kind = definition.type === 'graph' && step.kind !== 'branch' ? step.kind : 'graph';
  const watched: WatchedStep = { name: step.name, kind, path: '', rule: ruleOfResult };
  const watch = observers.watchPart(watched, new RunAt(beginning));
  return watch === undefined ? undefined : new WatchedRun(watch, beginning);
}

class WatchedRun {
  readonly #watch: StepWatch;
  readonly #beginning: Beginning;
  #hasChunks = false;

  constructor(watch: StepWatch, beginning: Beginning) {
    this.#watch = watch;
    this.#beginning = beginning;
  }

  /** Begins it. A run that is unsubscribed is told as stopped. */
  through<T>(engine: (start: Start, options: RunOptions) => Observable<T>): Observable<T> {
    const { options } = this.#beginning;
    const { output, whenEnded, ...others } = options;
    const given: RunOptions = {
      whenEnded: (end) => {
        this.#ended(end);
        whenEnded?.(end);
      },
      ...others,
      ...(output && { output: this.#seen(output) }),
    };
    return engine(this.#started(), given).pipe(
      tap({ error: (error: unknown) => this.#watch.error(error) }),
      finalize(() => this.#watch.closed()),
    );
  }

  #started(): Start {
    const { start } = this.#beginning;
    if ('checkpoint' in start) {
      this.#watch.start(undefined);
      return start;
    }
    const { chunks } = start;
    if (chunks === undefined) {
      this.#watch.start(start.input);
      return start;
    }
    return { ...start, chunks: { toObservable: (room) => this.#watch.inputs(chunks.toObservable(room)) } };
  }

  /** Only who reads the result in chunks gets it so. */
  #seen(output: ResultSink): ResultSink {
    return {
      open: () => output.open(),
      write: (chunk) => {
        this.#hasChunks = true;
        this.#watch.output(chunk);
        output.write(chunk);
      },
      room: () => output.room(),
    };
  }

  #ended(end: RunOutcome): void {
    const { options, of } = this.#beginning;
    const value = end.result?.value;
    try {
      if (end.status !== 'succeeded' || options.output === undefined || !(this.#hasChunks || value instanceof Chunks)) {
        this.#watch.end(of.valueOf(end));
        return;
      }
      if (!this.#hasChunks && value instanceof Chunks) for (const chunk of value.items) this.#watch.output(chunk);
      this.#watch.ended();
    } catch (error) {
      this.#watch.error(error);
    }
  }
}

/** A run as an activation. */
class RunAt implements WatchedActivation {
  readonly path: string;
  readonly run: string;
  readonly isResumed: boolean;
  readonly attempt = 1;
  readonly lateness = undefined;
  readonly #outer: StepAround | undefined;

  constructor({ start, options }: Beginning) {
    const { prefix, outer } = options.services as RunContext;
    this.path = prefix.slice(0, -1);
    this.run = options.run;
    this.isResumed = 'checkpoint' in start;
    this.#outer = outer;
  }

  get key(): string {
    return this.run;
  }

  get canTell(): boolean {
    return this.#outer?.canTell ?? false;
  }

  emit(name: string, data: Json): void {
    this.#outer?.emit(name, data);
  }
}
