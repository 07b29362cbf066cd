import { afterAll, beforeAll } from 'vitest';
import type { Quotas } from '../../../src/records/quotas.js';
import type { PostgresStores } from '../../../src/stores/postgres/stores.js';
import { openEmbedded } from './open-stores.js';
import { makeFolder, removeFolder } from './temporary-folder.js';

/** An embedded database for all tests of a `describe`, gone with them; the function gives its stores once they begin. */
export function embeddedForAll(quotas?: Partial<Quotas>): () => PostgresStores {
  let folder: string;
  let stores: PostgresStores;
  beforeAll(async () => {
    folder = await makeFolder();
    stores = await openEmbedded(folder, quotas);
  });
  afterAll(async () => {
    await stores.close();
    await removeFolder(folder);
  });
  return () => stores;
}
