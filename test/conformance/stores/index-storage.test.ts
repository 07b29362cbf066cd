import { afterAll, beforeAll, describe } from 'vitest';
import { createMemoryIndexStorage } from '../../../src/knowledge/search/memory-index-storage.js';
import { createPostgresIndexStorage } from '../../../src/stores/postgres/search-index.js';
import type { PostgresStores } from '../../../src/stores/postgres/stores.js';
import { embeddedForAll } from '../../stores/support/embedded-for-all.js';
import { openServer } from '../../stores/support/open-stores.js';
import { describePostgres, type PostgresServer, startPostgres } from '../../stores/support/postgres-server.js';
import { makeFolder, removeFolder } from '../../stores/support/temporary-folder.js';
import { describeIndexStorage } from './suites/index-storage.js';

describe('search indexes in memory', () => {
  const storage = createMemoryIndexStorage();
  describeIndexStorage(() => storage);
});

describe('search indexes in the embedded Postgres', () => {
  const stores = embeddedForAll();
  describeIndexStorage(() => createPostgresIndexStorage(stores().database));
});

describePostgres('search indexes in a Postgres server', () => {
  let server: PostgresServer;
  let folder: string;
  let stores: PostgresStores;
  beforeAll(async () => {
    folder = await makeFolder();
    server = await startPostgres();
    stores = await openServer(await server.createDatabase(), folder);
  });
  afterAll(async () => {
    await stores?.close();
    await server?.stop();
    await removeFolder(folder);
  });
  describeIndexStorage(() => createPostgresIndexStorage(stores.database));
});
