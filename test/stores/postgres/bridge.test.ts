import { once } from 'node:events';
import net from 'node:net';
import path from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { PGlite } from '@electric-sql/pglite';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openBridge, type ProtocolServer } from '../../../src/stores/postgres/embedded/bridge.js';
import { URGENT_APPLICATION } from '../../../src/stores/postgres/embedded/wire.js';
import { makeFolder, removeFolder } from '../support/temporary-folder.js';

describe('the bridge to a database with one session', () => {
  let folder: string;
  let socket: string;
  let db: PGlite;
  let server: net.Server;
  const broken: unknown[] = [];
  const clients: postgres.Sql[] = [];
  const connect = (max: number): postgres.Sql => {
    const sql = postgres({
      path: socket,
      host: 'localhost',
      user: 'postgres',
      database: 'postgres',
      max,
      fetch_types: false,
    });
    clients.push(sql);
    return sql;
  };

  beforeAll(async () => {
    folder = await makeFolder();
    socket = path.join(folder, 'socket');
    db = await PGlite.create();
    server = await openBridge(db, { path: socket, onBroken: (error) => broken.push(error) });
    const sql = connect(1);
    await sql`create table counters (id int primary key, value int not null)`;
    await sql`insert into counters values (1, 0)`;
    await sql`create table rows (id int primary key)`;
  });
  afterAll(async () => {
    await Promise.all(clients.map((sql) => sql.end({ timeout: 1 })));
    server.close();
    await db.close();
    await removeFolder(folder);
    expect(broken).toEqual([]);
  });

  it('keeps nothing of answers that were sent', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const sql = connect(1);
    const ask = () => sql`select repeat('x', 1000000)`;
    await ask();
    collect();
    const before = process.memoryUsage().heapUsed;
    for (let asked = 0; asked < 40; asked += 1) await ask();
    collect();
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(10_000_000);
  });

  it.each([1, 2, 8])('keeps transactions of %i connections apart', async (max) => {
    const sql = connect(max);
    await sql`update counters set value = 0`;
    await Promise.all(
      Array.from({ length: 100 }, () =>
        sql.begin(async (transaction) => {
          const [row] = await transaction`select value from counters where id = 1`;
          await transaction`update counters set value = ${row?.value + 1} where id = 1`;
        }),
      ),
    );
    expect(await sql`select value from counters`).toEqual([{ value: 100 }]);
  });

  it('rolls a failed transaction back and serves the others', async () => {
    const sql = connect(4);
    const results = await Promise.allSettled(
      Array.from({ length: 40 }, (_, at) =>
        sql.begin(async (transaction) => {
          await transaction`insert into rows values (${at})`;
          if (at % 2 === 0) await transaction`select 1 / 0`;
        }),
      ),
    );
    expect(results.filter(({ status }) => status === 'rejected')).toHaveLength(20);
    expect(await sql`select count(*)::int as count from rows`).toEqual([{ count: 20 }]);
  });

  it('rolls back what a connection leaves behind', async () => {
    const sql = connect(1);
    const client = await rawClient(socket);
    client.say('begin', 'insert into rows values (1000)');
    await client.heard('INSERT');
    // Waits until the transaction of the other is over, which is when its socket breaks.
    const next = sql`select count(*)::int as count from rows where id = 1000`;
    client.socket.destroy();
    expect(await next).toEqual([{ count: 0 }]);
  });

  it('ends an exchange that a connection leaves in the middle', async () => {
    const sql = connect(1);
    const client = await rawClient(socket);
    // Parse and Flush, but no Sync.
    client.socket.write(Buffer.concat([frame('P', '\0select 1\0\0\0'), frame('H', '')]));
    await client.heard('1');
    const next = sql`select 2 as two`;
    client.socket.destroy();
    expect(await next).toEqual([{ two: 2 }]);
  });

  it('serves an urgent connection before others that wait, and one of those before the urgent one again', async () => {
    const order: string[] = [];
    const answers: (() => void)[] = [];
    const asked = Buffer.concat([frame('C', 'SELECT 1\0'), frame('Z', 'I')]);
    const slow: ProtocolServer = {
      async execProtocolRawStream(messages, { onRawData }) {
        const name = Buffer.from(messages).toString('latin1', 5, messages.length - 1);
        if (messages[0] === 'Q'.charCodeAt(0)) {
          order.push(name);
          await new Promise<void>((resolve) => answers.push(resolve));
        }
        onRawData(asked);
      },
    };
    const sockets: net.Socket[] = [];
    const slowServer = await openBridge(slow, { path: path.join(folder, 'slow'), onBroken: fail });
    slowServer.on('connection', (one) => sockets.push(one));
    const connectTo = async (application?: string) => {
      const client = await rawClient(path.join(folder, 'slow'), application);
      return { client, server: sockets.at(-1) as net.Socket };
    };
    const [first, second, third] = [await connectTo(), await connectTo('runnel'), await connectTo()];
    const urgent = await connectTo(URGENT_APPLICATION);
    /** Says queries, and waits until the bridge has read them. */
    const say = async ({ client, server: end }: typeof first, ...queries: string[]) => {
      const until = end.bytesRead + queries.join('').length + 6 * queries.length;
      client.say(...queries);
      while (end.bytesRead < until) await nextTurn();
      await nextTurn();
    };
    await say(first, 'at work');
    await say(second, 'second');
    await say(third, 'third');
    await say(urgent, 'urgent', 'urgent again');
    for (let answered = 0; answered < 5; answered += 1) {
      while (answers.length === 0) await nextTurn();
      answers.shift()?.();
    }
    expect(order).toEqual(['at work', 'urgent', 'second', 'urgent again', 'third']);
    for (const { client } of [first, second, third, urgent]) client.socket.destroy();
    await new Promise((resolve) => slowServer.close(resolve));
  });

  it('passes a statement of 20 MB and its answer', async () => {
    const sql = connect(1);
    const text = 'x'.repeat(20_000_000);
    const [row] = await sql`select ${text}::text as text`;
    expect(row?.text.length).toBe(text.length);
  });
});

function fail(error: unknown): never {
  throw error;
}

function frame(type: string, body: string): Buffer {
  const head = Buffer.alloc(5);
  head.write(type);
  head.writeUInt32BE(4 + body.length, 1);
  return Buffer.concat([head, Buffer.from(body)]);
}

/** A client without a driver, so that it can misbehave. */
async function rawClient(
  socketPath: string,
  application = 'test',
): Promise<{
  readonly socket: net.Socket;
  readonly say: (...queries: string[]) => void;
  readonly heard: (part: string) => Promise<void>;
}> {
  const socket = net.connect(socketPath);
  let answer = '';
  socket.on('data', (chunk: Buffer) => {
    answer += chunk.toString('latin1');
  });
  const heard = async (part: string): Promise<void> => {
    while (!answer.includes(part)) await once(socket, 'data');
    answer = '';
  };
  const parameters = `user\0postgres\0database\0postgres\0application_name\0${application}\0\0`;
  const start = Buffer.alloc(8);
  start.writeUInt32BE(8 + parameters.length, 0);
  start.writeUInt32BE(196_608, 4);
  socket.write(Buffer.concat([start, Buffer.from(parameters)]));
  await heard('Z\0\0\0\u0005I');
  return {
    socket,
    say: (...queries) => socket.write(Buffer.concat(queries.map((query) => frame('Q', `${query}\0`)))),
    heard,
  };
}
