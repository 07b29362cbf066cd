import { randomUUID } from 'node:crypto';
import {
  catchError,
  defer,
  EMPTY,
  filter,
  finalize,
  from,
  ignoreElements,
  merge,
  type Observable,
  race,
  repeat,
  switchMap,
  take,
  timer,
} from 'rxjs';
import { EngineError } from '../errors.js';
import type { IngestionProgress } from '../knowledge/base/ingestion-hub.js';
import { requireObject, requireWhole } from '../operators/invalid-option.js';
import { createTurns } from './fair-turns.js';
import { type DocumentClaim, ingestDocument } from './ingest-document.js';
import type { IngestionServices } from './work.js';

/** How documents are parsed. */
export interface IngestionOptions extends IngestionServices {
  /** Documents at a time, at least 1. @default 2 */
  readonly concurrency?: number | undefined;
  /** Milliseconds after which is looked for documents that other processes put in line or have left. @default 5,000 */
  readonly pollMs?: number | undefined;
  /** How long a document stays with a process that is lost, in milliseconds. @default 30,000 */
  readonly claimMs?: number | undefined;
  /** Called with every error that is not one of a document. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/** Datasets that are chosen from. */
const MAX_WAITING = 1_000;
/** Choices in a row that other processes may have made before. */
const MAX_ATTEMPTS = 20;
/** After an error of the store, milliseconds until it is tried again. */
const PAUSE_MS = 1_000;

/**
 * Parses documents as they come in line, some at a time, with turns that are fair between tenants and between datasets: cold, emits the
 * progress of all, never ends.
 *
 * ```text
 * in line   a b c------------d------
 * slot 1    (a-----)(c---)---(d--)--
 * slot 2    (b--------)-------------
 * ```
 *
 * Several processes may do it over one store. Unsubscribing stops all work, which goes on behind the last finished steps when it is
 * subscribed to again.
 *
 * @throws EngineError OPTION_INVALID
 */
export function runIngestions(options: IngestionOptions): Observable<IngestionProgress> {
  requireObject('runIngestions', 'options', options, 'an object with "parts"');
  requireObject('runIngestions', 'parts', options.parts, 'the parts of a knowledge base');
  const { concurrency = 2, pollMs = 5_000, claimMs = 30_000, onError = () => {}, parts } = options;
  for (const [name, value] of Object.entries({ concurrency, pollMs, claimMs }))
    requireWhole('runIngestions', name, value, 1);
  const { hub } = parts;
  return defer(() => {
    const owner = randomUUID();
    const turns = createTurns();
    const claim = async (): Promise<DocumentClaim | undefined> => {
      for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
        const chosen = turns.choose(await parts.store.waiting(MAX_WAITING));
        if (chosen === undefined) return undefined;
        const { tenant, datasetId } = chosen;
        const claimed = await parts.store.claim(owner, tenant, datasetId, claimMs);
        if (claimed !== undefined) return { ...claimed, tenant, owner, ttlMs: claimMs };
        // Another process was faster.
        turns.end(chosen);
      }
      // Others take all that there is; what they leave is found with the next look.
      return undefined;
    };
    const slot$ = defer(() => {
      const seen = hub.work();
      return from(turns.inTurn(claim)).pipe(
        switchMap((one) => {
          if (one === undefined)
            return race(hub.work$.pipe(filter((work) => work !== seen)), timer(pollMs)).pipe(take(1), ignoreElements());
          const place = { tenant: one.tenant, datasetId: one.document.datasetId };
          return ingestDocument(options, one).pipe(finalize(() => turns.end(place)));
        }),
        catchError((error: unknown) => {
          if (!EngineError.is(error) || error.code !== 'STORE_UNAVAILABLE') onError(error);
          return timer(PAUSE_MS).pipe(switchMap(() => EMPTY));
        }),
      );
    }).pipe(repeat());
    return merge(...Array.from({ length: concurrency }, () => slot$));
  });
}
