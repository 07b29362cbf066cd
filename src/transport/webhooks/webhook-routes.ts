import { badArgument, notOwner } from '../../hosting/refusals.js';
import { LOCAL_TENANT } from '../../settings/access.js';
import { agentIdOf, requireAgent } from '../agents/find-agent.js';
import { failureOf, success } from '../envelope.js';
import type { HttpExchange, Routes } from '../http/types.js';
import { queryText } from '../read-input.js';
import type { ServerParts } from '../server-parts.js';
import { callWebhook, type WebhookTarget } from './call-webhook.js';
import { refuse } from './refusal.js';
import type { OpenTrace } from './webhook-traces.js';

/** Every method that a webhook may be called with; HEAD comes with GET. */
export const WEBHOOK_METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

/** Webhooks themselves: no key, but the security that their author configured. Bodies come as they are. */
export function webhookRoutes(parts: ServerParts): Routes {
  return (router) => {
    router.register('/agents/:id/webhook', [...WEBHOOK_METHODS], (exchange: HttpExchange) =>
      answer(parts, exchange, undefined, () => findTarget(parts, agentIdOf(exchange))),
    );
  };
}

/** Trial calls by the owner, which are recorded. Bodies come as they are. */
export function webhookTrialRoutes(parts: ServerParts): Routes {
  return (router) => {
    router.register('/agents/:id/webhook/test', [...WEBHOOK_METHODS], async (exchange: HttpExchange) => {
      const { tenant } = exchange.state;
      const agent = await parts.stores.agents.find(tenant, agentIdOf(exchange));
      if (agent === undefined) throw notOwner();
      await answer(parts, exchange, parts.webhookTraces.begin(ownerOf(tenant, agent.id)), async () => ({
        tenant,
        agent,
      }));
    });
  };
}

/** What was recorded. */
export function webhookLogRoutes(parts: ServerParts): Routes {
  return (router) => {
    router.get('/agents/:id/webhook/logs', async (exchange) => {
      const { id } = await requireAgent(parts, exchange);
      const since = readSince(exchange);
      const call = queryText(exchange.query, 'webhook_id');
      exchange.body = success(parts.webhookTraces.poll(ownerOf(exchange.state.tenant, id), since, call));
    });
  };
}

/** Whatever is wrong is HTTP 400, as callers of webhooks expect. */
async function answer(
  parts: ServerParts,
  exchange: HttpExchange,
  trace: OpenTrace | undefined,
  target: () => Promise<WebhookTarget>,
): Promise<void> {
  try {
    await callWebhook(parts, exchange, await target(), trace);
  } catch (error) {
    const { status, body } = failureOf(error);
    if (status >= 500) parts.logger.error({ err: error, path: exchange.path }, 'a webhook crashed');
    trace?.add({ event: 'error', message: body.message ?? '', error_type: 'refused' });
    trace?.end(false);
    exchange.status = 400;
    exchange.body = { code: 400, message: body.message };
    // A body that was refused is thrown away: a client that cannot finish sending never reads the answer.
    exchange.req.resume();
  }
}

/** Whose agent it is, since the call does not say. An id that several tenants have opens none of theirs. */
async function findTarget({ config, stores }: ServerParts, id: string): Promise<WebhookTarget> {
  const tenants = new Set(config.apiKeys.length === 0 ? [LOCAL_TENANT] : config.apiKeys.map(({ tenant }) => tenant));
  const found = await Promise.all(
    [...tenants].map(async (tenant) => ({ tenant, agent: await stores.agents.find(tenant, id) })),
  );
  const [target, ...others] = found.flatMap(({ tenant, agent }) => (agent === undefined ? [] : [{ tenant, agent }]));
  if (target === undefined || others.length > 0) throw refuse('Canvas not found.');
  return target;
}

function readSince(exchange: HttpExchange): number | undefined {
  const text = queryText(exchange.query, 'since_ts');
  const since = Number(text);
  if (text !== undefined && !Number.isFinite(since)) throw badArgument('`since_ts` must be a time in seconds.');
  return text === undefined ? undefined : since;
}

function ownerOf(tenant: string, agentId: string): string {
  return `${tenant.length}:${tenant}${agentId}`;
}
