import { describe, expect, it } from 'vitest';
import { createMemoryStores } from '../../../src/stores/memory-stores.js';
import { ECHO } from '../support/documents.js';
import { namesOf, openStream } from '../support/event-stream.js';
import { startServer } from '../support/server.js';

const KEYS = { RUNNEL_API_KEYS: 'acme=one-of-acme-long-key,other=two-of-others-long-key' };
const acme = { authorization: 'Bearer one-of-acme-long-key' };
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

async function startWithTokens() {
  const server = await startServer({ env: KEYS });
  const [bound, free] = [await server.agent(ECHO, acme), await server.agent(ECHO, acme)];
  const make = async (body: object) => (await server.call('POST', '/api/v1/system/tokens', body, acme)).body.data;
  return { ...server, bound, free, ofOne: await make({ agent_id: bound }), ofAll: await make({}) };
}

describe('keys that tenants make', () => {
  it('open the API until they are deleted', async () => {
    const { call, ofAll, bound } = await startWithTokens();
    expect(ofAll).toMatchObject({
      tenant_id: 'acme',
      token: expect.stringMatching(/^ragflow-[\w-]{43}$/),
      beta: expect.stringMatching(/^[\w-]{32}$/),
      update_time: null,
    });
    const read = () => call('GET', `/api/v1/agents/${bound}`, undefined, bearer(ofAll.token));
    expect((await read()).body.data.id).toBe(bound);
    expect((await call('GET', '/api/v1/system/tokens', undefined, acme)).body.data).toHaveLength(2);
    expect((await call('GET', '/api/v1/system/tokens', undefined, bearer('two-of-others-long-key'))).body.data).toEqual(
      [],
    );
    const path = `/api/v1/system/tokens/${ofAll.token}`;
    expect((await call('DELETE', path, undefined, bearer('two-of-others-long-key'))).body.data).toBe(false);
    expect((await read()).status).toBe(200);
    expect((await call('DELETE', path, undefined, acme)).body.data).toBe(true);
    expect((await read()).status).toBe(401);
  });

  it('are shown once, stored as digests and listed without their middles', async () => {
    const { call, stores, ofAll } = await startWithTokens();
    const listed = (await call('GET', '/api/v1/system/tokens', undefined, acme)).body.data;
    expect(listed[0]).toMatchObject({
      token: `${ofAll.token.slice(0, 14)}${'*'.repeat(31)}${ofAll.token.slice(-6)}`,
      beta: `${ofAll.beta.slice(0, 4)}${'*'.repeat(24)}${ofAll.beta.slice(-4)}`,
      create_time: ofAll.create_time,
    });
    const stored = JSON.stringify(await stores.tokens.list('acme'));
    expect(stored).not.toContain(ofAll.token.slice(14, 45));
    expect(stored).not.toContain(ofAll.beta.slice(4, 28));
    const path = `/api/v1/system/tokens/${encodeURIComponent(listed[0].token)}`;
    expect((await call('DELETE', path, undefined, acme)).body.data).toBe(true);
    expect((await call('GET', '/api/v1/agents', undefined, bearer(ofAll.token))).status).toBe(401);
    // What a list shows opens nothing.
    expect((await call('GET', '/api/v1/agents', undefined, bearer(listed[1].token))).status).toBe(401);
  });

  it('cannot list, make or delete keys', async () => {
    const { call, ofAll } = await startWithTokens();
    for (const [method, path] of [
      ['GET', ''],
      ['POST', ''],
      ['DELETE', `/${ofAll.token}`],
    ] as const) {
      const body = method === 'GET' ? undefined : {};
      const answer = await call(method, `/api/v1/system/tokens${path}`, body, bearer(ofAll.token));
      expect(answer, method).toMatchObject({ status: 403, body: { code: 103, data: false } });
      expect(answer.body.message).toContain('RUNNEL_API_KEYS');
    }
    expect((await call('GET', '/api/v1/system/tokens', undefined, acme)).body.data).toHaveLength(2);
  });

  it('can be managed without any key on a server that has none', async () => {
    const { call } = await startServer();
    const { token } = (await call('POST', '/api/v1/system/tokens', {})).body.data;
    expect((await call('GET', '/api/v1/system/tokens')).body.data).toHaveLength(1);
    expect((await call('DELETE', `/api/v1/system/tokens/${token}`)).body.data).toBe(true);
  });

  it('are for agents of their tenant only', async () => {
    const { call, bound } = await startWithTokens();
    const answer = await call('POST', '/api/v1/system/tokens', { agent_id: bound }, bearer('two-of-others-long-key'));
    expect(answer.body.code).toBe(103);
  });
});

describe('keys of chat pages', () => {
  it('run their agent, streaming unless told not to, and show what it asks for', async () => {
    const { call, url, bound, ofOne } = await startWithTokens();
    const headers = bearer(ofOne.beta);
    const stream = await openStream(`${url}/api/v1/agentbots/${bound}/completions`, { body: { query: 'hi' }, headers });
    const names = namesOf(await stream.rest());
    expect(names.at(0)).toBe('workflow_started');
    expect(names.at(-1)).toBe('[DONE]');
    const body = { query: 'hi', stream: false };
    const answer = (await call('POST', `/api/v1/agentbots/${bound}/completions`, body, headers)).body;
    expect(answer).toMatchObject({ code: 0, data: { data: { content: 'you said hi', reference: {} } } });
    const inputs = (await call('GET', `/api/v1/agentbots/${bound}/inputs`, undefined, headers)).body.data;
    expect(inputs).toEqual({
      title: 'Agent 1',
      avatar: null,
      inputs: {},
      prologue: 'Welcome.',
      mode: 'conversational',
    });
    const logs = `/api/v1/agentbots/${bound}/logs/${answer.data.message_id}`;
    expect((await call('GET', logs, undefined, headers)).body.data).toHaveLength(2);
  });

  it('open their agent and no other, and nothing but what pages need', async () => {
    const { call, bound, free, ofOne, ofAll } = await startWithTokens();
    const bots = (id: string, key: string) => call('GET', `/api/v1/agentbots/${id}/inputs`, undefined, bearer(key));
    expect((await bots(free, ofOne.beta)).body).toEqual({ code: 102, message: `Can't find agent by ID: ${free}` });
    expect((await bots(free, ofAll.beta)).body.code).toBe(0);
    expect((await bots(free, 'one-of-acme-long-key')).body.code).toBe(0);
    expect((await bots(free, 'two-of-others-long-key')).body.code).toBe(102);
    expect(await bots(free, 'nothing')).toMatchObject({
      status: 200,
      body: { code: 102, message: 'Authorization is not valid!' },
    });
    for (const [method, path] of [
      ['GET', '/api/v1/agents'],
      ['GET', `/api/v1/agents/${bound}`],
      ['POST', `/api/v1/agents/${bound}/run`],
      ['GET', '/api/v1/system/tokens'],
      ['GET', '/api/v1/agents/attachments/x/preview'],
    ] as const) {
      const body = method === 'GET' ? undefined : {};
      expect((await call(method, path, body, bearer(ofOne.beta))).status, path).toBe(401);
    }
    expect((await call('POST', `/api/v1/agents/${bound}/upload`, {}, bearer(ofOne.beta))).body.code).toBe(101);
    expect((await call('POST', `/api/v1/agents/${free}/upload`, {}, bearer(ofOne.beta))).body.code).toBe(103);
    const download = '/api/v1/agents/attachments/x/download';
    expect((await call('GET', download, undefined, bearer(ofOne.beta))).body.code).toBe(102);
  });
});

describe('how often a key may call', () => {
  it('is limited for each key alone', async () => {
    const { call } = await startServer({ env: { ...KEYS, RUNNEL_REQUESTS_PER_MINUTE: '2' } });
    const get = (key: string) => call('GET', '/api/v1/agents', undefined, bearer(key));
    expect([(await get('one-of-acme-long-key')).status, (await get('one-of-acme-long-key')).status]).toEqual([
      200, 200,
    ]);
    const refused = await get('one-of-acme-long-key');
    expect(refused).toMatchObject({ status: 429, body: { code: 103, data: false } });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await get('two-of-others-long-key')).status).toBe(200);
    const openai = await call('POST', '/api/v1/agents_openai/x/chat/completions', {}, bearer('one-of-acme-long-key'));
    expect(openai).toMatchObject({ status: 429, body: { error: { type: 'server_error' } } });
  });

  it('is not limited without keys', async () => {
    const { call } = await startServer({ env: { RUNNEL_REQUESTS_PER_MINUTE: '1' } });
    for (let count = 0; count < 3; count += 1) expect((await call('GET', '/api/v1/agents')).status).toBe(200);
  });

  it('is refused when nobody can count', async () => {
    const createCounter = () => ({ count: () => Promise.reject(new Error('the counter is away')) });
    const { call, errors } = await startServer({ env: KEYS, stores: { ...createMemoryStores(), createCounter } });
    expect((await call('GET', '/api/v1/agents', undefined, acme)).status).toBe(429);
    expect(errors).toHaveLength(1);
  });
});

it("OpenAI's clients are told about a missing key in their own form", async () => {
  const { call } = await startServer({ env: KEYS });
  expect(await call('POST', '/api/v1/agents_openai/x/chat/completions', {})).toMatchObject({
    status: 401,
    body: { error: { type: 'authentication_error', message: 'Missing Authorization header' } },
  });
});
