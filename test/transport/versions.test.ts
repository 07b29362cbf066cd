import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/json.js';
import { documentOf } from './support/documents.js';
import { startServer, type TestServer } from './support/server.js';

const AGENTS = '/api/v1/agents';

const says = (text: string): JsonObject =>
  documentOf({
    begin: ['Begin', ['Message:A'], { prologue: text }],
    'Message:A': ['Message', [], { content: [text] }],
  });

const BROKEN = documentOf({ begin: ['Begin', ['Message:A']], 'Message:A': ['Nonsense', []] });

/** What a run of an agent says. */
async function answerOf({ call }: TestServer, path: string, body: object = {}): Promise<string> {
  const answered = (await call('POST', path, { query: 'x', ...body })).body;
  return answered.data?.data?.content ?? answered.message;
}

async function publish({ call }: TestServer, id: string, body: object = {}): Promise<string> {
  return (await call('POST', `${AGENTS}/${id}/versions`, body)).body.data.id;
}

describe('publishing', () => {
  it('inserts a version each time, even of the same document, and saving a draft none', async () => {
    const server = await startServer();
    const { call, agent } = server;
    const id = await agent(says('one'));
    await call('PATCH', `${AGENTS}/${id}`, { dsl: says('two') });
    expect((await call('GET', `${AGENTS}/${id}/versions`)).body).toMatchObject({ code: 0, data: [], total: 0 });

    const first = (await call('POST', `${AGENTS}/${id}/versions`, { title: 'T', description: 'D' })).body.data;
    expect(first).toMatchObject({ title: 'T', description: 'D', release: true, user_canvas_id: id, dsl: says('two') });
    const second = (await call('POST', `${AGENTS}/${id}/publish`)).body.data;
    await call('PUT', `${AGENTS}/${id}`, { release: 'true' });
    await call('PUT', `${AGENTS}/${id}`, { release: 'false', dsl: says('three') });

    const { data, total } = (await call('GET', `${AGENTS}/${id}/versions`)).body;
    expect(total).toBe(3);
    expect(data[1].id).toBe(second.id);
    expect(data[2].id).toBe(first.id);
    expect(data[0].title).toMatch(/^local_Agent 1_\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);
    expect(data[0]).not.toHaveProperty('dsl');
    const read = (await call('GET', `${AGENTS}/${id}`)).body.data;
    expect(read).toMatchObject({ release: true, dsl: says('three') });
  });

  it('with a document leaves the draft alone', async () => {
    const server = await startServer();
    const id = await server.agent(says('draft'));
    await publish(server, id, { dsl: JSON.stringify(says('published')) });
    expect(await answerOf(server, `${AGENTS}/${id}/run`)).toBe('published');
    expect((await server.call('GET', `${AGENTS}/${id}`)).body.data.dsl).toEqual(says('draft'));
  });

  it.each([
    ['POST', 'versions', {}],
    ['POST', 'publish', {}],
    ['PUT', '', { release: true, title: 'Renamed' }],
  ])('by %s %s refuses a document that cannot run, and changes nothing', async (method, path, body) => {
    const { call, agent } = await startServer();
    const id = await agent(BROKEN);
    const answer = await call(method, `${AGENTS}/${id}${path === '' ? '' : `/${path}`}`, body);
    expect(answer.body).toMatchObject({ code: 102, data: { issues: [{ severity: 'error' }] } });
    expect((await call('GET', `${AGENTS}/${id}/versions`)).body.total).toBe(0);
    expect((await call('GET', `${AGENTS}/${id}`)).body.data).toMatchObject({ title: 'Agent 1', release: false });
  });

  it('at once by many leaves all versions, and the newest is what runs', async () => {
    const server = await startServer();
    const id = await server.agent(says('draft'));
    const texts = Array.from({ length: 10 }, (_, at) => `v${at}`);
    await Promise.all(texts.map((text) => publish(server, id, { dsl: says(text) })));
    const { data, total } = (await server.call('GET', `${AGENTS}/${id}/versions?page_size=100`)).body;
    expect(total).toBe(10);
    const newest = (await server.call('GET', `${AGENTS}/${id}/versions/${data[0].id}`)).body.data.dsl;
    const said = newest.components['Message:A'].obj.params.content[0];
    expect(await answerOf(server, `${AGENTS}/${id}/run`)).toBe(said);
  });

  it('can be part of creating an agent', async () => {
    const { call } = await startServer();
    const made = (await call('POST', AGENTS, { title: 'x', dsl: says('one'), release: true })).body.data;
    expect(made).toMatchObject({ release: true, last_publish_time: expect.any(Number) });
    expect((await call('GET', `${AGENTS}/${made.id}/versions`)).body.total).toBe(1);
    expect((await call('POST', AGENTS, { title: 'y', dsl: BROKEN, release: true })).body.code).toBe(102);
    expect((await call('GET', `${AGENTS}?title=y`)).body.data.total).toBe(0);
  });

  it('is not passed over because of a misspelled flag', async () => {
    const { call } = await startServer();
    const refused = await call('POST', AGENTS, { title: 'x', dsl: says('one'), release: 'ture' });
    expect(refused.body).toMatchObject({ code: 101, message: expect.stringContaining('`release`: expected true or') });
    for (const [at, release] of [false, 0, 'False', '', null].entries()) {
      const { data } = (await call('POST', AGENTS, { title: `${at}`, dsl: says('one'), release })).body;
      expect(data.release).toBe(false);
    }
  });
});

describe('a turn', () => {
  it('runs the version that it names, the newest one, or the draft', async () => {
    const server = await startServer();
    const id = await server.agent(says('one'));
    const one = await publish(server, id);
    await server.call('PATCH', `${AGENTS}/${id}`, { dsl: says('two') });
    const two = await publish(server, id);
    await server.call('PATCH', `${AGENTS}/${id}`, { dsl: says('draft') });

    const run = `${AGENTS}/${id}/run`;
    expect(await answerOf(server, run)).toBe('two');
    expect(await answerOf(server, `${run}?version=${one}`)).toBe('one');
    expect(await answerOf(server, run, { version: two })).toBe('two');
    expect(await answerOf(server, `${run}?version=draft`)).toBe('draft');
    expect(await answerOf(server, `${run}?version=nope`)).toBe('Version not found.');
    expect(await answerOf(server, `${AGENTS}/chat/completions`, { agent_id: id })).toBe('draft');
    expect(await answerOf(server, `${AGENTS}/chat/completions`, { agent_id: id, release: true })).toBe('two');
    expect(await answerOf(server, `${AGENTS}/chat/completions`, { agent_id: id, version: one })).toBe('one');

    const other = await server.agent(says('other'));
    expect(await answerOf(server, `${AGENTS}/${other}/run?version=${one}`)).toBe('Version not found.');
    expect((await server.call('GET', `${AGENTS}/${other}/versions/${one}`)).body).toEqual({
      code: 102,
      message: 'Version not found.',
    });
  });

  it('keeps the document of its session, whatever it names', async () => {
    const server = await startServer();
    const id = await server.agent(says('one'));
    const one = await publish(server, id);
    const session = (await server.call('POST', `${AGENTS}/${id}/sessions`, { version: one })).body.data;
    expect(session).toMatchObject({ dsl: says('one'), message: [{ content: 'one' }] });
    await server.call('PATCH', `${AGENTS}/${id}`, { dsl: says('two') });
    const two = await publish(server, id);
    const body = { session_id: session.id, version: two };
    expect(await answerOf(server, `${AGENTS}/${id}/run`, body)).toBe('one');
  });

  it('that is refused leaves no session behind', async () => {
    const { call, agent, stores } = await startServer();
    const id = await agent(says('one'));
    const version = { id: 'v', agentId: id, title: '', description: null, dsl: BROKEN, createdAt: 1 };
    await stores.versions.insert('local', version);
    expect((await call('POST', `${AGENTS}/${id}/run?version=v`, { query: 'x' })).body.code).toBe(102);
    expect((await call('GET', `${AGENTS}/${id}/sessions`)).body.total).toBe(0);
  });
});

describe('deleting', () => {
  it('a version leaves the others, and the newest of them runs; after the last one the draft', async () => {
    const server = await startServer();
    const { call } = server;
    const id = await server.agent(says('one'));
    const one = await publish(server, id);
    await call('PATCH', `${AGENTS}/${id}`, { dsl: says('two') });
    const two = await publish(server, id);
    await call('PATCH', `${AGENTS}/${id}`, { dsl: says('draft') });

    expect((await call('DELETE', `${AGENTS}/${id}/versions/${two}`)).body.data).toBe(true);
    expect((await call('DELETE', `${AGENTS}/${id}/versions/${two}`)).body.message).toBe('Version not found.');
    expect((await call('GET', `${AGENTS}/${id}/versions/${one}`)).body.data.dsl).toEqual(says('one'));
    expect(await answerOf(server, `${AGENTS}/${id}/run`)).toBe('one');
    await call('DELETE', `${AGENTS}/${id}/versions/${one}`);
    expect(await answerOf(server, `${AGENTS}/${id}/run`)).toBe('draft');
    expect(await answerOf(server, `${AGENTS}/${id}/run`, { release: true })).toBe('No available published version');
    expect((await call('GET', `${AGENTS}/${id}`)).body.data).toMatchObject({ release: false, release_time: null });
  });

  it('an agent takes its versions and sessions along', async () => {
    const server = await startServer();
    const id = await server.agent(says('one'));
    const version = await publish(server, id);
    const { session_id } = (await server.call('POST', `${AGENTS}/${id}/run`, {})).body.data;
    await server.call('DELETE', `${AGENTS}/${id}`);
    expect(await server.stores.versions.find('local', version, id)).toBeUndefined();
    expect(await server.stores.sessions.find('local', session_id)).toBeUndefined();
  });
});
