/** The stores of a server, opened by its settings. */

import type { Log } from '../logger.js';
import type { IndexStorage } from '../records/index-storage.js';
import type { KnowledgeStore } from '../records/knowledge-store.js';
import type { Quotas } from '../records/quotas.js';
import type { CommitRun } from '../records/run-commit.js';
import type { Settings } from '../settings/read-settings.js';
import type { PruneOptions, PruneResult } from '../stores/postgres/prune.js';
import type { ServerFacts, ServerStores } from '../transport/server-parts.js';

/** Stores with something to close. */
export interface OpenStores extends ServerStores {
  /** Knowledge bases; loaded when they are first asked for. */
  openKnowledge(): Promise<KnowledgeStore>;
  /** Where search indexes are kept; loaded when it is first asked for. */
  openIndexStorage(): Promise<IndexStorage>;
  /** Where the data is, for people. */
  readonly place: string;
  /** The same for programs. */
  readonly kept: NonNullable<ServerFacts['kept']>;
  /** Deletes what has expired, and frees its space. */
  prune(now: number): Promise<PruneResult>;
  /** Waits for the last writes. */
  close(): Promise<void>;
}

const DAY_MS = 24 * 3_600_000;

/**
 * Opens what the settings name: a Postgres server or the embedded database, and Redis for everything about runs when there is one.
 *
 * @throws EngineError CONFLICT when another process uses the data folder, STORE_UNAVAILABLE.
 */
export async function openStores(settings: Settings['stores'], log: Log): Promise<OpenStores> {
  const { databaseUrl: url, redisUrl, dataDir, keepRunsDays } = settings;
  const embedded = url === undefined ? await beginEmbedded(dataDir, log) : undefined;
  const { openPostgresStores } = await import('../stores/postgres/stores.js');
  const quotas = quotasOf(settings);
  const options = { url, dataDir, log, quotas, embedded: embedded?.starting };
  const { close, prune, database: _, ...stores } = await openPostgresStores(options);
  try {
    const redis = redisUrl === undefined ? undefined : await openRedis(redisUrl, log, keepRunsDays, stores.commit);
    return {
      ...stores,
      ...redis,
      place: placeOf(url, dataDir, redisUrl),
      kept: { database: url === undefined ? 'embedded' : 'postgres', runs: redis === undefined ? 'database' : 'redis' },
      prune: (now) => prune({ olderThan: expiryOf(settings, now), now }),
      async close() {
        await close();
        await redis?.close();
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Starts the process of the embedded database before the modules of the stores are read. */
async function beginEmbedded(folder: string, log: Log) {
  const { startEmbedded } = await import('../stores/postgres/embedded/start-embedded.js');
  const starting = startEmbedded({ folder, log });
  // Opening the database reports it.
  starting.catch(() => {});
  return { starting };
}

async function openRedis(url: string, log: Log, keepRunsDays: number, commitSession: CommitRun) {
  const { openRedisStores } = await import('../stores/redis/redis-stores.js');
  const config = { url, log, ...(keepRunsDays !== 0 && { runKeptMs: keepRunsDays * DAY_MS }) };
  return openRedisStores(config, { commitSession });
}

/** Never shows a password. */
function placeOf(url: string | undefined, dataDir: string, redis: string | undefined): string {
  const database = url === undefined ? `embedded Postgres in ${dataDir}` : `Postgres at ${hostOf(url)}`;
  return redis === undefined ? database : `${database}, runs in Redis at ${new URL(redis).host}`;
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : 'DATABASE_URL';
}

function quotasOf(settings: Settings['stores']): Quotas {
  return {
    agents: settings.quotaAgents,
    versions: settings.quotaVersions,
    sessions: settings.quotaSessions,
    tokens: settings.quotaTokens,
    files: settings.quotaFiles,
    fileBytes: settings.quotaFileBytes,
    pageFiles: settings.quotaPageFiles,
    pageFileBytes: settings.quotaPageFileBytes,
  };
}

/** The times before which things have expired; none for what is stored for ever. */
function expiryOf(settings: Settings['stores'], now: number): PruneOptions['olderThan'] {
  const days = {
    runs: settings.keepRunsDays,
    events: settings.keepEventsDays,
    sessions: settings.keepSessionsDays,
    files: settings.keepFilesDays,
  };
  const entries = Object.entries(days).filter(([, count]) => count > 0);
  return Object.fromEntries(entries.map(([what, count]) => [what, now - count * DAY_MS]));
}
