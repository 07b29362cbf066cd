import type {
  CanvasRuntimeStore,
  CreateCounter,
  LeaseStore,
  RunJournal,
  Signals,
} from '../../records/durable-stores.js';
import type { RunLog, RunStore } from '../../records/stores.js';
import type { Redis } from './redis.js';
import { createRedisCanvasRuntimes } from './redis-canvas-runtimes.js';
import { createRedisCounters } from './redis-counters.js';
import { createRedisJournal, type RedisJournalOptions } from './redis-journal.js';
import { createRedisLeases } from './redis-leases.js';
import { createRedisRunLog } from './redis-run-log.js';
import { createRedisRuns } from './redis-runs.js';
import { createRedisSignals, type RedisSignalsOptions } from './redis-signals.js';
import { createRunClearing } from './run-clearing.js';
import { RunWriters } from './run-writers.js';

export interface RedisStoresOptions {
  readonly journal?: RedisJournalOptions;
  readonly signals?: RedisSignalsOptions;
}

/** Everything about runs that Redis keeps, and the messages between processes. */
export interface RedisStores {
  readonly runs: RunStore;
  readonly log: RunLog;
  /** Its batches add events to `log`, so the two belong together. */
  readonly journal: RunJournal;
  readonly leases: LeaseStore;
  readonly signals: Signals;
  readonly canvasRuntimes: CanvasRuntimeStore;
  /** Counts that all processes share. */
  readonly createCounter: CreateCounter;
}

/** The stores over one Redis, which its owner closes. */
export function createRedisStores(redis: Redis, options: RedisStoresOptions = {}): RedisStores {
  const writers = new RunWriters();
  const clear = createRunClearing(redis);
  return {
    runs: createRedisRuns(redis),
    log: createRedisRunLog(redis, writers, clear),
    journal: createRedisJournal(redis, writers, clear, options.journal),
    leases: createRedisLeases(redis),
    signals: createRedisSignals(redis, options.signals),
    canvasRuntimes: createRedisCanvasRuntimes(redis),
    createCounter: createRedisCounters(redis),
  };
}
