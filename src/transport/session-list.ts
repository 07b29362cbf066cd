/** Conversations with all agents: one list, without what was said. */
import { CHAT_CATEGORY } from '../records/agents.js';
import type { SelectedColumns } from '../records/repository.js';
import type { RunRecord } from '../records/runs.js';
import type { SessionQuery } from '../records/sessions.js';
import { findAgent } from './agents/find-agent.js';
import { type Envelope, successPage } from './envelope.js';
import { given, listQuery, orderOf, pageOf, periodQuery, text } from './http/input.js';
import type { RouteRequest } from './http/route.js';
import { statusShape, statusText } from './runs/run-view.js';
import type { ServerParts } from './server-parts.js';
import { defineView, milliseconds, string } from './shapes.js';

/** The most agents whose sessions are listed together. */
const MOST_AGENTS = 10_000;

const ORDERS = { create_time: 'createdAt', update_time: 'updatedAt', name: 'name' } as const;

const lastRunView = defineView<RunRecord>()({
  id: [string, 'id'],
  status: [statusShape, 'status'],
  started_at: [milliseconds, 'startedAt'],
});

/** A session with what is told of it. */
interface ListedSession {
  readonly id: string;
  readonly agent: string;
  readonly agentTitle: string;
  readonly name: string;
  readonly user: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly lastRun: RunRecord | undefined;
}

const listedSessionView = defineView<ListedSession>()({
  id: [string, 'id'],
  name: [string.describe('The first question, unless it was given another name.'), 'name'],
  agent_id: [string, 'agent'],
  agent_title: [string, 'agentTitle'],
  user_id: [string.describe("The client's name for its user."), 'user'],
  create_time: [milliseconds, 'createdAt'],
  update_time: [milliseconds, 'updatedAt'],
  last_run: [
    lastRunView.shape.nullable().describe('null: there was none, or it was deleted.'),
    ({ lastRun }) => (lastRun === undefined ? null : lastRunView.of(lastRun)),
  ],
});

/** A session as `GET /sessions` gives it. */
export const listedSessionShape = listedSessionView.shape;

/** What `GET /sessions` can be narrowed down by. */
export const sessionListQuery = listQuery.extend({
  agent_id: text.describe('Default: all agents.'),
  user_id: text,
  status: statusText.describe('How the last run stands; a session without one has none.'),
  keywords: text.describe('Part of the id, the name or a message.'),
  ...periodQuery.shape,
});

/** Lists the sessions of all agents, or of one, and of no chat. @throws EngineError FORBIDDEN for an agent that is not the caller's. */
export async function listAllSessions(
  { query, ...caller }: RouteRequest<never, typeof sessionListQuery>,
  parts: ServerParts,
): Promise<Envelope> {
  const { tenant } = caller;
  const { sessions, runs } = parts.stores;
  // A key for one agent sees no other.
  const id = query.agent_id ?? caller.boundAgent;
  const agent = id === undefined ? undefined : await findAgent({ ...caller, params: { id } }, parts);
  const titles = agent === undefined ? await titlesOf(parts, tenant) : new Map([[agent.id, agent.title]]);
  const { keywords, status, user_id: userId, from_date: from, to_date: to } = query;
  const page = pageOf(query);
  const wanted: SessionQuery = {
    agentIds: [...titles.keys()],
    ...page,
    ...orderOf<SessionQuery['orderBy']>(query, ORDERS, 'updatedAt'),
    ...given({ keywords, status, userId, from, to }),
  };
  const columns = ['agent', 'name', 'user_id', 'writer', 'created_at', 'updated_at'];
  const { items, total } = await sessions.select(tenant, wanted, columns);
  const listed = await Promise.all(
    items.map(async (row) => {
      const run = lastRunOf(row);
      const lastRun = run === '' ? undefined : await runs.find(tenant, run);
      const { agent: owner, name, user_id: user, created_at: createdAt, updated_at: updatedAt } = row as unknown as Row;
      const agentTitle = titles.get(owner) ?? '';
      return listedSessionView.of({ id: row.id, agent: owner, agentTitle, name, user, createdAt, updatedAt, lastRun });
    }),
  );
  return successPage(listed, total, page);
}

/** Columns that are selected. */
interface Row {
  readonly agent: string;
  readonly name: string;
  readonly user_id: string;
  readonly created_at: number;
  readonly updated_at: number;
}

/** The id of the last run in the column that says who may write: empty before the first. */
function lastRunOf({ writer }: SelectedColumns): string {
  const text = String(writer);
  return text.slice(0, Math.max(0, text.lastIndexOf('/')));
}

/** Titles by id of the agents, assistants aside. */
async function titlesOf({ stores }: ServerParts, tenant: string): Promise<ReadonlyMap<string, string>> {
  const query = { notCategory: CHAT_CATEGORY, offset: 0, limit: MOST_AGENTS, orderBy: 'updatedAt' } as const;
  const { items } = await stores.agents.select(tenant, { ...query, descending: true }, ['title']);
  return new Map(items.map(({ id, title }) => [id, String(title)]));
}
