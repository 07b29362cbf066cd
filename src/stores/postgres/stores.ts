/** All stores over one database, and what closes and prunes them. */

import path from 'node:path';
import { requireObject, requireText } from '../../operators/invalid-option.js';
import type { ChatStore } from '../../records/chats.js';
import type { LeaseStore } from '../../records/coordination.js';
import type { IndexStorage } from '../../records/index-storage.js';
import type { KnowledgeStore } from '../../records/knowledge-store.js';
import { DEFAULT_QUOTAS, type Quotas, type UsageStore } from '../../records/quotas.js';
import { createRepositories, type PlainStores, plainStores } from '../../records/resources.js';
import type { RunCommit } from '../../records/run-commit.js';
import type { SessionEntries } from '../../records/session-entries.js';
import type { SharedStates } from '../../records/shared-states.js';
import type { Stores } from '../../records/stores.js';
import type { TurnLines } from '../../records/turn-lines.js';
import { createCachedAgents } from '../cached-agents.js';
import { createFilesOnDisk, type DiskFiles } from '../files-on-disk.js';
import { createPostgresSessionEntries } from './agent-sessions.js';
import { createPostgresChats } from './chats.js';
import type { Database } from './database.js';
import { createDocuments } from './documents.js';
import { createPostgresFileIndex } from './file-index.js';
import { createPostgresLeases, expireLeases } from './leases.js';
import { type DatabaseOptions, openDatabase } from './open-database.js';
import type { PruneOptions, PruneResult } from './prune.js';
import { prune } from './prune.js';
import { createPostgresRepository } from './repository.js';
import { createPostgresRunLog } from './run-log.js';
import { createRunWriter } from './run-writer.js';
import { createPostgresSharedStates } from './shared-states.js';
import { createPostgresSignals, type PostgresSignals } from './signals.js';
import { createPostgresTurnLines } from './turn-lines.js';
import { createPostgresUsage } from './usage.js';

/** Everything that outlives the process, with something to close. */
export interface PostgresStores extends Omit<Stores, keyof PlainStores>, PlainStores {
  readonly database: Database;
  readonly leases: LeaseStore;
  readonly commit: (commit: RunCommit) => Promise<void>;
  readonly signals: PostgresSignals;
  readonly sharedStates: SharedStates;
  readonly chats: ChatStore;
  /** Entries of agents' sessions, see `postgresSessions`. */
  readonly agentSessions: SessionEntries;
  /** Logs of agents' turns, see `postgresTurnLogs`. */
  readonly turnLines: TurnLines;
  readonly files: DiskFiles;
  readonly usage: UsageStore;
  /** Knowledge bases; loaded when they are first asked for. */
  openKnowledge(): Promise<KnowledgeStore>;
  /** Where search indexes are kept; loaded when it is first asked for. */
  openIndexStorage(): Promise<IndexStorage>;
  /** Id of this database; it never changes. */
  readonly home: string;
  /** Deletes what is older than asked for and gives the space back. */
  prune(options: PruneOptions): Promise<PruneResult>;
  /** Lets writing end, then closes the database. */
  close(): Promise<void>;
}

/** The database, and how much a tenant may store in it. */
export interface PostgresStoresOptions extends DatabaseOptions {
  /** @default {@link DEFAULT_QUOTAS} */
  readonly quotas?: Partial<Quotas> | undefined;
}

/**
 * Opens the database and everything that is stored in it; the bytes of files go to `<dataDir>/files`.
 *
 * @throws EngineError as `openDatabase`
 */
export async function openPostgresStores(options: PostgresStoresOptions): Promise<PostgresStores> {
  requireObject('openPostgresStores', 'options', options, 'an object with "dataDir"');
  requireText('openPostgresStores', 'dataDir', options.dataDir, 'the path of a folder');
  const database = await openDatabase(options);
  try {
    return await storesOf(database, options);
  } catch (error) {
    await database.close();
    throw error;
  }
}

async function storesOf(
  database: Database,
  { dataDir, log, quotas: given }: PostgresStoresOptions,
): Promise<PostgresStores> {
  const quotas = { ...DEFAULT_QUOTAS, ...given };
  // Runs of a process that was killed can be recovered at once.
  if (database.kind === 'embedded') await expireLeases(database);
  const signals = await createPostgresSignals(database, { log });
  const usage = createPostgresUsage(database, quotas);
  const files = createFilesOnDisk({
    folder: path.join(dataDir, 'files'),
    index: createPostgresFileIndex(database, usage),
  });
  const documents = createDocuments(database);
  const writer = createRunWriter(database, documents);
  const repositories = createRepositories((resource) =>
    createPostgresRepository(database, resource, documents, quotas),
  );
  const agents = createCachedAgents(repositories.agents, signals);
  let knowledge: Promise<KnowledgeStore> | undefined;
  return {
    database,
    ...plainStores(repositories),
    agents,
    log: createPostgresRunLog(database, writer),
    commit: writer.commit,
    leases: createPostgresLeases(database),
    signals,
    sharedStates: createPostgresSharedStates(database),
    chats: createPostgresChats(database),
    agentSessions: createPostgresSessionEntries(database),
    turnLines: createPostgresTurnLines(database),
    files,
    usage,
    openKnowledge() {
      knowledge ??= openKnowledge(database);
      return knowledge;
    },
    async openIndexStorage() {
      const { createPostgresIndexStorage } = await import('./search-index.js');
      return createPostgresIndexStorage(database);
    },
    home: await readHome(database),
    prune: (pruning) => prune(database, repositories, files, pruning),
    async close() {
      await writer.flushed();
      agents.close();
      await signals.close();
      await database.close();
    },
  };
}

/** Documents that a killed process was at work on are free at once where no other process can be. */
async function openKnowledge(database: Database): Promise<KnowledgeStore> {
  const { createPostgresKnowledge } = await import('./knowledge/knowledge.js');
  const knowledge = createPostgresKnowledge(database);
  if (database.kind === 'embedded') await knowledge.expireClaims();
  return knowledge;
}

async function readHome(database: Database): Promise<string> {
  const [row] = await database.repeat((sql) => sql<{ id: string }[]>`select id from runnel.home`);
  return row?.id ?? '';
}
