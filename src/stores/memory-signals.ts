import { defer, filter, map, merge, type Observable, of, Subject, take } from 'rxjs';
import type { Signals } from '../records/coordination.js';

export interface MemorySignalsOptions {
  /** Cancel requests that are remembered; older ones are forgotten. @default 100,000 */
  readonly maxCancels?: number;
  /** Milliseconds since 1970. @default the clock of the machine */
  readonly now?: () => number;
}

const KEPT_MS = 24 * 3_600_000;

/** Signals within one process. */
export function createMemorySignals(options: MemorySignalsOptions = {}): Signals {
  const { maxCancels = 100_000, now = Date.now } = options;
  const said$ = new Subject<{ readonly channel: string; readonly message: string }>();
  const cancelled$ = new Subject<string>();
  /** When each was requested, in that order. */
  const cancels = new Map<string, number>();

  const isCancelled = (task: string): boolean => {
    const at = cancels.get(task);
    return at !== undefined && at > now() - KEPT_MS;
  };
  const past = (task: string): Observable<string> => defer(() => (isCancelled(task) ? of(task) : of()));

  return {
    async requestCancel(task) {
      cancels.delete(task);
      cancels.set(task, now());
      for (const oldest of cancels.keys()) {
        if (cancels.size <= maxCancels) break;
        cancels.delete(oldest);
      }
      cancelled$.next(task);
    },
    async clearCancel(task) {
      cancels.delete(task);
    },
    cancelOf: (task) =>
      merge(past(task), cancelled$.pipe(filter((cancelled) => cancelled === task))).pipe(
        map(() => undefined),
        take(1),
      ),
    async publish(channel, message) {
      said$.next({ channel, message });
    },
    messages: (channel) =>
      said$.pipe(
        filter((said) => said.channel === channel),
        map(({ message }) => message),
      ),
  };
}
