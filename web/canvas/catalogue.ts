/** What the canvas and the conversation need to know of the server's types of components. */
import { type QueryClient, useQuery } from '@tanstack/react-query';
import { useMemo, useRef } from 'react';
import type { CatalogueEntry } from '../../src/transport/components/catalogue-shapes.js';
import type { Client } from '../api/client.js';
import { useClient } from '../shell/studio.js';
import type { OfferedTool } from './describe.js';
import type { Drawing, DrawnNode } from './drawing.js';
import { hasKind } from './kinds.js';

const NONE: ReadonlySet<string> = new Set();

/**
 * Types of a drawing, tools of agents among them, that the server has not, in lower case; empty until it has said. It is only asked for types that have no picture here.
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
  nodes: readonly Pick<DrawnNode, 'type' | 'tools'>[],
  before: readonly string[],
): readonly string[] {
  const types = nodes.flatMap(({ type, tools }) => [type, ...tools.filter(isOfType).map((tool) => tool.type)]);
  const found = [...new Set(types.map(lower))].filter((type) => !hasKind(type));
  return found.length === before.length && found.every((type, at) => type === before[at]) ? before : found;
}

/** What servers of tools offer has no type. */
const isOfType = ({ kind }: OfferedTool): boolean => kind !== 'server';

/** Types whose text is told to the user, in lower case: `isAsked` until the server has said, `types` undefined when it does not say. */
export function useSpeakingTypes(): { readonly types: ReadonlySet<string> | undefined; readonly isAsked: boolean } {
  const { data, isPending } = useTypes(speakersOf, true);
  return { types: data, isAsked: isPending };
}

/** Types that can be told something while they work, in lower case; none until the server has said. */
export function useHearingTypes(): ReadonlySet<string> {
  return useTypes(hearersOf, true).data ?? NONE;
}

/** Asks before it is needed: what is drawn first waits for it. */
export function askForTypes(queries: QueryClient, client: Client): void {
  void queries.prefetchQuery(catalogueQuery(client));
}

function useTypes<T>(select: (items: readonly CatalogueEntry[]) => T, enabled: boolean) {
  const client = useClient();
  return useQuery({ ...catalogueQuery(client), select, enabled });
}

/**
 * The types of components that the server has: asked once for all readers, the editor among them.
 *
 * It is not broken off when its last reader goes: readers come and go while parts of a screen are loaded, and the next one would ask again.
 */
export function catalogueQuery(client: Client) {
  return {
    queryKey: ['components'],
    queryFn: () => client.call<readonly CatalogueEntry[]>('/components'),
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  };
}

const hearersOf = (items: readonly CatalogueEntry[]) => namesOf(items.filter(({ hears }) => hears));
const speakersOf = (items: readonly CatalogueEntry[]) => namesOf(items.filter(({ speaks }) => speaks));

function namesOf(items: readonly CatalogueEntry[]): ReadonlySet<string> {
  return new Set(items.flatMap(({ name, aliases }) => [name, ...aliases]).map(lower));
}

function lower(type: string): string {
  return type.trim().toLowerCase();
}
