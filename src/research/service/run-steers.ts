/** Changes of runs over a store: kept first, then told to the process that has the run. */
import { randomUUID } from 'node:crypto';
import {
  catchError,
  defer,
  EMPTY,
  filter,
  finalize,
  interval,
  map,
  merge,
  type Observable,
  startWith,
  switchMap,
} from 'rxjs';
import { EngineError } from '../../errors.js';
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
      const { total } = await store.list(tenant, { run, offset: 0, limit: 1, descending: false });
      if (total >= MAX_STEERS) throw tooMany(run);
      await store.insert(tenant, { id: randomUUID(), run, change, createdAt: now() } as SteerRecord);
      // One that is lost is made up for by looking.
      await signals.publish(channelOf(run), '').catch(() => {});
    },
    of: (run): Observable<readonly JsonObject[]> =>
      defer(() => {
        let taken = 0;
        let isLooking = false;
        const look$ = defer(() => {
          if (taken >= MAX_STEERS) return EMPTY;
          isLooking = true;
          const page = { offset: taken, limit: MAX_STEERS - taken, descending: false };
          return fromAbortable(() => store.list(tenant, { run, ...page })).pipe(
            catchError(() => EMPTY),
            finalize(() => {
              isLooking = false;
            }),
          );
        });
        // A slow look would never end if each turn of the clock began it anew.
        const clock$ = interval(LOOK_EVERY_MS).pipe(filter(() => !isLooking));
        return merge(signals.messages(channelOf(run)), clock$).pipe(
          startWith(''),
          // What a look reads that began before a message came may be without what the message is about.
          switchMap(() => look$),
          map(({ items }) => {
            taken += items.length;
            return items.map(({ change }) => change);
          }),
          filter((items, at) => at === 0 || items.length > 0),
        );
      }),
  };
}

function tooMany(run: string): EngineError {
  const message = `Run "${run}" was changed, or told something, ${MAX_STEERS} times, which is as often as it can be.`;
  return new EngineError('LIMIT_REACHED', message);
}

function channelOf(run: string): string {
  return `steer:${run}`;
}
