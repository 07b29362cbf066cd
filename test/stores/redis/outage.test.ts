import { firstValueFrom } from 'rxjs';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Redis } from '../../../src/stores/redis/redis.js';
import { type OpenStores, storesOpener } from './support/open-stores.js';
import { checkpointOf, eventsOf, freshId, NO_BOUNDS, runRecord } from './support/records.js';
import { describeOwnRedis, type RedisServer, startRedisServer } from './support/redis-server.js';

const RUNS = 20;
const STEPS = 60;
/** Of one command, where it is to run out: what a Redis that answers never takes, on a machine that is busy neither. */
const LIMIT_MS = 5_000;

describeOwnRedis('an outage of Redis', () => {
  const opener = storesOpener();
  let server: RedisServer;

  beforeEach(async () => {
    server = await startRedisServer();
  });
  afterEach(async () => {
    await opener.close();
    await server.dispose();
  });

  /** One run: events, and a snapshot now and then; `onShown` is called with the last event that is stored for sure. */
  async function write({ log, runs }: OpenStores, id: string, onShown: (seq: number) => void): Promise<void> {
    await runs.save('t', runRecord({ id }));
    await log.append('t', id, { events: [], snapshot: checkpointOf(id, { step: 0 }) });
    for (let step = 1; step <= STEPS; step += 1) {
      const snapshot = { ...checkpointOf(id, { step }), seq: 3 * step - 1 };
      const events = eventsOf(3 * step - 2, 3 * step - 1);
      await log.append('t', id, { events, ...(step % 25 === 0 && { snapshot }) });
      onShown(3 * step - 1);
      await log.append('t', id, { events: eventsOf(3 * step, 3 * step) });
      onShown(3 * step);
    }
    await runs.save('t', runRecord({ id, status: 'succeeded' }));
  }

  it.each([1, 2, 3])('that is short delays runs, and nothing is lost or doubled (%i)', async () => {
    const stores = opener.open(server.url);
    const ids = Array.from({ length: RUNS }, freshId);
    const half = counter(RUNS * STEPS);
    const writing = Promise.all(ids.map((id) => write(stores, id, half.count)));
    await half.reached;
    await server.kill();
    await server.start();
    await writing;
    for (const id of ids) {
      expect(await stores.log.read('t', id, 0, NO_BOUNDS)).toEqual(eventsOf(1, 3 * STEPS));
      expect(await stores.log.snapshot('t', id)).toEqual({ ...checkpointOf(id, { step: 50 }), seq: 149 });
      expect(await stores.runs.find('t', id)).toMatchObject({ status: 'succeeded' });
    }
    expect(stores.told).toContain('connected to Redis again');
  });

  it('that lasts makes runs fail with a clear error; what was confirmed is there afterwards, and work goes on', async () => {
    const stores = opener.open(server.url, { commandTimeoutMs: LIMIT_MS });
    const ids = Array.from({ length: RUNS }, freshId);
    const shown = new Map(ids.map((id) => [id, 0]));
    const half = counter(RUNS * STEPS);
    const writing = Promise.allSettled(
      ids.map((id) =>
        write(stores, id, (seq) => {
          shown.set(id, seq);
          half.count();
        }),
      ),
    );
    await half.reached;
    await server.kill();
    const results = await writing;
    await server.start();
    await connected(stores.redis);
    for (const [at, id] of ids.entries()) {
      expect(results[at]).toMatchObject({ status: 'rejected', reason: { code: 'STORE_UNAVAILABLE', retryable: true } });
      const last = shown.get(id) ?? 0;
      const kept = (await stores.log.read('t', id, 0, NO_BOUNDS)) ?? [];
      expect(kept).toEqual(eventsOf(1, kept.length));
      expect(kept.length).toBeGreaterThanOrEqual(last);
      // The run's last event follows what it has shown, whatever became of the write that failed.
      await stores.log.append('t', id, { events: eventsOf(last + 1, last + 1, 'the end') });
      const ended = [...eventsOf(1, last), ...eventsOf(last + 1, last + 1, 'the end')];
      expect(await stores.log.read('t', id, 0, NO_BOUNDS)).toEqual(ended);
    }
  });

  it('does not let a command that has failed be done afterwards', async () => {
    const { redis, ask } = opener.open(server.url, { commandTimeoutMs: LIMIT_MS });
    await redis.ready();
    await server.kill();
    await expect(ask('INCR', 'count')).rejects.toMatchObject({ retryable: true, details: { sent: false } });
    await server.start();
    await connected(redis);
    expect(await ask('GET', 'count')).toBeNull();
  });

  it('does not keep watchers from hearing of cancels and messages afterwards', async () => {
    const [working, asking] = [opener.open(server.url), opener.open(server.url)];
    const [task, channel] = [freshId(), freshId()];
    const cancelled = firstValueFrom(working.signals.cancelOf(task), { defaultValue: 'ended' });
    const message = firstValueFrom(working.signals.messages(channel));
    await working.redis.ready();
    await server.kill();
    await server.start();
    await listened(working.redis, channel);
    await asking.signals.publish(channel, 'hello');
    expect(await message).toBe('hello');
    await asking.signals.requestCancel(task);
    expect(await cancelled).toBeUndefined();
  });
});

/** Resolves when `count` was called `total` times. */
function counter(total: number): { readonly reached: Promise<void>; count(): void } {
  let left = total;
  let reach: () => void = () => {};
  const reached = new Promise<void>((resolve) => {
    reach = resolve;
  });
  return {
    reached,
    count() {
      left -= 1;
      if (left === 0) reach();
    },
  };
}

/** Resolves when commands are answered again. */
async function connected(redis: Redis): Promise<void> {
  while (
    !(await redis.ready().then(
      () => true,
      () => false,
    ))
  );
}

/** Resolves when a connection listens to a channel and nothing is missed any more. */
function listened(redis: Redis, channel: string): Promise<void> {
  return new Promise((resolve) => {
    const stop = redis.channels.listen(channel, {
      received: () => {},
      listening: () => {
        resolve();
        queueMicrotask(() => stop());
      },
    });
  });
}
