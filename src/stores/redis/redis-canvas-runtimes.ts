import type { CanvasRuntimeStore } from '../../records/canvas-runtimes.js';
import { canvasRuntimeKey } from './keys.js';
import type { Redis } from './redis.js';

/** The tenants' choices where RAGFlow stores them. */
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
