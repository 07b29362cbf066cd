/** A run that a test watches: its events, its outcome, and its states. */
import { setImmediate } from 'node:timers/promises';
import { Subject, takeUntil } from 'rxjs';
import type { RunEvent } from '../../../src/graph/events.js';
import type { Plan } from '../../../src/graph/plan.js';
import { checkpointOf, run } from '../../../src/graph/run.js';
import type { RunOptions, RunOutcome, Start } from '../../../src/graph/run-options.js';
import type { Checkpoint, State } from '../../../src/graph/state.js';

/** Turns of the event loop after which a run counts as stuck. */
const MOST_TURNS = 200_000;

export interface Watched {
  readonly events: RunEvent[];
  readonly outcome: RunOutcome | undefined;
  readonly error: unknown;
  /** Whether the stream of events ended by itself. */
  readonly isOver: boolean;
  /** May be called from within an event. */
  unsubscribe(): void;
}

/** Starts a run and collects what it says; `onEvent` may interfere. */
export function watch(
  plan: Plan,
  start: Start = { input: null },
  options: RunOptions = {},
  onEvent: (event: RunEvent, watched: Watched) => void = () => {},
): Watched {
  const unsubscribed$ = new Subject<void>();
  let isUnsubscribed = false;
  const watched = {
    events: [] as RunEvent[],
    outcome: undefined as RunOutcome | undefined,
    error: undefined as unknown,
    isOver: false,
    unsubscribe: () => {
      isUnsubscribed = true;
      unsubscribed$.next();
    },
  };
  const whenEnded = (outcome: RunOutcome) => {
    watched.outcome = outcome;
    options.whenEnded?.(outcome);
  };
  const events$ = run(plan, start, { run: 'r', ...options, whenEnded });
  events$.pipe(takeUntil(unsubscribed$)).subscribe({
    next: (event) => {
      watched.events.push(event);
      onEvent(event, watched);
    },
    error: (error: unknown) => {
      watched.error = error;
      watched.isOver = true;
    },
    complete: () => {
      watched.isOver = !isUnsubscribed;
    },
  });
  return watched;
}

/** The same, to its end. */
export async function watchToEnd(...given: Parameters<typeof watch>): Promise<Watched> {
  const watched = watch(...given);
  for (let turns = 0; !watched.isOver; turns += 1) {
    if (turns === MOST_TURNS)
      throw new Error(`The run never ends; it said: ${lines(watched.events).slice(-20).join(', ')}.`);
    await setImmediate();
  }
  return watched;
}

/** A checkpoint that went through JSON text, as every real one does. */
export function written(plan: Plan, state: State, seq = 0): Checkpoint {
  return JSON.parse(JSON.stringify(checkpointOf(plan, state, 'r', 0, seq))) as Checkpoint;
}

/** Node ids of the events of one type, in order. */
export function nodesOf(events: readonly RunEvent[], type: RunEvent['type']): string[] {
  return events.flatMap((event) => (event.type === type && 'node' in event ? [event.node] : []));
}

/** Events in short: `type node`. */
export function lines(events: readonly RunEvent[]): string[] {
  return events.map((event) => ('node' in event ? `${event.type} ${event.node}` : event.type));
}
