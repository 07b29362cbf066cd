/** Stores in Postgres, embedded or a server. Import this where a service starts, not where a command runs: it loads a driver. */
export type { Database } from './database.js';
export type { DatabaseLog } from './database-log.js';
export { type DatabaseOptions, openDatabase } from './open-database.js';
export type { PruneOptions, PruneResult } from './prune.js';
export { createPostgresStores, openPostgresStores, type PostgresStores } from './stores.js';
