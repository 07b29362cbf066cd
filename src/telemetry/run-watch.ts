/** Observing runs from outside: the engine emits events and does not know who subscribes. */
import { type MonoTypeOperatorFunction, Observable, type Subscriber } from 'rxjs';
import type { RunEvent } from '../graph/events.js';
import type { Plan } from '../graph/plan.js';
import { Feed } from '../operators/feed.js';
import type { TraceContext } from '../trace-context.js';

/** A run that is about to start. */
export interface WatchedRun {
  readonly id: string;
  readonly plan: Plan;
  /** @default none */
  readonly tenant?: string;
  readonly agentId?: string;
  readonly sessionId?: string;
  /** The run that this one resumes. */
  readonly parentRun?: string;
  /** Where its caller stands in a trace. @default the run begins one */
  readonly trace?: TraceContext | undefined;
}

/** Listens to one run. */
export interface RunWatch {
  /** Called with every event, before the engine continues. */
  event(event: RunEvent): void;
  /** The run has ended, or was unsubscribed. Called once. */
  close(): void;
}

/** Starts to listen to runs. */
export interface RunWatcher {
  /** Called right before the run is subscribed. */
  watch(run: WatchedRun): RunWatch;
}

/** Has a watcher observe the run that `open` gives, each time it is opened. */
export function observed<H>(
  watcher: RunWatcher,
  run: WatchedRun,
  open: (hooks: H) => Observable<RunEvent>,
): (hooks: H) => Observable<RunEvent> {
  // In one Observable: there is one for every run.
  return (hooks) => new Observable((subscriber) => relay(open(hooks), watcher.watch(run), subscriber));
}

/**
 * Passes every event to a watch before it is emitted. A watch that throws receives no more events and is closed with the run, which
 * continues.
 *
 * ```text
 * source    --a--b--c|
 * result    --a--b--c|      (watch: a, b, c, close)
 * ```
 */
export function watchedBy(watch: RunWatch): MonoTypeOperatorFunction<RunEvent> {
  return (source) => new Observable((subscriber) => relay(source, watch, subscriber));
}

function relay(source: Observable<RunEvent>, watch: RunWatch, subscriber: Subscriber<RunEvent>): void {
  let hasFailed = false;
  const feed = new Feed<RunEvent>({
    fed(event) {
      if (!hasFailed) {
        try {
          watch.event(event);
        } catch {
          hasFailed = true;
        }
      }
      subscriber.next(event);
    },
    feedFailed: (error) => subscriber.error(error),
    feedEnded: () => subscriber.complete(),
  });
  subscriber.add(feed);
  subscriber.add(() => {
    try {
      // Also after it failed: what it holds is released with the run.
      watch.close();
    } catch {
      // An observer never ends a run.
    }
  });
  source.subscribe(feed);
}
