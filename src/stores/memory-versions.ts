import { EngineError } from '../errors.js';
import type { VersionRecord, VersionStore } from '../records/durable-stores.js';
import { pageOf, sortBy } from './pages.js';
import { jsonBytes, Shelf } from './shelf.js';

export interface MemoryVersionLimits {
  /** @default 10,000 */
  readonly maxCount?: number;
  /** All documents together. @default 256 MiB */
  readonly maxBytes?: number;
}

/** Published documents in memory. A full store refuses more: nothing that was published is ever dropped. */
export function createMemoryVersions(limits: MemoryVersionLimits = {}): VersionStore {
  const { maxCount = 10_000, maxBytes = 256 * 1024 * 1024 } = limits;
  const shelf = new Shelf<VersionRecord>({ what: 'versions', maxCount, maxBytes });

  const find = (tenant: string, agentId: string, id: string): VersionRecord | undefined => {
    const version = shelf.get(tenant, id);
    return version?.agentId === agentId ? version : undefined;
  };
  const newestFirst = (tenant: string, agentId: string): VersionRecord[] => {
    // Of two that were made at the same time, the one inserted last is the newer.
    const found = [...shelf.values(tenant)].filter((version) => version.agentId === agentId).reverse();
    return sortBy(found, ({ createdAt }) => createdAt, true);
  };

  return {
    async insert(tenant, version) {
      if (shelf.get(tenant, version.id) !== undefined) {
        throw new EngineError('CONFLICT', `Version "${version.id}" already exists.`);
      }
      shelf.put(tenant, version.id, version, jsonBytes(version));
    },
    async find(tenant, agentId, id) {
      return find(tenant, agentId, id);
    },
    async latest(tenant, agentId) {
      return newestFirst(tenant, agentId)[0];
    },
    async list(tenant, agentId, page) {
      return pageOf(newestFirst(tenant, agentId), page);
    },
    async delete(tenant, agentId, id) {
      return find(tenant, agentId, id) !== undefined && shelf.delete(tenant, id);
    },
    async deleteOfAgent(tenant, agentId) {
      for (const { id } of newestFirst(tenant, agentId)) shelf.delete(tenant, id);
    },
  };
}
