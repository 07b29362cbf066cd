/** When a page tells the server which events of a run it has taken. */
import { auditTime, distinctUntilChanged, filter, merge, type Observable, type SchedulerLike, share } from 'rxjs';

/** What came since is told after so many milliseconds. */
const LATEST_MS = 100;

/**
 * Numbers of events to acknowledge: every `every`th that was taken at once, the newest of the others 100 ms after the first of them.
 *
 * `every` is a part of what the server sends ahead, so that it does not wait for a page that keeps up.
 *
 * ```text
 * taken         123…64 65 66
 * acknowledged  ------64-----100 ms-----66     (every: 64)
 * ```
 */
export function acknowledgements(
  taken$: Observable<number>,
  every: number,
  scheduler?: SchedulerLike,
): Observable<number> {
  const shared$ = taken$.pipe(share());
  const counted$ = shared$.pipe(filter((_, at) => at % every === every - 1));
  return merge(counted$, shared$.pipe(auditTime(LATEST_MS, scheduler))).pipe(distinctUntilChanged());
}
