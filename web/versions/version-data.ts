/** Versions of an agent and its draft, as the server gives them. */
import { useQuery } from '@tanstack/react-query';
import type { JsonObject } from '../../src/json.js';
import type { AgentDetail } from '../run/agent-detail.js';
import { agentPath } from '../run/paths.js';
import { useClient } from '../shell/studio.js';

/** A version in a list: the fields that are used. */
export interface VersionItem {
  readonly id: string;
  readonly title: string;
  readonly description: string | null;
  readonly create_time: number;
}

/** The draft among versions. */
export const DRAFT = 'draft';

/** The draft as it is stored now. */
export function useStoredDraft(agent: string) {
  const client = useClient();
  return useQuery({
    queryKey: ['versions', agent, DRAFT],
    queryFn: ({ signal }) => client.call<AgentDetail>(agentPath(agent), { signal }),
    staleTime: 0,
  });
}

/** Published versions, newest first; none of an empty id. */
export function useVersions(agent: string) {
  const client = useClient();
  return useQuery({
    queryKey: ['versions', agent],
    queryFn: ({ signal }) => client.call<readonly VersionItem[]>(`${agentPath(agent)}/versions`, { signal }),
    enabled: agent !== '',
  });
}

/** The document of a version, which never changes; of the draft what `draft` is. */
export function useVersionDsl(agent: string, version: string | undefined, draft: JsonObject | undefined) {
  const client = useClient();
  const isVersion = version !== undefined && version !== DRAFT;
  const { data, error } = useQuery({
    queryKey: ['versions', agent, 'one', version],
    queryFn: ({ signal }) =>
      client.call<{ dsl: JsonObject }>(`${agentPath(agent)}/versions/${encodeURIComponent(version ?? '')}`, { signal }),
    enabled: isVersion,
    staleTime: Number.POSITIVE_INFINITY,
  });
  return { dsl: isVersion ? data?.dsl : draft, error };
}
