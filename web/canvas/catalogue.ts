/** Which components the server has. */
import { useQuery } from '@tanstack/react-query';
import { useClient } from '../shell/studio.js';

/** A component as the server describes it; the fields that the canvas uses. */
interface CatalogueItem {
  readonly type: string;
  readonly aliases?: readonly string[];
}

/** Types in lower case; undefined until the server has said, and where it does not. */
export function useKnownTypes(): ReadonlySet<string> | undefined {
  const client = useClient();
  const { data } = useQuery({
    queryKey: ['components', 'types'],
    queryFn: async ({ signal }) => client.call<readonly CatalogueItem[]>('/components', { signal }),
    select: namesOf,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
  return data;
}

function namesOf(items: readonly CatalogueItem[]): ReadonlySet<string> | undefined {
  if (!Array.isArray(items)) return undefined;
  return new Set(items.flatMap(({ type, aliases = [] }) => [type, ...aliases]).map((name) => name.toLowerCase()));
}
