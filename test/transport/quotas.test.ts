/** Quotas as clients and operators see them. */
import { describe, expect, it } from 'vitest';
import type { Quotas } from '../../src/records/quotas.js';
import { createMemoryStores } from '../../src/stores/memory-stores.js';
import { ECHO } from './support/documents.js';
import { startServer } from './support/server.js';

const API = '/api/v1';

async function start(quotas: Partial<Quotas>) {
  const server = await startServer({ stores: createMemoryStores({ quotas }) });
  return {
    ...server,
    send: (method: string, path: string, body?: unknown) => server.call(method, `${API}${path}`, body),
  };
}

const refused = (name: string, used: number, limit: number) => ({
  status: 403,
  body: { code: 103, message: expect.stringContaining('To make room'), data: { quota: { name, used, limit } } },
});

describe('a quota', () => {
  it('of agents, versions and tokens is held by every route that makes one', async () => {
    const { send, agent, url } = await start({ agents: 1, versions: 1, tokens: 1 });
    const id = await agent(ECHO);
    expect(await send('POST', '/agents', { title: 'Two', dsl: ECHO })).toMatchObject(refused('agents', 1, 1));
    const form = new FormData();
    form.append('file', new Blob([JSON.stringify(ECHO)]), 'two.json');
    const imported = await fetch(`${url}${API}/agents/import`, { method: 'POST', body: form });
    expect({ status: imported.status, body: await imported.json() }).toMatchObject(refused('agents', 1, 1));
    expect((await send('POST', `/agents/${id}/versions`, {})).body.code).toBe(0);
    expect(await send('POST', `/agents/${id}/versions`, {})).toMatchObject(refused('versions', 1, 1));
    expect(await send('POST', `/agents/${id}/publish`, {})).toMatchObject(refused('versions', 1, 1));
    expect((await send('POST', '/system/tokens', {})).body.code).toBe(0);
    expect(await send('POST', '/system/tokens', {})).toMatchObject(refused('tokens', 1, 1));
  });

  it('of sessions is held by runs and by what makes sessions; one that exists goes on', async () => {
    const { send, agent } = await start({ sessions: 2 });
    const id = await agent(ECHO);
    const made = await send('POST', `/agents/${id}/sessions`, {});
    expect((await send('POST', `/agents/${id}/run`, { query: 'hi' })).body.code).toBe(0);
    const full = refused('sessions', 2, 2);
    expect(await send('POST', `/agents/${id}/sessions`, {})).toMatchObject(full);
    expect(await send('POST', `/agents/${id}/run`, { query: 'hi' })).toMatchObject(full);
    expect(await send('POST', `/agents/${id}/stream`, { query: 'hi' })).toMatchObject(full);
    const chat = { model: 'm', messages: [{ role: 'user', content: 'hi' }] };
    expect(await send('POST', `/agents_openai/${id}/chat/completions`, chat)).toMatchObject({
      status: 403,
      body: { error: { type: 'insufficient_quota' } },
    });
    const again = { query: 'hi', session_id: made.body.data.id };
    expect((await send('POST', `/agents/${id}/run`, again)).body.code).toBe(0);
  });

  it('is in the metrics: what is allowed, what is used, what was refused', async () => {
    const { send, agent, call } = await start({ agents: 1, files: 7 });
    const id = await agent(ECHO);
    await send('POST', '/agents', { title: 'Two', dsl: ECHO });
    await send('POST', `/agents/${id}/run`, { query: 'hi' });
    const { body } = await call('GET', '/metrics');
    const lines = (body as string).split('\n').filter((line) => /^runnel_(quota|received)/.test(line));
    expect(lines).toEqual(
      expect.arrayContaining([
        'runnel_quota_limit{quota="agents"} 1',
        'runnel_quota_limit{quota="files"} 7',
        'runnel_quota_used{quota="agents"} 1',
        'runnel_quota_used{quota="files"} 0',
        'runnel_quota_used{quota="sessions"} 1',
        'runnel_quota_refusals_total{quota="agents"} 1',
        'runnel_received_bytes{kind="uploads"} 0',
      ]),
    );
  });
});
