/** What the server says of itself, for the parts of the page that depend on what it has. */
import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import type { SystemInfo } from '../../src/transport/system/system-shapes.js';
import { useObservable } from '../parts/use-observable.js';
import { useClient } from './studio.js';

/** Asked anew when a key was given: without one the server tells less. */
export function useSystem(): UseQueryResult<SystemInfo> {
  const client = useClient();
  const isKeyAsked = useObservable(client.keys.isAsked$, false);
  const query = useQuery({
    queryKey: ['system'],
    queryFn: ({ signal }) => client.call<SystemInfo>('/system/info', { signal }),
  });
  const { refetch } = query;
  useEffect(() => {
    if (!isKeyAsked) void refetch({ cancelRefetch: false });
  }, [isKeyAsked, refetch]);
  return query;
}
