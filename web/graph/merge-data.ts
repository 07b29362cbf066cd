/** Names that are one: what was merged, what is perhaps the same, what was decided by hand. */
import { useQuery } from '@tanstack/react-query';
import type { NameDecision, NamePair } from '../../src/knowledge/graph/graph-records.js';
import type { EntityAlias } from '../../src/knowledge/graph/knowledge-graphs.js';
import type { Client } from '../api/client.js';
import { useClient } from '../shell/studio.js';
import { graphPath } from './graph-data.js';

export interface NameLists {
  readonly merges: readonly NamePair[];
  readonly maybe: readonly NamePair[];
  readonly decisions: readonly NameDecision[];
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
