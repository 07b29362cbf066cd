/** Keys that a tenant creates for itself. */
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { noAgent } from '../../hosting/refusals.js';
import type { JsonObject } from '../../json.js';
import type { TokenRecord } from '../../records/durable-stores.js';
import { success } from '../envelope.js';
import { type RouteGroup, route } from '../http/route.js';
import { date, formatTime, milliseconds, string } from '../shapes.js';

const newTokenSchema = z.looseObject({
  agent_id: string.min(1).nullish().describe('The one agent that the beta token opens; default: all.'),
  dialog_id: string.min(1).nullish().describe('Older name of `agent_id`.'),
});

const tokenShape = z.looseObject({
  tenant_id: string,
  token: string,
  beta: string.describe('The key for chat pages.'),
  dialog_id: string.nullable().describe('The one agent that `beta` opens; null: all.'),
  create_time: milliseconds,
  create_date: date,
  update_time: z.null(),
  update_date: z.null(),
});

export const tokenRoutes: RouteGroup = {
  name: 'tokens',
  description: 'Keys that a tenant creates for itself.',
  routes: [
    route('GET /system/tokens', {
      summary: 'Lists own keys',
      data: z.array(tokenShape),
      handle: async ({ tenant }, { tokens }) =>
        success((await tokens.list(tenant)).map((one) => tokenView(one, tenant))),
    }),
    route('POST /system/tokens', {
      summary: 'Makes a pair of keys',
      body: newTokenSchema,
      data: tokenShape,
      handle: async ({ tenant, body }, { tokens, stores, now }) => {
        const agentId = body.agent_id ?? body.dialog_id ?? undefined;
        if (agentId !== undefined && (await stores.agents.find(tenant, agentId)) === undefined) throw noAgent();
        const record: TokenRecord = {
          token: `ragflow-${randomBytes(32).toString('base64url')}`,
          beta: randomBytes(24).toString('base64url'),
          ...(agentId === undefined ? {} : { agentId }),
          createdAt: now(),
        };
        await tokens.insert(tenant, record);
        return success(tokenView(record, tenant));
      },
    }),
    route('DELETE /system/tokens/:token', {
      summary: 'Deletes a pair of keys',
      data: z.boolean(),
      handle: async ({ tenant, params }, { tokens }) => success(await tokens.delete(tenant, params.token)),
    }),
  ],
};

function tokenView({ token, beta, agentId, createdAt }: TokenRecord, tenant: string): JsonObject {
  return {
    tenant_id: tenant,
    token,
    beta,
    dialog_id: agentId ?? null,
    create_time: createdAt,
    create_date: formatTime(createdAt),
    update_time: null,
    update_date: null,
  };
}
