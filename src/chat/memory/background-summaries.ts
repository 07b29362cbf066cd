import { catchError, EMPTY, finalize, mergeMap, Subject, tap } from 'rxjs';
import type { Log } from '../../logger.js';
import { requireWhole } from '../../operators/invalid-option.js';
import { ownedKey } from '../../records/repository.js';
import { type Summarised, type SummariseOptions, summarise } from './summarise.js';

/** What {@link createBackgroundSummaries} works with. */
export interface BackgroundSummariesOptions extends Omit<SummariseOptions, 'tenant' | 'session' | 'model'> {
  /** The model for a tenant; undefined: there is none, and the oldest turns are left out as they are. */
  readonly modelFor: (tenant: string) => SummariseOptions['model'] | undefined;
  readonly log: Pick<Log, 'warn'>;
  /** Sessions that are summarised at once; at least 1. @default 2 */
  readonly concurrency?: number | undefined;
  /** Sessions that may wait; for one more the next answer asks again. At least 0. @default 1,000 */
  readonly maxWaiting?: number | undefined;
  /** Called with what became of each. */
  readonly onEnd?: ((tenant: string, session: string, result: Summarised) => void) | undefined;
}

/** Summaries that are made while no client waits for them. */
export interface BackgroundSummaries {
  /** To be called after each answer, once its messages are stored. */
  answered(tenant: string, session: string): void;
  /** Sessions that are summarised or wait. */
  readonly pending: number;
  /** Ends the calls under way; nothing of them is stored. */
  close(): void;
}

/**
 * Makes summaries after answers: a session at a time is summarised once, a failure is logged and tried again after the next answer.
 *
 * @throws EngineError OPTION_INVALID
 */
export function createBackgroundSummaries(options: BackgroundSummariesOptions): BackgroundSummaries {
  const { modelFor, log, concurrency = 2, maxWaiting = 1_000, onEnd, ...others } = options;
  requireWhole('createBackgroundSummaries', 'concurrency', concurrency, 1);
  requireWhole('createBackgroundSummaries', 'maxWaiting', maxWaiting, 0);
  const asked$ = new Subject<{
    readonly tenant: string;
    readonly session: string;
    readonly model: SummariseOptions['model'];
  }>();
  const pending = new Set<string>();
  const running = asked$
    .pipe(
      mergeMap(
        ({ tenant, session, model }) =>
          summarise({ ...others, tenant, session, model }).pipe(
            tap((result) => onEnd?.(tenant, session, result)),
            catchError((error: unknown) => {
              log.warn(
                { err: error, session },
                'a chat could not be summarised; it is tried again after its next answer',
              );
              return EMPTY;
            }),
            finalize(() => pending.delete(ownedKey(tenant, session))),
          ),
        concurrency,
      ),
    )
    .subscribe();
  return {
    answered(tenant, session) {
      const key = ownedKey(tenant, session);
      if (running.closed || pending.has(key) || pending.size >= concurrency + maxWaiting) return;
      const model = modelFor(tenant);
      if (model === undefined) return;
      pending.add(key);
      asked$.next({ tenant, session, model });
    },
    get pending() {
      return pending.size;
    },
    close() {
      running.unsubscribe();
      pending.clear();
    },
  };
}
