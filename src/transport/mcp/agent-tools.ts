/** What an MCP client can call: published agents, and the tools of the server. */
import { type OfferedTool, offeredTools } from '../../components/offered-tools.js';
import { type AgentTool, agentToolOf, findAgentTool } from '../../hosting/agent-tools.js';
import { badArgument } from '../../hosting/refusals.js';
import type { AgentQuery, AgentStore } from '../../records/agents.js';
import { listFitting, PAGE_BYTES } from '../http/input.js';

/** One page of tools; with `nextCursor` there are more. */
export interface AgentToolPage {
  readonly tools: AgentTool[];
  readonly nextCursor?: string;
}

/** Agents that are looked at for one page. */
const PAGE = 50;

/**
 * What is published of a tenant, a page at a time, oldest first; behind the last of them the tools of the server whose names no agent has.
 *
 * @throws EngineError BAD_REQUEST for a bad cursor.
 */
export async function listAgentTools(agents: AgentStore, tenant: string, cursor = '0'): Promise<AgentToolPage> {
  if (!/^\d{1,9}$/.test(cursor)) throw badArgument('`cursor` must be one that was given with a list.');
  const offset = Number(cursor);
  const wanted: AgentQuery = { offset, limit: PAGE, maxBytes: PAGE_BYTES, orderBy: 'createdAt', descending: false };
  const { items, total } = await listFitting(wanted, (query) => agents.list(tenant, query));
  const tools = items.flatMap((agent) =>
    agent.published === undefined ? [] : [agentToolOf(agent, agent.published.dsl)],
  );
  const next = offset + items.length;
  if (items.length > 0 && next < total) return { tools, nextCursor: String(next) };
  return { tools: [...tools, ...(await freeTools(agents, tenant))] };
}

/** The tools of the server whose names no published agent has. */
async function freeTools(agents: AgentStore, tenant: string): Promise<readonly AgentTool[]> {
  const isTaken = await Promise.all(offeredTools.map(({ name }) => findAgentTool(agents, tenant, name)));
  return offeredTools.flatMap((tool, at) => (isTaken[at] === undefined ? [offered(tool)] : []));
}

function offered({ name, title, description, inputSchema }: OfferedTool): AgentTool {
  const { properties, required } = inputSchema as unknown as AgentTool['inputSchema'];
  return { name, title, description, inputSchema: { type: 'object', properties, required: [...required] } };
}
