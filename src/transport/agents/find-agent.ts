import { noAgent } from '../../hosting/refusals.js';
import { type AgentRecord, isAssistant } from '../../records/agents.js';
import type { PathRequest } from '../http/route.js';
import type { ServerParts } from '../server-parts.js';

/** The agent of a path below `/agents/:id`, when it is the caller's and no assistant. @throws EngineError FORBIDDEN otherwise. */
export async function findAgent(
  { tenant, boundAgent, params: { id } }: PathRequest<'id'>,
  { stores }: ServerParts,
): Promise<AgentRecord> {
  // A key for one agent opens no other.
  const agent = boundAgent === undefined || boundAgent === id ? await stores.agents.find(tenant, id) : undefined;
  if (agent === undefined || isAssistant(agent)) throw noAgent();
  return agent;
}
