import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createMemoryIndexStorage } from '../../../src/knowledge/search/memory-index-storage.js';
import type { Database } from '../../../src/stores/postgres/database.js';
import { createPostgresIndexStorage } from '../../../src/stores/postgres/search-index.js';
import type { PostgresStores } from '../../../src/stores/postgres/stores.js';
import { embeddedForAll } from '../../stores/support/embedded-for-all.js';
import { openServer } from '../../stores/support/open-stores.js';
import { describePostgres, type PostgresServer, startPostgres } from '../../stores/support/postgres-server.js';
import { makeFolder, removeFolder } from '../../stores/support/temporary-folder.js';
import { describeIndexStorage } from './suites/index-storage.js';
import { describeNearestVectors } from './suites/nearest-vectors.js';

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

  describe('with the extension "vector"', () => {
    let missing: string | undefined;
    beforeAll(async () => {
      missing = await whyNoVectors(stores.database);
    });
    describeNearestVectors(
      () => createPostgresIndexStorage(stores.database),
      () => missing,
    );
  });
});

describe('nearest vectors', () => {
  const stores = embeddedForAll();
  it('are not indexed in memory and in the embedded database', () => {
    expect(createMemoryIndexStorage().nearestVectors).toBeUndefined();
    expect(createPostgresIndexStorage(stores().database).nearestVectors).toBeUndefined();
  });
});

/** Why a server finds no nearest vectors; undefined when it does. */
async function whyNoVectors({ repeat }: Database): Promise<string | undefined> {
  const found = await repeat((sql) => sql`select from pg_available_extensions where name = 'vector'`);
  return found.length > 0 ? undefined : 'this server has no extension "vector": install postgresql-<version>-pgvector';
}
