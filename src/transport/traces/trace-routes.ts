/** What happened while a message was made. */
import { z } from 'zod';
import type { Caller } from '../access/callers.js';
import { opensSession } from '../access/page-keys.js';
import { findAgent } from '../agents/find-agent.js';
import { success } from '../envelope.js';
import { type RouteGroup, route } from '../http/route.js';
import type { ServerParts } from '../server-parts.js';
import { type ComponentTrace, ComponentTraces } from './component-traces.js';

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
        success((await traceOfMessage(parts, { tenant }, found.id, params.message)) ?? {}),
    }),
  ],
};

/** What each component did for a message; undefined when nothing is known of it. */
export async function traceOfMessage(
  { messages, traces, host, stores }: ServerParts,
  { tenant, page }: Pick<Caller, 'tenant' | 'page'>,
  agentId: string,
  message: string,
): Promise<readonly ComponentTrace[] | undefined> {
  const run = await messages.find(tenant, agentId, message);
  const session = page === undefined || run === undefined ? undefined : (await host.record(tenant, run))?.sessionId;
  if (run === undefined || !(await opensSession({ tenant, page }, stores, session ?? ''))) return undefined;
  const projection = await host.projection(tenant, run);
  return (await traces.read(tenant, run, () => new ComponentTraces(projection)))?.list;
}
