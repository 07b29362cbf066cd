/** Two servers over one Redis: what one lets in counts for the other. */
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { createMemoryStores } from '../../../src/stores/memory-stores.js';
import { storesOpener } from '../../stores/redis/support/open-stores.js';
import { describeOwnRedis, type RedisServer, startRedisServer } from '../../stores/redis/support/redis-server.js';
import { documentOf } from '../support/documents.js';
import { startServer, type TestServer } from '../support/server.js';

const ENV = {
  RUNNEL_API_KEYS: 'acme=one-of-acme-long-key,other=two-of-others-long-key',
  RUNNEL_REQUESTS_PER_MINUTE: '4',
};
const OUTAGE = 'Redis does not count calls; until it does, each server counts its own';

describeOwnRedis('limits of two servers over one Redis', () => {
  const opener = storesOpener();
  let redis: RedisServer;

  beforeAll(async () => {
    redis = await startRedisServer();
  });
  beforeEach(async () => {
    const { ask } = opener.open(redis.url);
    await ask('FLUSHALL');
  });
  afterAll(async () => {
    await opener.close();
    await redis.dispose();
  });

  async function start() {
    const { createCounter, told, redis: connection } = opener.open(redis.url);
    await connection.ready();
    const server = await startServer({ env: ENV, stores: { ...createMemoryStores(), createCounter } });
    return { server, told };
  }

  const get = async ({ call }: TestServer, key = 'one-of-acme-long-key'): Promise<number> =>
    (await call('GET', '/api/v1/agents', undefined, { authorization: `Bearer ${key}` })).status;

  it('hold for a key, whichever server it calls', async () => {
    const [{ server: first }, { server: second }] = await Promise.all([start(), start()]);
    const statuses = [];
    for (const server of [first, second, first, second, first, second]) statuses.push(await get(server));
    expect(statuses).toEqual([200, 200, 200, 200, 429, 429]);
    expect(await get(second, 'two-of-others-long-key')).toBe(200);
  });

  it('hold for a webhook', async () => {
    const [{ server: first }, { server: second }] = await Promise.all([start(), start()]);
    const security = { auth_type: 'none', allow_anonymous: true, rate_limit: { limit: 2, per: 'hour' } };
    const begin = { mode: 'Webhook', methods: ['POST'], execution_mode: 'Immediately', security };
    const agent = await first.agent(
      documentOf({ begin: ['Begin', ['Message:A'], begin], 'Message:A': ['Message', [], { content: ['x'] }] }),
      { authorization: 'Bearer one-of-acme-long-key' },
    );
    // Both have the one that calls know the agent.
    await second.stores.agents.insert('acme', (await first.stores.agents.find('acme', agent)) as never);
    const codes = [];
    for (const server of [first, second, first]) {
      codes.push((await server.call('POST', `/api/v1/agents/${agent}/webhook`, {})).body.message);
    }
    expect(codes.map((message) => /rate limit/.test(String(message)))).toEqual([false, false, true]);
  });

  it('are those of each server while Redis is away, which is told once', async () => {
    const [first, second] = await Promise.all([start(), start()]);
    expect(await get(first.server)).toBe(200);
    await redis.kill();
    const statuses = [];
    for (let count = 0; count < 5; count += 1) statuses.push(await get(first.server));
    expect(statuses).toEqual([200, 200, 200, 200, 429]);
    expect(await get(second.server)).toBe(200);
    expect(first.told.filter((line) => line === OUTAGE)).toHaveLength(1);
    expect(first.server.errors).toEqual([]);
    await redis.start();
  });

  it('are those of each server while Redis gives no answers', async () => {
    const { server, told } = await start();
    const { ask } = opener.open(redis.url);
    await ask('CLIENT', 'PAUSE', 60_000, 'ALL');
    const statuses = [];
    for (let count = 0; count < 5; count += 1) statuses.push(await get(server));
    expect(statuses).toEqual([200, 200, 200, 200, 429]);
    expect(told.filter((line) => line === OUTAGE)).toHaveLength(1);
  });
});
