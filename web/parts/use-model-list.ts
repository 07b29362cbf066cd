/** The models that the server has, and their providers. */
import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import type { ModelList } from '../../src/transport/models/model-shapes.js';
import { useClient } from '../shell/studio.js';

/** They change with the settings of the server, for which it is started anew. */
const STALE_MS = 60_000;

/** One query for all who ask. */
export function useModelList(): UseQueryResult<ModelList> {
  const client = useClient();
  return useQuery({
    queryKey: ['models'],
    queryFn: ({ signal }) => client.call<ModelList>('/models', { signal }),
    staleTime: STALE_MS,
  });
}
