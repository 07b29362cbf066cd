/** `#/sessions`: the conversations with all agents, those first that were used last. */
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useQueryValues } from '../parts/location.js';
import { EmptyNote, ErrorNote, LoadingNote } from '../parts/notes.js';
import { PageTurner } from '../parts/page-turner.js';
import style from '../runs/runs.module.css';
import { useLookEvery } from '../runs/use-run-news.js';
import { useClient } from '../shell/studio.js';
import { useTexts } from '../shell/texts.js';
import { SessionFilters } from './session-filters.js';
import { isNarrowed, listSessions, PAGE_SIZE, readFilter } from './session-list.js';
import { SessionTable } from './session-table.js';
import { sessionsTexts } from './sessions-texts.js';

/** How often the list is asked for while changes are not told, in milliseconds. */
const REFRESH_MS = 5_000;

export function SessionsPage() {
  const words = useTexts(sessionsTexts);
  const client = useClient();
  const [query, change] = useQueryValues();
  const filter = readFilter(query);
  const { data, error, refetch } = useQuery({
    queryKey: ['sessions', 'all', filter],
    queryFn: ({ signal }) => listSessions(client, filter, signal),
    refetchInterval: useLookEvery(REFRESH_MS),
    placeholderData: keepPreviousData,
  });
  const { page } = filter;
  const pages = Math.max(page, Math.ceil((data?.total ?? 0) / PAGE_SIZE));
  return (
    <div className={style.page}>
      <h1>{words.title}</h1>
      <SessionFilters filter={filter} onChange={(next) => change({ page: undefined, ...next })} />
      {error !== null && data === undefined && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {error === null && data === undefined && <LoadingNote />}
      {data !== undefined && data.items.length === 0 && (
        <EmptyNote title={isNarrowed(filter) ? words.noneFound : words.none} />
      )}
      {data !== undefined && data.items.length > 0 && <SessionTable sessions={data.items} />}
      {pages > 1 && (
        <PageTurner page={page} pages={pages} onTurn={(to) => change({ page: to === 1 ? undefined : to })} />
      )}
    </div>
  );
}
