import { EngineError } from '../../errors.js';
import { badArgument } from '../../hosting/refusals.js';
import type { AgentQuery, AgentRecord, AgentStore } from '../../records/stores.js';
import { success } from '../envelope.js';
import type { HttpExchange } from '../http/types.js';
import { queryList, queryText, readDescending, readOrder, readPage } from '../read-input.js';
import type { ServerParts } from '../server-parts.js';
import { agentItem } from './agent-view.js';

const ORDERS = { create_time: 'createdAt', update_time: 'updatedAt', title: 'title' } as const;
const EVERYTHING: AgentQuery = { offset: 0, limit: Number.MAX_SAFE_INTEGER, orderBy: 'createdAt', descending: true };
const MAX_OWNERS = 100;

/** `GET /agents`: the agents of the caller, or with `type=filter` what they can be filtered by. */
export async function listAgents({ stores }: ServerParts, exchange: HttpExchange): Promise<void> {
  const { query, state } = exchange;
  const owners = queryList(query, 'owner_ids') ?? [];
  if (owners.length > MAX_OWNERS) throw badArgument(`owner_ids must contain at most ${MAX_OWNERS} IDs`);
  if (owners.some((owner) => owner !== state.tenant)) {
    throw new EngineError('FORBIDDEN', 'Only authorized owner_ids can be queried.');
  }
  if (queryText(query, 'type') === 'filter') {
    exchange.body = success(await filtersOf(stores.agents, state.tenant));
    return;
  }
  const categories = queryList(query, 'canvas_category');
  const tags = queryList(query, 'tags');
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

/** `GET /agents/tags`: every tag and how many agents have it. */
export async function listTags({ stores }: ServerParts, exchange: HttpExchange): Promise<void> {
  const categories = queryList(exchange.query, 'canvas_category');
  const { items } = await stores.agents.list(exchange.state.tenant, {
    ...EVERYTHING,
    ...(categories === undefined ? {} : { categories }),
  });
  const counts = countBy(items, ({ tags }) => tags.split(',').map((tag) => tag.trim()));
  exchange.body = success(
    [...counts]
      .filter(([tag]) => tag !== '')
      .map(([tag, count]) => ({ tag, count }))
      .sort((a, b) => b.count - a.count || (a.tag < b.tag ? -1 : 1)),
  );
}

/** Which values the filters of the list can have, and how many agents each has. */
async function filtersOf(agents: AgentStore, tenant: string): Promise<object> {
  const { items, total } = await agents.list(tenant, EVERYTHING);
  const counts = countBy(items, ({ canvasCategory }) => [canvasCategory]);
  return {
    filter: {
      owner: total === 0 ? [] : [{ id: tenant, label: tenant, count: total }],
      canvas_category: [...counts].map(([id, count]) => ({ id, count })),
    },
    total,
  };
}

function countBy(
  agents: readonly AgentRecord[],
  namesOf: (agent: AgentRecord) => readonly string[],
): Map<string, number> {
  const counts = new Map<string, number>();
  for (const agent of agents) {
    for (const name of namesOf(agent)) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
}

function text<K extends string>(key: K, value: string | undefined): { [P in K]?: string } {
  return value === undefined ? {} : ({ [key]: value } as { [P in K]: string });
}
