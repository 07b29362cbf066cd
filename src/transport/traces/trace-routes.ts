/** What happened while a message was made. */
import { z } from 'zod';
import type { WorkingNode } from '../../canvas/wire-calls.js';
import { findAgent } from '../agents/find-agent.js';
import { success } from '../envelope.js';
import { type RouteGroup, route } from '../http/route.js';
import type { ServerParts } from '../server-parts.js';
import type { ComponentTrace } from './trace-reader.js';

export const traceShape = z.union([
  z.array(z.looseObject({ component_id: z.string(), trace: z.array(z.looseObject({})) })),
  z.strictObject({}).describe('Nothing is known of the message.'),
]);

export const traceRoutes: RouteGroup = {
  name: 'traces',
  description: 'What happened while a message was made.',
  routes: [
    route('GET /agents/:id/logs/:message', {
      summary: 'What each component did for a message',
      finds: findAgent,
      data: traceShape,
      handle: async ({ tenant, params, found }, parts) =>
        success(await traceOfMessage(parts, tenant, found.id, params.message)),
    }),
  ],
};

/** What each component did for a message, `{}` when nothing is known of it. */
export async function traceOfMessage(
  { messages, traces, host }: ServerParts,
  tenant: string,
  agentId: string,
  message: string,
): Promise<unknown> {
  const run = await messages.find(tenant, agentId, message);
  const done = run === undefined ? undefined : await traces.read(tenant, run);
  if (run === undefined || done === undefined) return {};
  return withWorking(done, host.find(tenant, run)?.unseen.working ?? []);
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
