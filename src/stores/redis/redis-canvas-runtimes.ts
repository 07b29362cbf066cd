import { canvasRuntimeKey } from './keys.js';
import type { Redis } from './redis.js';

/** Which engine runs a tenant's canvases; what the names mean is the caller's business. */
export interface CanvasRuntimeStore {
  /** Stays until it is changed. */
  save(tenant: string, runtime: string): Promise<void>;
  /** Undefined when nothing was chosen. */
  find(tenant: string): Promise<string | undefined>;
  /** Back to the default. */
  delete(tenant: string): Promise<void>;
}

/** The tenants' choices where RAGFlow keeps them. */
export function createRedisCanvasRuntimes({ commands }: Redis): CanvasRuntimeStore {
  return {
    async save(tenant, runtime) {
      await commands.send('SET', [canvasRuntimeKey(tenant), runtime]);
    },
    async find(tenant) {
      const runtime = await commands.send('GET', [canvasRuntimeKey(tenant)]);
      return typeof runtime === 'string' && runtime !== '' ? runtime : undefined;
    },
    async delete(tenant) {
      await commands.send('DEL', [canvasRuntimeKey(tenant)]);
    },
  };
}
