/** The sessions of all agents of a tenant in one list. */
import { describe, expect, it } from 'vitest';
import { ECHO, FORM, PROBE } from './support/documents.js';
import { openStream } from './support/event-stream.js';
import { startServer, type TestServer } from './support/server.js';
import type { Probe } from './support/test-components.js';

const KEYS = { RUNNEL_API_KEYS: 'acme=one-of-acme-long-key,other=two-of-others-long-key' };
const acme = { authorization: 'Bearer one-of-acme-long-key' };
const other = { authorization: 'Bearer two-of-others-long-key' };

async function ask(server: TestServer, agent: string, body: object, headers = {}): Promise<string> {
  return (await server.call('POST', `/api/v1/agents/${agent}/run`, body, headers)).body.data.session_id;
}

async function listed(server: TestServer, query = '', headers = {}): Promise<readonly [ids: string[], total: number]> {
  const { body } = await server.call('GET', `/api/v1/sessions${query}`, undefined, headers);
  expect(body.code, body.message).toBe(0);
  return [body.data.map(({ id }: { id: string }) => id), body.total];
}

describe('the sessions of all agents', () => {
  it('are listed, those first that were used last, with their agents and last runs, and narrowed down', async () => {
    const server = await startServer();
    const [echo, form] = [await server.agent(ECHO), await server.agent(FORM)];
    const said = await ask(server, echo, { query: 'how old?', user_id: 'me' });
    const waits = await ask(server, form, { query: 'go' });
    const empty = (await server.call('POST', `/api/v1/agents/${echo}/sessions`, { name: 'empty' })).body.data.id;
    const all = [[empty, waits, said], 3] as const;
    expect(await listed(server, '?orderby=create_time')).toEqual(all);
    expect(await listed(server, '?orderby=create_time&page=2&page_size=1')).toEqual([[waits], 3]);
    expect(await listed(server, `?agent_id=${form}`)).toEqual([[waits], 1]);
    expect(await listed(server, '?user_id=me')).toEqual([[said], 1]);
    expect(await listed(server, '?keywords=OLD')).toEqual([[said], 1]);
    expect(await listed(server, '?to_date=2000-01-01')).toEqual([[], 0]);
    await ask(server, echo, { query: 'again', session_id: said });
    const { data } = (await server.call('GET', '/api/v1/sessions')).body;
    expect(data.find(({ id }: { id: string }) => id === said)).toMatchObject({
      ...{ name: 'how old?', agent_id: echo, agent_title: 'Agent 1', user_id: 'me' },
      last_run: { status: 'succeeded', id: expect.any(String), started_at: expect.any(Number) },
    });
    expect(data.find(({ id }: { id: string }) => id === waits).last_run).toMatchObject({ status: 'waiting' });
    expect(data.find(({ id }: { id: string }) => id === empty).last_run).toBeNull();
    expect(JSON.stringify(data)).not.toContain('you said');
  });

  it('are found by how their last runs stand, while they run and when they have ended', async () => {
    const server = await startServer();
    const probe = await server.agent(PROBE);
    const start = (more: object = {}) =>
      openStream(`${server.url}/api/v1/agents/${probe}/stream`, { body: { query: 'x', ...more } });
    const sessions: Record<string, string> = {};
    const ends: Readonly<Record<string, (probe: Probe, session: string) => unknown>> = {
      succeeded: (one) => one.settle(),
      failed: (one) => one.fail(new Error('It broke.')),
      cancelled: (_, session) => server.call('POST', `/api/v1/agents/${probe}/cancel`, { session_id: session }),
    };
    for (const [status, end] of Object.entries(ends)) {
      const stream = await start();
      const one = await server.probes.next();
      const [[session = '']] = await listed(server, '?status=running');
      sessions[status] = session;
      await end(one, session);
      await stream.rest();
      await expect.poll(() => listed(server, `?status=${status}`)).toEqual([[session], 1]);
    }
    const form = await server.agent(FORM);
    const waits = await ask(server, form, { query: 'go' });
    await server.call('POST', `/api/v1/agents/${form}/sessions`, { name: 'without a run' });
    expect(await listed(server, '?status=waiting')).toEqual([[waits], 1]);
    expect(await listed(server, '?status=running')).toEqual([[], 0]);
    expect((await listed(server))[1]).toBe(5);
    const again = await start({ session_id: sessions.failed });
    const one = await server.probes.next();
    expect(await listed(server, `?status=running&agent_id=${probe}`)).toEqual([[sessions.failed], 1]);
    expect(await listed(server, '?status=failed')).toEqual([[], 0]);
    one.settle();
    await again.rest();
    const { body } = await server.call('GET', '/api/v1/sessions?status=done');
    expect(body).toMatchObject({ code: 101, message: expect.stringContaining('running, waiting, succeeded') });
  });

  it('are those of the caller', async () => {
    const server = await startServer({ env: KEYS });
    const [mine, theirs] = [await server.agent(ECHO, acme), await server.agent(ECHO, other)];
    const session = await ask(server, mine, { query: 'x' }, acme);
    expect(await listed(server, '', acme)).toEqual([[session], 1]);
    expect(await listed(server, '', other)).toEqual([[], 0]);
    expect((await server.call('GET', `/api/v1/sessions?agent_id=${mine}`, undefined, other)).body.code).toBe(103);
    expect((await server.call('GET', `/api/v1/sessions?agent_id=${theirs}`, undefined, other)).body.code).toBe(0);
    expect((await server.call('GET', '/api/v1/sessions')).status).toBe(401);
  });

  it('do not have those of chats, whose screens are others', async () => {
    const server = await startServer();
    const chat = (await server.call('POST', '/api/v1/chats', { name: 'c' })).body.data.id;
    await server.call('POST', `/api/v1/chats/${chat}/completions`, { question: 'x' });
    expect((await server.call('GET', `/api/v1/chats/${chat}/sessions`)).body.data).toHaveLength(1);
    expect(await listed(server)).toEqual([[], 0]);
    expect((await server.call('GET', `/api/v1/sessions?agent_id=${chat}`)).body.code).toBe(103);
  });

  it('refuse an order that there is not', async () => {
    const server = await startServer();
    expect((await server.call('GET', '/api/v1/sessions?orderby=tokens')).body).toMatchObject({ code: 101 });
  });
});
