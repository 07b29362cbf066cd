import type { CanvasRuntimeStore } from '../../records/canvas-runtimes.js';
import type { CreateCounter, LeaseStore, Signals } from '../../records/coordination.js';
import type { RunLog } from '../../records/run-log.js';
import type { RunStore } from '../../records/runs.js';
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
export interface RedisStores {
  readonly runs: RunStore;
  readonly log: RunLog;
  readonly leases: LeaseStore;
  readonly signals: Signals;
  readonly canvasRuntimes: CanvasRuntimeStore;
  /** Counts that all processes share. */
  readonly createCounter: CreateCounter;
}

/** The stores over one Redis, which its owner closes. */
export function createRedisStores(redis: Redis, options: RedisStoresOptions = {}): RedisStores {
  return {
    runs: createRedisRuns(redis),
    log: createRedisRunLog(redis, options.log),
    leases: createRedisLeases(redis),
    signals: createRedisSignals(redis, options.signals),
    canvasRuntimes: createRedisCanvasRuntimes(redis),
    createCounter: createRedisCounters(redis),
  };
}
