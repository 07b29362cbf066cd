/** What a wrong key or a wrong id costs the server: little, and nothing at all beyond a limit. */
import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createMemoryStores } from '../../../src/stores/memory-stores.js';
import { documentOf } from '../support/documents.js';
import { connect, refused } from '../support/live-client.js';
import { startServer, type TestServer } from '../support/server.js';

const ACME = 'one-of-acme-long-key';
const OTHER = 'two-of-others-long-key';
const KEYS = { RUNNEL_API_KEYS: `acme=${ACME},other=${OTHER}` };
const AGENTS = '/api/v1/agents';
const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
const madeKey = () => `ragflow-${randomBytes(32).toString('base64url')}`;
const pageKey = () => randomBytes(24).toString('base64url');

const HOOK = documentOf({
  begin: ['Begin', ['Message:A'], { mode: 'Webhook', security: { auth_type: 'none', allow_anonymous: true } }],
  'Message:A': ['Message', [], { content: ['x'] }],
});

/** A server that counts what is asked of its stores about keys and agents. */
async function startCounting(env: Readonly<Record<string, string>> = {}) {
  const stores = createMemoryStores();
  const asked: string[] = [];
  const server = await startServer({
    env: { ...KEYS, ...env },
    stores: {
      ...stores,
      tokens: {
        ...stores.tokens,
        findByToken: (token) => {
          asked.push('token');
          return stores.tokens.findByToken(token);
        },
        findByBeta: (beta) => {
          asked.push('page');
          return stores.tokens.findByBeta(beta);
        },
      },
      agents: {
        ...stores.agents,
        find: (tenant, id) => {
          asked.push('agent');
          return stores.agents.find(tenant, id);
        },
        ownersOf: (id, among) => {
          asked.push('owners');
          return stores.agents.ownersOf(id, among);
        },
      },
    },
  });
  return { ...server, asked };
}

const list = ({ call }: TestServer, key: string, headers = {}) =>
  call('GET', AGENTS, undefined, { ...bearer(key), ...headers });

describe('a wrong key', () => {
  it('is not looked up unless it looks like one that this server made', async () => {
    const server = await startCounting();
    for (const key of [pageKey(), 'x', `ragflow-${'a'.repeat(42)}`, `ragflow-${'a'.repeat(44)}`, `${madeKey()} x`]) {
      expect((await list(server, key)).status, key).toBe(401);
    }
    expect(server.asked).toEqual([]);
    const bot = await server.call('GET', '/api/v1/agentbots/x/inputs', undefined, bearer('not-32-characters'));
    expect(bot.body.code).toBe(102);
    expect(server.asked).toEqual([]);
    expect((await list(server, madeKey())).status).toBe(401);
    expect(server.asked).toEqual(['token']);
  });

  it('is looked up once, however often it comes', async () => {
    const server = await startCounting();
    const key = madeKey();
    for (let count = 0; count < 5; count += 1) expect((await list(server, key)).status).toBe(401);
    const other = madeKey();
    await Promise.all(Array.from({ length: 20 }, () => list(server, other)));
    expect(server.asked).toEqual(['token', 'token']);
  });

  it('is refused without a look-up, whatever it is, when its address has sent too many', async () => {
    const server = await startCounting({ RUNNEL_REFUSALS_PER_MINUTE: '5' });
    expect((await list(server, ACME)).status).toBe(200);
    server.asked.length = 0;
    const answers = await Promise.all(Array.from({ length: 30 }, () => list(server, madeKey())));
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 401)).toHaveLength(5);
    expect(statuses.filter((status) => status === 429)).toHaveLength(25);
    expect(server.asked).toHaveLength(5);
    const late = await list(server, madeKey());
    expect(late).toMatchObject({ status: 429, body: { code: 103 } });
    expect(Number(late.headers.get('retry-after'))).toBeGreaterThan(0);
    // A guess that is right must not be told from one that is wrong any more.
    expect((await list(server, OTHER)).status).toBe(429);
    // What was let in before from there stays: a neighbour's guesses shut nobody out.
    expect((await list(server, ACME)).status).toBe(200);
  });

  it('counts for its address alone, which a trusted proxy names', async () => {
    const server = await startCounting({ RUNNEL_REFUSALS_PER_MINUTE: '2', RUNNEL_TRUSTED_PROXIES: '127.0.0.1' });
    const from = (address: string, key = madeKey()) => list(server, key, { 'x-forwarded-for': address });
    for (const status of [401, 401, 429]) expect((await from('192.0.2.1')).status).toBe(status);
    expect((await from('192.0.2.2', ACME)).status).toBe(200);
    expect((await from('192.0.2.2')).status).toBe(401);
    // The network of an IPv6 client is one address: it has 2^64 of them.
    for (const [host, status] of [
      ['1', 401],
      ['2', 401],
      ['3', 429],
    ] as const) {
      expect((await from(`2001:db8::${host}`)).status).toBe(status);
    }
    expect((await from('2001:db8:0:1::1')).status).toBe(401);
  });

  it('counts the same on WebSockets, chat pages, MCP and the administration', async () => {
    const env = { RUNNEL_REFUSALS_PER_MINUTE: '4', RUNNEL_ADMIN_KEY: 'a-key-for-the-administrator' };
    const server = await startCounting(env);
    const agent = await server.agent(HOOK, bearer(ACME));
    const live = `${AGENTS}/${agent}/live`;
    expect((await refused(server.url, live, { headers: bearer(madeKey()) })).status).toBe(401);
    const late = await connect(server.url, agent);
    late.send({ type: 'auth', token: madeKey() });
    expect(await late.closed).toMatchObject({ code: 4401 });
    expect((await server.call('GET', `/api/v1/agentbots/${agent}/inputs`, undefined, bearer(pageKey()))).status).toBe(
      200,
    );
    const admin = () => server.call('GET', '/api/v1/admin/metrics', undefined, bearer('a-key-for-the-administraten'));
    expect((await admin()).status).toBe(401);
    server.asked.length = 0;
    expect((await admin()).status).toBe(429);
    expect((await server.call('GET', '/metrics', undefined, bearer('another'))).status).toBe(429);
    expect((await refused(server.url, live, { headers: bearer(madeKey()) })).status).toBe(429);
    const later = await connect(server.url, agent);
    later.send({ type: 'auth', token: madeKey() });
    expect(await later.closed).toMatchObject({ code: 4401 });
    expect((await server.call('POST', '/api/v1/mcp', {}, bearer(madeKey()))).status).toBe(429);
    expect((await server.call('GET', `/api/v1/agentbots/${agent}/inputs`, undefined, bearer(pageKey()))).status).toBe(
      429,
    );
    expect(server.asked).toEqual([]);
  });

  it('that was made is found as long as it is there, and no longer', async () => {
    const server = await startCounting();
    const { token } = (await server.call('POST', '/api/v1/system/tokens', {}, bearer(ACME))).body.data;
    await Promise.all(Array.from({ length: 5 }, async () => expect((await list(server, token)).status).toBe(200)));
    await server.call('DELETE', `/api/v1/system/tokens/${token}`, undefined, bearer(ACME));
    expect((await list(server, token)).status).toBe(401);
  });

  it('is no refusal while the store is away', async () => {
    const stores = createMemoryStores();
    const findByToken = () => Promise.reject(new Error('away'));
    const server = await startServer({
      env: { ...KEYS, RUNNEL_REFUSALS_PER_MINUTE: '1' },
      stores: { ...stores, tokens: { ...stores.tokens, findByToken } },
    });
    for (let count = 0; count < 3; count += 1) expect((await list(server, madeKey())).status).toBe(500);
  });
});

describe('the message that a page asks about', () => {
  it('is searched for once, and not at all beyond the limit of its address', async () => {
    const stores = createMemoryStores();
    let searches = 0;
    const runs: typeof stores.runs = {
      ...stores.runs,
      list: (tenant, query) => {
        searches += 1;
        return stores.runs.list(tenant, query);
      },
    };
    const env = { ...KEYS, RUNNEL_REFUSALS_PER_MINUTE: '3' };
    const server = await startServer({ env, stores: { ...stores, runs } });
    const agent = await server.agent(HOOK, bearer(ACME));
    const { beta } = (await server.call('POST', '/api/v1/system/tokens', {}, bearer(ACME))).body.data;
    const ask = (message: string) =>
      server.call('GET', `/api/v1/agentbots/${agent}/logs/${message}`, undefined, bearer(beta));
    for (const message of ['a', 'a', 'b']) expect((await ask(message)).body).toMatchObject({ code: 0, data: {} });
    expect(searches).toBe(2);
    expect((await ask('c')).status).toBe(429);
    expect(searches).toBe(2);
  });
});

describe('the id of a webhook', () => {
  it('is looked for without reading an agent, once, and not at all beyond the limit', async () => {
    const server = await startCounting({ RUNNEL_REFUSALS_PER_MINUTE: '3' });
    const id = await server.agent(HOOK, bearer(ACME));
    const hook = (name: string) => server.call('POST', `${AGENTS}/${name}/webhook`, {});
    expect((await hook(id)).status).toBe(200);
    server.asked.length = 0;
    for (let count = 0; count < 2; count += 1) {
      expect(await hook('f'.repeat(32))).toMatchObject({ status: 400, body: { message: 'Canvas not found.' } });
    }
    expect(server.asked).toEqual(['owners']);
    await hook('e'.repeat(32));
    server.asked.length = 0;
    expect((await hook('d'.repeat(32))).body.message).toMatch(/^Too many/);
    expect(server.asked).toEqual([]);
    expect((await hook(id)).status).toBe(200);
  });

  it('opens no agent of a tenant without a key, and none that two tenants have', async () => {
    const server = await startCounting();
    const id = await server.agent(HOOK, bearer(ACME));
    const agent = await server.stores.agents.find('acme', id);
    const hook = (name: string) => server.call('POST', `${AGENTS}/${name}/webhook`, {});
    await server.stores.agents.insert('gone', { ...(agent as NonNullable<typeof agent>), id: 'left-behind' });
    expect((await hook('left-behind')).status).toBe(400);
    await server.stores.agents.insert('other', agent as NonNullable<typeof agent>);
    expect((await hook(id)).status).toBe(400);
  });
});
