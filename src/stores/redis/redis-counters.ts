import { RateLimiterMemory, RateLimiterRedis } from 'rate-limiter-flexible';
import { EngineError } from '../../errors.js';
import { within } from '../../operators/within.js';
import type { CreateCounter, EventCounter } from '../../records/coordination.js';
import { COUNTER_PREFIX } from './keys.js';
import type { Redis } from './redis.js';

/** How long a count may take: callers wait for it before anything else is done. */
const ANSWER_MS = 500;

/** How long Redis is not asked after it gave no answer. */
const PAUSE_MS = 1_000;

/**
 * Counters that all processes share. While Redis is away each process counts for itself, from nought, and logs that once.
 *
 * Who counts decides what is too much, for that differs from key to key.
 */
export function createRedisCounters({ client, log }: Redis): CreateCounter {
  let awayUntil = 0;
  let isAway = false;
  const askRedis = async (shared: RateLimiterRedis, key: string) => {
    if (Date.now() < awayUntil) return undefined;
    try {
      const result = await within(ANSWER_MS, shared.consume(key), undefined);
      if (result === undefined) throw late();
      isAway = false;
      return result;
    } catch (error) {
      awayUntil = Date.now() + PAUSE_MS;
      if (!isAway) log.warn({ err: error }, 'Redis does not count calls; until it does, each server counts its own');
      isAway = true;
      return undefined;
    }
  };
  return (name, spanSeconds): EventCounter => {
    const options = { keyPrefix: COUNTER_PREFIX + name, points: Number.MAX_SAFE_INTEGER, duration: spanSeconds };
    const shared = new RateLimiterRedis({ ...options, storeClient: client, rejectIfRedisNotReady: true });
    const own = new RateLimiterMemory(options);
    return {
      async count(key) {
        const { consumedPoints, msBeforeNext } = (await askRedis(shared, key)) ?? (await own.consume(key));
        return { count: consumedPoints, resetMs: msBeforeNext };
      },
    };
  };
}

function late(): EngineError {
  return new EngineError('STORE_UNAVAILABLE', `Redis did not answer within ${ANSWER_MS} ms.`, { retryable: true });
}
