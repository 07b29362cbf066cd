import {
  catchError,
  defer,
  EMPTY,
  filter,
  finalize,
  from,
  ignoreElements,
  interval,
  merge,
  mergeMap,
  Observable,
  Subject,
  switchMap,
  takeUntil,
} from 'rxjs';
import { stream } from '../compose/run.js';
import { EngineError, toEngineError } from '../errors.js';
import type { IngestionProgress } from '../knowledge/base/ingestion-hub.js';
import type { DocumentRecord } from '../records/knowledge.js';
import type { Claim } from '../records/knowledge-store.js';
import { ingestionPipeline } from './pipeline.js';
import { type IngestionServices, IngestionWork, isOvertaken } from './work.js';

/** A document that this process is to parse. */
export interface DocumentClaim extends Claim {
  readonly tenant: string;
  /** Whose the claim is. */
  readonly owner: string;
  /** How long a claim holds when it is not prolonged, in milliseconds. */
  readonly ttlMs: number;
}

/** Processes that may be lost on a document between two steps before it fails. */
const MAX_BEGUN = 3;

/**
 * Parses one document: cold, emits its progress, completes when the document is searchable, has failed, or is none of ours any more.
 *
 * ```text
 * steps     load--parse-----chunk--index|
 * result    --p----p--p--p---p------(p|)
 * ```
 *
 * Unsubscribing stops it at once and gives the document back, so that another process, or this one later, goes on behind the last finished
 * step. A failure of the document is progress with `FAIL`. Errors: STORE_UNAVAILABLE, after which the document still waits.
 */
export function ingestDocument(services: IngestionServices, claim: DocumentClaim): Observable<IngestionProgress> {
  const { parts } = services;
  const { tenant, document, owner, ttlMs } = claim;
  return new Observable((subscriber) => {
    const reports$ = new Subject<IngestionProgress>();
    const report = (progress: IngestionProgress): void => {
      parts.hub.report(progress);
      reports$.next(progress);
    };
    const over$ = merge(
      parts.hub.stopped$.pipe(
        filter((one) => one.tenant === tenant && one.datasetId === document.datasetId),
        filter(({ ids }) => ids === undefined || ids.includes(document.id)),
      ),
      // A claim that was lost is work of another process.
      interval(Math.ceil(ttlMs / 3)).pipe(
        switchMap(() => parts.store.renew(owner, tenant, document.id, document.attempt, ttlMs)),
        filter((isOurs) => !isOurs),
      ),
    );
    const work$ = defer(() => from(workOf(services, claim, report))).pipe(
      mergeMap((work) => (work === undefined ? EMPTY : performed(work))),
      takeUntil(over$),
      finalize(() => reports$.complete()),
    );
    const subscription = merge(reports$, work$.pipe(ignoreElements())).subscribe(subscriber);
    subscription.add(() => {
      // What cannot be given back is free when its claim is over.
      parts.store.release(owner, tenant, document.id).catch(() => {});
    });
    return subscription;
  });
}

/** The work on a claim; undefined when its dataset is gone. */
async function workOf(
  { parts, ...services }: IngestionServices,
  { tenant, document, begun }: DocumentClaim,
  report: (progress: IngestionProgress) => void,
): Promise<IngestionWork | undefined> {
  const [found, steps] = await Promise.all([
    parts.store.findDataset(tenant, document.datasetId),
    parts.store.steps(tenant, document.id, document.attempt),
  ]);
  if (found === undefined) return undefined;
  const finished = new Map(steps.map((step) => [step.name, step]));
  const work = new IngestionWork({ ...services, parts, tenant, document, dataset: found.dataset, finished, report });
  if (begun <= MAX_BEGUN) return work;
  await work.end('FAIL', messageOf(lost(document)));
  return undefined;
}

function performed(work: IngestionWork): Observable<unknown> {
  const { document } = work.options;
  return stream(ingestionPipeline, { documentId: document.id }, { services: work }).pipe(
    catchError((error: unknown) => from(failed(work, error))),
  );
}

async function failed(work: IngestionWork, error: unknown): Promise<void> {
  if (EngineError.is(error) && error.code === 'STORE_UNAVAILABLE') throw error;
  if (isOvertaken(error)) return;
  try {
    await work.end('FAIL', messageOf(toEngineError(error, 'INGEST_FAILED')));
  } catch (late) {
    if (!isOvertaken(late)) throw late;
  }
}

function messageOf({ code, message }: EngineError): string {
  return `${message} [${code}]`;
}

function lost({ name }: DocumentRecord): EngineError {
  const message = `${MAX_BEGUN} processes were lost while they parsed "${name}", so it is not tried again.`;
  return new EngineError('INGEST_FAILED', message);
}
