import { afterEach, describe, expect, it } from 'vitest';
import { SILENT_LOG } from '../../../src/logger.js';
import { createRedis } from '../../../src/stores/redis/redis.js';
import { storesOpener } from './support/open-stores.js';
import { describeOwnRedis, startRedisServer } from './support/redis-server.js';

describe('createRedis', () => {
  it.each(['', 'localhost:6379', 'http://localhost', 'redis://', 'redis://:secret@'])('refuses the URL %o', (url) => {
    expect(() => createRedis({ url, log: SILENT_LOG })).toThrow(
      expect.objectContaining({ code: 'CONFIG_INVALID', message: expect.not.stringContaining('secret') }),
    );
  });

  it.each([
    { commandTimeoutMs: 99 },
    { commandTimeoutMs: Number.NaN },
    { maxPendingCommands: 0 },
    { maxPendingCommands: 1.5 },
  ])('refuses %o', (options) => {
    expect(() => createRedis({ url: 'redis://localhost', log: SILENT_LOG, ...options })).toThrow(
      expect.objectContaining({ code: 'OPTION_INVALID' }),
    );
  });
});

describe('without a server', () => {
  const opener = storesOpener();
  afterEach(() => opener.close());

  // A port that nobody may listen on without being root.
  const NOBODY = 'redis://user:secret@127.0.0.1:1';

  it('a command fails in time, and the error says where and why but no secret', async () => {
    // Long enough for the first attempts of both connections on a machine that is busy.
    const { redis, told } = opener.open(NOBODY, { commandTimeoutMs: 5_000 });
    const error = await redis.ready().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'STORE_UNAVAILABLE', retryable: true });
    expect(String(error)).toMatch(/Redis at 127\.0\.0\.1:1 did not do "PING".*5000 ms.*ECONNREFUSED.*REDIS_URL/);
    expect(String(error)).not.toContain('secret');
    // Once for each connection, however often it was tried.
    expect(told).toEqual(['Redis cannot be reached; trying again', 'Redis cannot be reached; trying again']);
  });

  it('no more commands wait than may', async () => {
    const { redis } = opener.open(NOBODY, { commandTimeoutMs: 60_000, maxPendingCommands: 2 });
    const waiting = [1, 2].map(() => redis.commands.send('PING', []));
    await expect(redis.commands.send('PING', [])).rejects.toThrow('2 others are waiting already');
    const ended = Promise.allSettled(waiting);
    await redis.close();
    for (const { status } of await ended) expect(status).toBe('rejected');
    await expect(redis.commands.send('PING', [])).rejects.toThrow('was closed');
  });
});

describeOwnRedis('with a server', () => {
  const opener = storesOpener();
  afterEach(() => opener.close());

  it('says what is wrong with a command, with a full memory and with settings that may lose runs', async () => {
    const server = await startRedisServer();
    const { redis, runs, ask, told } = opener.open(server.url);
    await redis.ready();
    expect(told).toEqual([]);
    await expect(ask('NO-SUCH-COMMAND')).rejects.toMatchObject({ code: 'INTERNAL', retryable: false });
    await ask('CONFIG', 'SET', 'maxmemory', '1');
    await expect(ask('SET', 'x', 'y')).rejects.toMatchObject({ code: 'LIMIT_REACHED' });
    expect(await runs.find('t', 'x')).toBeUndefined();
    await ask('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru');
    await ask('CONFIG', 'SET', 'appendonly', 'no');
    await redis.ready();
    expect(told).toEqual([expect.stringContaining('--appendonly yes'), expect.stringContaining('noeviction')]);
    await opener.close();
    await server.dispose();
  });
});
