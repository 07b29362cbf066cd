/** The one bridge from streams to views. */
import { useCallback, useRef, useSyncExternalStore } from 'react';
import type { Observable } from 'rxjs';

/**
 * The newest value of a stream, `initial` before the first. The view subscribes when it appears and unsubscribes when it goes or `source`
 * changes, so `source` must be the same object from one drawing to the next. A failed stream leaves its last value: give failures as values.
 */
export function useObservable<T>(source: Observable<T>, initial: T): T {
  const latest = useRef<{ readonly source: Observable<T>; readonly value: T }>({ source, value: initial });
  if (latest.current.source !== source) latest.current = { source, value: initial };
  const subscribe = useCallback(
    (changed: () => void) => {
      const subscription = source.subscribe({
        next: (value) => {
          latest.current = { source, value };
          changed();
        },
        error: (error: unknown) => reportError(error),
      });
      return () => subscription.unsubscribe();
    },
    [source],
  );
  return useSyncExternalStore(subscribe, () => latest.current.value);
}
