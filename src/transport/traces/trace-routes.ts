import { checkId } from '../../hosting/ids.js';
import { requireAgent } from '../agents/find-agent.js';
import { success } from '../envelope.js';
import type { HttpExchange, Routes } from '../http/types.js';
import type { ServerParts } from '../server-parts.js';

/** What happened while a message was made. */
export function traceRoutes(parts: ServerParts): Routes {
  return (router) => {
    router.get('/agents/:id/logs/:message', async (exchange) => {
      const { id } = await requireAgent(parts, exchange);
      exchange.body = success(await traceOfMessage(parts, exchange, id));
    });
  };
}

/** What each component did for a message, `{}` when nothing is known of it. */
export async function traceOfMessage(
  { messages, traces, host }: ServerParts,
  { state, params }: HttpExchange,
  agentId: string,
): Promise<unknown> {
  const message = checkId('message_id', params.message as string);
  const run = await messages.find(state.tenant, agentId, message);
  if (run === undefined) return {};
  return (await traces.read(state.tenant, run, await host.projection(state.tenant, run))) ?? {};
}
