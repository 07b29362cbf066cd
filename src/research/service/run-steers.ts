/** Changes of runs over a store: kept first, then told to the process that has the run. */
import { randomUUID } from 'node:crypto';
import { catchError, defer, EMPTY, exhaustMap, filter, interval, map, merge, type Observable, startWith } from 'rxjs';
import type { JsonObject } from '../../json.js';
import { fromAbortable } from '../../operators/from-abortable.js';
import type { Signals } from '../../records/coordination.js';
import type { RunSteers, SteerRecord, SteerStore } from '../../records/steers.js';

/** What changes are kept with. */
export interface RunSteersOptions {
  readonly store: SteerStore;
  readonly signals: Pick<Signals, 'publish' | 'messages'>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** How often a run looks by itself: a message may be lost. */
const LOOK_EVERY_MS = 1_000;
/** Changes of one run. */
const MAX_STEERS = 1_000;

/** Makes it; a tenant is chosen by `forTenant`. */
export function createRunSteers(options: RunSteersOptions, tenant = ''): RunSteers {
  const { store, signals, now } = options;
  return {
    forTenant: (other) => createRunSteers(options, other),
    async put(run, change) {
      await store.insert(tenant, { id: randomUUID(), run, change, createdAt: now() } as SteerRecord);
      // One that is lost is made up for by looking.
      await signals.publish(channelOf(run), '').catch(() => {});
    },
    of: (run): Observable<readonly JsonObject[]> =>
      defer(() => {
        let taken = 0;
        const look = async (): Promise<readonly SteerRecord[]> => {
          const page = { offset: taken, limit: MAX_STEERS - taken, descending: false };
          const { items } = await store.list(tenant, { run, ...page });
          taken += items.length;
          return items;
        };
        return merge(signals.messages(channelOf(run)), interval(LOOK_EVERY_MS)).pipe(
          startWith(''),
          exhaustMap(() => (taken >= MAX_STEERS ? EMPTY : fromAbortable(() => look()).pipe(catchError(() => EMPTY)))),
          map((items) => items.map(({ change }) => change)),
          filter((items, at) => at === 0 || items.length > 0),
        );
      }),
  };
}

function channelOf(run: string): string {
  return `steer:${run}`;
}
