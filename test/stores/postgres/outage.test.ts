import { firstValueFrom } from 'rxjs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { PostgresStores } from '../../../src/stores/postgres/stores.js';
import { openServer } from '../support/open-stores.js';
import { describePostgres, type PostgresServer, startPostgres } from '../support/postgres-server.js';
import { agentRecord, checkpoint, events, newId, newTenant, runRecord } from '../support/records.js';
import { makeFolder, removeFolder } from '../support/temporary-folder.js';

const MANY = { maxEvents: 100_000, maxBytes: 100_000_000 };

describePostgres('a Postgres server that goes away', () => {
  let folder: string;
  let server: PostgresServer;
  let stores: PostgresStores;
  let others: PostgresStores;
  beforeAll(async () => {
    folder = await makeFolder();
    server = await startPostgres();
    const url = await server.createDatabase();
    stores = await openServer(url, folder);
    others = await openServer(url, folder);
  });
  afterAll(async () => {
    await Promise.all([stores?.close(), others?.close()]);
    await server?.stop();
    await removeFolder(folder);
  });

  const newRun = async (tenant: string): Promise<string> => {
    const agent = agentRecord();
    await stores.agents.insert(tenant, agent);
    const run = runRecord(agent.id);
    await stores.runs.save(tenant, run);
    return run.id;
  };

  it('and comes back keeps what was acknowledged, and writing goes on', async ({ skip }) => {
    const { crash, restart } = server;
    if (crash === undefined || restart === undefined) return skip('the server at DATABASE_URL is not ours to stop');
    const tenant = newTenant();
    const runs = await Promise.all(Array.from({ length: 8 }, () => newRun(tenant)));
    let crashing: Promise<void> | undefined;
    await Promise.all(
      runs.map(async (run, writer) => {
        for (let seq = 1; seq <= 50; seq += 1) {
          if (writer === 0 && seq === 25) crashing = crash().then(restart);
          await stores.log.append(tenant, run, { events: events(seq, seq), snapshot: checkpoint(run, seq) });
        }
      }),
    );
    await crashing;
    for (const run of runs) {
      expect(await stores.log.read(tenant, run, 0, MANY)).toEqual(events(1, 50));
      expect((await stores.log.snapshot(tenant, run))?.seq).toBe(50);
    }
  });

  it('takes nothing away from a cancel that was asked for meanwhile', async ({ skip }) => {
    const { crash, restart } = server;
    if (crash === undefined || restart === undefined) return skip('the server at DATABASE_URL is not ours to stop');
    const task = newId();
    const told = firstValueFrom(stores.signals.cancelOf(task), { defaultValue: undefined });
    await crash();
    const requested = others.signals.requestCancel(task);
    await restart();
    await requested;
    await told;
  });

  it('lets processes hear each other again when it is back', async ({ skip }) => {
    const { crash, restart } = server;
    if (crash === undefined || restart === undefined) return skip('the server at DATABASE_URL is not ours to stop');
    await crash();
    await restart();
    const channel = newId();
    let isHeard = false;
    const heard = firstValueFrom(stores.signals.messages(channel)).then(() => {
      isHeard = true;
    });
    // Listening begins again when its connection is back, which may be a little later than that of others.
    while (!isHeard) await others.signals.publish(channel, 'again');
    await heard;
  });
});
