/**
 * Keys that a tenant creates for itself: shown once, stored as digests, and managed by keys of the settings alone, so that a key which was
 * given away ends with its deletion.
 */
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { noAgent } from '../../hosting/refusals.js';
import type { KeyPair } from '../../records/tokens.js';
import { success } from '../envelope.js';
import { type RouteGroup, route } from '../http/route.js';
import { date, defineView, formatTime, milliseconds, none, string } from '../shapes.js';

const newTokenSchema = z.looseObject({
  agent_id: string.min(1).nullish().describe('The one agent that the beta token opens; default: all.'),
  dialog_id: string.min(1).nullish().describe('Older name of `agent_id`.'),
});

const tokenView = defineView<KeyPair, [tenant: string]>()({
  tenant_id: [string, (_, tenant) => tenant],
  token: [string.describe('The key of the API: whole when it is made, in lists without its middle.'), 'token'],
  beta: [string.describe('The key for chat pages, in the same way.'), 'beta'],
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
      summary: 'Lists own keys, without their middles',
      access: 'configured',
      data: z.array(tokenView.shape),
      handle: async ({ tenant }, { stores: { tokens } }) =>
        success(
          (await tokens.list(tenant)).map(({ shown: token, betaShown: beta, ...one }) =>
            tokenView.of({ ...one, token, beta }, tenant),
          ),
        ),
    }),
    route('POST /system/tokens', {
      summary: 'Makes a pair of keys, which is shown this once',
      access: 'configured',
      body: newTokenSchema,
      data: tokenView.shape,
      handle: async ({ tenant, body }, { stores, now }) => {
        const agentId = body.agent_id ?? body.dialog_id ?? undefined;
        if (agentId !== undefined && (await stores.agents.find(tenant, agentId)) === undefined) throw noAgent();
        const keys: KeyPair = {
          token: `ragflow-${randomBytes(32).toString('base64url')}`,
          beta: randomBytes(24).toString('base64url'),
          ...(agentId === undefined ? {} : { agentId }),
          createdAt: now(),
        };
        await stores.tokens.insert(tenant, keys);
        return success(tokenView.of(keys, tenant));
      },
    }),
    route('DELETE /system/tokens/:token', {
      summary: 'Deletes a pair of keys, by its key of the API or by what the list shows of that',
      access: 'configured',
      data: z.boolean(),
      handle: async ({ tenant, params }, { stores }) => success(await stores.tokens.delete(tenant, params.token)),
    }),
  ],
};
