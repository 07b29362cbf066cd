import type { Files } from '../components/services.js';
import type { FileStore } from '../records/stores.js';
import { createId } from './ids.js';

/** The files of one tenant, as components see them. */
export function bindFiles(store: FileStore, tenant: string): Files {
  return {
    read: (id) => store.find(tenant, id),
    async save({ name, mimeType, bytes, expiresAt }) {
      const id = createId();
      const file = { id, name, mimeType, bytes, createdAt: Date.now() };
      await store.save(tenant, expiresAt === undefined ? file : { ...file, expiresAt });
      return id;
    },
  };
}
