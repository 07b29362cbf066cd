import type { Redis } from './redis.js';
import { createRedisCanvasRuntimes } from './redis-canvas-runtimes.js';
import { createRedisCounters } from './redis-counters.js';
import { createRedisLeases } from './redis-leases.js';
import { createRedisRunLog, type RedisRunLogOptions } from './redis-run-log.js';
import { createRedisRuns } from './redis-runs.js';
import { createRedisSignals, type RedisSignalsOptions } from './redis-signals.js';

export interface RedisStoresOptions {
  readonly log?: RedisRunLogOptions;
  readonly signals?: RedisSignalsOptions;
}

/** Everything about runs that Redis keeps, and the messages between processes. */
export type RedisStores = ReturnType<typeof createRedisStores>;

/** The stores over one Redis, which its owner closes. */
export function createRedisStores(redis: Redis, options: RedisStoresOptions = {}) {
  return {
    runs: createRedisRuns(redis),
    log: createRedisRunLog(redis, options.log),
    leases: createRedisLeases(redis),
    signals: createRedisSignals(redis, options.signals),
    canvasRuntimes: createRedisCanvasRuntimes(redis),
    /** Counts that all processes share. */
    createCounter: createRedisCounters(redis),
  };
}
