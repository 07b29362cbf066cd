import { request } from 'node:http';
import { describe, expect, it } from 'vitest';
import { EngineError } from '../../src/errors.js';
import { createMemoryStores } from '../../src/stores/memory-stores.js';
import { documentOf, ECHO, FORM, MODEL, PROBE } from './support/documents.js';
import { openStream } from './support/event-stream.js';
import { connect } from './support/live-client.js';
import { startServer } from './support/server.js';

const AGENTS = '/api/v1/agents';

describe('agents', () => {
  it('are created, listed, read, changed and deleted', async () => {
    const { call } = await startServer();
    const created = await call('POST', AGENTS, { title: ' Demo ', dsl: JSON.stringify(ECHO), description: 'd' });
    expect(created.body).toMatchObject({ code: 0, message: 'success', data: { title: 'Demo', issues: [] } });
    const { id } = created.body.data;
    expect(id).toMatch(/^[0-9a-f]{32}$/);
    const listed = (await call('GET', `${AGENTS}?keywords=dem&page=1&page_size=5`)).body.data;
    expect(listed).toMatchObject({ total: 1, canvas: [{ id, title: 'Demo', description: 'd', type: 'agent' }] });
    expect(listed.canvas[0]).not.toHaveProperty('dsl');
    expect((await call('GET', `${AGENTS}/${id}`)).body.data).toMatchObject({ id, dsl: ECHO, last_publish_time: null });
    const changed = await call('PATCH', `${AGENTS}/${id}`, { title: 'Other', dsl: FORM });
    expect(changed.body).toMatchObject({ code: 0, data: { id, update_time: expect.any(Number) } });
    expect((await call('PUT', `${AGENTS}/${id}`, { release: 'true' })).body.code).toBe(0);
    const read = (await call('GET', `${AGENTS}/${id}`)).body.data;
    expect(read).toMatchObject({ title: 'Other', dsl: FORM, release: true, last_publish_time: expect.any(Number) });
    expect((await call('DELETE', `${AGENTS}/${id}`)).body).toEqual({ code: 0, message: 'success', data: true });
    expect((await call('GET', `${AGENTS}/${id}`)).body).toEqual({ code: 102, message: 'canvas not found.' });
    expect((await call('DELETE', `${AGENTS}/${id}`)).body).toEqual({
      code: 103,
      message: 'Only the owner of the agent is authorized for this operation.',
      data: false,
    });
  });

  it.each([
    ['no document', { title: 'x' }, 101, 'No DSL data in request.'],
    ['no title', { dsl: ECHO }, 101, 'No title in request.'],
    ['text that is no JSON', { title: 'x', dsl: '{' }, 101, 'Invalid DSL JSON string.'],
    ['a document that is a list', { title: 'x', dsl: [] }, 101, 'DSL must be a JSON object.'],
    ['a title that is taken', { title: 'TAKEN', dsl: ECHO }, 102, 'TAKEN already exists.'],
  ])('are refused with %s', async (_, body, code, message) => {
    const { call } = await startServer();
    await call('POST', AGENTS, { title: 'taken', dsl: ECHO });
    expect((await call('POST', AGENTS, body)).body).toMatchObject({ code, message });
  });

  it('may be incomplete while they are drafts; running and publishing them names every problem', async () => {
    const { call } = await startServer();
    const dsl = documentOf({ begin: ['Begin', ['Nope:A', 'Nope:B']], 'Nope:A': ['Nope', []], 'Nope:B': ['Nope', []] });
    const { data } = (await call('POST', AGENTS, { title: 'draft', dsl })).body;
    expect(data.issues).toHaveLength(2);
    for (const [method, path, body] of [
      ['POST', `${AGENTS}/${data.id}/stream`, { query: 'x' }],
      ['PUT', `${AGENTS}/${data.id}`, { release: true }],
    ] as const) {
      const refusal = await call(method, path, body);
      expect(refusal.headers.get('content-type')).toContain('application/json');
      expect(refusal.body).toMatchObject({ code: 102, message: expect.stringContaining('Nope') });
      expect(refusal.body.data.issues).toHaveLength(2);
    }
    const empty = await call('POST', AGENTS, { title: 'empty', dsl: { graph: {} } });
    expect(empty.body.data.issues).not.toHaveLength(0);
  });

  it('run what is published, or the draft when asked', async () => {
    const { call } = await startServer();
    const says = (text: string) =>
      documentOf({ begin: ['Begin', ['Message:A']], 'Message:A': ['Message', [], { content: [text] }] });
    const { id } = (await call('POST', AGENTS, { title: 'v', dsl: says('draft 1') })).body.data;
    const answer = async (path: string, body: object = {}) => {
      const answered = (await call('POST', path, { query: 'x', ...body })).body;
      return answered.data?.data?.content ?? answered.message;
    };
    expect(await answer(`${AGENTS}/${id}/run`)).toBe('draft 1');
    expect(await answer(`${AGENTS}/${id}/run`, { release: true })).toBe('No available published version');
    await call('PUT', `${AGENTS}/${id}`, { release: true });
    await call('PUT', `${AGENTS}/${id}`, { dsl: says('draft 2') });
    expect(await answer(`${AGENTS}/${id}/run`)).toBe('draft 1');
    expect(await answer(`${AGENTS}/${id}/run?version=draft`)).toBe('draft 2');
    expect(await answer(`${AGENTS}/${id}/run?version=nope`)).toBe('Version not found.');
    expect(await answer(`${AGENTS}/chat/completions`, { agent_id: id })).toBe('draft 2');
  });
});

describe('runs', () => {
  it('answer at once with JSON, and are listed and read', async () => {
    const { call, agent } = await startServer();
    const id = await agent(ECHO);
    const answer = await call('POST', `${AGENTS}/${id}/run`, { query: 'hi', return_trace: true });
    const run = answer.headers.get('x-run-id');
    expect(answer.body).toMatchObject({
      code: 0,
      data: {
        event: 'message_end',
        run_id: run,
        data: { content: 'you said hi', reference: {}, outputs: { content: 'you said hi' }, usage: { calls: 0 } },
      },
    });
    expect(answer.body.data.data.trace.map(({ component_id }: { component_id: string }) => component_id)).toEqual([
      'begin',
      'Message:A',
    ]);
    const listed = (await call('GET', `${AGENTS}/${id}/runs?status=succeeded`)).body;
    expect(listed).toMatchObject({ code: 0, total: 1, data: [{ id: run, status: 'succeeded', last_event_id: 8 }] });
    const read = (await call('GET', `${AGENTS}/${id}/runs/${run}`)).body.data;
    expect(read).toMatchObject({ run_id: run, agent_id: id, usage: { total_tokens: 0 }, error: null });
    expect(read.finished_at).toBeGreaterThanOrEqual(read.started_at);
    expect((await call('GET', `${AGENTS}/${id}/runs/none`)).body).toEqual({ code: 102, message: 'Run not found.' });
  });

  it.each([
    ['an unknown agent', `${AGENTS}/nobody/run`, {}, 103, 'Make sure you have permission to access the agent.'],
    ['completions without an agent', `${AGENTS}/chat/completions`, {}, 101, '`agent_id` is required.'],
    ['an unknown session', `${AGENTS}/ID/stream`, { session_id: 's' }, 102, 'Session not found!'],
    [
      'a session of another agent',
      `${AGENTS}/ID/stream`,
      { session_id: 'OTHER' },
      103,
      'Session does not belong to the requested agent.',
    ],
    ['an unknown version', `${AGENTS}/ID/stream?version=7`, {}, 102, 'Version not found.'],
    ['a session id with a line end', `${AGENTS}/ID/stream`, { session_id: 'a\r\nb' }, 101, undefined],
    ['an unknown run to go on from', `${AGENTS}/ID/run`, { resume_from: 'r' }, 102, 'Run not found.'],
  ])('refuse %s with JSON before anything starts', async (_, path, body, code, message) => {
    const { call, agent } = await startServer();
    const id = await agent(ECHO);
    const other = (await call('POST', `${AGENTS}/${await agent(ECHO)}/run`, {})).body.data.session_id;
    const session_id = 'session_id' in body && body.session_id === 'OTHER' ? { session_id: other } : {};
    const answer = await call('POST', path.replace('ID', id), { ...body, ...session_id });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toContain('application/json');
    expect(answer.body).toMatchObject({ code, ...(message === undefined ? {} : { message }) });
  });

  it('go on in their session, one at a time', async () => {
    const { call, agent, url, probes } = await startServer();
    const id = await agent(PROBE);
    const stream = await openStream(`${url}${AGENTS}/${id}/stream`, { body: { query: 'x' } });
    const probe = await probes.next();
    const [first] = await stream.until(() => true);
    const { session_id } = first?.json ?? {};
    expect((await call('POST', `${AGENTS}/${id}/run`, { session_id })).body).toEqual({
      code: 103,
      message: 'This agent session is already running.',
      data: false,
    });
    probe.settle();
    await stream.rest();
    const second = call('POST', `${AGENTS}/${id}/run`, { session_id, query: 'y' });
    (await probes.next()).settle();
    expect((await second).body.data.session_id).toBe(session_id);
    const session = (await call('GET', `${AGENTS}/${id}/sessions/${session_id}`)).body.data;
    expect(session).toMatchObject({ dialog_id: id, round: 2, source: 'workflow' });
  });

  it('go on from a waiting run by its id', async () => {
    const { call, agent } = await startServer();
    const id = await agent(FORM);
    const asked = (await call('POST', `${AGENTS}/${id}/run`, { query: 'x' })).body.data;
    expect(asked).toMatchObject({ event: 'user_inputs', status: 'waiting', data: { tips: 'Where to?' } });
    const body = { resume_from: asked.run_id, inputs: { city: { value: 'Rome' } } };
    const answered = (await call('POST', `${AGENTS}/${id}/run`, body)).body.data;
    expect(answered).toMatchObject({ status: 'succeeded', data: { content: 'to Rome' } });
    expect((await call('POST', `${AGENTS}/${id}/run`, body)).body.code).toBe(102);
  });

  it('are all cancelled for an agent, and deleted with it', async () => {
    const { call, agent, url, probes, stores } = await startServer();
    const id = await agent(PROBE);
    const streams = await Promise.all(
      [1, 2].map(() => openStream(`${url}${AGENTS}/${id}/stream`, { body: { query: 'x' } })),
    );
    await Promise.all([probes.next(), probes.next()]);
    expect((await call('POST', `${AGENTS}/${id}/cancel`)).body.data).toBe(true);
    for (const stream of streams)
      expect((await stream.rest()).at(-2)?.json.data.outputs).toBe('Task has been canceled');
    await call('DELETE', `${AGENTS}/${id}`);
    const bounds = { maxEvents: 1, maxBytes: 1 };
    const run = streams[0]?.headers.get('x-run-id') ?? '';
    expect(await stores.log.read('local', run, 0, bounds)).toBeUndefined();
    expect(await stores.runs.find('local', run)).toBeUndefined();
  });
});

describe('the name of a user', () => {
  it.each([['u'.repeat(256)], ['a\nb']])('is refused when it cannot be one: %j', async (user_id) => {
    const { call, agent } = await startServer();
    const agent_id = await agent(ECHO);
    const inQuery = `user_id=${encodeURIComponent(user_id)}`;
    const refused = { code: 101, message: expect.stringContaining('`user_id`') };
    const ask = async (path: string, body: object) => (await call('POST', `${AGENTS}/${path}`, body)).body;
    expect(await ask('chat/completions', { agent_id, query: 'hi', user_id })).toMatchObject(refused);
    expect(await ask(`chat/completions?${inQuery}`, { agent_id, query: 'hi' })).toMatchObject(refused);
    expect(await ask(`${agent_id}/sessions`, { user_id })).toMatchObject(refused);
    expect(await ask(`${agent_id}/sessions?${inQuery}`, {})).toMatchObject(refused);
    expect((await call('GET', `${AGENTS}/${agent_id}/sessions`)).body.total).toBe(0);
    expect((await ask(`${agent_id}/sessions`, { user_id: 'u'.repeat(255) })).code).toBe(0);
  });
});

describe('completions in a prepared session', () => {
  it('show the messages and nothing of the machinery but finished nodes', async () => {
    const { call, agent, url } = await startServer();
    const agent_id = await agent(ECHO);
    const session = (await call('POST', `${AGENTS}/${agent_id}/sessions`, { name: 'n', user_id: 'u' })).body.data;
    expect(session).toMatchObject({
      source: 'agent',
      user_id: 'u',
      message: [{ role: 'assistant', content: 'Welcome.' }],
    });
    const stream = await openStream(`${url}${AGENTS}/chat/completions`, {
      body: { agent_id, session_id: session.id, query: 'hi', stream: true },
    });
    const frames = (await stream.rest()).slice(0, -1);
    expect(frames.map(({ json }) => json.event)).toEqual([
      'node_finished',
      'message',
      'message_end',
      'node_finished',
      'workflow_finished',
    ]);
    expect(Object.keys(frames.at(-1)?.json.data)).toEqual(['usage']);
    const listed = (await call('GET', `${AGENTS}/${agent_id}/sessions?user_id=u&dsl=false`)).body;
    expect(listed).toMatchObject({ total: 1, data: [{ id: session.id, round: 1 }] });
    expect(listed.data[0].message.at(-1)).toMatchObject({ role: 'assistant', content: 'you said hi', reference: [] });
    expect(listed.data[0]).not.toHaveProperty('dsl');
    const gone = await call('DELETE', `${AGENTS}/${agent_id}/sessions`, { ids: [session.id, session.id, 'x'] });
    expect(gone.body.data).toEqual({
      success_count: 1,
      errors: [`Duplicate session ids: ${session.id}`, "The agent doesn't own the session x"],
    });
  });
});

describe("OpenAI's form", () => {
  it('completes, with what was said before as history', async () => {
    const { call, agent } = await startServer();
    const history = documentOf({
      begin: ['Begin', ['Message:A']],
      'Message:A': ['Message', [], { content: ['{sys.history}'] }],
    });
    const id = await agent(history);
    const messages = [
      { role: 'system', content: 'ignored' },
      { role: 'user', content: 'one' },
      { role: 'assistant', content: 'two' },
      { role: 'user', content: 'three' },
    ];
    const { status, body } = await call('POST', `/api/v1/agents_openai/${id}/chat/completions`, { messages });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      object: 'chat.completion',
      model: id,
      choices: [{ finish_reason: 'stop', message: { role: 'assistant' } }],
    });
    const said = body.choices[0].message.content;
    expect(said).toContain('user: one');
    expect(said).toContain('assistant: two');
    expect(said).toContain('user: three');
    expect(said).not.toContain('ignored');
  });

  it.each([
    ['no message', 'ID', {}, 400, 'invalid_request_error'],
    [
      'an unknown session',
      'ID',
      { session_id: 'x', messages: [{ role: 'user', content: 'x' }] },
      404,
      'not_found_error',
    ],
    ['an unknown agent', 'nobody', { messages: [{ role: 'user', content: 'x' }] }, 403, 'permission_error'],
    ['a form that waits', 'ID', { messages: [{ role: 'user', content: 'x' }] }, 409, 'invalid_request_error'],
  ])('refuses %s', async (_, id, body, status, type) => {
    const { call, agent } = await startServer();
    const path = `/api/v1/agents_openai/${id.replace('ID', await agent(FORM))}/chat/completions`;
    const answer = await call('POST', path, body);
    expect(answer.status).toBe(status);
    expect(answer.body).toMatchObject({ error: { type, message: expect.any(String) } });
  });
});

describe('bodies', () => {
  it.each([
    ['broken JSON', '{"query":', 400],
    ['JSON that is no object', '"text"', 400],
  ])('of %s are refused', async (_, body, status) => {
    const { call, agent } = await startServer();
    const answer = await call('POST', `${AGENTS}/${await agent(ECHO)}/run`, body);
    expect(answer.status).toBe(status);
    expect(answer.body).toMatchObject({ code: 101, data: false });
  });

  it.each([
    ['query', 7],
    ['question', ['x']],
    ['user_input', { text: 'x' }],
    ['message', true],
  ])('whose %s is %j start no run', async (name, value) => {
    const { call, agent } = await startServer();
    const id = await agent(ECHO);
    const { body } = await call('POST', `${AGENTS}/${id}/run`, { [name]: value });
    expect(body).toMatchObject({ code: 101, message: expect.stringContaining(`\`${name}\``) });
    expect((await call('GET', `${AGENTS}/${id}/runs`)).body.data).toEqual([]);
  });

  it.each([
    ['qury', 'query'],
    ['input', 'inputs'],
    ['sessionId', 'session_id'],
  ])('with %s for %s start no run', async (name, meant) => {
    const { call, agent } = await startServer();
    const id = await agent(ECHO);
    const { body } = await call('POST', `${AGENTS}/${id}/run`, { [name]: 'x' });
    expect(body).toMatchObject({ code: 101, message: expect.stringContaining(`Did you mean \`${meant}\`?`) });
    expect((await call('GET', `${AGENTS}/${id}/runs`)).body.data).toEqual([]);
  });

  it.each([{ messages: [] }, { query: 'x', qury: 'y' }, { id: 'x', user: 'y', message_id: 'z' }])(
    'may have other fields: %j',
    async (fields) => {
      const { call, agent } = await startServer();
      expect((await call('POST', `${AGENTS}/${await agent(ECHO)}/run`, fields)).body).toMatchObject({ code: 0 });
    },
  );

  it('without a query are named as the cause where a model has nothing to ask', async () => {
    const { call, agent } = await startServer();
    const { body } = await call('POST', `${AGENTS}/${await agent(MODEL)}/run`, {});
    expect(body).toMatchObject({ code: 500, message: expect.stringContaining('The turn came without a `query`') });
  });

  it('with globals that are a list are refused with their path', async () => {
    const { call, agent } = await startServer();
    const { body } = await call('POST', `${AGENTS}/${await agent({ ...ECHO, globals: [] })}/run`, { query: 'x' });
    expect(body).toMatchObject({ code: 102, data: { issues: [{ path: '$.globals' }] } });
  });

  it.each([
    ['a run', 'run', (deep: string) => `{"query":"x","inputs":{"a":${deep}}}`],
    ['an agent', '', (deep: string) => JSON.stringify({ title: 'x', dsl: `{"components":{"a":${deep}}}` })],
  ])('nested thousands of levels deep are refused for %s, and the server lives', async (_, route, bodyOf) => {
    const { call, agent, errors } = await startServer();
    const id = await agent(ECHO);
    const deep = '['.repeat(20_000) + ']'.repeat(20_000);
    const answer = await call('POST', route === '' ? AGENTS : `${AGENTS}/${id}/${route}`, bodyOf(deep));
    expect(answer.body).toMatchObject({ code: 101, message: expect.stringContaining('more than 200 levels') });
    expect((await call('POST', `${AGENTS}/${id}/run`, { query: 'x' })).body).toMatchObject({ code: 0 });
    expect(errors).toEqual([]);
  });

  it('have so many names at most, of which those within texts are none', async () => {
    const { call, agent } = await startServer();
    const path = `${AGENTS}/${await agent(ECHO)}/run`;
    const names = Array.from({ length: 9_999 }, (_, at) => `"${at}": 1`).join();
    const most = `{ "query": "\\": \\\\", ${names} }`;
    expect((await call('POST', path, most)).body.data.data.content).toBe('you said ": \\');
    expect((await call('POST', path, `{ "inputs": { "a": ${most.replace('{', '{ "1": 1, ')} } }`)).body).toEqual({
      code: 101,
      data: false,
      message: 'The request body has an object with more than 10000 names.',
    });
  });

  it.each(['{"inputs": {"__proto__": {}}}', '{"inputs": {"\\u005F_proto__": {}}}'])(
    'are refused as %s',
    async (body) => {
      const { call, agent } = await startServer();
      expect((await call('POST', `${AGENTS}/${await agent(ECHO)}/run`, body)).body).toMatchObject({ code: 101 });
      const harmless = await call('POST', `${AGENTS}/${await agent(ECHO)}/run`, { query: 'the __proto__ of \u005f' });
      expect(harmless.body).toMatchObject({ code: 0 });
    },
  );

  it('of other types are refused', async () => {
    const { call, agent } = await startServer();
    const answer = await call('POST', `${AGENTS}/${await agent(ECHO)}/run`, '{"query":"x"}', {
      'content-type': 'text/plain',
    });
    expect(answer.body).toMatchObject({ code: 101, message: expect.stringContaining('application/json') });
  });

  it.each([
    ['announced', true],
    ['not announced', false],
  ])('of 50 MB are refused and the connection survives, when their size is %s', async (_, isAnnounced) => {
    const { url, agent, errors } = await startServer();
    const id = await agent(ECHO);
    const size = 50 * 1024 * 1024;
    const answer = await new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
      const outgoing = request(`${url}${AGENTS}/${id}/run`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...(isAnnounced ? { 'content-length': size } : {}) },
      });
      outgoing.once('error', reject);
      outgoing.once('response', async (response) => {
        let text = '';
        for await (const part of response) text += part;
        resolve({ status: response.statusCode, text });
      });
      const part = Buffer.alloc(1024 * 1024, 'x');
      for (let sent = 0; sent < size; sent += part.length) outgoing.write(part);
      outgoing.end();
    });
    expect(answer.status).toBe(413);
    expect(JSON.parse(answer.text)).toMatchObject({ code: 101 });
    expect(errors).toEqual([]);
  });

  it('of 5 MB are fine', async () => {
    const { call } = await startServer({ env: { RUNNEL_DOCUMENT_BYTES: '8388608' } });
    const dsl = documentOf({
      begin: ['Begin', ['Message:A']],
      'Message:A': ['Message', [], { content: ['x'.repeat(5 * 1024 * 1024)] }],
    });
    expect((await call('POST', AGENTS, { title: 'big', dsl })).body.code).toBe(0);
  });
});

describe('files', () => {
  it('are uploaded and given back, never to be run by a browser', async () => {
    const { url, call, agent } = await startServer();
    const id = await agent(ECHO);
    const form = new FormData();
    form.append('file', new Blob(['<script>1</script>'], { type: 'text/html' }), 'a "b".html');
    form.append('file', new Blob([new Uint8Array([1, 2, 3])], { type: 'image/png' }), 'p.png');
    const response = await fetch(`${url}${AGENTS}/${id}/upload`, { method: 'POST', body: form });
    const { code, data } = (await response.json()) as { code: number; data: { id: string }[] };
    expect(code).toBe(0);
    expect(data).toMatchObject([
      { name: 'a "b".html', size: 18, extension: 'html', mime_type: 'text/html', created_by: 'local' },
      { size: 3, extension: 'png' },
    ]);
    const [html, image] = data;
    const page = await fetch(`${url}${AGENTS}/attachments/${html?.id}/preview`);
    expect(page.headers.get('content-disposition')).toBe('attachment; filename="a__b_.html"');
    expect(page.headers.get('x-content-type-options')).toBe('nosniff');
    expect(await page.text()).toBe('<script>1</script>');
    const picture = await fetch(`${url}${AGENTS}/attachments/${image?.id}/preview`);
    expect(picture.headers.get('content-type')).toBe('image/png');
    expect(picture.headers.get('content-disposition')).toBe('inline; filename="p.png"');
    for (const type of [
      ...['multipart/x-mixed-replace', 'multipart/related', 'message/rfc822', 'image/svg+xml', 'text/xml', 'text/css'],
      ...['application/xhtml+xml', 'text/x-unheard', 'text/html', 'IMAGE/SVG+XML', 'application/wasm', 'video/mp4'],
      ...['text/csv', 'application/octet-stream', 'application/x-shockwave-flash', 'text/vtt', 'image/x-icon'],
    ]) {
      const shown = await fetch(
        `${url}${AGENTS}/attachments/${image?.id}/preview?mime_type=${encodeURIComponent(type)}&filename=a`,
      );
      expect(shown.headers.get('content-disposition'), type).toBe('attachment; filename="a"');
    }
    for (const type of [
      'image/png',
      'image/jpeg',
      'image/gif',
      'image/webp',
      'image/avif',
      'application/pdf',
      'text/plain',
    ]) {
      const shown = await fetch(
        `${url}${AGENTS}/attachments/${image?.id}/preview?mime_type=${encodeURIComponent(type)}`,
      );
      expect(shown.headers.get('content-disposition'), type).toBe('inline; filename="p.png"');
    }
    const kept = await fetch(`${url}${AGENTS}/download?id=${image?.id}&mime_type=text/html`);
    expect(kept.headers.get('content-disposition')).toBe('attachment; filename="p.png"');
    expect(kept.headers.get('content-type')).toBe('application/octet-stream');
    expect(kept.headers.get('x-content-type-options')).toBe('nosniff');
    expect((await call('GET', `${AGENTS}/attachments/none/download`)).body).toEqual({
      code: 102,
      message: 'document not found',
    });
    expect((await call('GET', `${AGENTS}/download?id=..%2Fx`)).body.message).toBe('invalid attachment id.');
  });

  it('are refused when they are missing or too large', async () => {
    const { url, call, agent } = await startServer({ env: { RUNNEL_UPLOAD_BYTES: '2048' } });
    const id = await agent(ECHO);
    expect((await call('POST', `${AGENTS}/${id}/upload`, {})).body.message).toBe('`file` field is required.');
    const form = new FormData();
    form.append('file', new Blob(['x'.repeat(4096)]), 'x.txt');
    const response = await fetch(`${url}${AGENTS}/${id}/upload`, { method: 'POST', body: form });
    expect(response.status).toBe(413);
    expect(await response.json()).toMatchObject({ code: 101 });
  });
});

describe('who may call', () => {
  const get = (url: string, headers: Record<string, string>) =>
    new Promise<number | undefined>((resolve) => {
      request(url, { headers }, (response) => {
        response.resume();
        resolve(response.statusCode);
      }).end();
    });

  it.each([
    ['localhost', {}, 200],
    ['127.0.0.1:9', {}, 200],
    ['[::1]:1', {}, 200],
    ['evil.example', {}, 403],
    ['localhost.evil.example', {}, 403],
    ['127.0.0.1.evil.example', {}, 403],
    ['localhost', { origin: 'http://localhost' }, 200],
    ['localhost:1', { origin: 'http://localhost:2' }, 403],
    ['localhost', { origin: 'https://evil.example' }, 403],
    ['localhost', { origin: 'null' }, 403],
    ['localhost', { origin: 'https://app.example' }, 200],
    ['localhost', { 'sec-fetch-site': 'none' }, 200],
    ['localhost', { 'sec-fetch-site': 'same-origin' }, 200],
    ['localhost', { 'sec-fetch-site': 'cross-site' }, 403],
    ['localhost', { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' }, 403],
    ['localhost', { 'sec-fetch-site': 'same-site' }, 403],
    ['localhost', { 'sec-fetch-site': 'cross-site', origin: 'https://app.example' }, 200],
  ])('without keys, under the name %s and from %o: %i', async (host, headers, status) => {
    const { url } = await startServer({ env: { RUNNEL_CORS_ORIGINS: 'https://app.example' } });
    expect(await get(`${url}/healthz`, { host, ...headers })).toBe(status);
    expect(await get(`${url}${AGENTS}`, { host, ...headers })).toBe(status);
  });

  it('lets browsers of named origins read answers, and no others', async () => {
    const { url } = await startServer({
      env: { RUNNEL_CORS_ORIGINS: 'https://app.example', RUNNEL_API_KEYS: 'the-only-key-here' },
    });
    const preflight = (origin: string) =>
      fetch(`${url}${AGENTS}`, { method: 'OPTIONS', headers: { origin, 'access-control-request-method': 'PATCH' } });
    const allowed = await preflight('https://app.example');
    expect(allowed.status).toBe(204);
    expect(allowed.headers.get('access-control-allow-origin')).toBe('https://app.example');
    expect((await preflight('https://evil.example')).headers.get('access-control-allow-origin')).toBeNull();
  });

  it('asks for a key, and keeps tenants apart', async () => {
    const { call, agent, url } = await startServer({
      env: { RUNNEL_API_KEYS: 'acme=one-of-acme-long-key,other=two-of-others-long-key' },
    });
    const acme = { authorization: 'Bearer one-of-acme-long-key' };
    const other = { authorization: 'bearer two-of-others-long-key' };
    const id = await agent(ECHO, acme);
    expect((await call('GET', '/healthz')).status).toBe(200);
    for (const headers of [{}, { authorization: 'Bearer three' }, { authorization: 'Bearer ' }]) {
      const answer = await call('GET', AGENTS, undefined, headers as Record<string, string>);
      expect(answer.status).toBe(401);
      expect(answer.body).toMatchObject({ code: 401, data: null });
    }
    const run = await call('POST', `${AGENTS}/${id}/run`, { query: 'x' }, acme);
    const { session_id, run_id } = run.body.data;
    expect((await call('GET', AGENTS, undefined, other)).body.data.total).toBe(0);
    for (const [method, path] of [
      ['GET', `${AGENTS}/${id}`],
      ['PATCH', `${AGENTS}/${id}`],
      ['DELETE', `${AGENTS}/${id}`],
      ['POST', `${AGENTS}/${id}/run`],
      ['GET', `${AGENTS}/${id}/runs/${run_id}/events`],
      ['GET', `${AGENTS}/${id}/sessions/${session_id}`],
    ] as const) {
      const answer = await call(method, path, method === 'GET' || method === 'DELETE' ? undefined : {}, other);
      expect([102, 103]).toContain(answer.body.code);
    }
    const live = await connect(url, id, { headers: acme });
    expect(await live.next()).toMatchObject({ type: 'ready' });
  });

  it.each([
    ['GET', `${AGENTS}/x/stream`, 'POST'],
    ['PATCH', AGENTS, 'GET, HEAD, POST'],
  ])('names the methods that a path takes: %s %s', async (method, path, allowed) => {
    const { call } = await startServer();
    const answer = await call(method, path);
    expect(answer.headers.get('allow')).toBe(allowed);
    expect(answer).toMatchObject({
      status: 405,
      body: {
        code: 405,
        message: `${method} is not allowed for ${path}. Use ${allowed.replaceAll(', ', ' or ')}.`,
        data: null,
      },
    });
  });

  it('answers unknown paths with 404', async () => {
    const { call } = await startServer();
    expect(await call('GET', '/api/v1/nothing')).toMatchObject({
      status: 404,
      body: { code: 404, message: 'Not Found: /api/v1/nothing', data: null, error: 'Not Found' },
    });
  });

  it.each(['/%E0%A4%A', `${AGENTS}/%E0%A4%A`, `${AGENTS}/a%00b`, `${AGENTS}/a%0d%0ab/runs`])(
    'answers the malformed path %s without a crash',
    async (path) => {
      const { call, errors } = await startServer();
      expect((await call('GET', path)).body.code).toBeGreaterThan(0);
      expect(errors).toEqual([]);
    },
  );

  it('never shows what went wrong inside', async () => {
    const stores = createMemoryStores();
    const broken = {
      ...stores,
      agents: { ...stores.agents, select: () => Promise.reject(new Error('secret of the store')) },
    };
    const { call, errors } = await startServer({ stores: broken });
    const answer = await call('GET', AGENTS);
    expect(answer).toMatchObject({ status: 500, body: { code: 500, data: null } });
    expect(JSON.stringify(answer.body)).not.toContain('secret');
    expect(errors).toHaveLength(1);
  });
});

describe('stopping the server', () => {
  it('gives runs their grace, then cancels them and lets every client know', async () => {
    const { url, agent, probes, server } = await startServer({ env: { RUNNEL_SHUTDOWN_GRACE_MS: '1' } });
    const id = await agent(PROBE);
    const stream = await openStream(`${url}${AGENTS}/${id}/stream`, { body: { query: 'x' } });
    const probe = await probes.next();
    const live = await connect(url, id);
    await live.next();
    const closing = server.close();
    const frames = await stream.rest();
    expect(probe.isStopped).toBe(true);
    expect(frames.at(-2)?.json.data.outputs).toBe('Task has been canceled');
    expect(frames.at(-1)?.text).toBe('[DONE]');
    expect((await live.closed).code).toBe(1012);
    await closing;
    await expect(fetch(`${url}/healthz`)).rejects.toThrow();
  });

  it('lets runs end that end in time', async () => {
    const { url, agent, probes, server } = await startServer({ env: { RUNNEL_SHUTDOWN_GRACE_MS: '60000' } });
    const id = await agent(PROBE);
    const live = await connect(url, id);
    await live.next();
    live.send({ type: 'run', query: 'x' });
    const probe = await probes.next();
    const closing = server.close();
    live.send({ type: 'run', req: 'late', query: 'y' });
    const late = (await live.until(({ type }) => type === 'error')).at(-1);
    expect(late).toMatchObject({ req: 'late', code: 103 });
    probe.settle();
    expect((await live.done()).at(-1).status).toBe('succeeded');
    expect((await live.closed).code).toBe(1012);
    await closing;
  });
});

describe('a store that is away', () => {
  it('is answered with 503 and a message that says what to do, also in the form of OpenAI', async () => {
    const stores = createMemoryStores();
    const away = () => Promise.reject(new EngineError('STORE_UNAVAILABLE', 'The database cannot be reached.'));
    const agents = { ...stores.agents, find: away, select: away };
    const { call } = await startServer({ stores: { ...stores, agents } });
    const refused = { status: 503, body: { code: 500, message: 'The database cannot be reached.' } };
    expect(await call('GET', `${AGENTS}/a`)).toMatchObject(refused);
    expect(await call('GET', AGENTS)).toMatchObject(refused);
    expect(await call('POST', `${AGENTS}/a/stream`, { query: 'x' })).toMatchObject(refused);
    const body = { model: 'a', messages: [{ role: 'user', content: 'x' }] };
    expect(await call('POST', '/api/v1/agents_openai/a/chat/completions', body)).toMatchObject({ status: 503 });
  });
});
