import type { SessionQuery, SessionRecord, SessionStore } from '../records/stores.js';
import { contains, pageOf, sortBy } from './pages.js';
import { jsonBytes, Shelf } from './shelf.js';

export interface MemorySessionLimits {
  /** @default 100,000 */
  readonly maxCount?: number;
  /** All sessions together, without their documents, which they share. @default 512 MiB */
  readonly maxBytes?: number;
}

/** Sessions in memory: the ones used last; older ones go when room is needed. */
export function createMemorySessions(limits: MemorySessionLimits = {}): SessionStore {
  const { maxCount = 100_000, maxBytes = 512 * 1024 * 1024 } = limits;
  const shelf = new Shelf<SessionRecord>({ what: 'sessions', maxCount, maxBytes, canDrop: () => true });
  return {
    async save(tenant, session) {
      const { dsl: _, ...own } = session;
      shelf.put(tenant, session.id, session, jsonBytes(own));
    },
    async find(tenant, id) {
      return shelf.get(tenant, id);
    },
    async delete(tenant, id) {
      return shelf.delete(tenant, id);
    },
    async deleteOfAgent(tenant, agentId) {
      for (const session of [...shelf.values(tenant)]) {
        if (session.agentId === agentId) shelf.delete(tenant, session.id);
      }
    },
    async list(tenant, agentId, query) {
      const found = [...shelf.values(tenant)].filter(
        (session) => session.agentId === agentId && matches(session, query),
      );
      return pageOf(
        sortBy(found, (session) => session[query.orderBy], query.descending),
        query,
      );
    },
  };
}

function matches(session: SessionRecord, { id, userId, keywords, from, to }: SessionQuery): boolean {
  if (id !== undefined && session.id !== id) return false;
  if (userId !== undefined && session.userId !== userId) return false;
  if (from !== undefined && session.createdAt < from) return false;
  if (to !== undefined && session.createdAt > to) return false;
  if (keywords === undefined) return true;
  const texts = [session.id, session.name, ...session.messages.map(({ content }) => content)];
  return texts.some((text) => contains(text, keywords));
}
