import { prepareDatabase } from '../../../scripts/prepare-database.js';
import type { Quotas } from '../../../src/records/quotas.js';
import { openPostgresStores, type PostgresStores } from '../../../src/stores/postgres/stores.js';
import { createLog } from './test-log.js';

/** The stores of the embedded database in `dataDir`; a new one is copied from the prepared image. */
export async function openEmbedded(dataDir: string, quotas?: Partial<Quotas>): Promise<PostgresStores> {
  return openPostgresStores({ dataDir, quotas, log: createLog(), image: await prepareDatabase() });
}

/** The stores of a database on a server; bytes of files go to `dataDir`. */
export function openServer(url: string, dataDir: string, quotas?: Partial<Quotas>): Promise<PostgresStores> {
  return openPostgresStores({ url, quotas, dataDir, log: createLog() });
}
