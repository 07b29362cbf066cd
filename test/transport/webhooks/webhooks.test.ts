import { once } from 'node:events';
import { zipSync } from 'fflate';
import { describe, expect, it, vi } from 'vitest';
import type { JsonObject } from '../../../src/json.js';
import { createMemoryStores } from '../../../src/stores/memory-stores.js';
import { documentOf } from '../support/documents.js';
import { openStream } from '../support/event-stream.js';
import { type Answer, startServer, type TestServer, type TestServerOptions } from '../support/server.js';

const OPEN = { auth_type: 'none', allow_anonymous: true };

/** An agent with a webhook that says what it was called with. */
function hook(params: JsonObject, said = '{begin@request}'): JsonObject {
  return documentOf({
    begin: ['Begin', ['Message:A'], { mode: 'Webhook', security: OPEN, execution_mode: 'Streaming', ...params }],
    'Message:A': ['Message', [], { content: [said] }],
  });
}

interface Hook extends TestServer {
  readonly id: string;
  send(options?: RequestInit & { readonly path?: string }): Promise<Answer>;
}

async function startHook(dsl: JsonObject, options: TestServerOptions = {}): Promise<Hook> {
  const server = await startServer(options);
  const id = await server.agent(
    dsl,
    options.env?.RUNNEL_API_KEYS === undefined ? {} : { authorization: 'Bearer one-of-acme-long-key' },
  );
  return {
    ...server,
    id,
    send: async ({ path = '', ...init } = {}) => {
      const response = await fetch(`${server.url}/api/v1/agents/${id}/webhook${path}`, { method: 'POST', ...init });
      const text = await response.text();
      let body: unknown = text;
      try {
        body = JSON.parse(text);
      } catch {
        // Text, then.
      }
      return { status: response.status, headers: response.headers, body };
    },
  };
}

const json = (body: unknown, headers: Record<string, string> = {}): RequestInit => ({
  body: JSON.stringify(body),
  headers: { 'content-type': 'application/json', ...headers },
});

describe('the call of the contract', () => {
  const params = {
    methods: ['POST'],
    content_types: 'application/json',
    security: {
      auth_type: 'token',
      token: { token_header: 'X-Hook', token_value: 's3' },
      rate_limit: { limit: 4, per: 'minute' },
      max_body_size: '1MB',
    },
    schema: {
      body: { properties: { id: { type: 'number' }, tags: { type: 'array<string>' } }, required: ['id'] },
    },
    execution_mode: 'Immediately',
    response: { status: 202, body_template: '{"ok":true}' },
  };
  const good = { 'x-hook': 's3' };

  it('is answered at once, and its agent gets what the schema lets through', async () => {
    const { send, call, url, id } = await startHook(hook(params, '{begin@body}'));
    const answer = await send(json({ id: '7', x: 1 }, good));
    expect(answer).toMatchObject({ status: 202, body: { ok: true } });
    expect(answer.headers.get('content-type')).toContain('application/json');
    const [run] = (await call('GET', `/api/v1/agents/${id}/runs`)).body.data;
    // The session is kept before the last event is shown.
    await (await openStream(`${url}/api/v1/agents/${id}/runs/${run.id}/events`)).rest();
    const [session] = (await call('GET', `/api/v1/agents/${id}/sessions`)).body.data;
    expect(session.message.at(-1).content).toBe('{"id": 7, "tags": []}');
  });

  it.each([
    ['a wrong header', json({ id: 1 }, { 'x-hook': 'no' }), 'Invalid token authentication'],
    ['no header', json({ id: 1 }), 'Invalid token authentication'],
    ['a field too few', json({}, good), 'body missing required field: id'],
    ['a field that is no number', json({ id: 'x' }, good), 'body.id auto-cast failed: "x" is no number'],
    ['a field of another type', json({ id: true }, good), 'body.id type mismatch: expected number, got boolean'],
    [
      'a list of other things',
      json({ id: 1, tags: [1] }, good),
      'body.tags type mismatch: expected array<string>, got array',
    ],
    ['another method', { method: 'GET', headers: good }, "HTTP method 'GET' not allowed for this webhook."],
    [
      'another type of body',
      { body: 'x', headers: { ...good, 'content-type': 'text/plain' } },
      "Invalid Content-Type: expect 'application/json', got 'text/plain'",
    ],
    [
      'broken JSON',
      { body: '{', headers: { ...good, 'content-type': 'application/json' } },
      'The body is not valid JSON.',
    ],
    [
      'a body that is nested too deeply',
      { ...json({}, good), body: `{"id":1,"x":${'['.repeat(500)}${']'.repeat(500)}}` },
      'The body has more than 200 levels of lists and objects.',
    ],
    [
      'a text that is nested too deeply',
      json({ id: 1, tags: `${'['.repeat(500)}${']'.repeat(500)}` }, good),
      'body.tags auto-cast failed: the text has more than 200 levels of lists and objects',
    ],
    [
      'too much',
      json({ id: 1, x: 'x'.repeat(1024 * 1024) }, good),
      expect.stringMatching(/^Request body too large: \d+ > 1048576$/),
    ],
  ])('with %s is HTTP 400', async (_, init, message) => {
    const { send } = await startHook(hook(params));
    expect(await send(init as RequestInit)).toMatchObject({ status: 400, body: { code: 400, message } });
  });

  it('too often is HTTP 400', async () => {
    const { send } = await startHook(hook(params));
    for (let count = 0; count < 4; count += 1) expect((await send(json({ id: 1 }, good))).status).toBe(202);
    expect(await send(json({ id: 1 }, good))).toMatchObject({
      status: 400,
      body: { code: 400, message: 'Too many requests (rate limit exceeded)' },
    });
  });

  it('is refused when nobody can count', async () => {
    const createCounter = () => ({ count: () => Promise.reject(new Error('the counter is away')) });
    const { send, errors } = await startHook(hook(params), { stores: { ...createMemoryStores(), createCounter } });
    expect((await send(json({ id: 1 }, good))).body.message).toBe('Too many requests (rate limit exceeded)');
    expect(errors).toHaveLength(1);
  });
});

describe('what is not there', () => {
  it('an unknown agent, or one of another kind, is HTTP 400', async () => {
    const { call, send } = await startHook(hook({ mode: 'conversational' }));
    expect(await call('POST', '/api/v1/agents/none/webhook')).toMatchObject({
      status: 400,
      body: { code: 400, message: 'Canvas not found.' },
    });
    expect(await send()).toMatchObject({
      status: 400,
      body: { code: 400, message: 'Webhook not configured for this agent.' },
    });
  });

  it('a pipeline is HTTP 400', async () => {
    const { call, id, send } = await startHook(hook({}));
    await call('PATCH', `/api/v1/agents/${id}`, { canvas_category: 'dataflow_canvas' });
    expect((await send()).body.message).toBe('Dataflow can not be triggered by webhook.');
  });

  it('a broken document, and an answer that is none, are HTTP 400 before anything runs', async () => {
    const broken = hook({});
    const components = {
      ...(broken.components as object),
      'Nonsense:N': { obj: { component_name: 'No', params: {} } },
    };
    expect((await (await startHook({ ...broken, components })).send()).status).toBe(400);
    const { send, stores, id } = await startHook(hook({ execution_mode: 'Immediately', response: { status: 500 } }));
    expect((await send()).body.message).toBe('Invalid response status code: 500');
    expect((await stores.runs.list('local', { agentId: id, offset: 0, limit: 1 })).total).toBe(0);
  });
});

it.each([
  ['a form', () => new URLSearchParams(Array.from({ length: 10_001 }, (_, at): [string, string] => [`a${at}`, '']))],
  [
    'parts',
    () => {
      const form = new FormData();
      for (let at = 0; at < 10_001; at += 1) form.append(`a${at}`, '');
      return form;
    },
  ],
])('too many fields of %s are HTTP 400', async (_, body) => {
  const { send } = await startHook(hook({}));
  expect(await send({ body: body() })).toMatchObject({
    status: 400,
    body: { message: 'Too many fields: at most 10000 are taken' },
  });
});

it('every method is a call, HEAD too', async () => {
  const { send } = await startHook(hook({ execution_mode: 'Immediately', response: { status: 204 } }));
  for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']) {
    expect((await send({ method })).status, method).toBe(204);
  }
});

describe('waiting for the answer', () => {
  it('gives what was said, reasoning and all, and the status of the Message', async () => {
    const dsl = documentOf({
      begin: ['Begin', ['Message:A'], { mode: 'Webhook', security: OPEN, execution_mode: 'Streaming' }],
      'Message:A': ['Message', [], { content: ['made'], status: 201 }],
    });
    const { send } = await startHook(dsl);
    expect(await send()).toMatchObject({
      status: 201,
      body: { message: 'made', success: true, code: 201, session_id: expect.stringMatching(/^[0-9a-f]{32}$/) },
    });
  });

  it('gives HTTP 400 when the run fails', async () => {
    const dsl = documentOf({
      begin: ['Begin', ['Probe:P'], { mode: 'Webhook', security: OPEN, execution_mode: 'Streaming' }],
      'Probe:P': ['Probe', []],
    });
    const { send, probes } = await startHook(dsl);
    const answer = send();
    (await probes.next()).fail(new Error('broken'));
    expect(await answer).toMatchObject({ status: 400, body: { code: 400, message: 'broken', success: false } });
  });

  it('at once needs no answer at all', async () => {
    const { send } = await startHook(hook({ execution_mode: 'Immediately' }));
    expect(await send()).toMatchObject({ status: 200, body: '' });
    const { send: sendText } = await startHook(
      hook({ execution_mode: 'Immediately', response: { status: 200, body_template: 'thanks' } }),
    );
    const answer = await sendText({ method: 'PUT' });
    expect(answer.body).toBe('thanks');
    expect(answer.headers.get('content-type')).toContain('text/plain');
  });
});

describe('what a call carries', () => {
  const said = async (init: RequestInit & { path?: string }, params: JsonObject, text: string): Promise<string> =>
    (await (await startHook(hook(params, text))).send(init)).body.message;

  it('reaches the agent unfiltered as `request`, without its credentials', async () => {
    const headers = {
      authorization: 'Bearer s3cret',
      'x-other': 'o',
      cookie: 'a=b',
      'content-type': 'application/json',
    };
    const request = JSON.parse(await said({ path: '?a=1&b=2&b=3', body: '[1]', headers }, {}, '{begin@request}'));
    expect(request).toMatchObject({
      query: { a: '1', b: ['2', '3'] },
      body: [1],
      content_type: 'application/json',
      headers: { 'x-other': 'o' },
    });
    expect(JSON.stringify(request)).not.toMatch(/s3cret|cookie/);
  });

  it.each([
    ['query', { path: '?n=5&flag=TRUE&list=[1]&o={"a":1}&more=1' }],
    ['headers', { headers: { N: '5', FLAG: '1', List: '[1]', o: '{"a":1}' } }],
    ['body', { body: new URLSearchParams({ n: '5', flag: 'true', list: '[1]', o: '{"a":1}', more: 'x' }) }],
  ])('is cast and filtered: %s', async (part, init) => {
    const properties = {
      n: { type: 'number' },
      flag: { type: 'boolean' },
      list: { type: 'array<number>' },
      o: { type: 'object' },
      missing: { type: 'string' },
    };
    const text = await said(init, { schema: { [part]: { properties, required: ['n'] } } }, `{begin@${part}}`);
    expect(JSON.parse(text)).toEqual({ n: 5, flag: true, list: [1], o: { a: 1 }, missing: '' });
  });

  it('may be declared as editors keep it', async () => {
    const schema = { body: [{ key: 'n', type: 'number', required: true }] };
    expect(await said(json({ n: '2' }), { schema }, '{begin@body}')).toBe('{"n": 2}');
    expect(await said(json({}), { schema }, '{begin@body}')).toBe('body missing required field: n');
  });

  it('may be files, which are read', async () => {
    const body = new FormData();
    body.append('name', 'n');
    body.append('doc', new Blob(['first'], { type: 'text/plain' }), 'a.txt');
    body.append('doc', new Blob(['second'], { type: 'text/plain' }), 'b.txt');
    const schema = {
      body: { properties: { name: { type: 'string' }, doc: { type: 'file' }, none: { type: 'file' } } },
    };
    const text = await said({ body }, { schema, content_types: ['multipart/form-data'] }, '{begin@body}');
    const { name, doc, none } = JSON.parse(text);
    expect([name, none]).toEqual(['n', []]);
    expect(doc[0]).toContain('first');
    expect(doc[1]).toContain('second');
  });

  it('may be files, which expire when anyone may call, and count as files of pages', async () => {
    const schema = { body: { properties: { doc: { type: 'file' } } } };
    const saved = async (security?: JsonObject) => {
      const { send, stores } = await startHook(hook({ schema, ...(security && { security }) }));
      const save = vi.spyOn(stores.files, 'save');
      const body = new FormData();
      body.append('doc', new Blob(['first'], { type: 'text/plain' }), 'a.txt');
      await send({ body, headers: { 'x-token': 'secret' } });
      return save.mock.calls[0]?.[1];
    };
    expect(await saved()).toMatchObject({ isFromPage: true, expiresAt: expect.any(Number) });
    const own = await saved({ auth_type: 'token', token: { token_header: 'x-token', token_value: 'secret' } });
    expect(own).toMatchObject({ name: 'a.txt' });
    expect(own).not.toHaveProperty('expiresAt');
  });

  it('may be files that are not declared, which are neither read nor stored', async () => {
    const { send, stores } = await startHook(hook({}));
    const save = vi.spyOn(stores.files, 'save');
    const body = new FormData();
    body.append('name', 'n');
    body.append('doc', new Blob(['%PDF-broken'], { type: 'application/pdf' }), 'a.pdf');
    const answer = await send({ body });
    expect(JSON.parse(answer.body.message).body).toEqual({ name: 'n' });
    expect(save).not.toHaveBeenCalled();
  });

  it('may be files, which are read after everything else was checked', async () => {
    const properties = { n: { type: 'number' }, doc: { type: 'file' } };
    const { send, stores } = await startHook(hook({ schema: { body: { properties, required: ['n'] } } }, 'said'));
    const save = vi.spyOn(stores.files, 'save');
    const body = new FormData();
    body.append('doc', new Blob(['%PDF-broken'], { type: 'application/pdf' }), 'a.pdf');
    expect((await send({ body })).body.message).toBe('body missing required field: n');
    expect(save).not.toHaveBeenCalled();
  });

  it('may be a small file that would take minutes to read, which is refused while others are answered', async () => {
    const paragraphs = '<w:p><w:r><w:t>a</w:t></w:r></w:p>'.repeat(115_000);
    const file = zipSync({
      '_rels/.rels': Buffer.from('<Relationships/>'),
      'word/document.xml': Buffer.from(`<w:document><w:body>${paragraphs}</w:body></w:document>`),
    });
    expect(file.length).toBeLessThan(16_000);
    const { send, url } = await startHook(hook({ schema: { body: { properties: { doc: { type: 'file' } } } } }));
    const body = new FormData();
    body.append('doc', new Blob([new Uint8Array(file)]), 'bad.docx');
    const thread = once(process, 'worker');
    const refused = send({ body });
    await thread;
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    expect((await refused).body.message).toContain('it has more than 250,000 elements');
  }, 60_000);

  it('may be no more than ten files', async () => {
    const body = new FormData();
    for (let count = 0; count < 11; count += 1) body.append('f', new Blob(['x']), 'x.txt');
    expect(await said({ body }, {}, '{begin@body}')).toBe('Too many uploaded files: at most 10 are taken');
  });
});

describe('trial calls', () => {
  it('are recorded for the owner, event by event', async () => {
    const { call, send, id } = await startHook(hook({}, 'said'));
    const logs = async (query: string) => (await call('GET', `/api/v1/agents/${id}/webhook/logs${query}`)).body.data;
    const start = await logs('');
    expect(start).toEqual({ webhook_id: null, events: [], next_since_ts: expect.any(Number), finished: false });
    expect(await logs(`?since_ts=${start.next_since_ts}`)).toMatchObject({ webhook_id: null, finished: false });

    expect((await send({ path: '/test' })).body.message).toBe('said');
    const found = await logs(`?since_ts=${start.next_since_ts}`);
    expect(found).toMatchObject({ webhook_id: expect.stringMatching(/^[\w-]{43}$/), events: [], finished: false });
    const page = await logs(`?since_ts=${found.next_since_ts}&webhook_id=${found.webhook_id}`);
    const names = page.events.map(({ event }: { event: string }) => event);
    expect(names.at(0)).toBe('workflow_started');
    expect(names.slice(-2)).toEqual(['workflow_finished', 'finished']);
    expect(page).toMatchObject({ finished: true });
    expect(page.events.at(-1)).toMatchObject({ success: true, elapsed_time: expect.any(Number) });
    const rest = await logs(`?since_ts=${page.next_since_ts}&webhook_id=${found.webhook_id}`);
    expect(rest).toMatchObject({ events: [], finished: true });
    expect(await logs(`?since_ts=1&webhook_id=unknown`)).toMatchObject({ events: [], finished: true });
  });

  it('that are refused are recorded as well', async () => {
    const { call, send, id } = await startHook(hook({ security: {} }));
    const { next_since_ts } = (await call('GET', `/api/v1/agents/${id}/webhook/logs`)).body.data;
    expect((await send({ path: '/test' })).status).toBe(400);
    const path = `/api/v1/agents/${id}/webhook/logs?since_ts=${next_since_ts}`;
    const { webhook_id, next_since_ts: since } = (await call('GET', path)).body.data;
    const { events } = (
      await call('GET', `/api/v1/agents/${id}/webhook/logs?since_ts=${since}&webhook_id=${webhook_id}`)
    ).body.data;
    expect(events).toMatchObject([{ event: 'error' }, { event: 'finished', success: false }]);
  });

  it('need the key of the owner, the webhook itself does not', async () => {
    const { send, call, id } = await startHook(hook({}), {
      env: { RUNNEL_API_KEYS: 'acme=one-of-acme-long-key,other=two-of-others-long-key' },
    });
    expect((await send()).status).toBe(200);
    expect((await send({ path: '/test' })).status).toBe(401);
    expect((await send({ path: '/test', headers: { authorization: 'Bearer two-of-others-long-key' } })).body.code).toBe(
      103,
    );
    expect((await send({ path: '/test', headers: { authorization: 'Bearer one-of-acme-long-key' } })).status).toBe(200);
    const logs = `/api/v1/agents/${id}/webhook/logs`;
    expect((await call('GET', logs)).status).toBe(401);
    expect((await call('GET', logs, undefined, { authorization: 'Bearer two-of-others-long-key' })).body.code).toBe(
      103,
    );
  });
});
