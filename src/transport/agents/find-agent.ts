import { checkId } from '../../hosting/ids.js';
import { noAgent } from '../../hosting/refusals.js';
import type { AgentRecord } from '../../records/stores.js';
import type { HttpExchange } from '../http/types.js';
import type { ServerParts } from '../server-parts.js';

/** The id in `/agents/:id`. @throws EngineError BAD_REQUEST. */
export function agentIdOf({ params }: HttpExchange): string {
  return checkId('agent_id', params.id as string);
}

/** The agent of the request, when it is the caller's. @throws EngineError FORBIDDEN otherwise. */
export async function requireAgent({ stores }: ServerParts, exchange: HttpExchange): Promise<AgentRecord> {
  const { tenant, boundAgent } = exchange.state;
  const id = agentIdOf(exchange);
  // A token that was given out for one agent opens no other.
  const agent = boundAgent === undefined || boundAgent === id ? await stores.agents.find(tenant, id) : undefined;
  if (agent === undefined) throw noAgent();
  return agent;
}
