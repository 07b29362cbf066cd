/** `#/runs`: the runs of all agents, newest first. */
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Button } from '../parts/button.js';
import { useQueryValues } from '../parts/location.js';
import { EmptyNote, ErrorNote, LoadingNote } from '../parts/notes.js';
import { useClient } from '../shell/studio.js';
import { useTexts } from '../shell/texts.js';
import { RunFilters } from './run-filters.js';
import { isNarrowed, listRuns, PAGE_SIZE, readFilter } from './run-list.js';
import { RunTable } from './run-table.js';
import style from './runs.module.css';
import { runsTexts } from './runs-texts.js';
import { useLookEvery } from './use-run-news.js';

/** How often the list is asked for while changes are not told, in milliseconds. */
const REFRESH_MS = 5_000;

export function RunsPage() {
  const words = useTexts(runsTexts);
  const client = useClient();
  const [query, change] = useQueryValues();
  const filter = readFilter(query);
  const { data, error, refetch } = useQuery({
    queryKey: ['runs', filter],
    queryFn: ({ signal }) => listRuns(client, filter, signal),
    refetchInterval: useLookEvery(REFRESH_MS),
    placeholderData: keepPreviousData,
  });
  const { page } = filter;
  const turn = (to: number): void => {
    if (to === 1) change({ page: undefined, upto: undefined });
    else change({ page: to, upto: filter.upto ?? data?.items[0]?.started_at });
  };
  return (
    <div className={style.page}>
      <h1>{words.title}</h1>
      <RunFilters filter={filter} onChange={(next) => change({ page: undefined, upto: undefined, ...next })} />
      {error !== null && data === undefined && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {error === null && data === undefined && <LoadingNote />}
      {data !== undefined && data.items.length === 0 && (
        <EmptyNote title={isNarrowed(filter) ? words.noneFound : words.none} />
      )}
      {data !== undefined && data.items.length > 0 && <RunTable runs={data.items} />}
      {data !== undefined && (page > 1 || (data.total ?? 0) > PAGE_SIZE) && (
        <nav className={style.pages} aria-label={words.pages}>
          <Button disabled={page <= 1} onClick={() => turn(page - 1)}>
            {words.newer}
          </Button>
          <span>{words.place(page, Math.max(page, Math.ceil((data.total ?? 0) / PAGE_SIZE)))}</span>
          <Button disabled={page * PAGE_SIZE >= (data.total ?? 0)} onClick={() => turn(page + 1)}>
            {words.older}
          </Button>
        </nav>
      )}
    </div>
  );
}
