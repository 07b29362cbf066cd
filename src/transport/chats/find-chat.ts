import { type AgentRecord, isAssistant } from '../../records/agents.js';
import type { PathRequest } from '../http/route.js';
import type { ServerParts } from '../server-parts.js';
import { noChat } from './refusals.js';

/** The assistant of a path below `/chats/:chat`, when it is the caller's. @throws EngineError NO_AUTHORIZATION otherwise */
export function findChat({ tenant, params }: PathRequest<'chat'>, parts: ServerParts): Promise<AgentRecord> {
  return assistantOf(parts, tenant, params.chat);
}

/** The same by its id. @throws EngineError NO_AUTHORIZATION */
export async function assistantOf(
  { stores }: Pick<ServerParts, 'stores'>,
  tenant: string,
  id: string,
): Promise<AgentRecord> {
  const agent = await stores.agents.find(tenant, id);
  if (agent === undefined || !isAssistant(agent)) throw noChat();
  return agent;
}
