/** What the canvas and the conversation need to know of the server's types of components. */
import { type QueryClient, useQuery } from '@tanstack/react-query';
import { useMemo, useRef } from 'react';
import type { Client } from '../api/client.js';
import { useClient } from '../shell/studio.js';
import type { Drawing, DrawnNode } from './drawing.js';
import { hasKind } from './kinds.js';

/** A component as the server describes it; the fields that the canvas uses. */
interface CatalogueItem {
  readonly name: string;
  readonly aliases: readonly string[];
  readonly speaks: boolean;
}

const NONE: ReadonlySet<string> = new Set();

/**
 * Types of a drawing that the server has not, in lower case; empty until it has said. It is only asked for types that have no picture here.
 * The same set as long as the types are: all nodes read it, and are not drawn again with each letter that is typed into one of them.
 */
export function useUnknownTypes({ nodes }: Drawing): ReadonlySet<string> {
  const kept = useRef<readonly string[]>([]);
  const asked = useMemo(() => typesWithoutKind(nodes, kept.current), [nodes]);
  kept.current = asked;
  const { data } = useTypes(namesOf, asked.length > 0);
  return useMemo(() => (data === undefined ? NONE : new Set(asked.filter((type) => !data.has(type)))), [asked, data]);
}

/** Types of nodes that have no picture here, in lower case; `before` itself when it names the same ones. */
export function typesWithoutKind(
  nodes: readonly Pick<DrawnNode, 'type'>[],
  before: readonly string[],
): readonly string[] {
  const found = [...new Set(nodes.map(({ type }) => lower(type)))].filter((type) => !hasKind(type));
  return found.length === before.length && found.every((type, at) => type === before[at]) ? before : found;
}

/** Types whose text is told to the user, in lower case: `isAsked` until the server has said, `types` undefined when it does not say. */
export function useSpeakingTypes(): { readonly types: ReadonlySet<string> | undefined; readonly isAsked: boolean } {
  const { data, isPending } = useTypes(speakersOf, true);
  return { types: data, isAsked: isPending };
}

/** Asks before it is needed: what is drawn first waits for it. */
export function askForTypes(queries: QueryClient, client: Client): void {
  void queries.prefetchQuery(types(client));
}

/** Asked once for all readers, the editor among them. */
function useTypes<T>(select: (items: readonly CatalogueItem[]) => T, enabled: boolean) {
  const client = useClient();
  return useQuery({ ...types(client), select, enabled });
}

function types(client: Client) {
  return {
    queryKey: ['components'],
    queryFn: ({ signal }: { readonly signal: AbortSignal }) =>
      client.call<readonly CatalogueItem[]>('/components', { signal }),
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  };
}

const speakersOf = (items: readonly CatalogueItem[]) => namesOf(items.filter(({ speaks }) => speaks));

function namesOf(items: readonly CatalogueItem[]): ReadonlySet<string> {
  return new Set(items.flatMap(({ name, aliases }) => [name, ...aliases]).map(lower));
}

function lower(type: string): string {
  return type.trim().toLowerCase();
}
