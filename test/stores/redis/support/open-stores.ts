import { createRedis, type Redis, type RedisConfig } from '../../../../src/stores/redis/redis.js';
import { createRedisStores, type RedisStoresOptions } from '../../../../src/stores/redis/redis-stores.js';

/** What a process has: its own connections and stores. */
export interface OpenStores extends ReturnType<typeof createRedisStores> {
  readonly redis: Redis;
  /** A command for what the ports do not show. */
  readonly ask: (name: string, ...args: (string | number)[]) => Promise<unknown>;
  /** What operators were told. */
  readonly told: readonly string[];
}

/** Opens processes over one Redis; `close` ends all of them. */
export function storesOpener(): {
  open(url: string, config?: Partial<RedisConfig>, options?: Partial<RedisStoresOptions>): OpenStores;
  close(): Promise<void>;
} {
  const opened: Redis[] = [];
  return {
    open(url, config, options) {
      const told: string[] = [];
      const tell = (_fields: object, message: string): void => void told.push(message);
      const log = { info: tell, warn: tell, error: tell };
      const redis = createRedis({ url, log, ...config });
      opened.push(redis);
      const stores = createRedisStores(redis, options);
      return { ...stores, redis, told, ask: (name, ...args) => redis.commands.send(name, args) };
    },
    async close() {
      await Promise.all(opened.splice(0).map((redis) => redis.close()));
    },
  };
}
