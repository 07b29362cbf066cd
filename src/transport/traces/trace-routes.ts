import type { WorkingNode } from '../../canvas/wire-calls.js';
import { checkId } from '../../hosting/ids.js';
import { requireAgent } from '../agents/find-agent.js';
import { success } from '../envelope.js';
import type { HttpExchange, Routes } from '../http/types.js';
import type { ServerParts } from '../server-parts.js';
import type { ComponentTrace } from './trace-reader.js';

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
  const done = run === undefined ? undefined : await traces.read(state.tenant, run);
  if (run === undefined || done === undefined) return {};
  return withWorking(done, host.find(state.tenant, run)?.unseen.working ?? []);
}

/** Adds what tools did so far for nodes that are still at work. */
function withWorking(done: readonly ComponentTrace[], working: readonly WorkingNode[]): readonly ComponentTrace[] {
  const traces = new Map(done.map((one) => [one.component_id, one]));
  for (const { node: component_id, toolCalls } of working) {
    if (toolCalls.length === 0) continue;
    const entries = toolCalls.map((call) => ({ ...call, component_id }));
    traces.set(component_id, { component_id, trace: [...(traces.get(component_id)?.trace ?? []), ...entries] });
  }
  return [...traces.values()];
}
