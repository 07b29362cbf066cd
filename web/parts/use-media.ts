/** Whether the window is as a media query says, now and when that changes. */
import { useMemo, useState } from 'react';
import { fromEvent, map, startWith } from 'rxjs';
import { useObservable } from './use-observable.js';

/** @param query such as `(min-width: 1000px)`; the first one that is given stays */
export function useMedia(query: string): boolean {
  const [list] = useState(() => matchMedia(query));
  const matches$ = useMemo(
    () =>
      fromEvent<MediaQueryListEvent>(list, 'change').pipe(
        map(({ matches }) => matches),
        startWith(list.matches),
      ),
    [list],
  );
  return useObservable(matches$, list.matches);
}
