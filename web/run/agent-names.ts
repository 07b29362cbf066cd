/** The agents that lists can be narrowed down to. */
import { useQuery } from '@tanstack/react-query';
import { useClient } from '../shell/studio.js';

/** Agents by id, with their titles; the first hundred of them. */
export function useAgentNames(): readonly { readonly id: string; readonly title: string }[] {
  const client = useClient();
  const { data } = useQuery({
    queryKey: ['agents', 'names'],
    queryFn: ({ signal }) =>
      client.call<{ canvas: readonly { readonly id: string; readonly title: string }[] }>('/agents', {
        query: { page_size: 100 },
        signal,
      }),
  });
  return data?.canvas ?? [];
}
