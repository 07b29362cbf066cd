import { afterAll, beforeAll, expect, it } from 'vitest';
import type { PostgresStores } from '../../../src/stores/postgres/stores.js';
import { openServer } from '../support/open-stores.js';
import { describePostgres, type PostgresServer, startPostgres } from '../support/postgres-server.js';
import { agentRecord, newTenant, runRecord, sessionRecord } from '../support/records.js';
import { makeFolder, removeFolder } from '../support/temporary-folder.js';

describePostgres('pruning beside other processes', () => {
  let folder: string;
  let server: PostgresServer;
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

  /** Resolves when a statement waits for the lock of another one. */
  const untilBlocked = async (): Promise<void> => {
    for (;;) {
      const [row] = await stores.database.sql<{ count: number }[]>`
        select count(*)::int as count from pg_stat_activity where wait_event_type = 'Lock'`;
      if ((row?.count ?? 0) > 0) return;
    }
  };

  it('keeps a session that goes on, and a run that is taken up, at this very moment', async () => {
    const tenant = newTenant();
    const agent = agentRecord();
    await stores.agents.insert(tenant, agent);
    const session = sessionRecord(agent.id, { updatedAt: 10 });
    const run = runRecord(agent.id, { status: 'failed', finishedAt: 10 });
    await stores.sessions.save(tenant, session);
    await stores.runs.save(tenant, run);

    let pruned: Promise<unknown> = Promise.resolve();
    for (const [table, change, olderThan] of [
      ['sessions', 'updated_at = 30', { sessions: 20 }],
      ['runs', "status = 'running', finished_at = null", { runs: 20 }],
    ] as const) {
      await stores.database.sql.begin(async (sql) => {
        await sql.unsafe(`update runnel.${table} set ${change} where tenant = '${tenant}'`);
        pruned = stores.prune({ olderThan, now: Date.now() });
        await untilBlocked();
      });
      expect(await pruned).toMatchObject({ sessions: 0, runs: 0 });
    }

    expect(await stores.sessions.find(tenant, session.id)).toBeDefined();
    expect(await stores.runs.find(tenant, run.id)).toBeDefined();
  });
});
