/** The runs that wait for a person, asked for again every now and then. */
import { useQuery } from '@tanstack/react-query';
import { useClient } from '../shell/studio.js';
import { waitingRuns } from './inbox.js';

const REFRESH_MS = 10_000;

/** One query for the page and the count in the bar. */
export function useWaiting() {
  const client = useClient();
  return useQuery({
    queryKey: ['runs', 'inbox'],
    queryFn: ({ signal }) => waitingRuns(client, signal),
    refetchInterval: REFRESH_MS,
    retry: false,
  });
}
