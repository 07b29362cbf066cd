import { defer, filter, map, merge, type Observable, of, Subject, take } from 'rxjs';
import { Newest } from '../newest.js';
import type { Signals } from '../records/coordination.js';

/** Cancel requests that are remembered; older ones are forgotten. */
const MAX_CANCELS = 100_000;
const KEPT_MS = 24 * 3_600_000;

/** Signals within one process. @param options.now milliseconds since 1970; default: the clock of the machine */
export function createMemorySignals({ now = Date.now }: { readonly now?: () => number } = {}): Signals {
  const published$ = new Subject<{ readonly channel: string; readonly message: string }>();
  const cancelled$ = new Subject<string>();
  /** When each was requested. */
  const cancels = new Newest<number>({ maxCount: MAX_CANCELS });

  const isCancelled = (task: string): boolean => {
    const at = cancels.get(task);
    return at !== undefined && at > now() - KEPT_MS;
  };
  const past = (task: string): Observable<string> => defer(() => (isCancelled(task) ? of(task) : of()));

  return {
    async requestCancel(task) {
      cancels.put(task, now());
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
      published$.next({ channel, message });
    },
    messages: (channel) =>
      published$.pipe(
        filter((one) => one.channel === channel),
        map(({ message }) => message),
      ),
  };
}
