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
import { type IngestionServices, IngestionWork, isOvertaken, type Pipeline } from './work.js';

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
  const [dataset, steps] = await Promise.all([
    parts.store.findDataset(tenant, document.datasetId),
    parts.store.steps(tenant, document.id, document.attempt),
  ]);
  if (dataset === undefined) return undefined;
  const finished = new Map(steps.map((step) => [step.name, step]));
  const work = new IngestionWork({ ...services, parts, tenant, document, dataset, finished, report });
  if (begun <= MAX_BEGUN) return work;
  await work.end('FAIL', messageOf(lost(document)));
  return undefined;
}

function performed(work: IngestionWork): Observable<unknown> {
  return defer(() => from(pipelineFor(work))).pipe(
    switchMap(({ hash, run }) => from(isBegun(work, hash)).pipe(switchMap((isOurs) => (isOurs ? run(work) : EMPTY)))),
    catchError((error: unknown) => from(failed(work, error))),
  );
}

/** The canvas that a document names, or the built-in steps. */
async function pipelineFor({ options }: IngestionWork): Promise<Pipeline> {
  const { pipelines, tenant, document } = options;
  const { pipelineId: id, name } = document;
  if (id === null || id === '') return BUILT_IN;
  if (pipelines !== undefined) return pipelines(tenant, id);
  const message = `The document "${name}" names the pipeline "${id}", and canvases do not parse documents in this process.`;
  throw new EngineError('INGEST_FAILED', message);
}

const BUILT_IN: Pipeline = {
  hash: '',
  run: (work) => stream(ingestionPipeline, { documentId: work.options.document.id }, { services: work }),
};

/** The step that tells which pipeline the others are of; none for the built-in one. */
const PIPELINE = 'pipeline';

/**
 * Whether the steps that a process before has finished are of the same pipeline. Where they are not, as a canvas was changed meanwhile, the document
 * is put in line anew: what was stored of this attempt is none of the next one.
 */
async function isBegun(work: IngestionWork, hash: string): Promise<boolean> {
  const { parts, tenant, document } = work.options;
  const known = work.finished<{ hash: string }>(PIPELINE)?.hash ?? '';
  if (work.options.finished.size === 0) {
    if (hash !== '') await work.note(PIPELINE, { hash });
    return true;
  }
  if (known === hash) return true;
  await parts.store.cancel(tenant, [document.id]);
  if ((await parts.store.enqueue(tenant, [document.id])).length > 0) parts.hub.wake();
  return false;
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
