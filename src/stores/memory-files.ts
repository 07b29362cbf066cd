import type { FileRecord, FileStore } from '../records/files.js';
import { BoundedMap } from './bounded-map.js';
import { isExpired } from './file-expiry.js';

export interface MemoryFileLimits {
  /** @default 10,000 */
  readonly maxCount?: number;
  /** All files together. @default 512 MiB */
  readonly maxBytes?: number;
}

/** Files in memory; the oldest are dropped when room is needed. */
export function createMemoryFiles(limits: MemoryFileLimits = {}): FileStore {
  const { maxCount = 10_000, maxBytes = 512 * 1024 * 1024 } = limits;
  const stored = new BoundedMap<FileRecord>({ what: 'files', maxCount, maxBytes, canDrop: () => true });
  return {
    async save(tenant, file) {
      stored.put(tenant, file.id, file, file.bytes.byteLength);
    },
    async find(tenant, id) {
      const file = stored.get(tenant, id);
      return file === undefined || isExpired(file, Date.now()) ? undefined : file;
    },
  };
}
