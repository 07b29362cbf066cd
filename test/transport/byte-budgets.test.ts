/** Lists have a bound in bytes, and read no documents that they do not give. */
import { expect, it, vi } from 'vitest';
import type { JsonObject } from '../../src/json.js';
import { createMemoryStores } from '../../src/stores/memory-stores.js';
import { PAGE_BYTES } from '../../src/transport/http/input.js';
import { runRecord, sessionRecord } from '../stores/support/records.js';
import { documentOf, ECHO } from './support/documents.js';
import { startServer } from './support/server.js';

const AGENTS = '/api/v1/agents';

/** A document of about a megabyte, which can be published. */
const largeDocument = (text = 'x'): JsonObject =>
  documentOf({
    begin: ['Begin', ['Message:A']],
    'Message:A': ['Message', [], { content: [text.repeat(1_000_000)] }],
  });

/** A server whose stores note what they are asked. */
async function startWatched() {
  const stores = createMemoryStores();
  const asked = {
    agents: vi.spyOn(stores.agents, 'list'),
    versions: vi.spyOn(stores.versions, 'list'),
    sessions: vi.spyOn(stores.sessions, 'list'),
    runs: vi.spyOn(stores.runs, 'list'),
  };
  return { ...(await startServer({ stores })), stores, asked };
}

it('a list of sessions ends where its documents are 4 MiB, says so, and goes on with smaller pages', async () => {
  const { call, agent, stores } = await startWatched();
  const id = await agent(ECHO);
  const dsl = largeDocument();
  for (let at = 0; at < 30; at += 1) {
    await stores.sessions.save('local', sessionRecord(id, { name: `s${at}`, dsl, updatedAt: at }));
  }
  const { body } = await call('GET', `${AGENTS}/${id}/sessions?page_size=30`);
  expect(JSON.stringify(body).length).toBeLessThan(PAGE_BYTES + 1_000);
  expect(body).toMatchObject({ code: 0, total: 30, left_out: 26 });
  expect(body.message).toBe(
    'The page is full: 26 of its 30 items are left out for their size. Ask for fewer at once with `page_size`.',
  );
  expect(body.data.map(({ name }: { name: string }) => name)).toEqual(['s29', 's28', 's27', 's26']);
  expect(body.data[0].dsl.components).toEqual(dsl.components);
  const next = await call('GET', `${AGENTS}/${id}/sessions?page_size=4&page=2`);
  expect(next.body.data.map(({ name }: { name: string }) => name)).toEqual(['s25', 's24', 's23', 's22']);
  expect(next.body).toMatchObject({ message: 'success', total: 30 });
  expect(next.body).not.toHaveProperty('left_out');
});

it('a list of sessions without documents has all of them, and reads none', async () => {
  const { call, agent, stores, asked } = await startWatched();
  const id = await agent(ECHO);
  for (let at = 0; at < 30; at += 1) await stores.sessions.save('local', sessionRecord(id, { dsl: largeDocument() }));
  const { body } = await call('GET', `${AGENTS}/${id}/sessions?dsl=false`);
  expect(body.data).toHaveLength(30);
  expect(body).not.toHaveProperty('left_out');
  expect(asked.sessions).toHaveBeenCalledWith('local', expect.objectContaining({ omitsShared: true }));
});

it('a session that is larger than a page is named, not read', async () => {
  const { call, agent, stores } = await startWatched();
  const id = await agent(ECHO);
  const message = { role: 'user', content: 'x'.repeat(PAGE_BYTES), id: 'm', createdAt: 1 } as const;
  const large = sessionRecord(id, { name: 'large', messages: [message], updatedAt: 2_000 });
  await stores.sessions.save('local', large);
  await stores.sessions.save('local', sessionRecord(id, { name: 'small' }));
  for (const query of ['', '?dsl=false', '?page_size=1']) {
    const { body } = await call('GET', `${AGENTS}/${id}/sessions${query}`);
    expect(body.message).toContain('takes more than 4194304 bytes, so only its name is given');
    expect(body.data).toEqual([
      {
        id: large.id,
        name: 'large',
        agent_id: id,
        user_id: 'user',
        create_time: 1_000,
        create_date: '1970-01-01T00:00:01',
        update_time: 2_000,
        update_date: '1970-01-01T00:00:02',
      },
    ]);
  }
  const second = await call('GET', `${AGENTS}/${id}/sessions?page_size=1&page=2`);
  expect(second.body.data).toMatchObject([{ name: 'small' }]);
});

it('the sessions of a user are listed by their columns, ten thousand at most', async () => {
  const { call, agent, stores, asked } = await startWatched();
  const id = await agent(ECHO);
  const select = vi.spyOn(stores.sessions, 'select');
  await stores.sessions.save('local', sessionRecord(id, { userId: 'u', name: 'one', dsl: largeDocument() }));
  const { body } = await call('GET', `${AGENTS}/${id}/sessions?exp_user_id=u`);
  expect(body).toEqual({ code: 0, message: 'success', data: [{ id: expect.any(String), name: 'one' }] });
  expect(select).toHaveBeenCalledWith('local', expect.objectContaining({ limit: 10_000, maxBytes: PAGE_BYTES }), [
    'name',
  ]);
  expect(asked.sessions).not.toHaveBeenCalled();
});

it('lists of agents, their tags and filters read no agent', async () => {
  const { call, asked } = await startWatched();
  for (const [title, tags] of [
    ['a', 'red,blue'],
    ['b', 'blue'],
  ]) {
    const made = await call('POST', AGENTS, { title, tags, dsl: largeDocument(), release: true });
    expect(made.body.code).toBe(0);
  }
  const list = await call('GET', AGENTS);
  expect(list.body.data).toMatchObject({ total: 2, canvas: [{ title: 'b', release: true }, { title: 'a' }] });
  expect(JSON.stringify(list.body).length).toBeLessThan(2_000);
  expect((await call('GET', `${AGENTS}/tags`)).body.data).toEqual([
    { tag: 'blue', count: 2 },
    { tag: 'red', count: 1 },
  ]);
  expect((await call('GET', `${AGENTS}?type=filter`)).body.data).toEqual({
    filter: {
      owner: [{ id: 'local', label: 'local', count: 2 }],
      canvas_category: [{ id: 'agent_canvas', count: 2 }],
    },
    total: 2,
  });
  expect(asked.agents).not.toHaveBeenCalled();
});

it('a list of agents with large pictures ends at 4 MiB', async () => {
  const { call } = await startServer();
  for (let at = 0; at < 6; at += 1) {
    await call('POST', AGENTS, { title: `a${at}`, dsl: ECHO, avatar: 'x'.repeat(1_000_000) });
  }
  const { body } = await call('GET', AGENTS);
  expect(body.data).toMatchObject({ total: 6, canvas: { length: 4 } });
  expect(body).toMatchObject({ code: 0, left_out: 2, message: expect.stringContaining('left out for their size') });
  const refused = await call('POST', AGENTS, { title: 'z', dsl: ECHO, avatar: 'x'.repeat(1_048_577) });
  expect(refused.body).toMatchObject({ code: 101, message: expect.stringContaining('at most 1048576 characters') });
});

it('a list of versions reads no document', async () => {
  const { call, agent, asked } = await startWatched();
  const path = `${AGENTS}/${await agent(ECHO)}`;
  for (const text of ['a', 'b']) await call('POST', `${path}/publish`, { dsl: largeDocument(text) });
  asked.versions.mockClear();
  const { body } = await call('GET', `${path}/versions`);
  expect(body).toMatchObject({ code: 0, total: 2, data: { length: 2 } });
  expect(JSON.stringify(body).length).toBeLessThan(2_000);
  expect(asked.versions).not.toHaveBeenCalled();
});

it('a list of runs with large inputs ends at 4 MiB', async () => {
  const { call, agent, stores } = await startWatched();
  const id = await agent(ECHO);
  const launch = { isDetached: true, headers: { text: 'x'.repeat(1_500_000) } };
  for (let at = 0; at < 5; at += 1) await stores.runs.save('local', runRecord(id, { startedAt: at, launch }));
  const { body } = await call('GET', `${AGENTS}/${id}/runs`);
  expect(body).toMatchObject({ total: 5, left_out: 3, data: { length: 2 } });
  const huge = { isDetached: true, headers: { text: 'x'.repeat(PAGE_BYTES) } };
  await stores.runs.save('local', runRecord(id, { startedAt: 9, launch: huge }));
  expect((await call('GET', `${AGENTS}/${id}/runs`)).body).toMatchObject({
    total: 6,
    left_out: 5,
    data: { length: 1 },
  });
});

it('a list of tools has pages of 4 MiB of documents', async () => {
  const { call, asked } = await startWatched();
  for (let at = 0; at < 5; at += 1) {
    await call('POST', AGENTS, { title: `a${at}`, dsl: largeDocument(), release: true });
  }
  const accept = { accept: 'application/json, text/event-stream' };
  const tools: string[] = [];
  let cursor: string | undefined;
  let pages = 0;
  do {
    const params = cursor === undefined ? {} : { cursor };
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/list', params };
    const response = await call('POST', '/api/v1/mcp', message, accept);
    const text =
      typeof response.body === 'string' ? response.body.replace(/^[\s\S]*?data: /, '') : JSON.stringify(response.body);
    const { result } = JSON.parse(text) as { result: { tools: { name: string }[]; nextCursor?: string } };
    tools.push(...result.tools.map(({ name }) => name));
    cursor = result.nextCursor;
    pages += 1;
  } while (cursor !== undefined && pages < 10);
  expect(tools.slice(0, 5)).toEqual(['a0', 'a1', 'a2', 'a3', 'a4']);
  expect(pages).toBe(3);
  expect(asked.agents).toHaveBeenCalledWith('local', expect.objectContaining({ maxBytes: PAGE_BYTES }));
});
