/** Playing a run again: which event is shown when. */
import { interval, map, type Observable, takeWhile } from 'rxjs';

/** The time of the events of a run: `atMs` by index, where index 0 is event `first`. */
export interface PlayedEvents {
  readonly first: number;
  readonly atMs: readonly number[];
}

/** How often the screen changes, in milliseconds. */
export const PLAY_STEP_MS = 50;

/** A longer pause between two events is played as one of this length, in milliseconds. */
export const LONGEST_PAUSE_MS = 2_000;

/**
 * Numbers of the events to show, from behind `from` to the last one; `speed` is 1 for the pace of the run.
 *
 * Pauses of more than two seconds are cut to that, so that a run that waited for a person goes on. At most twenty a second.
 */
export function play(events: PlayedEvents, from: number, speed: number): Observable<number> {
  const { first, atMs } = events;
  const last = first + atMs.length - 1;
  let seq = Math.max(first, from);
  let lies = 0;
  return interval(PLAY_STEP_MS).pipe(
    map(() => {
      lies += PLAY_STEP_MS * speed;
      while (seq < last) {
        const pause = pauseBefore(events, seq + 1);
        if (pause > lies) break;
        lies -= pause;
        seq += 1;
      }
      return seq;
    }),
    takeWhile((shown) => shown < last, true),
  );
}

function pauseBefore({ first, atMs }: PlayedEvents, seq: number): number {
  const at = seq - first;
  return Math.min(LONGEST_PAUSE_MS, Math.max(0, (atMs[at] ?? 0) - (atMs[at - 1] ?? 0)));
}
