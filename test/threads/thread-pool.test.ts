import { once } from 'node:events';
import type { Worker } from 'node:worker_threads';
import { firstValueFrom } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createThreadPool, type ThreadPool, type ThreadPoolOptions } from '../../src/threads/thread-pool.js';
import { type ThreadJob, type Threads, threadPerJob } from '../../src/threads/threads.js';
import type { Order } from './support/answering-thread.js';

const FILE = new URL('./support/answering-thread', import.meta.url);

const job = (data: Order) => ({
  file: FILE,
  message: () => ({ data }),
  unable: (why: string) => new Error(`Cannot: ${why}.`),
});
const ask = (threads: Threads, data: Order): Promise<unknown> => firstValueFrom(threads.run(job(data)));

const started: Worker[] = [];
const remember = (thread: Worker): void => {
  started.push(thread);
};
const pools: ThreadPool[] = [];
const open = (options: ThreadPoolOptions = {}): ThreadPool => {
  const pool = createThreadPool(options);
  pools.push(pool);
  return pool;
};

beforeEach(() => {
  process.on('worker', remember);
});

afterEach(async () => {
  process.off('worker', remember);
  await Promise.all(pools.splice(0).map((pool) => pool.close()));
  started.length = 0;
});

describe('createThreadPool', () => {
  it('does one job after another in a thread, and starts none before the first', async () => {
    const pool = open();
    expect(started).toHaveLength(0);
    expect([await ask(pool, { do: 'count' }), await ask(pool, { do: 'count' })]).toEqual([1, 2]);
    expect(started).toHaveLength(1);
  });

  it('uses a thread for so many jobs', async () => {
    const pool = open({ maxJobs: 2 });
    const counts: unknown[] = [];
    for (let count = 0; count < 4; count += 1) counts.push(await ask(pool, { do: 'count' }));
    expect(counts).toEqual([1, 2, 1, 2]);
  });

  it('ends a thread that waits for long', async () => {
    const pool = open({ idleMs: 1 });
    await ask(pool, { do: 'count' });
    await once(started[0] as Worker, 'exit');
    expect(await ask(pool, { do: 'count' })).toBe(1);
  });

  it('gives the errors of the work, and goes on with the thread', async () => {
    const pool = open();
    await expect(ask(pool, { do: 'fail' })).rejects.toThrow('Cannot: no way.');
    const refusal = { name: 'EngineError', code: 'FILE_UNREADABLE', message: 'not this', details: { a: 1 } };
    await expect(ask(pool, { do: 'refuse' })).rejects.toMatchObject(refusal);
    expect(await ask(pool, { do: 'count' })).toBe(3);
  });

  it.each<[Order['do'], Partial<ThreadJob>, string]>([
    ['loop', { timeoutMs: 50 }, 'Cannot: it takes more than 0.05 s.'],
    ['fill', {}, 'Cannot: it takes more than 32 MiB of memory.'],
    ['fill', { isLarge: true }, 'Cannot: it takes more than 128 MiB of memory.'],
    ['crash', {}, 'Cannot: thrown beside the work.'],
  ])(
    'ends a thread that has work to %s, says why, and takes another for the next job',
    async (what, extra, message) => {
      const pool = open({ heapBytes: 32 * 1_048_576 });
      const order = { do: what } as Order;
      await expect(firstValueFrom(pool.run({ ...job(order), ...extra }))).rejects.toThrow(message);
      expect(await ask(pool, { do: 'count' })).toBe(1);
      expect(started).toHaveLength(2);
    },
  );

  it('ends the thread of a job that is not wanted any more, before another takes its slot', async () => {
    const pool = open({ maxThreads: 1 });
    const exits: string[] = [];
    const looping = pool.run(job({ do: 'loop' })).subscribe({ error: () => {} });
    await once(process, 'worker');
    started[0]?.once('exit', () => exits.push('first'));
    const second = ask(pool, { do: 'count' }).then((count) => exits.push(`second ${count}`));
    looping.unsubscribe();
    await second;
    expect(exits).toEqual(['first', 'second 1']);
  });

  it('leaves a thread for another tenant', async () => {
    const pool = open({ maxThreads: 2, maxThreadsPerTenant: 1 });
    const [a, b] = [pool.forTenant('a'), pool.forTenant('b')];
    const first = a.run(job({ do: 'wait' })).subscribe({ error: () => {} });
    const second = ask(a, { do: 'echo', value: 'a' });
    expect(await ask(b, { do: 'echo', value: 'b' })).toBe('b');
    expect(await Promise.race([second, Promise.resolve('waits')])).toBe('waits');
    first.unsubscribe();
    expect(await second).toBe('a');
  });

  it('refuses what would wait behind too much', async () => {
    const pool = open({ maxThreads: 1, maxWaitingPerTenant: 1, maxWaiting: 2 });
    const [a, b, c] = ['a', 'b', 'c'].map((tenant) => pool.forTenant(tenant)) as [Threads, Threads, Threads];
    const running = [a, a].map((threads) => threads.run(job({ do: 'wait' })).subscribe({ error: () => {} }));
    const ofTenant = '1 files and documents of this tenant wait to be read or written already; try again later.';
    await expect(ask(a, { do: 'count' })).rejects.toMatchObject({
      code: 'LIMIT_REACHED',
      message: ofTenant,
      retryable: true,
    });
    running.push(b.run(job({ do: 'wait' })).subscribe({ error: () => {} }));
    const ofAll = '2 files and documents wait to be read or written already; try again later.';
    await expect(ask(c, { do: 'count' })).rejects.toMatchObject({ code: 'LIMIT_REACHED', message: ofAll });
    for (const one of running) one.unsubscribe();
  });

  it('makes the message of a job when a thread is free for it', async () => {
    const pool = open({ maxThreads: 1 });
    const made: string[] = [];
    const first = pool.run(job({ do: 'wait' })).subscribe({ error: () => {} });
    const waiting = firstValueFrom(
      pool.run({
        ...job({ do: 'count' }),
        message: () => {
          made.push('second');
          return { data: { do: 'count' } };
        },
      }),
    );
    await once(process, 'worker');
    expect(made).toEqual([]);
    first.unsubscribe();
    expect(await waiting).toBe(1);
    expect(made).toEqual(['second']);
  });

  it('refuses everything once it is closed', async () => {
    const pool = open({ maxThreads: 1 });
    const running = expect(ask(pool, { do: 'loop' })).rejects.toThrow('Cannot: its thread ended early.');
    const waiting = expect(ask(pool, { do: 'count' })).rejects.toMatchObject({ code: 'LIMIT_REACHED' });
    await once(process, 'worker');
    await pool.close();
    await Promise.all([running, waiting]);
    await expect(ask(pool, { do: 'count' })).rejects.toMatchObject({ code: 'LIMIT_REACHED' });
  });

  it.each(['maxThreads', 'maxThreadsPerTenant', 'maxJobs', 'timeoutMs', 'heapBytes'])('refuses a %s of 0', (name) => {
    expect(() => createThreadPool({ [name]: 0 })).toThrow(
      `createThreadPool: "${name}" must be at least 1; received 0.`,
    );
  });
});

describe('threadPerJob', () => {
  it('ends each thread with its job', async () => {
    const exit = once(process, 'worker').then(([thread]) => once(thread as Worker, 'exit'));
    expect(await ask(threadPerJob, { do: 'count' })).toBe(1);
    await exit;
    expect(await ask(threadPerJob, { do: 'count' })).toBe(1);
  });
});
