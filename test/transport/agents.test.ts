import { of } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { EngineError } from '../../src/errors.js';
import { documentOf, ECHO, PROBE } from './support/documents.js';
import { openStream } from './support/event-stream.js';
import { startServer } from './support/server.js';

const AGENTS = '/api/v1/agents';

describe('lists', () => {
  it('filter, sort and page', async () => {
    const { call } = await startServer();
    const make = (title: string, body: object) => call('POST', AGENTS, { title, dsl: ECHO, ...body });
    await make('Alpha', { tags: 'red,Blue', canvas_type: 'x' });
    await make('beta', { tags: ['red', 'green, dark'], canvas_category: 'dataflow_canvas' });
    await make('Gamma', {});
    const titles = async (query: string): Promise<string[]> =>
      (await call('GET', `${AGENTS}?${query}`)).body.data.canvas.map(({ title }: { title: string }) => title);
    expect(await titles('orderby=title&desc=false')).toEqual(['Alpha', 'Gamma', 'beta']);
    expect(await titles('keywords=ALPH')).toEqual(['Alpha']);
    expect(await titles('keywords=gree')).toEqual(['beta']);
    expect(await titles('tags=green dark,none')).toEqual(['beta']);
    expect(await titles('canvas_category=dataflow_canvas')).toEqual(['beta']);
    expect(await titles('canvas_type=x')).toEqual(['Alpha']);
    expect(await titles('title=Gamma')).toEqual(['Gamma']);
    expect(await titles('orderby=title&desc=FALSE&page=2&page_size=2')).toEqual(['beta']);
    expect((await call('GET', `${AGENTS}?page_size=x&page=-1`)).body.data.total).toBe(3);
    expect((await call('GET', `${AGENTS}?type=filter`)).body.data).toMatchObject({
      total: 3,
      filter: { owner: [{ id: 'local', count: 3 }] },
    });
  });

  it.each([
    ['page_size=101', 101, '`page_size` must be at most 100; received 101.'],
    ['orderby=dsl', 101, '`orderby` must be one of create_time, update_time, title; received "dsl".'],
    ['owner_ids=somebody', 103, 'Only authorized owner_ids can be queried.'],
    [`owner_ids=${Array(101).fill('local').join(',')}`, 101, 'owner_ids must contain at most 100 IDs'],
  ])('refuse %s', async (query, code, message) => {
    const { call } = await startServer();
    expect((await call('GET', `${AGENTS}?${query}`)).body).toMatchObject({ code, message });
  });
});

describe('tags', () => {
  it('are replaced, kept once, cut and counted', async () => {
    const { call, agent } = await startServer();
    const [one, two] = [await agent(ECHO), await agent(ECHO)];
    const put = (id: string, tags: unknown) => call('PUT', `${AGENTS}/${id}/tags`, { tags });
    expect((await put(one, ['b,c', 'B C', 'a', ''])).body.data).toBe(true);
    expect((await put(two, ` a ,${'x'.repeat(70)}`)).body.data).toBe(true);
    expect((await call('GET', `${AGENTS}/tags`)).body.data).toEqual([
      { tag: 'a', count: 2 },
      { tag: 'b c', count: 1 },
      { tag: 'x'.repeat(64), count: 1 },
    ]);
    expect((await call('GET', `${AGENTS}/tags?canvas_category=other`)).body.data).toEqual([]);
    expect((await put('nobody', 'a')).body).toMatchObject({
      code: 103,
      message: 'Agent not found or no permission.',
    });
    expect((await put(one, 7)).body.code).toBe(101);
  });
});

describe('resetting', () => {
  it('forgets what conversations left, keeps what the author wrote, and makes no version', async () => {
    const { call, agent } = await startServer();
    const written = { content: ['hi'], custom_header: { a: 'b' }, note: 1 };
    const dsl = {
      ...documentOf({
        begin: ['Begin', ['Message:A'], { inputs: { x: { type: 'line', name: 'X', value: 'left' } } }],
        'Message:A': ['Message', [], written],
      }),
      globals: { 'sys.query': 'old', 'sys.conversation_turns': 4, 'env.k': 'changed' },
      variables: { k: { name: 'k', type: 'string', value: 'declared' } },
      history: [['user', 'old']],
      memory: [['a', 'b', 'c']],
      path: ['begin'],
      retrieval: [{ chunks: { 1: {} } }],
      graph: { nodes: [], edges: [] },
    };
    const id = await agent(dsl);
    const reset = (await call('POST', `${AGENTS}/${id}/reset`)).body.data;
    expect(reset).toMatchObject({
      globals: { 'sys.query': '', 'sys.conversation_turns': 0, 'env.k': 'declared' },
      history: [],
      memory: [],
      path: [],
      retrieval: [],
    });
    expect(reset.components.begin.obj.params.inputs.x).toEqual({ type: 'line', name: 'X', value: null });
    expect(reset.components['Message:A'].obj.params).toEqual(written);
    expect((await call('GET', `${AGENTS}/${id}`)).body.data.dsl).toEqual(reset);
    expect((await call('GET', `${AGENTS}/${id}/versions`)).body.total).toBe(0);
  });
});

describe('deleting an agent', () => {
  it('while it runs tells the clients, and leaves nothing', async () => {
    const { call, agent, url, probes, stores, errors } = await startServer();
    const id = await agent(PROBE);
    const stream = await openStream(`${url}${AGENTS}/${id}/stream`, { body: { query: 'x' } });
    await probes.next();
    expect((await call('DELETE', `${AGENTS}/${id}`)).body.data).toBe(true);
    expect((await stream.rest()).at(-2)?.json.data.outputs).toBe('Task has been canceled');
    expect((await stores.runs.list('local', { agentId: id, offset: 0, limit: 10 })).total).toBe(0);
    expect((await call('DELETE', `${AGENTS}/${id}`)).body).toEqual({
      code: 103,
      message: 'Only the owner of the agent is authorized for this operation.',
      data: false,
    });
    expect(errors).toEqual([]);
  });
});

describe('testing a database', () => {
  const address = { db_type: 'MySQL', database: 'd', username: 'u', host: 'h', port: '3306', password: 'p' };
  const test = (kinds: string[], probe: () => Promise<void>, body: object = address) =>
    startServer({ databaseProbe: { kinds, probe } }).then(({ call }) =>
      call('POST', `${AGENTS}/test_db_connection`, body).then((answer) => answer.body),
    );

  it('says what is missing, in order', async () => {
    const { call } = await startServer();
    expect((await call('POST', `${AGENTS}/test_db_connection`, { host: 'h', port: '' })).body).toEqual({
      code: 101,
      message: 'required argument are missing: db_type,database,username,port,password; ',
      data: false,
    });
  });

  it('succeeds, fails without a word of the driver, and knows what it cannot do', async () => {
    expect(await test(['mysql'], async () => {})).toMatchObject({ code: 0, data: 'Database Connection Successful!' });
    const failed = await test(['mysql'], () => Promise.reject(new Error('password p is wrong')));
    expect(failed).toEqual({ code: 100, message: expect.stringContaining('mysql'), data: false });
    expect(failed.message).not.toContain('is wrong');
    const blocked = () => Promise.reject(new EngineError('URL_BLOCKED', 'Private addresses are blocked.'));
    expect(await test(['mysql'], blocked)).toEqual({ code: 102, message: 'Private addresses are blocked.' });
    const unsupported = { code: 100, message: 'Unsupported database type: mysql. This server can test: postgresql.' };
    expect(await test(['postgresql'], async () => {})).toMatchObject(unsupported);
    expect(await test(['mysql'], async () => {}, { ...address, port: 0.5 })).toMatchObject({ code: 101 });
  });
});

describe('running a pipeline again', () => {
  it('checks its arguments, and finds no document', async () => {
    const { call } = await startServer();
    expect((await call('POST', `${AGENTS}/rerun`, { id: 'x' })).body).toMatchObject({
      code: 101,
      message: 'required argument are missing: dsl,component_id; ',
    });
    const body = { id: 'x', dsl: {}, component_id: 'c' };
    expect((await call('POST', `${AGENTS}/rerun`, body)).body).toEqual({ code: 102, message: 'Document not found.' });
  });
});

describe('deleting sessions in bulk', () => {
  it('takes ids from body and query, and names what is not there', async () => {
    const { call, agent } = await startServer();
    const id = await agent(ECHO);
    const make = async () => (await call('POST', `${AGENTS}/${id}/sessions`, {})).body.data.id;
    const [one, two] = [await make(), await make()];
    expect((await call('DELETE', `${AGENTS}/${id}/sessions?ids=${one}`, { ids: [two] })).body).toEqual({ code: 0 });
    expect((await call('GET', `${AGENTS}/${id}/sessions`)).body.total).toBe(0);
    expect((await call('DELETE', `${AGENTS}/${id}/sessions`, { ids: ['x', 'y'] })).body).toEqual({
      code: 102,
      message: "The agent doesn't own the session x; The agent doesn't own the session y",
    });
    expect((await call('DELETE', `${AGENTS}/${id}/sessions`)).body).toEqual({ code: 0 });
    expect((await call('DELETE', `${AGENTS}/nobody/sessions`)).body).toEqual({
      code: 102,
      message: "You don't own the agent nobody",
    });
  });
});

describe('files', () => {
  const http = (status: number, contentType = 'text/html; charset=utf-8') => ({
    fetch: ({ url }: { url: string }) => of({ status, contentType, url, bytes: new TextEncoder().encode('<p>') }),
  });

  it('are fetched from a URL', async () => {
    const { call, agent } = await startServer({ services: { http: http(200) } });
    const id = await agent(ECHO);
    const fetched = (url: string) =>
      call('POST', `${AGENTS}/${id}/upload?url=${encodeURIComponent(url)}`).then(({ body }) => body.data);
    expect(await fetched('https://x.example/a%20b/page')).toMatchObject({
      name: 'page.html',
      size: 3,
      extension: 'html',
    });
    expect(await fetched('https://x.example/')).toMatchObject({ name: 'x.example.html', mime_type: 'text/html' });
    const { id: file } = await fetched('https://x.example/a.png');
    const sent = await call('GET', `${AGENTS}/attachments/${file}/download?disposition=inline`);
    expect(sent.headers.get('content-disposition')).toBe('attachment; filename="a.png"');
  });

  it.each(['constructor', '__proto__', 'x/unknown'])('get no ending for the media type %s', async (type) => {
    const { call, agent } = await startServer({ services: { http: http(200, type) } });
    const { body } = await call('POST', `${AGENTS}/${await agent(ECHO)}/upload?url=https://x.example/page`);
    expect(body.data).toMatchObject({ name: 'page', mime_type: type });
  });

  it('are not fetched when the URL answers badly, or the server fetches nothing', async () => {
    const bad = await startServer({ services: { http: http(404) } });
    const answer = await bad.call('POST', `${AGENTS}/${await bad.agent(ECHO)}/upload?url=https://x.example`);
    expect(answer.body).toMatchObject({ code: 102, message: expect.stringContaining('404') });
    const none = await startServer();
    expect((await none.call('POST', `${AGENTS}/${await none.agent(ECHO)}/upload?url=https://x`)).body.code).toBe(101);
  });

  it('that code of an agent made are given back by name', async () => {
    const { call, stores } = await startServer();
    const bytes = new Uint8Array([1]);
    await stores.files.save('local', { id: 'plot', name: 'plot.png', mimeType: 'image/png', bytes, createdAt: 1 });
    const get = (name: string) => call('GET', `/api/v1/documents/artifact/${name}`);
    const sent = await get('plot.png');
    expect(sent.headers.get('content-type')).toBe('image/png');
    expect(sent.headers.get('x-content-type-options')).toBe('nosniff');
    for (const [name, message] of [
      ['plot.exe', 'invalid file type'],
      ['none.png', 'Artifact not found.'],
      ['..%2Fplot.png', 'Invalid filename.'],
      ['plot.png?session_id=foreign', 'Artifact not found.'],
    ] as const) {
      expect((await get(name)).body).toEqual({ code: 102, message });
    }
  });
});

describe('canvas files', () => {
  const send = async (url: string, files: Readonly<Record<string, string>>) => {
    const form = new FormData();
    for (const [name, text] of Object.entries(files)) form.append('file', new Blob([text]), name);
    return (await fetch(url, { method: 'POST', body: form })).json() as Promise<Record<string, never>>;
  };

  it('are taken away and come back as they were', async () => {
    const { call, agent, url } = await startServer();
    const id = await agent(ECHO);
    const file = await fetch(`${url}${AGENTS}/${id}/export`);
    expect(file.headers.get('content-disposition')).toBe('attachment; filename="Agent_1.json"');
    const text = await file.text();
    expect(JSON.parse(text)).toEqual(ECHO);
    expect(await send(`${url}${AGENTS}/import`, { 'Copy.json': text })).toMatchObject({
      code: 0,
      data: { title: 'Copy' },
    });
    const wrapped = JSON.stringify({ title: { en: 'T' }, dsl: ECHO });
    expect(await send(`${url}${AGENTS}/import?title=Named`, { 'x.json': wrapped })).toMatchObject({
      data: { title: 'Named', dsl: ECHO },
    });
    expect(await send(`${url}${AGENTS}/import`, { 'a.json': text, 'b.json': text })).toMatchObject({
      data: [{ title: 'a' }, { title: 'b' }],
    });
    expect((await call('GET', `${AGENTS}/${id}/export?to=v2`)).body).toMatchObject({ version: 2 });
    expect((await call('GET', `${AGENTS}/${id}/export?to=v3`)).body.code).toBe(101);
  });

  it('that hold no canvas make nothing of the others either', async () => {
    const { call, url } = await startServer();
    for (const bad of ['{', '[]', '{"a":1}']) {
      const files = { 'good.json': JSON.stringify(ECHO), 'bad.json': bad };
      expect(await send(`${url}${AGENTS}/import`, files)).toMatchObject({ code: 101 });
    }
    expect((await call('GET', AGENTS)).body.data.total).toBe(0);
  });
});

describe('a change with if_update_time', () => {
  it('is stored while the draft is the one that the client has read, and changes its time', async () => {
    const { call, agent } = await startServer({ now: () => 5_000 });
    const id = await agent(ECHO);
    const read = async () => (await call('GET', `${AGENTS}/${id}`)).body.data;
    const first = (await read()).update_time;
    const saved = await call('PATCH', `${AGENTS}/${id}`, { dsl: PROBE, if_update_time: first });
    expect(saved.body).toMatchObject({ code: 0, data: { id } });
    // Even within one millisecond two states have different times.
    expect(saved.body.data.update_time).toBeGreaterThan(first);
    expect(await read()).toMatchObject({ dsl: PROBE, update_time: saved.body.data.update_time });
  });

  it.each(['PATCH', 'PUT'])('is refused by %s with CONFLICT otherwise, and changes nothing', async (method) => {
    const { call, agent } = await startServer({ now: () => 5_000 });
    const id = await agent(ECHO);
    const change = { title: 'Mine', if_update_time: 5_000 };
    await call('PATCH', `${AGENTS}/${id}`, { title: 'Theirs' });
    const refused = await call(method, `${AGENTS}/${id}`, change);
    expect(refused).toMatchObject({
      status: 409,
      body: { code: 102, message: expect.stringMatching(/update_time is 5001, not 5000\. Read it, and save again\.$/) },
    });
    expect((await call('GET', `${AGENTS}/${id}`)).body.data).toMatchObject({ title: 'Theirs', update_time: 5_001 });
    const wrong = await call(method, `${AGENTS}/${id}`, { title: 'Mine', if_update_time: 'soon' });
    expect(wrong.body).toMatchObject({ code: 101, message: expect.stringContaining('if_update_time') });
  });

  it('lets one of many clients win that save at once', async () => {
    const { call, agent } = await startServer();
    const id = await agent(ECHO);
    const { update_time } = (await call('GET', `${AGENTS}/${id}`)).body.data;
    const save = (count: number) =>
      call('PATCH', `${AGENTS}/${id}`, { title: `Title ${count}`, if_update_time: update_time });
    const answers = await Promise.all(Array.from({ length: 10 }, (_, count) => save(count)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array(9).fill(409)]);
  });

  it('still refuses a taken title as before', async () => {
    const { call, agent } = await startServer();
    const [one, two] = [await agent(ECHO), await agent(ECHO)];
    await call('PATCH', `${AGENTS}/${one}`, { title: 'Taken' });
    const { update_time } = (await call('GET', `${AGENTS}/${two}`)).body.data;
    const refused = await call('PATCH', `${AGENTS}/${two}`, { title: 'Taken', if_update_time: update_time });
    expect(refused).toMatchObject({ status: 200, body: { code: 102, message: 'Taken already exists.' } });
  });
});
