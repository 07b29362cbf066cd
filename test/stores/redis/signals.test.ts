import { firstValueFrom, type Observable, take, toArray } from 'rxjs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { storesOpener } from './support/open-stores.js';
import { freshId, runRecord } from './support/records.js';
import { anyRedis, describeRedis } from './support/redis-server.js';

describeRedis('signals in Redis', () => {
  const opener = storesOpener();
  let server: Awaited<ReturnType<typeof anyRedis>>;
  const open = (receivesCancels = true) => opener.open(server.url, {}, { receivesCancels });

  beforeAll(async () => {
    server = await anyRedis();
  });
  afterAll(async () => {
    await opener.close();
    await server.dispose();
  });

  /** Resolves with how often it emitted when it is complete. */
  const emissions = async (source$: Observable<unknown>) => (await firstValueFrom(source$.pipe(toArray()))).length;

  it('set the flag of the contract for 24 h, note it with the run, and clear it', async () => {
    const { signals, runs, leases, ask } = open();
    const [byId, bySession] = [runRecord(), runRecord()];
    for (const run of [byId, bySession]) await runs.save('t', run);
    const session = { name: `session:${bySession.sessionId}`, owner: 'a', data: { run: bySession.id } };
    await leases.acquire('t', session, 60_000);
    for (const task of [byId.id, bySession.sessionId]) {
      await signals.requestCancel(task);
      expect(await ask('GET', `${task}-cancel`)).toBe('x');
      expect(Number(await ask('PTTL', `${task}-cancel`))).toBeGreaterThan(23 * 60 * 60 * 1000);
    }
    for (const { id } of [byId, bySession]) expect(await ask('HGET', `agent:run:${id}`, 'cancel_requested')).toBe('1');
    await runs.save('t', byId);
    expect(await ask('HGET', `agent:run:${byId.id}`, 'cancel_requested')).toBe('1');
    await signals.clearCancel(byId.id);
    expect(await ask('EXISTS', `${byId.id}-cancel`)).toBe(0);
  });

  it.each([
    ['heard', true],
    ['seen by looking at the flag alone', false],
  ])('let a cancel be %s in another process, once', async (_how, receivesCancels) => {
    const [asking, working, tasks] = [open(), open(receivesCancels), Array.from({ length: 5 }, freshId)];
    const watched = tasks.map((task) => emissions(working.signals.cancelOf(task)));
    await Promise.all(tasks.map((task) => asking.signals.requestCancel(task)));
    expect(await Promise.all(watched)).toEqual([1, 1, 1, 1, 1]);
  });

  it('see a cancel that was requested before, also by RAGFlow', async () => {
    const { signals, ask } = open(false);
    const task = freshId();
    await ask('SET', `${task}-cancel`, 'x');
    expect(await emissions(signals.cancelOf(task))).toBe(1);
  });

  it('tell everybody who watches a task, and nobody who watches another', async () => {
    const { signals } = open();
    const [task, other] = [freshId(), freshId()];
    let wasOtherTold = false;
    const watching = signals.cancelOf(other).subscribe(() => {
      wasOtherTold = true;
    });
    const all = [1, 2, 3].map(() => emissions(signals.cancelOf(task)));
    await signals.requestCancel(task);
    expect(await Promise.all(all)).toEqual([1, 1, 1]);
    expect(wasOtherTold).toBe(false);
    watching.unsubscribe();
  });

  it('stop looking and listening when nobody watches', async () => {
    const { signals, redis, ask } = open();
    const subscription = signals.cancelOf(freshId()).subscribe();
    await redis.channels.settled();
    const listeners = Number(((await ask('PUBSUB', 'NUMSUB', 'agent:cancel')) as unknown[])[1]);
    subscription.unsubscribe();
    await listening(ask, 'agent:cancel', listeners - 1);
  });

  it('end when Redis is closed, also for those who ask afterwards', async () => {
    const { signals, redis } = open();
    const sources = [signals.cancelOf(freshId()), signals.messages(freshId())];
    const before = sources.map((source$) => emissions(source$));
    await redis.close();
    expect(await Promise.all([...before, ...sources.map((source$) => emissions(source$))])).toEqual([0, 0, 0, 0]);
  });

  it('bring messages to every listener over one subscription, in order', async () => {
    const [a, b, channel] = [open(), open(), freshId()];
    const heard = [1, 2].map(() => firstValueFrom(a.signals.messages(channel).pipe(take(3), toArray())));
    await a.redis.channels.settled();
    expect(await b.ask('PUBSUB', 'NUMSUB', channel)).toEqual([channel, 1]);
    for (const message of ['1', '2', '3']) await b.signals.publish(channel, message);
    expect(await Promise.all(heard)).toEqual([
      ['1', '2', '3'],
      ['1', '2', '3'],
    ]);
    await listening(b.ask, channel, 0);
  });

  it('bring a message to who began to listen in the same process just before', async () => {
    const { signals } = open();
    const channel = freshId();
    const heard = firstValueFrom(signals.messages(channel));
    await signals.publish(channel, 'hello');
    expect(await heard).toBe('hello');
  });
});

/** Resolves when a channel has as many connections as expected. */
async function listening(
  ask: (name: string, ...args: string[]) => Promise<unknown>,
  channel: string,
  expected: number,
): Promise<void> {
  for (;;) {
    const [, count] = (await ask('PUBSUB', 'NUMSUB', channel)) as [string, number];
    if (count === expected) return;
  }
}
