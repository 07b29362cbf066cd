/** The ports over Redis. */
export type { StoreLog } from './connection.js';
export { createRedis, type Redis, type RedisConfig } from './redis.js';
export { createRedisStores, type RedisStores, type RedisStoresOptions } from './redis-stores.js';
