import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { checkId } from '../../hosting/ids.js';
import { noAgent } from '../../hosting/refusals.js';
import type { JsonObject } from '../../json.js';
import type { TokenRecord } from '../../records/durable-stores.js';
import { success } from '../envelope.js';
import { formatTime } from '../format-time.js';
import type { HttpExchange, Routes } from '../http/types.js';
import { readInput } from '../read-input.js';
import type { ServerParts } from '../server-parts.js';

/** What may be said about a new token. */
export const newTokenSchema = z.looseObject({
  agent_id: z.string().min(1).nullish().describe('The one agent that the beta token opens; default: all.'),
  dialog_id: z.string().min(1).nullish().describe('Older name of `agent_id`.'),
});

/** Keys that a tenant makes for itself. */
export function tokenRoutes(parts: ServerParts): Routes {
  const { tokens } = parts;
  return (router) => {
    router.get('/system/tokens', async (exchange) => {
      const { tenant } = exchange.state;
      exchange.body = success((await tokens.list(tenant)).map((record) => tokenView(record, tenant)));
    });
    router.post('/system/tokens', (exchange) => create(parts, exchange));
    router.delete('/system/tokens/:token', async (exchange) => {
      const token = checkId('token', exchange.params.token as string);
      exchange.body = success(await tokens.delete(exchange.state.tenant, token));
    });
  };
}

async function create({ tokens, stores, now }: ServerParts, exchange: HttpExchange): Promise<void> {
  const { tenant } = exchange.state;
  const { agent_id, dialog_id } = readInput(newTokenSchema, exchange.request.body ?? {});
  const agentId = agent_id ?? dialog_id ?? undefined;
  if (agentId !== undefined && (await stores.agents.find(tenant, agentId)) === undefined) throw noAgent();
  const record: TokenRecord = {
    token: `ragflow-${randomBytes(32).toString('base64url')}`,
    beta: randomBytes(24).toString('base64url'),
    ...(agentId === undefined ? {} : { agentId }),
    createdAt: now(),
  };
  await tokens.insert(tenant, record);
  exchange.body = success(tokenView(record, tenant));
}

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
