/** Where a server keeps things, made from its environment. */
import { EngineError } from '../errors.js';
import type { DatabaseLog, PruneOptions, PruneResult } from '../stores/postgres/index.js';
import type { ServerStores } from '../transport/index.js';
import { RETENTIONS } from './settings.js';

type Environment = Readonly<Record<string, string | undefined>>;

/** Stores with something to close. */
export interface OpenStores extends ServerStores {
  /** Where things are, for people. */
  readonly place: string;
  /** Deletes what is kept no longer, and gives the space back. */
  prune(now: number): Promise<PruneResult>;
  /** Lets writing end. */
  close(): Promise<void>;
}

/** How long things are kept, and how often what is kept no longer is deleted. */
export interface Retention {
  readonly keptMs: Readonly<Partial<Record<(typeof RETENTIONS)[number]['what'], number>>>;
  /** Undefined: never. */
  readonly pruneEveryMs: number | undefined;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** The folder of everything that lies on disk. */
function dataDirOf(env: Environment): string {
  return env.RUNNEL_DATA_DIR?.trim() || './.runnel';
}

/** @throws EngineError CONFIG_INVALID. */
export function readRetention(env: Environment): Retention {
  const kept = RETENTIONS.flatMap(({ what, name, days }) => {
    const value = readCount(env, name, days);
    return value === 0 ? [] : [[what, value * DAY_MS] as const];
  });
  const hours = readCount(env, 'RUNNEL_PRUNE_EVERY_HOURS', 24);
  return { keptMs: Object.fromEntries(kept), pruneEveryMs: hours === 0 ? undefined : hours * HOUR_MS };
}

/**
 * Opens what the environment names: a Postgres server or the embedded database, and Redis for everything about runs when there is one.
 *
 * @throws EngineError CONFIG_INVALID, CONFLICT when another process uses the data folder, STORE_UNAVAILABLE.
 */
export async function openStores(env: Environment, log: DatabaseLog): Promise<OpenStores> {
  const { keptMs } = readRetention(env);
  const url = env.DATABASE_URL?.trim() || undefined;
  const redisUrl = env.REDIS_URL?.trim() || undefined;
  const dataDir = dataDirOf(env);
  const redis = redisUrl === undefined ? undefined : await openRedis(redisUrl, log, keptMs.runs);
  try {
    const { openPostgresStores } = await import('../stores/postgres/index.js');
    const { close, prune, database: _, ...stores } = await openPostgresStores({ url, dataDir, log });
    return {
      ...stores,
      ...redis?.stores,
      place: placeOf(url, dataDir, redis?.address),
      prune: (now) => prune({ olderThan: timesOf(keptMs, now), now }),
      async close() {
        await close();
        await redis?.close();
      },
    };
  } catch (error) {
    await redis?.close();
    throw error;
  }
}

async function openRedis(url: string, log: DatabaseLog, runKeptMs: number | undefined) {
  const { createRedis, createRedisStores } = await import('../stores/redis/index.js');
  const redis = createRedis({ url, log, ...(runKeptMs === undefined ? {} : { runKeptMs }) });
  try {
    await redis.ready();
  } catch (error) {
    await redis.close();
    throw error;
  }
  return { stores: createRedisStores(redis), address: new URL(url).host, close: () => redis.close() };
}

/** Never shows a password. */
function placeOf(url: string | undefined, dataDir: string, redis: string | undefined): string {
  const database = url === undefined ? `embedded Postgres in ${dataDir}` : `Postgres at ${hostOf(url)}`;
  return redis === undefined ? database : `${database}, runs in Redis at ${redis}`;
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : 'DATABASE_URL';
}

function timesOf(keptMs: Retention['keptMs'], now: number): PruneOptions['olderThan'] {
  return Object.fromEntries(Object.entries(keptMs).map(([what, ms]) => [what, now - ms]));
}

function readCount(env: Environment, name: string, fallback: number): number {
  const text = env[name]?.trim() ?? '';
  if (text === '') return fallback;
  if (/^\d{1,6}$/.test(text)) return Number(text);
  throw new EngineError('CONFIG_INVALID', `${name} must be a whole number; received ${JSON.stringify(text)}.`);
}
