/** Names that are one: what was merged, what is perhaps the same, what was decided by hand. */
import { useQuery } from '@tanstack/react-query';
import type { Client } from '../api/client.js';
import { useClient } from '../shell/studio.js';
import { graphPath } from './graph-data.js';

/** Two names that were taken for one, or are perhaps one. */
export interface NamePair {
  readonly names: readonly [string, string];
  /** 0 to 1. */
  readonly score: number;
  /** What says so, such as `abbreviation` or `user`. */
  readonly by: string;
}

/** What was decided of two names. */
export interface NameDecision {
  readonly id: string;
  readonly kind: 'same' | 'apart';
  readonly names: readonly [string, string];
  readonly by: string;
}

export interface NameLists {
  readonly merges: readonly NamePair[];
  readonly maybe: readonly NamePair[];
  readonly decisions: readonly NameDecision[];
}

/** Another name of an entity that was added by hand. */
export interface EntityAlias {
  readonly id: string;
  readonly entity: string;
  readonly alias: string;
}

export function useNameLists(dataset: string) {
  const client = useClient();
  return useQuery({
    queryKey: ['graph', dataset, 'merges'],
    queryFn: ({ signal }) => client.call<NameLists>(`${graphPath(dataset)}/merges`, { signal }),
  });
}

export function useAliases(dataset: string) {
  const client = useClient();
  return useQuery({
    queryKey: ['graph', dataset, 'aliases'],
    queryFn: async ({ signal }) =>
      (await client.call<{ readonly aliases: readonly EntityAlias[] }>(`${graphPath(dataset)}/aliases`, { signal }))
        .aliases,
  });
}

/** Takes two names for one, or keeps them apart. @throws ApiError. */
export function decide(client: Client, dataset: string, kind: NameDecision['kind'], names: readonly string[]) {
  const path = `${graphPath(dataset)}/${kind === 'same' ? 'merge' : 'split'}`;
  return client.call(path, { method: 'POST', body: { names } });
}

export function undoDecision(client: Client, dataset: string, id: string): Promise<unknown> {
  return client.call(`${graphPath(dataset)}/decisions/${encodeURIComponent(id)}`, { method: 'DELETE' });
}

export function addAlias(client: Client, dataset: string, entity: string, alias: string): Promise<unknown> {
  return client.call(`${graphPath(dataset)}/aliases`, { method: 'POST', body: { entity, alias } });
}

export function removeAlias(client: Client, dataset: string, id: string): Promise<unknown> {
  return client.call(`${graphPath(dataset)}/aliases/${encodeURIComponent(id)}`, { method: 'DELETE' });
}

/** Names that were taken for a name, directly or by others, sorted. */
export function otherNames(name: string, pairs: readonly (readonly [string, string])[]): readonly string[] {
  const found = new Set([name]);
  for (let size = 0; size !== found.size; ) {
    size = found.size;
    for (const [one, other] of pairs) {
      if (found.has(one)) found.add(other);
      else if (found.has(other)) found.add(one);
    }
  }
  found.delete(name);
  return [...found].sort();
}
