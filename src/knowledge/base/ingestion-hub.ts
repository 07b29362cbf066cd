import { BehaviorSubject, filter, type Observable, Subject } from 'rxjs';
import type { DocumentRun } from '../../records/knowledge.js';

/** How far a document is, as it is told while it is parsed. */
export interface IngestionProgress {
  readonly tenant: string;
  readonly datasetId: string;
  readonly documentId: string;
  readonly run: DocumentRun;
  /** Share that is done, 0 to 1; -1 when it failed. */
  readonly progress: number;
  /** The step that is at work; empty before the first and behind the last. */
  readonly step: string;
  /** What happened now; empty when only the share has changed. */
  readonly message: string;
  /** Chunks so far. */
  readonly chunks: number;
}

/** Documents that are not to be parsed any more: some, or with `datasetId` alone all of a dataset. */
export interface StoppedDocuments {
  readonly tenant: string;
  readonly datasetId: string;
  readonly ids?: readonly string[] | undefined;
}

/** How the services of a process tell each other of documents that wait, stop and go on. */
export interface IngestionHub {
  /** How often there was something new to parse; a reader that has seen the number need not look again. */
  readonly work$: Observable<number>;
  /** The current number. */
  readonly work: () => number;
  /** Says that documents wait. */
  wake(): void;
  readonly stopped$: Observable<StoppedDocuments>;
  stop(stopped: StoppedDocuments): void;
  /** Progress of all documents, from now on. */
  readonly progress$: Observable<IngestionProgress>;
  /** Progress of the documents of a tenant, or of one of its datasets, from now on. */
  progressOf(tenant: string, datasetId?: string): Observable<IngestionProgress>;
  report(progress: IngestionProgress): void;
}

/** Makes the hub of a process. Nothing of it is kept: what counts is in the store. */
export function createIngestionHub(): IngestionHub {
  const work$ = new BehaviorSubject(0);
  const stopped$ = new Subject<StoppedDocuments>();
  const progress$ = new Subject<IngestionProgress>();
  return {
    work$,
    work: () => work$.value,
    wake: () => work$.next(work$.value + 1),
    stopped$,
    stop: (stopped) => stopped$.next(stopped),
    progress$: progress$.asObservable(),
    progressOf: (tenant, datasetId) =>
      progress$.pipe(
        filter((one) => one.tenant === tenant && (datasetId === undefined || one.datasetId === datasetId)),
      ),
    report: (progress) => progress$.next(progress),
  };
}
