import { expect, it } from 'vitest';
import { createMemoryStores } from '../../src/stores/memory-stores.js';
import { startServer } from './support/server.js';

const ROUTES = JSON.stringify({
  factories: { Fake: { base_url: 'http://127.0.0.1:9/v1', models: ['a', 'b'] } },
  routes: { chat: ['a@Fake', 'b@Fake'] },
});

it('tells how the database, the models and the breakers are', async () => {
  const indexSizes = () => ({ open: 2, passages: 30, lacking: 4 });
  const { call } = await startServer({ models: ROUTES, indexSizes, documentsWaiting: async () => 3 });
  const { status, body } = await call('GET', '/healthz');
  expect(status).toBe(200);
  expect(body.data).toEqual({
    status: 'ok',
    database: { status: 'ok', ms: expect.any(Number) },
    index: { open: 2, passages: 30, documents_waiting: 3, passages_without_vector: 4 },
    models: { scripted: false, providers: ['Fake'] },
    breakers: [
      { target: 'a@Fake', state: 'closed' },
      { target: 'b@Fake', state: 'closed' },
    ],
  });
});

it.each([
  ['silent', () => new Promise<never>(() => {})],
  ['away', () => Promise.reject(new Error('gone'))],
])('does not know how many documents wait while their store is %s', async (_, documentsWaiting) => {
  const { call } = await startServer({ indexSizes: () => ({ open: 0, passages: 0 }), documentsWaiting });
  const { status, body } = await call('GET', '/healthz');
  expect(status).toBe(200);
  expect(body.data).toMatchObject({ status: 'ok', index: { open: 0, passages: 0, documents_waiting: null } });
});

it('answers while the database does not, and says that something is amiss', async () => {
  const stores = createMemoryStores();
  const failing = { ...stores.agents, find: () => Promise.reject(new Error('gone')) };
  const failed = await startServer({ stores: { ...stores, agents: failing } });
  expect((await failed.call('GET', '/healthz')).body.data).toMatchObject({
    status: 'degraded',
    database: { status: 'failed' },
  });
  const silent = { ...stores.agents, find: () => new Promise<never>(() => {}) };
  const late = await startServer({ stores: { ...stores, agents: silent } });
  const { status, body } = await late.call('GET', '/healthz');
  expect({ status, data: body.data }).toMatchObject({
    status: 200,
    data: { status: 'degraded', database: { status: 'late' } },
  });
});

it('is degraded while a target is open', async () => {
  const env = { RUNNEL_ADMIN_KEY: 'administrator-key-of-16' };
  const { call } = await startServer({ models: ROUTES, env });
  const admin = { authorization: `Bearer ${env.RUNNEL_ADMIN_KEY}` };
  await call('POST', '/api/v1/chat/router', { target: 'a@Fake', state: 'open' }, admin);
  const { data } = (await call('GET', '/healthz')).body;
  expect(data).toMatchObject({ status: 'degraded', breakers: [{ target: 'a@Fake', state: 'open' }, {}] });
  const metrics = await call('GET', '/metrics');
  expect(metrics.body).toContain('runnel_model_breakers{target="a@Fake",state="open"} 1');
});

it('tells those without a valid key of a server with keys that it is alive, and asks nothing for that', async () => {
  const stores = createMemoryStores();
  let asked = 0;
  const agents = {
    ...stores.agents,
    find: (...args: Parameters<typeof stores.agents.find>) => {
      asked += 1;
      return stores.agents.find(...args);
    },
  };
  const { call } = await startServer({
    env: { RUNNEL_API_KEYS: 'ann=secret-key-of-ann' },
    now: () => 1_000_000,
    stores: { ...stores, agents },
  });
  for (const headers of [{}, { authorization: 'Bearer wrong' }]) {
    const { status, body } = await call('GET', '/healthz', undefined, headers);
    expect({ status, data: body.data }).toEqual({ status: 200, data: { status: 'ok' } });
  }
  expect(asked).toBe(0);
  const ann = { authorization: 'Bearer secret-key-of-ann' };
  for (let at = 0; at < 5; at += 1) {
    expect((await call('GET', '/healthz', undefined, ann)).body.data).toMatchObject({ database: { status: 'ok' } });
  }
  // Those that ask again within a second are told the same.
  expect(asked).toBe(1);
});
