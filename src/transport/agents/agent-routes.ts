import { z } from 'zod';
import { EngineError } from '../../errors.js';
import { createId } from '../../hosting/ids.js';
import { badArgument, noAgent, noCanvas, notOwner } from '../../hosting/refusals.js';
import type { AgentRecord } from '../../records/stores.js';
import { success } from '../envelope.js';
import type { HttpExchange, Routes } from '../http/types.js';
import { readInput } from '../read-input.js';
import type { ServerParts } from '../server-parts.js';
import { publish } from '../versions/publish.js';
import { type AgentInput, readAgentInput } from './agent-input.js';
import { listAgents, listTags } from './agent-list.js';
import { agentView } from './agent-view.js';
import { exportAgent, readImport } from './canvas-files.js';
import { deleteAgent } from './delete-agent.js';
import { agentIdOf, requireAgent } from './find-agent.js';
import { resetAgent } from './reset-agent.js';
import { requireSound } from './sound-document.js';
import { readTags, tagsSchema } from './tags.js';

const DEFAULT_CATEGORY = 'agent_canvas';

/** What replaces the tags of an agent. */
export const tagsBodySchema = z.looseObject({
  tags: tagsSchema.describe('All tags: comma-separated, or a list. 64 characters each, 512 together.'),
});

/** Agents: list, create, read, change, tag, reset, delete. */
export function agentRoutes(parts: ServerParts): Routes {
  return (router) => {
    router.get('/agents', (exchange) => listAgents(parts, exchange));
    router.post('/agents', (exchange) => create(parts, exchange));
    router.post('/agents/import', (exchange) => importFiles(parts, exchange));
    router.get('/agents/:id/export', (exchange) => exportAgent(parts, exchange));
    router.get('/agents/tags', (exchange) => listTags(parts, exchange));
    router.get('/agents/:id', (exchange) => read(parts, exchange));
    router.patch('/agents/:id', (exchange) => change(parts, exchange));
    router.put('/agents/:id', (exchange) => change(parts, exchange));
    router.delete('/agents/:id', async (exchange) => {
      if (!(await deleteAgent(parts, exchange.state.tenant, agentIdOf(exchange)))) throw notOwner();
      exchange.body = success(true);
    });
    router.put('/agents/:id/tags', (exchange) => tag(parts, exchange));
    router.post('/agents/:id/reset', async (exchange) => {
      exchange.body = success(await resetAgent(parts, exchange.state.tenant, await requireAgent(parts, exchange)));
    });
  };
}

async function create(parts: ServerParts, exchange: HttpExchange): Promise<void> {
  exchange.body = success(await insert(parts, exchange.state.tenant, readAgentInput(exchange.request.body)));
}

/** All files are read before the first becomes an agent. */
async function importFiles(parts: ServerParts, exchange: HttpExchange): Promise<void> {
  const views: object[] = [];
  for (const input of await readImport(parts, exchange)) views.push(await insert(parts, exchange.state.tenant, input));
  exchange.body = success(views.length === 1 ? views[0] : views);
}

async function insert(parts: ServerParts, tenant: string, input: AgentInput): Promise<object> {
  const { title, dsl, fields, publishes } = input;
  if (dsl === undefined) throw badArgument('No DSL data in request.');
  if (title === undefined) throw badArgument('No title in request.');
  const issues = parts.checkDocument(dsl);
  if (publishes) requireSound(issues);
  const now = parts.now();
  const agent: AgentRecord = {
    id: createId(),
    title,
    description: null,
    avatar: null,
    permission: 'me',
    canvasType: null,
    canvasCategory: DEFAULT_CATEGORY,
    tags: '',
    ...fields,
    dsl,
    createdAt: now,
    updatedAt: now,
  };
  await parts.stores.agents.insert(tenant, agent);
  if (publishes) await publish(parts, tenant, agent, {});
  const stored = (await parts.stores.agents.find(tenant, agent.id)) ?? agent;
  return { ...agentView(stored, tenant), issues };
}

async function read({ stores }: ServerParts, exchange: HttpExchange): Promise<void> {
  const { tenant } = exchange.state;
  const agent = await stores.agents.find(tenant, agentIdOf(exchange));
  if (agent === undefined) throw noCanvas();
  exchange.body = success(agentView(agent, tenant));
}

/** Saves a draft; that alone publishes nothing and takes nothing back. */
async function change(parts: ServerParts, exchange: HttpExchange): Promise<void> {
  const { tenant } = exchange.state;
  const { title, dsl, fields, publishes } = readAgentInput(exchange.request.body);
  const before = await requireAgent(parts, exchange);
  const issues = parts.checkDocument(dsl ?? before.dsl);
  // Nothing is saved when it was to be published and cannot be.
  if (publishes) requireSound(issues);
  const after = await parts.stores.agents.update(tenant, before.id, {
    ...fields,
    ...(title === undefined ? {} : { title }),
    ...(dsl === undefined ? {} : { dsl }),
    updatedAt: parts.now(),
  });
  if (after === undefined) throw noAgent();
  if (publishes) await publish(parts, tenant, after, {});
  exchange.body = success({ id: after.id, update_time: after.updatedAt, issues });
}

async function tag({ stores, now }: ServerParts, exchange: HttpExchange): Promise<void> {
  const tags = readTags(readInput(tagsBodySchema, exchange.request.body ?? {}).tags);
  const agent = await stores.agents.update(exchange.state.tenant, agentIdOf(exchange), { tags, updatedAt: now() });
  if (agent === undefined) throw new EngineError('FORBIDDEN', 'Agent not found or no permission.');
  exchange.body = success(true);
}
