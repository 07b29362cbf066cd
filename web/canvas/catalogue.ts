/** Which types of components the server has. */
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { useClient } from '../shell/studio.js';
import type { Drawing } from './drawing.js';
import { hasKind } from './kinds.js';

/** A component as the server describes it; the fields that the canvas uses. */
interface CatalogueItem {
  readonly name: string;
  readonly aliases: readonly string[];
}

const NONE: ReadonlySet<string> = new Set();

/** Types of a drawing that the server has not, in lower case; empty until it has said. It is only asked for types that have no picture here. */
export function useUnknownTypes({ nodes }: Drawing): ReadonlySet<string> {
  const client = useClient();
  const asked = useMemo(
    () => [...new Set(nodes.map(({ type }) => lower(type)))].filter((type) => !hasKind(type)),
    [nodes],
  );
  const { data } = useQuery({
    queryKey: ['components', 'types'],
    queryFn: ({ signal }) => client.call<readonly CatalogueItem[]>('/components', { signal }),
    select: namesOf,
    enabled: asked.length > 0,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
  return useMemo(() => (data === undefined ? NONE : new Set(asked.filter((type) => !data.has(type)))), [asked, data]);
}

function namesOf(items: readonly CatalogueItem[]): ReadonlySet<string> {
  return new Set(items.flatMap(({ name, aliases }) => [name, ...aliases]).map(lower));
}

function lower(type: string): string {
  return type.trim().toLowerCase();
}
