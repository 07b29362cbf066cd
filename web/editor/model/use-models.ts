/** Models and MCP servers that the server has. */
import { useQuery } from '@tanstack/react-query';
import type { ListedMcpServer } from '../../../src/transport/mcp/server-shapes.js';
import type { ListedModel } from '../../../src/transport/models/model-shapes.js';
import { useModelList } from '../../parts/use-model-list.js';
import { useClient } from '../../shell/studio.js';

const NONE: readonly ListedModel[] = [];

/** Empty until the server has said. */
export function useModels(): readonly ListedModel[] {
  return useModelList().data?.models ?? NONE;
}

/** The model of new components: the one that the server uses for chats, or the first. */
export function useUsualModel(): string | undefined {
  const models = useModels().filter(({ kinds }) => kinds.length === 0 || kinds.includes('chat'));
  return (models.find((one) => one.default_for.includes('chat')) ?? models[0])?.id;
}

export function useMcpServers() {
  const client = useClient();
  return useQuery({
    queryKey: ['mcp', 'servers'],
    queryFn: ({ signal }) => client.call<readonly ListedMcpServer[]>('/mcp/servers', { signal }),
    staleTime: 30_000,
    retry: false,
  });
}
