import { once } from 'node:events';
import { type AddressInfo, connect, createServer, Socket } from 'node:net';
import postgres from 'postgres';
import { concatMap, filter, firstValueFrom } from 'rxjs';
import { expect, it, onTestFinished, vi } from 'vitest';
import { prepareDatabase } from '../../../scripts/prepare-database.js';
import { type DatabaseOptions, openDatabase } from '../../../src/stores/postgres/open-database.js';
import { describePostgres, startPostgres } from '../support/postgres-server.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { createLog } from '../support/test-log.js';

/** Opens a database, and gives a function that loses the connections that there are. */
async function open(options: Partial<DatabaseOptions>) {
  const connecting = vi.spyOn(Socket.prototype, 'connect');
  onTestFinished(() => connecting.mockRestore());
  const database = await openDatabase({ dataDir: await temporaryFolder(), log: createLog(), ...options });
  onTestFinished(() => database.close());
  const lose = (): void => {
    for (const socket of connecting.mock.contexts as Socket[]) socket.destroy();
  };
  return { database, lose };
}

/** Loses the connection while a statement waits for the turn of the event loop in which it is written. */
async function loseBeforeWriting(options: Partial<DatabaseOptions>): Promise<void> {
  const { database, lose } = await open(options);
  const one = () => database.repeatAlone((sql) => sql<{ one: number }[]>`select 1 as one`);
  expect(await one()).toEqual([{ one: 1 }]);
  for (let time = 0; time < 3; time += 1) {
    // The loss is noticed at the end of this turn of the event loop; what is asked now is written in the next one.
    const asked = new Promise((resolve, reject) => {
      setImmediate(() => {
        lose();
        one().then(resolve, reject);
      });
    });
    expect(await asked).toEqual([{ one: 1 }]);
  }
}

describePostgres('a connection to Postgres that is lost before its statement is written', () => {
  it('is made anew', async () => {
    const server = await startPostgres();
    onTestFinished(() => server.stop());
    await loseBeforeWriting({ url: await server.createDatabase() });
  });
});

describePostgres('an encrypted connection to Postgres that is lost before its statement is written', () => {
  it('is made anew', async ({ skip }) => {
    const server = await startPostgres();
    onTestFinished(() => server.stop());
    if (server.crash === undefined) return skip('the server at DATABASE_URL is not ours to encrypt');
    const url = await server.createDatabase();
    await encrypt(url);
    await loseBeforeWriting({ url: `${url}?sslmode=require` });
  });
});

/** Gives a server a certificate. */
async function encrypt(url: string): Promise<void> {
  const certificate =
    'openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=localhost -keyout server.key -out server.crt';
  const sql = postgres(url, { max: 1 });
  await sql.unsafe(`copy (select 1) to program '${certificate} 2> /dev/null'`);
  await sql.unsafe('alter system set ssl = on');
  await sql`select pg_reload_conf()`;
  await sql.end();
}

describePostgres('a Postgres server that starts', () => {
  it('is asked with pauses, and not for ever, by a connection that was at work when it was lost', async ({ skip }) => {
    const server = await startPostgres();
    onTestFinished(() => server.stop());
    if (server.crash === undefined) return skip('the server at DATABASE_URL is not ours to stop');
    const url = await server.createDatabase();
    const { database } = await open({ url, patienceMs: 1_000 });
    const asked = database.repeatAlone((sql) => sql`select pg_sleep(600)`);
    const outcome = expect(asked).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    // One after another: the first of these is answered when the other one is at work.
    await database.repeat((sql) => sql`select 1`);
    await server.crash();
    const starting = await startStarting(Number(new URL(url).port));
    await outcome;
    // 50, 100, 200, 400 ms apart; with what a pool may try besides.
    expect(starting.asked()).toBeLessThan(30);
  });
});

describePostgres('a connection that listens to a Postgres server', () => {
  it.each([1, 2])('and is lost with its statement, before %i refusals, listens again', async (refusals) => {
    const server = await startPostgres();
    onTestFinished(() => server.stop());
    const url = new URL(await server.createDatabase());
    // As on a machine so busy that no attempt comes soon after another one.
    let clock = performance.now();
    const now = vi.spyOn(performance, 'now').mockImplementation(() => {
      clock += 1_000;
      return clock;
    });
    onTestFinished(() => now.mockRestore());
    const between = await startBetween(Number(url.port), refusals);
    url.port = String(between.port);
    const { database } = await open({ url: url.href });
    const heard = firstValueFrom(
      database.notifications('news').pipe(
        concatMap(async (notified) => {
          // Nothing else speaks to the database when the connection that listens does.
          if (notified.kind === 'listening') await database.repeat((sql) => sql`select pg_notify('news', 'is heard')`);
          return notified.kind === 'notification' ? notified.payload : '';
        }),
        filter((payload) => payload !== ''),
      ),
    );
    expect(await heard).toBe('is heard');
    expect(between.refused()).toBe(refusals);
  });

  it('is closed with its database', async () => {
    const server = await startPostgres();
    onTestFinished(() => server.stop());
    const { database } = await open({ url: await server.createDatabase() });
    const told: string[] = [];
    await new Promise<void>((resolve) => {
      database.notifications('news').subscribe({
        next: ({ kind }) => {
          told.push(kind);
          void database.close();
        },
        complete: resolve,
      });
    });
    expect(told).toEqual(['listening']);
  });
});

/**
 * What stands between a Postgres server and its clients: ends the first connection that listens when it asks for that, then says to as many clients as
 * asked for that the server starts.
 */
async function startBetween(port: number, refusals: number) {
  let isLost = false;
  let refused = 0;
  const between = createServer((client) => {
    client.on('error', () => {});
    if (isLost && refused < refusals) {
      refused += 1;
      client.once('data', () => client.end(startingMessage()));
      return;
    }
    const server = connect(port, '127.0.0.1');
    server.on('error', () => client.destroy());
    client.on('close', () => server.destroy());
    client.on('data', (bytes) => {
      if (!isLost && bytes.includes('listen "news"')) {
        isLost = true;
        client.destroy();
      } else {
        server.write(bytes);
      }
    });
    server.pipe(client);
  });
  between.listen(0, '127.0.0.1');
  await once(between, 'listening');
  onTestFinished(() => void between.close());
  return { port: (between.address() as AddressInfo).port, refused: () => refused };
}

/** A server that says to each client that it starts. */
async function startStarting(port: number) {
  let asked = 0;
  const server = createServer((socket) => {
    asked += 1;
    socket.on('error', () => {});
    socket.once('data', () => socket.end(startingMessage()));
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return { asked: () => asked };
}

/** What a Postgres server says to a client while it starts. */
function startingMessage(): Buffer {
  const fields = 'SFATAL\0VFATAL\0C57P03\0Mthe database system is starting up\0\0';
  const message = Buffer.alloc(5 + fields.length);
  message.write('E');
  message.writeUInt32BE(4 + fields.length, 1);
  message.write(fields, 5);
  return message;
}

it('a connection to the embedded database that is lost before its statement is written is made anew', async () => {
  await loseBeforeWriting({ image: await prepareDatabase(), patienceMs: 20_000 });
});
