import { describe, expect, it } from 'vitest';
import { startServer, type TestServer } from '../support/server.js';

const CHATS = '/api/v1/chats';
const KEYS = { RUNNEL_API_KEYS: 'one=key-of-one-0123456789abcdef,two=key-of-two-0123456789abcdef' };
const ONE = { authorization: 'Bearer key-of-one-0123456789abcdef' };
const TWO = { authorization: 'Bearer key-of-two-0123456789abcdef' };

/** Two providers and none by default: a model that neither has does not exist. */
const MODELS = JSON.stringify({
  factories: {
    First: { base_url: 'http://127.0.0.1:9/v1', models: ['talker'] },
    Second: { base_url: 'http://127.0.0.1:9/v1', models: ['ranker'] },
  },
  routes: { chat: { targets: ['talker@First'] } },
});

const create = async ({ call }: TestServer, name: string, more: object = {}, headers?: Record<string, string>) => {
  const { body } = await call('POST', CHATS, { name, ...more }, headers);
  expect(body).toMatchObject({ code: 0 });
  return body.data;
};
const names = async ({ call }: TestServer, query = '') => {
  const { body } = await call('GET', `${CHATS}?${query}`);
  return body.data.chats.map(({ name }: { readonly name: string }) => name);
};

describe('assistants', () => {
  it('are created with defaults under the names that clients read', async () => {
    const server = await startServer();
    const made = await create(server, ' Helper ');
    expect(made).toMatchObject({
      name: 'Helper',
      description: 'A helpful Assistant',
      icon: '',
      dataset_ids: [],
      kb_names: [],
      llm_setting: {},
      prompt_config: { parameters: [{ key: 'knowledge', optional: false }], quote: true },
      similarity_threshold: 0.1,
      vector_similarity_weight: 0.3,
      top_n: 6,
      top_k: 1024,
      rerank_id: '',
      prompt_type: 'simple',
      status: '1',
    });
    expect(made.llm_id).toBe(made.tenant_llm_id);
    expect((await server.call('GET', `${CHATS}/${made.id}`)).body.data).toEqual(made);
  });

  it('keep settings as they were sent, and read what is no number as 0', async () => {
    const server = await startServer();
    const llm_setting = { temperature: 'a', unknown: 1 };
    const prompt_config = { system: 123, empty_response: true, unknown: 'x', parameters: [] };
    const sent = { llm_setting, prompt_config, similarity_threshold: -1, vector_similarity_weight: 'a', top_n: 'a' };
    const made = await create(server, 'odd', sent);
    expect(made).toMatchObject({ ...sent, vector_similarity_weight: 0, top_n: 0 });
    expect(made.prompt_config.prologue).not.toBe('');
  });

  it.each([
    ['no name', {}, '`name` is required'],
    ['an empty name', { name: ' ' }, '`name` is required'],
    ['a name that is no text', { name: 1 }, 'chat name must be a string'],
    ['a long name', { name: 'ä'.repeat(128) }, 'chat name length is 256 which is larger than 255'],
    ['a tenant', { name: 'a', tenant_id: 't' }, '`tenant_id` must not be provided'],
    ['a name that is taken', { name: 'TAKEN' }, 'duplicated chat name in creating chat'],
    ['datasets that are no list', { name: 'a', dataset_ids: 'x' }, '`dataset_ids` should be a list.'],
    ['a dataset that is not there', { name: 'a', dataset_ids: ['x'] }, "You don't own the dataset x"],
    ['a model that is not there', { name: 'a', llm_id: 'x' }, "`llm_id` x doesn't exist"],
    ['a reranker that is not there', { name: 'a', rerank_id: 'x' }, "`rerank_id` x doesn't exist"],
    ['a prompt that is no object', { name: 'a', prompt_config: 'x' }, '`prompt_config` should be an object.'],
    [
      'two parameters of one name',
      { name: 'a', prompt_config: { parameters: [{ key: 'k' }, { key: 'k' }] } },
      '`parameters` contains duplicate key: k',
    ],
  ])('refuse %s with code 102', async (_name, body, message) => {
    const server = await startServer({ models: MODELS });
    await create(server, 'taken');
    expect((await server.call('POST', CHATS, body)).body).toEqual({ code: 102, message });
    expect(await names(server)).toEqual(['taken']);
  });

  it('are changed by PUT, which replaces prompts, and by PATCH, which merges them', async () => {
    const server = await startServer();
    const { id } = await create(server, 'a', { prompt_config: { prologue: 'Hi', quote: true } });
    const path = `${CHATS}/${id}`;
    const patched = await server.call('PATCH', path, { prompt_config: { quote: false }, llm_setting: { top_p: 0.5 } });
    expect(patched.body.data).toMatchObject({
      prompt_config: { prologue: 'Hi', quote: false },
      llm_setting: { top_p: 0.5 },
    });
    const put = await server.call('PUT', path, { name: 'b', prompt_config: { quote: true } });
    expect(put.body.data).toMatchObject({ name: 'b', prompt_config: { quote: true }, llm_setting: { top_p: 0.5 } });
    expect(put.body.data.prompt_config).not.toHaveProperty('prologue');
    expect((await server.call('PATCH', path, { name: '' })).body).toEqual({
      code: 102,
      message: '`name` cannot be empty',
    });
  });

  it('lose no change when many come at once', async () => {
    const server = await startServer();
    const { id } = await create(server, 'a');
    const keys = Array.from({ length: 12 }, (_, at) => `key_${at}`);
    const patch = (key: string) => server.call('PATCH', `${CHATS}/${id}`, { llm_setting: { [key]: key } });
    const answers = await Promise.all(keys.map(patch));
    expect(answers.map(({ body }) => body.code)).toEqual(keys.map(() => 0));
    const { body } = await server.call('GET', `${CHATS}/${id}`);
    expect(body.data.llm_setting).toEqual(Object.fromEntries(keys.map((key) => [key, key])));
  });

  it('refuse a prompt that is larger than a document may be, and take one that fits', async () => {
    const server = await startServer({ env: { RUNNEL_DOCUMENT_BYTES: '20000' } });
    await create(server, 'fits', { prompt_config: { system: 'x'.repeat(4_000) } });
    const { body } = await server.call('POST', CHATS, { name: 'b', prompt_config: { system: 'x'.repeat(30_000) } });
    expect(body).toMatchObject({ code: 101 });
    expect(body.message).toContain('20000 bytes');
  });

  it.each([
    ['', ['c', 'b', 'a']],
    ['orderby=name&desc=False', ['a', 'b', 'c']],
    ['keywords=B', ['b']],
    ['name=a&keywords=zzz', ['a']],
    ['id=unknown', []],
    ['page=2&page_size=2', ['a']],
    ['page=x&page_size=-1', ['c', 'b', 'a']],
    ['owner_ids=another', []],
    ['owner_ids=local', ['c', 'b', 'a']],
  ])('are listed with ?%s', async (query, expected) => {
    let time = 1_000;
    const server = await startServer({ now: () => (time += 1_000) });
    for (const name of ['a', 'b', 'c']) await create(server, name);
    expect(await names(server, query)).toEqual(expected);
  });

  it('refuse an order that is none, and a page that is too large', async () => {
    const { call } = await startServer();
    expect((await call('GET', `${CHATS}?orderby=x`)).body).toMatchObject({
      code: 101,
      message: 'invalid orderby field: x',
    });
    expect((await call('GET', `${CHATS}?page_size=101`)).body).toMatchObject({ code: 101 });
  });

  it('are deleted one, several or all at once, and what was wrong is told', async () => {
    const server = await startServer();
    const ids = await Promise.all(['a', 'b', 'c', 'd'].map(async (name) => (await create(server, name)).id));
    const remove = async (body: unknown) => (await server.call('DELETE', CHATS, body)).body;
    expect(await remove({ ids: [ids[0], ids[0], 'x'] })).toEqual({
      code: 0,
      message: 'Partially deleted 1 chats with 2 errors',
      data: { success_count: 1, errors: ['Chat(x) not found.', `Duplicate chat ids: ${ids[0]}`] },
    });
    expect(await remove({ ids: [ids[0]] })).toEqual({ code: 102, message: `Chat(${ids[0]}) not found.` });
    expect(await remove({ ids: [] })).toMatchObject({ code: 0, data: {} });
    expect((await server.call('DELETE', `${CHATS}/${ids[1]}`)).body).toMatchObject({ code: 0, data: true });
    expect(await remove({ delete_all: true })).toMatchObject({ code: 0, data: { success_count: 2 } });
    expect(await names(server)).toEqual([]);
  });

  it("are no agents: agents' lists and routes do not know them", async () => {
    const server = await startServer();
    const { id } = await create(server, 'a');
    expect((await server.call('GET', '/api/v1/agents')).body.data).toMatchObject({ canvas: [], total: 0 });
    expect((await server.call('GET', '/api/v1/agents?type=filter')).body.data.total).toBe(0);
    const answers = await Promise.all([
      server.call('GET', `/api/v1/agents/${id}`),
      server.call('PATCH', `/api/v1/agents/${id}`, { title: 'b' }),
      server.call('PUT', `/api/v1/agents/${id}/tags`, { tags: 'x' }),
      server.call('DELETE', `/api/v1/agents/${id}`),
      server.call('GET', `/api/v1/agents/${id}/sessions`),
      server.call('POST', '/api/v1/agents', { title: 'b', canvas_category: 'chat_assistant', dsl: { components: {} } }),
    ]);
    expect(answers.map(({ body }) => body.code === 0)).toEqual(answers.map(() => false));
    expect(await names(server)).toEqual(['a']);
  });

  it.each([
    ['/agents/:id/run', { query: 'x' }],
    ['/agents/:id/stream', { query: 'x' }],
    ['/agents/:id/completions', { query: 'x' }],
    ['/agents/chat/completions', { agent_id: ':id', query: 'x' }],
    ['/agents/chat/completions', { model: ':id', messages: [{ role: 'user', content: 'x' }] }],
    ['/agents_openai/:id/chat/completions', { messages: [{ role: 'user', content: 'x' }] }],
    ['/agentbots/:id/completions', { query: 'x' }],
  ])('cannot be run by POST %s %o, and are refused as an unknown id is', async (path, body) => {
    const server = await startServer();
    const { id } = await create(server, 'a');
    const answerFor = async (one: string) => {
      const sent = JSON.stringify(body).replace(':id', one);
      const answer = await server.call('POST', `/api/v1${path.replace(':id', one)}`, sent);
      return { status: answer.status, text: JSON.stringify(answer.body).replaceAll(one, '?') };
    };
    const answer = await answerFor(id);
    expect(answer.text).toMatch(/permission|no agent|find agent/);
    expect(await answerFor('0'.repeat(32))).toEqual(answer);
  });

  it('of other tenants do not exist', async () => {
    const server = await startServer({ env: KEYS });
    const { id } = await create(server, 'a', {}, ONE);
    const none = { code: 109, message: 'no authorization', data: false };
    const as = async (method: string, path: string, body?: unknown) =>
      (await server.call(method, `${CHATS}${path}`, body, TWO)).body;
    expect(await as('GET', `/${id}`)).toEqual(none);
    expect(await as('PATCH', `/${id}`, { name: 'b' })).toEqual(none);
    expect(await as('DELETE', `/${id}`)).toEqual(none);
    expect(await as('GET', `/${id}/sessions`)).toEqual(none);
    expect(await as('POST', `/${id}/completions`, { question: 'x' })).toEqual(none);
    expect(await as('DELETE', '', { ids: [id] })).toEqual({ code: 102, message: `Chat(${id}) not found.` });
    expect(await as('DELETE', '', { delete_all: true })).toMatchObject({ code: 0, data: {} });
    expect((await as('GET', '')).data).toMatchObject({ chats: [], total: 0 });
    expect((await server.call('GET', `${CHATS}/${id}`, undefined, ONE)).body.code).toBe(0);
    expect((await server.call('GET', CHATS)).status).toBe(401);
  });
});
