import { defer, EMPTY, exhaustMap, from, merge, mergeMap, type Observable, of, takeWhile, timer } from 'rxjs';
import { fromAbortable } from '../../operators/from-abortable.js';
import type { DocumentRecord, DocumentRun } from '../../records/knowledge.js';
import type { KnowledgeStore } from '../../records/knowledge-store.js';
import type { IngestionProgress } from './ingestion-hub.js';

/** How documents are watched. */
export interface WatchOptions {
  readonly tenant: string;
  /** What is told of them in this process. */
  readonly live$: Observable<IngestionProgress>;
  /** Documents of the dataset as they are stored: those that run or have changed, and at least these that ran before; undefined: it is gone. */
  readonly look: (running: readonly string[]) => Observable<readonly DocumentRecord[] | undefined>;
  /** Milliseconds between looks. */
  readonly pollMs: number;
}

/** What was told of a document last. */
interface Told {
  readonly run: DocumentRun;
  readonly attempt: number | undefined;
  readonly line: string;
  /** Whether this process parses it, and so knows more than the store. */
  readonly isLive: boolean;
}

/** Documents of which it is kept what was told; the one that was told of the longest ago is forgotten. */
const MAX_TOLD = 10_000;

/**
 * Tells of documents while they are parsed, by whatever process: what this one tells at once, what others do as soon as it is seen in the
 * store. Begins with the documents that run. A document that another process parses between two looks is told of when it is done.
 *
 * ```text
 * live$     -----a--a------------
 * look      b---------b----(bc)--
 * result    b----a--a-b-----c----     (c has ended)
 * ```
 *
 * Ends with its subscriber, or when the dataset is gone. Errors: those of `look` and `live$`.
 */
export function watchProgress({ tenant, live$, look, pollMs }: WatchOptions): Observable<IngestionProgress> {
  return defer(() => {
    const told = new Map<string, Told>();
    const note = (id: string, one: Told): void => {
      told.delete(id);
      told.set(id, one);
      const [oldest] = told.keys();
      if (told.size > MAX_TOLD && oldest !== undefined) told.delete(oldest);
    };
    let isFirst = true;
    const seen = (documents: readonly DocumentRecord[]): readonly IngestionProgress[] => {
      const news = documents.flatMap((document) => {
        const before = told.get(document.id);
        const line = `${document.progress} ${document.progressMsg}`;
        const { run, attempt } = document;
        if (!isNews(document, before, line)) {
          if (before?.attempt === undefined && run !== 'RUNNING')
            note(document.id, { run, attempt, line, isLive: false });
          return [];
        }
        note(document.id, { run, attempt, line, isLive: before?.isLive === true && run === 'RUNNING' });
        return isFirst && run !== 'RUNNING' ? [] : [progressOf(tenant, document)];
      });
      isFirst = false;
      return news;
    };
    const stored$ = timer(0, pollMs).pipe(
      exhaustMap(() => {
        const running = [...told].flatMap(([id, { run }]) => (run === 'RUNNING' ? [id] : []));
        return look(running);
      }),
      mergeMap((documents) => (documents === undefined ? of(undefined) : from(seen(documents)))),
    );
    const own$ = live$.pipe(
      mergeMap((progress) => {
        const { documentId, run } = progress;
        const before = told.get(documentId);
        const isEnd = run !== 'RUNNING';
        // The look at the store was faster.
        if (isEnd && before?.run === run && !before.isLive) return EMPTY;
        note(documentId, { run, attempt: undefined, line: '', isLive: !isEnd });
        return of(progress);
      }),
    );
    return merge(own$, stored$).pipe(takeWhile((one) => one !== undefined));
  });
}

function isNews({ run, attempt }: DocumentRecord, before: Told | undefined, line: string): boolean {
  if (before === undefined) return true;
  if (run !== before.run) return true;
  if (run !== 'RUNNING') return before.attempt !== undefined && before.attempt !== attempt;
  return !before.isLive && line !== before.line;
}

function progressOf(tenant: string, document: DocumentRecord): IngestionProgress {
  const { id: documentId, datasetId, run, progress, progressMsg, chunkCount: chunks } = document;
  const message = progressMsg.slice(progressMsg.lastIndexOf('\n') + 1);
  return { tenant, datasetId, documentId, run, progress, step: '', message, chunks };
}

/** Documents that one look sees: the newest. */
const MAX_SEEN = 1_000;

/** Looks at a dataset with few statements: how many documents are in each state tells whether there is more to see. */
export function lookAtDocuments(
  store: Pick<KnowledgeStore, 'findDataset' | 'tallyDocuments' | 'listDocuments'>,
  tenant: string,
  datasetId: string,
): WatchOptions['look'] {
  const page = { datasetIds: [datasetId], offset: 0, limit: MAX_SEEN, orderBy: 'createdAt', descending: true } as const;
  let before = '';
  const look = async (running: readonly string[]): Promise<readonly DocumentRecord[] | undefined> => {
    const tallies = await store.tallyDocuments(tenant, [datasetId], 'run');
    const counts = JSON.stringify(tallies);
    const isSame = counts === before;
    before = counts;
    if (tallies.length === 0) return (await store.findDataset(tenant, datasetId)) === undefined ? undefined : [];
    if (!isSame) return (await store.listDocuments(tenant, page)).items;
    if (running.length === 0 && !tallies.some(({ value }) => value === 'RUNNING')) return [];
    const { items } = await store.listDocuments(tenant, { ...page, runs: ['RUNNING'] });
    const seen = new Set(items.map(({ id }) => id));
    const ids = running.filter((id) => !seen.has(id)).slice(0, MAX_SEEN);
    return ids.length === 0 ? items : [...items, ...(await store.listDocuments(tenant, { ...page, ids })).items];
  };
  return (running) => fromAbortable(() => look(running));
}
