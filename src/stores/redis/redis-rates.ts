import { randomUUID } from 'node:crypto';
import { RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import type { Rate, RateAnswer, RateCounter } from '../../records/rates.js';
import { RATE_PREFIX, rateKey } from './keys.js';
import type { Redis } from './redis.js';
import { script } from './script.js';

/**
 * Counts a request in several sliding seconds, or, when one is full, in none. Times are microseconds of the server, so that clocks of processes
 * need not agree.
 *
 * KEYS   the seconds; sorted sets of requests by their time
 * ARGV   1 id of the request, then for each key how many it may have
 * Result { 0, room that is left in each … } or { position of the key that is full, milliseconds until it has room }
 */
const TAKE_SECONDS = script(
  'count a request in sliding seconds',
  `local clock = redis.call('TIME')
local now = tonumber(clock[1]) * 1000000 + tonumber(clock[2])
local left = { 0 }
for at, key in ipairs(KEYS) do
  redis.call('ZREMRANGEBYSCORE', key, '-inf', string.format('%.0f', now - 1000000))
  local most = tonumber(ARGV[at + 1])
  local count = redis.call('ZCARD', key)
  if count >= most then
    local blocking = redis.call('ZRANGE', key, count - most, count - most, 'WITHSCORES')
    return { at, math.max(1, math.ceil((tonumber(blocking[2]) + 1000000 - now) / 1000)) }
  end
  left[at + 1] = most - count - 1
end
for _, key in ipairs(KEYS) do
  redis.call('ZADD', key, string.format('%.0f', now), ARGV[1])
  redis.call('PEXPIRE', key, 2000)
end
return left
`,
);

/**
 * Counts requests for all processes: sliding seconds by a script, buckets by `rate-limiter-flexible`, whose buckets are filled once a second.
 *
 * The bucket comes last; when it is empty, what the seconds have counted is taken back.
 */
export function createRedisRates({ client, commands }: Redis): RateCounter {
  /** By how many they let through; few, as the settings name them. */
  const buckets = new Map<number, RateLimiterRedis>();
  const bucketOf = (most: number): RateLimiterRedis => {
    let bucket = buckets.get(most);
    if (bucket === undefined) {
      const options = { keyPrefix: RATE_PREFIX, points: most, duration: 1, rejectIfRedisNotReady: true };
      bucket = new RateLimiterRedis({ ...options, storeClient: client });
      buckets.set(most, bucket);
    }
    return bucket;
  };
  const takeSeconds = async (rates: readonly Rate[], id: string): Promise<readonly number[]> => {
    if (rates.length === 0) return [0];
    const args = [id, ...rates.map(({ most }) => most)];
    return (await commands.run(TAKE_SECONDS, rates.map(keyOf), args, { isRepeatable: false })) as number[];
  };
  return {
    async take(rates): Promise<RateAnswer> {
      const seconds = rates.filter(({ kind }) => kind === 'second');
      const id = randomUUID();
      const [full = 0, ...answer] = await takeSeconds(seconds, id);
      const refusing = seconds[full - 1];
      if (refusing !== undefined) return { isTaken: false, refused: rates.indexOf(refusing), waitMs: answer[0] ?? 1 };
      const left = new Map(seconds.map((rate, at) => [rate, answer[at] ?? 0]));
      for (const rate of rates) {
        if (rate.kind !== 'bucket') continue;
        const taken = await takeBucket(bucketOf(rate.most), rate.key);
        if (taken.isTaken) left.set(rate, taken.left);
        else {
          await Promise.all(seconds.map((one) => commands.send('ZREM', [keyOf(one), id])));
          return { isTaken: false, refused: rates.indexOf(rate), waitMs: taken.waitMs };
        }
      }
      return { isTaken: true, left: rates.map((rate) => left.get(rate) ?? 0) };
    },
  };
}

const keyOf = ({ key }: Rate): string => rateKey(key);

async function takeBucket(
  bucket: RateLimiterRedis,
  key: string,
): Promise<{ readonly isTaken: boolean; readonly left: number; readonly waitMs: number }> {
  try {
    const { remainingPoints } = await bucket.consume(key);
    return { isTaken: true, left: remainingPoints, waitMs: 0 };
  } catch (error) {
    // What is no answer of the library is a failure of Redis.
    if (!(error instanceof RateLimiterRes)) throw error;
    return { isTaken: false, left: 0, waitMs: Math.max(1, error.msBeforeNext) };
  }
}
