import type { Files } from '../../components/services.js';
import type { FileStore } from '../../graph/service-ports.js';
import { createId } from '../ids.js';

/** The files of one tenant, as components see them. */
export function bindFiles(store: FileStore, tenant: string): Files {
  return {
    read: (id) => store.find(tenant, id),
    async save({ name, mimeType, bytes }) {
      const id = createId();
      await store.save(tenant, { id, name, mimeType, bytes, createdAt: Date.now() });
      return id;
    },
  };
}
