import { firstValueFrom } from 'rxjs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { PostgresStores } from '../../../src/stores/postgres/stores.js';
import { openServer } from '../support/open-stores.js';
import { describePostgres, type PostgresServer, startPostgres } from '../support/postgres-server.js';
import { newId } from '../support/records.js';
import { makeFolder, removeFolder } from '../support/temporary-folder.js';

describePostgres('signals in a Postgres server', () => {
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

  const notify = (task: string) => {
    const envelope = JSON.stringify({ from: 'another process', channel: 'cancel', message: task });
    return stores.database.repeat((sql) => sql`select pg_notify('runnel', ${envelope})`);
  };

  it('does not believe a notification whose request was cleared before it came', async () => {
    const { signals, database } = stores;
    const [cleared, requested] = [newId(), newId()];
    let isTold = false;
    const subscription = signals.cancelOf(cleared).subscribe(() => {
      isTold = true;
    });
    const told = firstValueFrom(signals.cancelOf(requested), { defaultValue: undefined });
    await notify(cleared);
    await database.repeat((sql) => sql`insert into runnel.cancels (task, requested_at) values (${requested}, now())`);
    // Notifications come in order: when the second one is acted on, the first one was.
    await notify(requested);
    await told;
    expect(isTold).toBe(false);
    subscription.unsubscribe();
  });

  it.each(['', 'null', '[]', 'a word', '{"from":"another program"}', '{"from":1,"channel":"cancel","message":2}'])(
    'hears on when another program notifies %j on the same channel',
    async (payload) => {
      const { signals, database } = stores;
      const channel = newId();
      const heard = firstValueFrom(signals.messages(channel));
      const envelope = { from: 'another process', channel: `message:${channel}`, message: 'a message' };
      for (const each of [payload, JSON.stringify(envelope)]) {
        await database.repeat((sql) => sql`select pg_notify('runnel', ${each})`);
      }
      expect(await heard).toBe('a message');
    },
  );
});
