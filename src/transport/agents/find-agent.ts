import { noAgent } from '../../hosting/refusals.js';
import type { AgentRecord } from '../../records/stores.js';
import type { RequestState } from '../http/route.js';
import type { ServerParts } from '../server-parts.js';

/** A request below `/agents/:id`, with other parameters of its path. */
export interface AgentRequest<Name extends string = never>
  extends Pick<Readonly<RequestState>, 'tenant' | 'boundAgent'> {
  readonly params: Readonly<Record<Name | 'id', string>>;
}

/** The agent of the request, when it is the caller's. @throws EngineError FORBIDDEN otherwise. */
export async function requireAgent(
  { stores }: Pick<ServerParts, 'stores'>,
  { tenant, boundAgent, params: { id } }: AgentRequest,
): Promise<AgentRecord> {
  // A key for one agent opens no other.
  const agent = boundAgent === undefined || boundAgent === id ? await stores.agents.find(tenant, id) : undefined;
  if (agent === undefined) throw noAgent();
  return agent;
}
