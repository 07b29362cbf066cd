import type { DocumentIssue } from '../../dsl/document.js';
import { EngineError } from '../../errors.js';
import type { AgentQuery, AgentRecord } from '../../graph/service-ports.js';
import type { JsonObject } from '../../json.js';
import { success } from '../envelope.js';
import type { HttpExchange, Routes } from '../http/types.js';
import { checkId, createId } from '../ids.js';
import { queryList, queryText, readDescending, readOrder, readPage } from '../read-input.js';
import { badArgument, noAgent, noCanvas, notOwner } from '../refusals.js';
import type { ServerParts } from '../server-parts.js';
import { readAgentInput } from './agent-input.js';
import { agentItem, agentView } from './agent-view.js';

const ORDERS = { create_time: 'createdAt', update_time: 'updatedAt', title: 'title' } as const;
const DEFAULT_CATEGORY = 'agent_canvas';

/** Agents: list, create, read, change, delete. */
export function agentRoutes(parts: ServerParts): Routes {
  return (router) => {
    router.get('/agents', (exchange) => list(parts, exchange));
    router.post('/agents', (exchange) => create(parts, exchange));
    router.get('/agents/:id', (exchange) => read(parts, exchange));
    router.patch('/agents/:id', (exchange) => change(parts, exchange));
    router.put('/agents/:id', (exchange) => change(parts, exchange));
    router.delete('/agents/:id', (exchange) => remove(parts, exchange));
  };
}

async function list({ stores }: ServerParts, exchange: HttpExchange): Promise<void> {
  const { query, state } = exchange;
  if (queryText(query, 'type') === 'filter') {
    exchange.body = success(await filters(stores.agents, state.tenant));
    return;
  }
  const categories = queryList(query, 'canvas_category');
  const tags = queryList(query, 'tags');
  const owners = queryList(query, 'owner_ids');
  if (owners !== undefined && owners.length > 100) throw badArgument('owner_ids must contain at most 100 IDs');
  if (owners?.some((owner) => owner !== state.tenant)) {
    throw new EngineError('FORBIDDEN', 'Only authorized owner_ids can be queried.');
  }
  const canvasType = queryText(query, 'canvas_type');
  const { items, total } = await stores.agents.list(state.tenant, {
    ...readPage(query),
    orderBy: readOrder<AgentQuery['orderBy']>(query, ORDERS, 'createdAt'),
    descending: readDescending(query),
    ...text('id', queryText(query, 'id')),
    ...text('title', queryText(query, 'title')),
    ...text('keywords', queryText(query, 'keywords')),
    ...text('canvasType', canvasType),
    ...(categories === undefined ? {} : { categories }),
    ...(tags === undefined ? {} : { tags }),
  });
  const isUnfiltered = categories === undefined && tags === undefined && canvasType === undefined;
  const canvas = items.map((agent) => ({
    ...agentItem(agent, state.tenant),
    ...(isUnfiltered ? { type: 'agent' } : {}),
  }));
  exchange.body = success({ canvas, total });
}

/** Which values the filters of the list can have, and how many agents each has. */
async function filters(agents: ServerParts['stores']['agents'], tenant: string): Promise<object> {
  const everything = { offset: 0, limit: Number.MAX_SAFE_INTEGER, orderBy: 'createdAt', descending: true } as const;
  const { items, total } = await agents.list(tenant, everything);
  const counts = new Map<string, number>();
  for (const { canvasCategory } of items) counts.set(canvasCategory, (counts.get(canvasCategory) ?? 0) + 1);
  return {
    filter: {
      owner: total === 0 ? [] : [{ id: tenant, label: tenant, count: total }],
      canvas_category: [...counts].map(([id, count]) => ({ id, count })),
    },
    total,
  };
}

async function create(parts: ServerParts, exchange: HttpExchange): Promise<void> {
  const { title, dsl, fields, publishes } = readAgentInput(exchange.request.body);
  if (dsl === undefined) throw badArgument('No DSL data in request.');
  if (title === undefined) throw badArgument('No title in request.');
  const issues = parts.checkDocument(dsl);
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
    ...(publishes ? { published: published(dsl, issues, now) } : {}),
    createdAt: now,
    updatedAt: now,
  };
  await parts.stores.agents.insert(exchange.state.tenant, agent);
  exchange.body = success({ ...agentView(agent, exchange.state.tenant), issues });
}

async function read({ stores }: ServerParts, exchange: HttpExchange): Promise<void> {
  const { tenant } = exchange.state;
  const agent = await stores.agents.find(tenant, idOf(exchange));
  if (agent === undefined) throw noCanvas();
  exchange.body = success(agentView(agent, tenant));
}

async function change(parts: ServerParts, exchange: HttpExchange): Promise<void> {
  const { tenant } = exchange.state;
  const id = idOf(exchange);
  const { title, dsl, fields, publishes } = readAgentInput(exchange.request.body);
  const before = await parts.stores.agents.find(tenant, id);
  if (before === undefined) throw noAgent();
  const issues = parts.checkDocument(dsl ?? before.dsl);
  const now = parts.now();
  const after = await parts.stores.agents.update(tenant, id, {
    ...fields,
    ...(title === undefined ? {} : { title }),
    ...(dsl === undefined ? {} : { dsl }),
    ...(publishes ? { published: published(dsl ?? before.dsl, issues, now) } : {}),
    updatedAt: now,
  });
  if (after === undefined) throw noAgent();
  exchange.body = success({ id, update_time: after.updatedAt, issues });
}

async function remove({ stores, hub }: ServerParts, exchange: HttpExchange): Promise<void> {
  const { tenant } = exchange.state;
  const agentId = idOf(exchange);
  if (!(await stores.agents.delete(tenant, agentId))) throw notOwner();
  hub.cancel(tenant, { agentId });
  await stores.sessions.deleteOfAgent(tenant, agentId);
  for (const run of await stores.runs.deleteOfAgent(tenant, agentId)) await stores.log.delete(tenant, run);
  exchange.body = success(true);
}

/** @throws EngineError DOCUMENT_INVALID with all issues: what is published has to run. */
function published(dsl: JsonObject, issues: readonly DocumentIssue[], at: number): AgentRecord['published'] & object {
  const errors = issues.filter(({ severity }) => severity === 'error');
  if (errors.length === 0) return { dsl, at };
  const lines = errors.map(({ path, message }) => `${path}: ${message}`).join('\n');
  throw new EngineError('DOCUMENT_INVALID', `The document cannot be published:\n${lines}`, { details: { issues } });
}

function idOf({ params }: HttpExchange): string {
  return checkId('agent_id', params.id as string);
}

function text<K extends string>(key: K, value: string | undefined): { [P in K]?: string } {
  return value === undefined ? {} : ({ [key]: value } as { [P in K]: string });
}
