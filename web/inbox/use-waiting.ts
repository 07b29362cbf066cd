/** The runs that wait for a person, up to date, with what they ask. */
import { keepPreviousData, useQueries, useQuery } from '@tanstack/react-query';
import { useLookEvery } from '../runs/use-run-news.js';
import { useClient } from '../shell/studio.js';
import {
  type InboxFilter,
  type InboxQuestion,
  type Kind,
  kindOf,
  NO_FILTER,
  questionsOf,
  type WaitingRuns,
  waitingRuns,
} from './inbox.js';

/** How often they are asked for while changes are not told, in milliseconds. */
const REFRESH_MS = 10_000;

/** One query for the count in the bar and the page as long as that is not narrowed down. */
export function useWaiting({ agent, user, age }: Omit<InboxFilter, 'kind'> = NO_FILTER) {
  const client = useClient();
  const asked = { agent, user, age };
  return useQuery({
    queryKey: ['runs', 'inbox', asked],
    queryFn: ({ signal }) => waitingRuns(client, asked, signal),
    refetchInterval: useLookEvery(REFRESH_MS),
    placeholderData: keepPreviousData,
    retry: false,
  });
}

/** A run that waits, and what it asks; undefined when that is not known, or not yet. */
export interface AskingRun {
  readonly run: WaitingRuns['runs'][number];
  readonly questions: readonly InboxQuestion[] | undefined;
  readonly isPending: boolean;
}

/** What runs ask, in their order. Each is asked once: a run that waits asks the same for ever. */
export function useQuestions(runs: WaitingRuns['runs']): readonly AskingRun[] {
  const client = useClient();
  const results = useQueries({
    queries: runs.map((run) => ({
      queryKey: ['questions', run.id],
      queryFn: ({ signal }: { readonly signal: AbortSignal }) => questionsOf(client, run, signal),
      staleTime: Number.POSITIVE_INFINITY,
      retry: false,
    })),
  });
  return runs.map((run, at) => ({
    run,
    questions: results[at]?.data,
    isPending: results[at]?.isPending ?? true,
  }));
}

/** Those that ask for something of a kind; also those of which it cannot be found out, so that none is overlooked. */
export function ofKind(asking: readonly AskingRun[], kind: Kind | undefined): readonly AskingRun[] {
  if (kind === undefined) return asking;
  return asking.filter(
    ({ questions, isPending }) => !isPending && (questions?.some((one) => kindOf(one) === kind) ?? true),
  );
}
