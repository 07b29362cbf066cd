/** The runs of all agents of a tenant, and deleting one. */
import { describe, expect, it } from 'vitest';
import { ECHO, FORM, PROBE } from './support/documents.js';
import { openStream } from './support/event-stream.js';
import { startServer, type TestServer } from './support/server.js';

const KEYS = { RUNNEL_API_KEYS: 'acme=one-of-acme-long-key,other=two-of-others-long-key' };
const acme = { authorization: 'Bearer one-of-acme-long-key' };
const other = { authorization: 'Bearer two-of-others-long-key' };

async function ask(server: TestServer, agent: string, body: object, headers = {}): Promise<string> {
  return (await server.call('POST', `/api/v1/agents/${agent}/run`, body, headers)).body.data.run_id;
}

/** Ids that `GET /runs` lists, and its total. */
async function listed(server: TestServer, query = '', headers = {}): Promise<readonly [ids: string[], total: number]> {
  const { body } = await server.call('GET', `/api/v1/runs${query}`, undefined, headers);
  expect(body.code, body.message).toBe(0);
  return [body.data.map(({ id }: { id: string }) => id), body.total];
}

describe('the runs of all agents', () => {
  it('are listed, newest first, with their agents, and narrowed down', async () => {
    const server = await startServer();
    const [echo, form] = [await server.agent(ECHO), await server.agent(FORM)];
    const said = await ask(server, echo, { query: 'x', user_id: 'me' });
    const waits = await ask(server, form, { query: 'y' });
    const stream = await openStream(`${server.url}/api/v1/agents/${await server.agent(PROBE)}/stream`, { body: {} });
    const runs = await server.probes.next();
    const works = stream.headers.get('x-run-id') as string;
    expect(await listed(server)).toEqual([[works, waits, said], 3]);
    expect(await listed(server, '?page=2&page_size=1')).toEqual([[waits], 3]);
    expect(await listed(server, `?agent_id=${echo}`)).toEqual([[said], 1]);
    expect(await listed(server, '?status=waiting')).toEqual([[waits], 1]);
    expect(await listed(server, '?user_id=me')).toEqual([[said], 1]);
    expect(await listed(server, '?version=draft')).toEqual([[works, waits, said], 3]);
    expect(await listed(server, '?version=published')).toEqual([[], 0]);
    expect(await listed(server, '?to_date=2000-01-01')).toEqual([[], 0]);
    expect(await listed(server, '?min_seconds=0')).toEqual([[waits, said], 2]);
    expect(await listed(server, `?max_seconds=86400.5&agent_id=${echo}`)).toEqual([[said], 1]);
    expect(await listed(server, '?min_seconds=86400')).toEqual([[], 0]);
    const { data } = (await server.call('GET', '/api/v1/runs')).body;
    const titles = await Promise.all(
      [echo, form].map(async (id) => (await server.call('GET', `/api/v1/agents/${id}`)).body.data.title),
    );
    expect(data.slice(1)).toMatchObject([
      { agent_id: form, agent_title: titles[1], status: 'waiting', user_id: null, version: 'draft', error: null },
      { agent_id: echo, agent_title: titles[0], status: 'succeeded', user_id: 'me', elapsed_time: expect.any(Number) },
    ]);
    runs.settle();
    await stream.rest();
  });

  it('say which document they ran', async () => {
    const server = await startServer();
    const agent = await server.agent(ECHO);
    const version = (await server.call('POST', `/api/v1/agents/${agent}/versions`, {})).body.data.id;
    const named = await ask(server, agent, { query: 'x', version });
    await server.call('POST', `/api/v1/agents/${agent}/publish`, {});
    const published = await ask(server, agent, { query: 'x' });
    const { body } = await server.call('GET', `/api/v1/agents/${agent}/runs/${named}`);
    const again = await ask(server, agent, { query: 'y', session_id: body.data.session_id });
    const forked = (await server.call('POST', `/api/v1/agents/${agent}/runs/${named}/fork?at=1`, {})).body.data.run_id;
    const moved = { version: 'draft', migrate: true };
    const drafted = (await server.call('POST', `/api/v1/agents/${agent}/runs/${named}/fork?at=1`, moved)).body.data
      .run_id;
    expect((await listed(server, `?version=${version}`))[0]).toEqual([forked, again, named]);
    expect((await listed(server, '?version=published'))[0]).toEqual([published]);
    expect((await listed(server, '?version=draft'))[0]).toEqual([drafted]);
  });

  it('are those of the caller, and of one agent for a key that is bound to it', async () => {
    const server = await startServer({ env: KEYS });
    const [one, two] = [await server.agent(ECHO, acme), await server.agent(ECHO, acme)];
    const theirs = await server.agent(ECHO, other);
    const [first, second] = [
      await ask(server, one, { query: 'x' }, acme),
      await ask(server, two, { query: 'x' }, acme),
    ];
    const foreign = await ask(server, theirs, { query: 'x' }, other);
    expect(await listed(server, '', acme)).toEqual([[second, first], 2]);
    expect(await listed(server, '', other)).toEqual([[foreign], 1]);
    expect(await listed(server, '?status=running', other)).toEqual([[], 0]);
    const asked = await server.call('GET', `/api/v1/runs?agent_id=${one}`, undefined, other);
    const guessed = await server.call('GET', `/api/v1/runs?agent_id=${'0'.repeat(32)}`, undefined, other);
    expect(asked.body).toMatchObject({ code: 103 });
    expect(asked.body).toEqual(guessed.body);
    expect((await server.call('GET', '/api/v1/runs')).status).toBe(401);
  });

  it.each([
    ['status=done', /`status` must be one of/],
    ['from_date=yesterday', /`from_date` must be a date/],
    ['min_seconds=long', /`min_seconds` must be a number of seconds/],
    ['max_seconds=-1', /`max_seconds` must be a number of seconds/],
    ['max_seconds=1e300', /`max_seconds` must be a number of seconds/],
    ['page_size=1000', /`page_size` must be at most 100/],
  ])('refuse %s', async (query, message) => {
    const server = await startServer();
    const { body } = await server.call('GET', `/api/v1/runs?${query}`);
    expect(body).toMatchObject({ code: 101, message: expect.stringMatching(message) });
  });

  it('do not have those of chats, whose screens are others', async () => {
    const server = await startServer();
    const chat = (await server.call('POST', '/api/v1/chats', { name: 'c' })).body.data.id;
    await server.call('POST', `/api/v1/chats/${chat}/completions`, { question: 'x' });
    expect((await server.stores.runs.list('local', { agentId: chat, offset: 0, limit: 9 })).total).toBe(1);
    expect(await listed(server)).toEqual([[], 0]);
  });
});

describe('a run that is deleted', () => {
  it('is gone with its events, and its conversation goes on', async () => {
    const server = await startServer();
    const agent = await server.agent(FORM);
    const { run_id: run, session_id } = (await server.call('POST', `/api/v1/agents/${agent}/run`, { query: 'x' })).body
      .data;
    const path = `/api/v1/agents/${agent}/runs/${run}`;
    expect((await server.call('DELETE', path)).body).toMatchObject({ code: 0, data: true });
    for (const rest of ['', '/events', '/trace', '/state']) {
      expect((await server.call('GET', `${path}${rest}`)).body).toMatchObject({ code: 102, message: 'Run not found.' });
    }
    expect((await server.call('DELETE', path)).body).toMatchObject({ code: 102, message: 'Run not found.' });
    expect(await server.stores.log.read('local', run, 0, { maxEvents: 9, maxBytes: 999 })).toBeUndefined();
    const answered = { session_id, inputs: { city: { value: 'Oslo' } } };
    const { data } = (await server.call('POST', `/api/v1/agents/${agent}/run`, answered)).body;
    expect(data.data.content).toBe('to Oslo');
    expect(server.errors).toEqual([]);
  });

  it('must have ended', async () => {
    const server = await startServer();
    const agent = await server.agent(PROBE);
    const stream = await openStream(`${server.url}/api/v1/agents/${agent}/stream`, { body: {} });
    const probe = await server.probes.next();
    const path = `/api/v1/agents/${agent}/runs/${stream.headers.get('x-run-id')}`;
    expect((await server.call('DELETE', path)).body).toMatchObject({
      code: 102,
      message: expect.stringMatching(/is at work; stop it/),
    });
    expect(probe.isStopped).toBe(false);
    probe.settle();
    await stream.rest();
    expect((await server.call('DELETE', path)).body.code).toBe(0);
  });
});
