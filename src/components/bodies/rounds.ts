import { map, type Observable, type ObservableInput, of } from 'rxjs';
import type { NodeEvent } from '../../graph/node-events.js';
import { expandQueue } from '../../operators/expand-queue.js';

/** One step of a container: what it says, and the steps that follow from it; the last step has none. */
export interface Step {
  readonly event: NodeEvent;
  readonly follow?: () => ObservableInput<Step>;
}

/**
 * Walks a container from step to step: a loop that `expand`s on a flat stack, however many rounds end at once.
 *
 * ```text
 * step      a(follow)  b(follow)  c
 * result    a----------b----------(c|)
 * ```
 *
 * It never pauses by itself, for the run that drives the bodies does; so what a step says is said as soon as its body ended.
 */
export function walk(first: Step): Observable<NodeEvent> {
  return of(first).pipe(
    expandQueue((step) => step.follow?.() ?? NO_STEPS, { yieldEveryMs: Number.POSITIVE_INFINITY }),
    map((step) => step.event),
  );
}

const NO_STEPS: Step[] = [];
