import { describe } from 'vitest';
import { postgresSessions } from '../../../src/agents/sessions/postgres-sessions.js';
import { expireLeases } from '../../../src/stores/postgres/leases.js';
import { embeddedForAll } from '../../stores/support/embedded-for-all.js';
import { describeAllStores } from './suites/all-stores.js';
import { describeGraphStore } from './suites/graph-store.js';
import { describeKnowledgeStore } from './suites/knowledge-store.js';
import { SMALL_QUOTAS } from './suites/quotas.js';
import { describeSessionLog } from './suites/session-log.js';

describe('stores in the embedded Postgres', () => {
  const stores = embeddedForAll(SMALL_QUOTAS);
  describeAllStores(() => ({
    ...stores(),
    // Nobody else can use this database.
    here: stores().signals,
    there: stores().signals,
    expireAll: () => expireLeases(stores().database),
  }));
  describeSessionLog(() => postgresSessions(stores(), { maxEntryBytes: 5_000, maxEntries: 1_200 }));
  describeKnowledgeStore(() => stores().openKnowledge());
  describeGraphStore(() => stores().openKnowledge());
});
