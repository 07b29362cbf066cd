import { requireObject, requireText } from '../../operators/invalid-option.js';
import type { CommitRun } from '../../records/run-commit.js';
import { createRedis, type Redis, type RedisConfig } from './redis.js';
import { createRedisCanvasRuntimes } from './redis-canvas-runtimes.js';
import { createCommitter, createRedisCommit } from './redis-commit.js';
import { createRedisCounters } from './redis-counters.js';
import { createRedisLeases } from './redis-leases.js';
import { createRedisRates } from './redis-rates.js';
import { createRedisRunLog } from './redis-run-log.js';
import { createRedisRuns, createSaveStep } from './redis-runs.js';
import { createRedisSharedStates } from './redis-shared-states.js';
import { createRedisSignals } from './redis-signals.js';

/** Limits of what is stored in Redis. */
export interface RedisStoresOptions {
  /** The most that one snapshot may have as JSON text, in bytes. @default 64 MiB */
  readonly maxSnapshotBytes?: number;
  /** Commits the sessions of runs, which are not in Redis. @default starts and ends of runs are stored in steps */
  readonly commitSession?: CommitRun | undefined;
  /** Whether requests to cancel are received at once, and not only seen within 500 ms. @default true */
  readonly receivesCancels?: boolean;
}

/** Everything about runs that Redis stores, and the messages between processes. */
export type RedisStores = Awaited<ReturnType<typeof openRedisStores>>;

/**
 * Opens Redis and the stores over it; `close` ends its connections: commands under way fail, what listens completes.
 *
 * @throws EngineError CONFIG_INVALID when the URL is none of Redis, OPTION_INVALID when a bound is out of range, STORE_UNAVAILABLE when
 * Redis does not answer within the time of a command.
 */
export async function openRedisStores(config: RedisConfig, options: RedisStoresOptions = {}) {
  requireObject('openRedisStores', 'config', config, 'an object with "url"');
  requireText('openRedisStores', 'url', config.url, 'the URL of a Redis, such as redis://localhost:6379');
  const redis = createRedis(config);
  try {
    await redis.ready();
    return { ...createRedisStores(redis, options), close: redis.close };
  } catch (error) {
    await redis.close();
    throw error;
  }
}

/** The stores over one Redis, which its owner closes. */
export function createRedisStores(redis: Redis, options: RedisStoresOptions = {}) {
  const { maxSnapshotBytes = 64 * 1024 ** 2, receivesCancels, commitSession } = options;
  const saveStep = createSaveStep(redis);
  const committer = createCommitter(redis, saveStep, maxSnapshotBytes);
  return {
    runs: createRedisRuns(redis, saveStep),
    log: createRedisRunLog(redis, committer, maxSnapshotBytes),
    /** Undefined, also where these stores take the place of others, when nothing commits sessions. */
    commit: commitSession && createRedisCommit(committer, commitSession),
    leases: createRedisLeases(redis),
    signals: createRedisSignals(redis, receivesCancels),
    canvasRuntimes: createRedisCanvasRuntimes(redis),
    sharedStates: createRedisSharedStates(redis),
    rates: createRedisRates(redis),
    /** Counts that all processes share. */
    createCounter: createRedisCounters(redis),
  };
}
