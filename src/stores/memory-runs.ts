import type { RunRecord, RunStore } from '../records/stores.js';
import { pageOf, sortBy } from './pages.js';
import { Shelf } from './shelf.js';

export interface MemoryRunLimits {
  /** @default 10,000 */
  readonly maxCount?: number;
  /** Hears of every run that was dropped to make room. */
  readonly onDrop?: (tenant: string, id: string) => void;
}

/** Records of runs in memory: all that run, and of the others the newest. */
export function createMemoryRuns(limits: MemoryRunLimits = {}): RunStore {
  const { maxCount = 10_000, onDrop } = limits;
  const shelf = new Shelf<RunRecord>({
    what: 'runs',
    maxCount,
    maxBytes: Number.MAX_SAFE_INTEGER,
    canDrop: ({ status }) => status !== 'running',
    ...(onDrop === undefined ? {} : { onDrop }),
  });
  return {
    async save(tenant, run) {
      // A record is small and of bounded size; its number is what counts.
      shelf.put(tenant, run.id, run, 0);
    },
    async find(tenant, id) {
      return shelf.get(tenant, id);
    },
    async list(tenant, agentId, query) {
      const found = [...shelf.values(tenant)].filter(
        (run) =>
          run.agentId === agentId &&
          (query.sessionId === undefined || run.sessionId === query.sessionId) &&
          (query.status === undefined || run.status === query.status) &&
          (query.from === undefined || run.startedAt >= query.from) &&
          (query.to === undefined || run.startedAt <= query.to),
      );
      return pageOf(
        sortBy(found, (run) => run.startedAt, true),
        query,
      );
    },
    async deleteOfAgent(tenant, agentId) {
      const ids = [...shelf.values(tenant)].filter((run) => run.agentId === agentId).map(({ id }) => id);
      for (const id of ids) shelf.delete(tenant, id);
      return ids;
    },
  };
}
