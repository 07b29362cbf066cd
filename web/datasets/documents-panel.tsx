/** The documents of a dataset: they come by drop or choice, and become searchable under the eyes of the user. */
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useMemo } from 'react';
import { useQueryValues } from '../parts/location.js';
import { EmptyNote, ErrorNote, LoadingNote } from '../parts/notes.js';
import { PageTurner } from '../parts/page-turner.js';
import { useObservable } from '../parts/use-observable.js';
import { useClient } from '../shell/studio.js';
import { useTexts } from '../shell/texts.js';
import {
  type DatasetItem,
  DOCUMENTS_PAGE,
  type DocumentFilter,
  type DocumentItem,
  parseDocuments,
  RUN_STATES,
  refreshDataset,
  useDocuments,
} from './dataset-data.js';
import { DocumentTable } from './document-table.js';
import { DocumentTools } from './document-tools.js';
import { documentsTexts } from './documents-texts.js';
import { FilesDrop } from './files-drop.js';
import { type DocumentProgress, ingestionFeed } from './ingestion-feed.js';

/** A page of the address is none of the API's when it is no number. */
export function readFilter(query: URLSearchParams): DocumentFilter {
  const page = Number(query.get('page'));
  return {
    words: query.get('search') ?? '',
    run: RUN_STATES.find((one) => one === query.get('run')),
    page: Number.isSafeInteger(page) && page > 0 ? page : 1,
  };
}

export function DocumentsPanel({ dataset: { id } }: { readonly dataset: DatasetItem }) {
  const words = useTexts(documentsTexts);
  const client = useClient();
  const queries = useQueryClient();
  const [query, change] = useQueryValues();
  const filter = readFilter(query);
  const { data, error, refetch } = useDocuments(id, filter);
  const progress = useProgress(id);
  const arrive = async (documents: readonly DocumentItem[]) => {
    // What cannot be put in line now says so in its line, with a way to try again.
    await parseDocuments(
      client,
      id,
      documents.map((one) => one.id),
    ).catch(() => undefined);
    await refreshDataset(queries, id);
  };
  const isFiltered = filter.words !== '' || filter.run !== undefined;
  const pages = Math.max(filter.page, Math.ceil((data?.total ?? 0) / DOCUMENTS_PAGE));
  return (
    <FilesDrop dataset={id} onArrival={(documents) => void arrive(documents)}>
      {(choose) => (
        <>
          <DocumentTools dataset={id} filter={filter} onChange={change} onChoose={choose} />
          {data === undefined && error !== null && <ErrorNote error={error} onRetry={() => void refetch()} />}
          {data === undefined && error === null && <LoadingNote />}
          {data?.docs.length === 0 && (
            <EmptyNote title={isFiltered ? words.noneFound : words.none}>
              {!isFiltered && <p>{words.noneHint}</p>}
            </EmptyNote>
          )}
          {data !== undefined && data.docs.length > 0 && <DocumentTable documents={data.docs} progress={progress} />}
          {pages > 1 && (
            <PageTurner
              page={filter.page}
              pages={pages}
              onTurn={(page) => change({ page: page === 1 ? undefined : page })}
            />
          )}
        </>
      )}
    </FilesDrop>
  );
}

/** The newest progress of documents; the list is asked for again when one of them begins or ends. */
function useProgress(dataset: string): ReadonlyMap<string, DocumentProgress> {
  const client = useClient();
  const queries = useQueryClient();
  const feed$ = useMemo(() => ingestionFeed(client, dataset), [client, dataset]);
  const progress = useObservable(feed$, NONE);
  const states = [...progress.values()]
    .map(({ id, run }) => `${id} ${run}`)
    .toSorted()
    .join();
  useEffect(() => {
    if (states !== '') void refreshDataset(queries, dataset);
  }, [states, queries, dataset]);
  return progress;
}

const NONE: ReadonlyMap<string, DocumentProgress> = new Map();
