/** What the canvas and the conversation need to know of the server's types of components. */
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { useClient } from '../shell/studio.js';
import type { Drawing } from './drawing.js';
import { hasKind } from './kinds.js';

/** A component as the server describes it; the fields that the canvas uses. */
interface CatalogueItem {
  readonly name: string;
  readonly aliases: readonly string[];
  readonly speaks: boolean;
}

const NONE: ReadonlySet<string> = new Set();

/** Types of a drawing that the server has not, in lower case; empty until it has said. It is only asked for types that have no picture here. */
export function useUnknownTypes({ nodes }: Drawing): ReadonlySet<string> {
  const asked = useMemo(
    () => [...new Set(nodes.map(({ type }) => lower(type)))].filter((type) => !hasKind(type)),
    [nodes],
  );
  const data = useTypes(namesOf, asked.length > 0);
  return useMemo(() => (data === undefined ? NONE : new Set(asked.filter((type) => !data.has(type)))), [asked, data]);
}

/** Types whose text is told to the user, in lower case; undefined until the server has said. */
export function useSpeakingTypes(): ReadonlySet<string> | undefined {
  return useTypes(speakersOf, true);
}

/** Asked once for all readers, the editor among them. */
function useTypes<T>(select: (items: readonly CatalogueItem[]) => T, enabled: boolean): T | undefined {
  const client = useClient();
  const { data } = useQuery({
    queryKey: ['components'],
    queryFn: ({ signal }) => client.call<readonly CatalogueItem[]>('/components', { signal }),
    select,
    enabled,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
  return data;
}

const speakersOf = (items: readonly CatalogueItem[]) => namesOf(items.filter(({ speaks }) => speaks));

function namesOf(items: readonly CatalogueItem[]): ReadonlySet<string> {
  return new Set(items.flatMap(({ name, aliases }) => [name, ...aliases]).map(lower));
}

function lower(type: string): string {
  return type.trim().toLowerCase();
}
