import { lastValueFrom, type Observable, toArray } from 'rxjs';

/** All events of a run, in order, once it is over; rejects with the error of the stream. */
export function collectEvents<T>(events$: Observable<T>): Promise<readonly T[]> {
  return lastValueFrom(events$.pipe(toArray()));
}
