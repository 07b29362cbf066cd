import { afterAll, beforeAll } from 'vitest';
import { postgresSessions } from '../../../src/agents/sessions/postgres-sessions.js';
import { expireLeases } from '../../../src/stores/postgres/leases.js';
import type { PostgresStores } from '../../../src/stores/postgres/stores.js';
import { openServer } from '../../stores/support/open-stores.js';
import { describePostgres, type PostgresServer, startPostgres } from '../../stores/support/postgres-server.js';
import { makeFolder, removeFolder } from '../../stores/support/temporary-folder.js';
import { describeAllStores } from './suites/all-stores.js';
import { describeGraphStore } from './suites/graph-store.js';
import { describeKnowledgeStore } from './suites/knowledge-store.js';
import { SMALL_QUOTAS } from './suites/quotas.js';
import { describeSessionLog } from './suites/session-log.js';

describePostgres('stores in a Postgres server', () => {
  let server: PostgresServer;
  let folder: string;
  let stores: PostgresStores;
  /** The same database, as another process uses it. */
  let others: PostgresStores;
  beforeAll(async () => {
    folder = await makeFolder();
    server = await startPostgres();
    const url = await server.createDatabase();
    // At once, so that one of them has to wait for the tables that the other makes.
    [stores, others] = await Promise.all([
      openServer(url, folder, SMALL_QUOTAS),
      openServer(url, folder, SMALL_QUOTAS),
    ]);
  });
  afterAll(async () => {
    await Promise.all([stores?.close(), others?.close()]);
    await server?.stop();
    await removeFolder(folder);
  });
  describeAllStores(() => ({
    ...stores,
    here: stores.signals,
    there: others.signals,
    storesThere: others,
    logThere: others.log,
    sharedStatesThere: others.sharedStates,
    expireAll: () => expireLeases(stores.database),
  }));
  describeSessionLog(() => postgresSessions(stores, { maxEntryBytes: 5_000, maxEntries: 1_200 }));
  describeKnowledgeStore(() => stores.openKnowledge());
  describeGraphStore(() => stores.openKnowledge());
});
