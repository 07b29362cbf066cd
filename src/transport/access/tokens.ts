/** Keys that a tenant creates for itself. */
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { noAgent } from '../../hosting/refusals.js';
import type { TokenRecord } from '../../records/tokens.js';
import { success } from '../envelope.js';
import { type RouteGroup, route } from '../http/route.js';
import { date, defineView, formatTime, milliseconds, none, string } from '../shapes.js';

const newTokenSchema = z.looseObject({
  agent_id: string.min(1).nullish().describe('The one agent that the beta token opens; default: all.'),
  dialog_id: string.min(1).nullish().describe('Older name of `agent_id`.'),
});

const tokenView = defineView<TokenRecord, [tenant: string]>()({
  tenant_id: [string, (_, tenant) => tenant],
  token: [string, 'token'],
  beta: [string.describe('The key for chat pages.'), 'beta'],
  dialog_id: [string.nullable().describe('The one agent that `beta` opens; null: all.'), 'agentId'],
  create_time: [milliseconds, 'createdAt'],
  create_date: [date, ({ createdAt }) => formatTime(createdAt)],
  update_time: [z.null(), none],
  update_date: [z.null(), none],
});

export const tokenRoutes: RouteGroup = {
  name: 'tokens',
  description: 'Keys that a tenant creates for itself.',
  routes: [
    route('GET /system/tokens', {
      summary: 'Lists own keys',
      data: z.array(tokenView.shape),
      handle: async ({ tenant }, { stores: { tokens } }) =>
        success((await tokens.list(tenant)).map((one) => tokenView.of(one, tenant))),
    }),
    route('POST /system/tokens', {
      summary: 'Makes a pair of keys',
      body: newTokenSchema,
      data: tokenView.shape,
      handle: async ({ tenant, body }, { stores, now }) => {
        const agentId = body.agent_id ?? body.dialog_id ?? undefined;
        if (agentId !== undefined && (await stores.agents.find(tenant, agentId)) === undefined) throw noAgent();
        const record: TokenRecord = {
          token: `ragflow-${randomBytes(32).toString('base64url')}`,
          beta: randomBytes(24).toString('base64url'),
          ...(agentId === undefined ? {} : { agentId }),
          createdAt: now(),
        };
        await stores.tokens.insert(tenant, record);
        return success(tokenView.of(record, tenant));
      },
    }),
    route('DELETE /system/tokens/:token', {
      summary: 'Deletes a pair of keys',
      data: z.boolean(),
      handle: async ({ tenant, params }, { stores }) => success(await stores.tokens.delete(tenant, params.token)),
    }),
  ],
};
