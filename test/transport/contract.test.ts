/** The API as its contract says it, over real HTTP: a client that knows nothing else gets along with the server. */
import { beforeAll, describe, expect, it } from 'vitest';
import { API_PREFIX, createApi } from '../../src/transport/app.js';
import { describeApi } from '../../src/transport/openapi.js';
import { type ContractClient, createContractClient } from './support/contract-client.js';
import { createDescribedAnswers } from './support/described-answers.js';
import { documentOf, ECHO, FORM, PROBE } from './support/documents.js';
import { startServer, type TestServer } from './support/server.js';

const HOOK = documentOf({
  begin: ['Begin', ['Message:A'], { mode: 'Webhook', security: { auth_type: 'none', allow_anonymous: true } }],
  'Message:A': ['Message', [], { content: ['hooked'] }],
});

/** Every route that the contract names. */
const CONTRACT = `
  GET /agents · POST /agents · GET /agents/* · PATCH /agents/* · PUT /agents/* · DELETE /agents/*
  POST /agents/*/run · POST /agents/*/stream · POST /agents/*/cancel
  GET /agents/*/versions · POST /agents/*/versions · GET /agents/*/versions/* · DELETE /agents/*/versions/* · POST /agents/*/publish
  GET /agents/*/runs · GET /agents/*/runs/* · GET /agents/*/runs/*/events · GET /agents/*/runs/*/trace
  POST /agents/*/runs/*/cancel · POST /agents/*/runs/*/fork · POST /tasks/*/cancel · PATCH /tasks/*
  POST /agents/chat/completions · POST /agents/*/completions · POST /agents_openai/*/chat/completions
  GET /agents/*/sessions · POST /agents/*/sessions · GET /agents/*/sessions/* · DELETE /agents/*/sessions/* · DELETE /agents/*/sessions
  POST /agents/*/upload · GET /agents/download · GET /agents/attachments/*/download · GET /agents/attachments/*/preview
  GET /documents/artifact/* · GET /agents/*/components/*/input-form · POST /agents/*/components/*/debug
  POST /agents/test_db_connection · POST /agents/*/reset · POST /agents/rerun · GET /agents/*/logs/*
  POST /agents/*/webhook · POST /agents/*/webhook/test · GET /agents/*/webhook/logs
  GET /agents/templates · GET /agents/prompts · GET /agents/tags · PUT /agents/*/tags
  POST /agentbots/*/completions · GET /agentbots/*/inputs · GET /agentbots/*/logs/*
  GET /system/tokens · POST /system/tokens · DELETE /system/tokens/*
  GET /admin/canvas-runtime/* · POST /admin/canvas-runtime/* · DELETE /admin/canvas-runtime/*`;

const ADMIN_KEY = 'a-key-for-the-administrator';

describe('a client of the contract', () => {
  let server: TestServer;
  let client: ContractClient;
  const clients: ContractClient[] = [];
  const described = createDescribedAnswers(JSON.parse(JSON.stringify(describeApi(API_PREFIX, createApi()))));
  const clientOf = (key?: string): ContractClient => {
    const made = createContractClient({
      url: server.url,
      look: described.look,
      ...(key === undefined ? {} : { key }),
    });
    clients.push(made);
    return made;
  };

  beforeAll(async () => {
    const env = { RUNNEL_API_KEYS: 'acme=one-of-acme-long-key', RUNNEL_ADMIN_KEY: ADMIN_KEY };
    server = await startServer({ env, outlivesTest: true });
    client = clientOf('one-of-acme-long-key');
    return server.stop;
  });

  it('keeps agents: the design’s first five', async () => {
    const made = await client.create('Kept', ECHO, { description: 'says back', permission: 'me' });
    expect((await client.agents('?keywords=kept')).canvas.map(({ id }) => id)).toEqual([made.id]);
    expect((await client.agent(made.id)).dsl).toMatchObject({ components: { begin: {} } });
    await client.update(made.id, { description: 'changed' });
    await client.update(made.id, { title: 'Renamed' }, 'PUT');
    expect(await client.agent(made.id)).toMatchObject({ title: 'Renamed', description: 'changed' });
    expect((await client.versions(made.id)).total).toBe(0);
    expect(await client.refused('POST', '/agents', { title: 'renamed', dsl: ECHO })).toMatchObject({
      status: 200,
      code: 102,
    });
    expect(await client.refused('POST', '/agents', { title: 'x' })).toMatchObject({ code: 101 });
    await client.remove(made.id);
    expect(await client.refused('GET', `/agents/${made.id}`)).toEqual({
      status: 200,
      code: 102,
      message: 'canvas not found.',
    });
  });

  it('runs turns: /run, /stream and /cancel', async () => {
    const { id } = await client.create('Runs', ECHO);
    const answer = await client.run(id, { query: 'hi' });
    expect(answer.data.content).toBe('you said hi');
    const { run, events, ids } = await client.stream(id, { query: 'ho', session_id: answer.session_id });
    expect(ids).toEqual(events.map((_, at) => at + 1));
    expect(events.map((event) => ('event' in event ? event.event : 500))).toEqual([
      ...['workflow_started', 'node_started', 'node_finished', 'node_started'],
      ...['message', 'message_end', 'node_finished', 'workflow_finished'],
    ]);
    expect((await client.events(id, run, 6)).ids).toEqual([7, 8]);
    expect(await client.cancel(id)).toBe(true);
    expect(await client.cancel(id, { session_id: answer.session_id })).toBe(true);
    expect(await client.cancelRun(id, run)).toBe(true);
    expect(await client.cancelTask(answer.session_id)).toBe(true);
    expect(await client.stopTask(answer.session_id)).toBe(true);
    expect(await client.refused('PATCH', `/tasks/${answer.session_id}`, { action: 'go' })).toMatchObject({ code: 101 });
  });

  it('publishes versions, and runs them: the design’s last four', async () => {
    const { id } = await client.create('Versions', ECHO);
    expect(await client.refused('POST', `/agents/${id}/run?release=true`, { query: 'x' })).toMatchObject({
      code: 102,
      message: 'No available published version',
    });
    const first = await client.publish(id, { title: 'one' });
    const changed = documentOf({
      begin: ['Begin', ['Message:A']],
      'Message:A': ['Message', [], { content: ['other'] }],
    });
    await client.update(id, { dsl: changed });
    const second = await client.publishOld(id);
    expect((await client.versions(id)).data.map(({ id: version }) => version)).toEqual([second.id, first.id]);
    expect((await client.version(id, first.id)).title).toBe('one');
    expect((await client.run(id, { query: 'x' }, `?version=${first.id}`)).data.content).toBe('you said x');
    expect((await client.run(id, { query: 'x' })).data.content).toBe('other');
    await client.removeVersion(id, first.id);
    expect((await client.versions(id)).data.map(({ id: version }) => version)).toEqual([second.id]);
    expect(await client.refused('GET', `/agents/${id}/versions/${first.id}`)).toMatchObject({
      message: 'Version not found.',
    });
  });

  it('lists runs, reads one, and sees what it did over time', async () => {
    const { id } = await client.create('Listed', ECHO);
    const before = new Date(Date.now() - 60_000).toISOString();
    const { run_id: run, session_id: session } = await client.run(id, { query: 'x' });
    await client.run(id, { query: 'y' });
    expect((await client.runs(id)).total).toBe(2);
    expect(await client.runs(id, '?page=2&page_size=1')).toMatchObject({ data: [{ run_id: run }], total: 2 });
    expect((await client.runs(id, `?session_id=${session}`)).data).toMatchObject([
      { run_id: run, status: 'succeeded' },
    ]);
    expect((await client.runs(id, `?from_date=${before}`)).total).toBe(2);
    expect((await client.runs(id, `?to_date=${before}`)).total).toBe(0);
    expect((await client.runs(id, '?status=failed')).total).toBe(0);
    for (const bad of ['status=done', 'page_size=101', 'from_date=soon']) {
      expect(await client.refused('GET', `/agents/${id}/runs?${bad}`)).toMatchObject({ code: 101 });
    }
    const detail = await client.runDetail(id, run);
    expect(detail.nodes.map(({ component_id, activations }) => [component_id, activations])).toEqual([
      ['begin', 1],
      ['Message:A', 1],
    ]);
    const trace = await client.trace(id, run);
    expect(trace).toMatchObject({ run_id: run, status: 'succeeded', last_event_id: 8 });
    expect(trace.activations).toMatchObject([
      { component_id: 'begin', status: 'settled', first_event_id: 2, last_event_id: 3, emissions: [] },
      {
        component_id: 'Message:A',
        status: 'settled',
        emissions: [
          { kind: 'text', first_event_id: 5 },
          { kind: 'message_end', first_event_id: 6 },
        ],
      },
    ]);
    expect(await client.refused('GET', `/agents/${id}/runs/nobody/trace`)).toMatchObject({
      code: 102,
      message: 'Run not found.',
    });
  });

  it('forks runs, answers forms, and resumes what failed', async () => {
    const { id } = await client.create('Past', FORM);
    const asked = await client.run(id, { query: 'x' });
    expect(asked).toMatchObject({ event: 'user_inputs', status: 'waiting' });
    const told = await client.run(id, { resume_from: asked.run_id, inputs: { city: { type: 'line', value: 'Oslo' } } });
    expect(told).toMatchObject({ status: 'succeeded', session_id: asked.session_id, data: { content: 'to Oslo' } });
    expect(await client.runDetail(id, told.run_id)).toMatchObject({ parent_run_id: asked.run_id, forked_at: null });
    const other = await client.fork(id, asked.run_id, 4, { inputs: { city: 'Rome' } });
    expect(other).toMatchObject({ status: 'succeeded', data: { content: 'to Rome' } });
    expect(await client.runDetail(id, other.run_id)).toMatchObject({ parent_run_id: asked.run_id, forked_at: 4 });
    const streamed = await client.forkStream(id, asked.run_id, 4, { inputs: { city: 'Bern' } });
    expect(streamed.ids[0]).toBe(2);
    expect(await client.refused('POST', `/agents/${id}/run`, { resume_from: told.run_id })).toMatchObject({
      code: 102,
    });

    const probing = await client.create('Failing', PROBE);
    const failing = client.stream(probing.id, { query: 'x' });
    (await server.probes.next()).fail(new Error('Lost.'));
    const { run, events } = await failing;
    expect(events.at(-1)).toMatchObject({ code: 500, message: 'Lost.' });
    expect(await client.runDetail(probing.id, run)).toMatchObject({ status: 'failed', nodes: [{}, { failures: 1 }] });
    const resuming = client.run(probing.id, { resume_from: run });
    (await server.probes.next()).settle();
    expect(await resuming).toMatchObject({ status: 'succeeded' });
  });

  it('talks as RAGFlow’s clients and OpenAI’s do', async () => {
    const { id } = await client.create('Chat', ECHO);
    const answer = await client.complete({ agent_id: id, query: 'a' });
    expect(answer.data.content).toBe('you said a');
    const { events } = await client.completeStream({ agent_id: id, question: 'b', session_id: answer.session_id });
    expect(events.length).toBeGreaterThan(0);
    expect(await client.refused('POST', '/agents/chat/completions', { query: 'x' })).toMatchObject({ code: 101 });
    const messages = [{ role: 'user', content: 'c' }];
    expect((await client.openai(id, { messages })).choices[0].message.content).toBe('you said c');
    const chunks = await client.openaiStream(id, { messages });
    expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')).toBe('you said c');
    expect(chunks.at(-1)?.choices[0]?.finish_reason).toBe('stop');
    expect((await client.completeOld(id, { query: 'd' })).data.content).toBe('you said d');
    const logs = await client.logs(id, answer.message_id);
    expect(logs.map(({ component_id }) => component_id)).toEqual(['begin', 'Message:A']);
  });

  it('keeps sessions, files, tags and tokens', async () => {
    const { id } = await client.create('Rest', ECHO);
    const session = await client.createSession(id, { name: 'Mine' });
    expect(session.message).toMatchObject([{ role: 'assistant', content: 'Welcome.' }]);
    expect((await client.session(id, session.id)).dialog_id).toBe(id);
    const others = [await client.createSession(id), await client.createSession(id)].map((made) => made.id);
    expect((await client.sessions(id, '?keywords=mine')).data.map((found) => found.id)).toEqual([session.id]);
    await client.removeSessions(id, others);
    expect(await client.removeSession(id, session.id)).toBe(1);
    expect((await client.sessions(id)).total).toBe(0);

    const file = await client.upload(id, 'a.txt', 'hello');
    expect(file).toMatchObject({ name: 'a.txt', size: 5 });
    expect(await client.download(file.id)).toBe('hello');
    expect(await (await client.preview(file.id)).text()).toBe('hello');
    const attachment = await client.attachment(file.id);
    expect(attachment.headers.get('content-disposition')).toMatch(/^attachment/);
    expect(attachment.headers.get('x-content-type-options')).toBe('nosniff');
    expect(await client.refused('GET', '/documents/artifact/none.png')).toMatchObject({ code: 102 });
    expect(await client.refused('POST', `/agents/${id}/upload`, new FormData())).toMatchObject({ code: 101 });
    await client.tag(id, 'red,blue');
    expect((await client.tags()).map(({ tag }) => tag)).toEqual(['blue', 'red']);
    expect(await client.reset(id)).toMatchObject({ components: {} });

    const { token, beta } = await client.createToken();
    const [listed] = await client.tokens();
    expect(listed?.token.replace(/\*+/, '')).toBe(`${token.slice(0, 14)}${token.slice(-6)}`);
    const visitor = clientOf(beta);
    expect((await visitor.botInputs(id)).prologue).toBe('Welcome.');
    const { events } = await visitor.botStream(id, { query: 'x' });
    expect(events.at(-1)).toMatchObject({ event: 'workflow_finished' });
    expect(await visitor.botLogs(id, String(events[0]?.message_id))).toHaveLength(2);
    const { message_id: message } = await client.run(id, { query: 'x' });
    expect(await client.botLogs(id, message)).toHaveLength(2);
    // As RAGFlow's pages do, which know what was listed.
    expect(await client.removeToken(String(listed?.token))).toBe(true);
  });

  it('looks into canvases, calls webhooks, and administers', async () => {
    const { id } = await client.create('Tools', ECHO);
    expect(await client.inputForm(id, 'Message:A')).toHaveProperty(['sys.query']);
    expect(await client.debug(id, 'Message:A', { 'sys.query': { value: 'x' } })).toMatchObject({
      content: 'you said x',
    });
    expect((await client.templates()).every(({ dsl }) => 'components' in dsl)).toBe(true);
    await client.prompts();
    const hook = await client.create('Hook', HOOK);
    expect((await client.webhook(hook.id, { a: 1 })).status).toBe(200);
    expect(await client.webhookLogs(hook.id)).toMatchObject({ webhook_id: null, finished: false });
    expect((await client.tryWebhook(hook.id, { a: 1 })).status).toBe(200);
    expect(await client.refused('POST', '/agents/test_db_connection', { host: 'x' })).toMatchObject({ code: 101 });
    expect(await client.refused('POST', '/agents/rerun', { id: 'x', dsl: {}, component_id: 'y' })).toMatchObject({
      code: 102,
    });
    const admin = clientOf(ADMIN_KEY);
    expect(await admin.runtime('POST', 'acme', { runtime: 'runnel' })).toMatchObject({ runtime: 'runnel' });
    expect(await admin.runtime('GET', 'acme')).toMatchObject({ source: 'override' });
    expect(await admin.runtime('DELETE', 'acme')).toMatchObject({ source: 'default' });
    await client.health();
  });

  it('is refused in the words of the contract', async () => {
    const nobody = clientOf();
    expect(await nobody.refused('GET', '/agents')).toMatchObject({ status: 401, code: 401 });
    expect(await client.refused('GET', '/nothing')).toMatchObject({ status: 404, code: 404 });
    const { id } = await client.create('Refusing', ECHO);
    const session = (await client.run(id, { query: 'x' })).session_id;
    const other = await client.create('Other', ECHO);
    expect(await client.refused('POST', `/agents/${other.id}/run`, { session_id: session })).toMatchObject({
      code: 103,
      message: 'Session does not belong to the requested agent.',
    });
    expect(await client.refused('POST', `/agents/${id}/run`, { session_id: 'nobody' })).toMatchObject({
      code: 102,
      message: 'Session not found!',
    });
    expect(await client.refused('POST', '/agents/nobody/run', { query: 'x' })).toMatchObject({
      code: 103,
      message: 'Make sure you have permission to access the agent.',
    });
  });

  it('has called every route of the contract', () => {
    const called = clients.flatMap(({ calls }) => [...calls].map((call) => call.replace('/api/v1', '')));
    const missing = CONTRACT.split(/[·\n]/)
      .map((route) => route.trim())
      .filter((route) => route !== '')
      .filter((route) => {
        const pattern = new RegExp(`^${route.replaceAll('*', '[^/]+')}$`);
        return !called.some((call) => pattern.test(call));
      });
    expect(missing).toEqual([]);
  });

  it('was answered as the OpenAPI document says', () => {
    expect([...described.problems]).toEqual([]);
  });
});
