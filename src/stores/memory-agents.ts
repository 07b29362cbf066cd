import { EngineError } from '../errors.js';
import type { AgentQuery, AgentRecord, AgentStore } from '../records/stores.js';
import { contains, pageOf, sortBy } from './pages.js';
import { jsonBytes, Shelf } from './shelf.js';

export interface MemoryAgentLimits {
  /** @default 10,000 */
  readonly maxCount?: number;
  /** All documents together. @default 256 MiB */
  readonly maxBytes?: number;
}

/** Agents in memory. A full store refuses more: nothing that an author saved is ever dropped. */
export function createMemoryAgents(limits: MemoryAgentLimits = {}): AgentStore {
  const { maxCount = 10_000, maxBytes = 256 * 1024 * 1024 } = limits;
  const shelf = new Shelf<AgentRecord>({ what: 'agents', maxCount, maxBytes });

  const put = (tenant: string, agent: AgentRecord): void => {
    const title = agent.title.toLowerCase();
    for (const other of shelf.values(tenant)) {
      if (other.id === agent.id || other.canvasCategory !== agent.canvasCategory) continue;
      if (other.title.toLowerCase() === title) throw new EngineError('CONFLICT', `${agent.title} already exists.`);
    }
    shelf.put(tenant, agent.id, agent, jsonBytes(agent));
  };

  return {
    async insert(tenant, agent) {
      put(tenant, agent);
    },
    async find(tenant, id) {
      return shelf.get(tenant, id);
    },
    async update(tenant, id, change) {
      const before = shelf.get(tenant, id);
      if (before === undefined) return undefined;
      const after = { ...before, ...change };
      put(tenant, after);
      return after;
    },
    async delete(tenant, id) {
      return shelf.delete(tenant, id);
    },
    async list(tenant, query) {
      const found = [...shelf.values(tenant)].filter((agent) => matches(agent, query));
      return pageOf(
        sortBy(found, (agent) => agent[query.orderBy], query.descending),
        query,
      );
    },
  };
}

function matches(agent: AgentRecord, query: AgentQuery): boolean {
  const tags = agent.tags.split(',').map((tag) => tag.trim());
  const { id, title, keywords, categories, canvasType } = query;
  if (id !== undefined && agent.id !== id) return false;
  if (title !== undefined && agent.title !== title) return false;
  if (keywords !== undefined && ![agent.title, ...tags].some((text) => contains(text, keywords))) return false;
  if (categories !== undefined && !categories.includes(agent.canvasCategory)) return false;
  if (canvasType !== undefined && agent.canvasType !== canvasType) return false;
  return query.tags === undefined || query.tags.some((tag) => tags.includes(tag));
}
