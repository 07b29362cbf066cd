import { afterAll, beforeAll, describe } from 'vitest';
import { expireLeases } from '../../../src/stores/postgres/leases.js';
import type { PostgresStores } from '../../../src/stores/postgres/stores.js';
import { openEmbedded } from '../../stores/support/open-stores.js';
import { makeFolder, removeFolder } from '../../stores/support/temporary-folder.js';
import { describeAllStores } from './suites/all-stores.js';
import { SMALL_QUOTAS } from './suites/quotas.js';

describe('stores in the embedded Postgres', () => {
  let folder: string;
  let stores: PostgresStores;
  beforeAll(async () => {
    folder = await makeFolder();
    stores = await openEmbedded(folder, SMALL_QUOTAS);
  });
  afterAll(async () => {
    await stores.close();
    await removeFolder(folder);
  });
  describeAllStores(() => ({
    ...stores,
    // Nobody else can use this database.
    here: stores.signals,
    there: stores.signals,
    expireAll: () => expireLeases(stores.database),
  }));
});
