/** The ports over Redis. */
export type { StoreLog } from './connection.js';
export { createRedis, type Redis, type RedisConfig } from './redis.js';
export { type CanvasRuntimeStore, createRedisCanvasRuntimes } from './redis-canvas-runtimes.js';
export { createRedisJournal, type RedisJournalOptions } from './redis-journal.js';
export { createRedisLeases } from './redis-leases.js';
export { createRedisRunLog } from './redis-run-log.js';
export { createRedisRuns } from './redis-runs.js';
export { createRedisSignals, type RedisSignalsOptions } from './redis-signals.js';
export { createRedisToolLogs, type ToolLog, type ToolLogStore } from './redis-tool-logs.js';
