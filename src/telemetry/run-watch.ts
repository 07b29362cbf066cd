/** Watching runs from outside: the engine says what happens, and knows nothing of who listens. */
import { defer, type MonoTypeOperatorFunction, Observable } from 'rxjs';
import type { RunEvent } from '../graph/events.js';
import type { Plan } from '../graph/plan.js';
import type { TraceContext } from '../graph/trace-context.js';

/** A run that is about to start. */
export interface WatchedRun {
  readonly id: string;
  readonly plan: Plan;
  /** @default nobody's in particular */
  readonly tenant?: string;
  readonly agentId?: string;
  readonly sessionId?: string;
  /** The run that this one goes on from. */
  readonly parentRun?: string;
  /** Where its caller stands in a trace. @default the run begins one */
  readonly trace?: TraceContext | undefined;
}

/** Listens to one run. */
export interface RunWatch {
  /** Called with every event, before the engine goes on. */
  event(event: RunEvent): void;
  /** The run is over, or nobody wants its rest. Called once. */
  close(): void;
}

/** Starts to listen to runs. */
export interface RunWatcher {
  /** Called right before the run is subscribed. */
  watch(run: WatchedRun): RunWatch;
}

/** Lets a watcher listen to a run that `open` gives, each time that it is opened. */
export function observed<H>(
  watcher: RunWatcher,
  run: WatchedRun,
  open: (hooks: H) => Observable<RunEvent>,
): (hooks: H) => Observable<RunEvent> {
  return (hooks) => defer(() => open(hooks).pipe(watchedBy(watcher.watch(run))));
}

/**
 * Lets a watch hear every event before anybody else does. A watch that throws is not asked again, and is closed with the run, which
 * goes on.
 *
 * ```text
 * source    --a--b--c|
 * result    --a--b--c|      (watch: a, b, c, close)
 * ```
 */
export function watchedBy(watch: RunWatch): MonoTypeOperatorFunction<RunEvent> {
  return (source) =>
    new Observable((subscriber) => {
      let isWell = true;
      subscriber.add(() => {
        try {
          // Also after it failed: what it holds must go with the run.
          watch.close();
        } catch {
          // What only watches never ends a run.
        }
      });
      return source.subscribe({
        next(event) {
          if (isWell) {
            try {
              watch.event(event);
            } catch {
              isWell = false;
            }
          }
          subscriber.next(event);
        },
        error: (error: unknown) => subscriber.error(error),
        complete: () => subscriber.complete(),
      });
    });
}
