import { isObservable, lastValueFrom, type Observable, toArray } from 'rxjs';
import { invalidOption } from '../operators/invalid-option.js';

/** All events of a run, in order, once it is over; rejects with the error of the stream. @throws EngineError OPTION_INVALID */
export async function collectEvents<T>(events$: Observable<T>): Promise<readonly T[]> {
  if (!isObservable(events$))
    throw invalidOption('collectEvents', 'events$', 'an Observable, such as run(…) gives', events$);
  return lastValueFrom(events$.pipe(toArray()));
}
