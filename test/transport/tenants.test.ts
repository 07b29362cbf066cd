import { beforeAll, describe, expect, it } from 'vitest';
import { API_PREFIX } from '../../src/transport/app.js';
import { newBase } from '../knowledge/base/support/new-base.js';
import { documentOf, PROBE } from './support/documents.js';
import { openStream } from './support/event-stream.js';
import { type Route, routeTable } from './support/route-table.js';
import { type Answer, startServer } from './support/server.js';

const owner = { authorization: 'Bearer one-of-acme-long-key' };
const stranger = { authorization: 'Bearer two-of-others-long-key' };
const ADMIN_KEY = 'a-key-for-the-administrator';

const NO_DATASET = '0'.repeat(32);

const HOOK = documentOf({
  begin: ['Begin', ['Message:A'], { mode: 'Webhook', security: { auth_type: 'none', allow_anonymous: true } }],
  'Message:A': ['Message', [], { content: ['x'] }],
});

/** Ids of one tenant's things, by the names that routes give them. */
interface Things extends Record<string, string> {
  readonly id: string;
  readonly version: string;
  readonly session: string;
  readonly run: string;
  readonly message: string;
  readonly file: string;
  readonly token: string;
  readonly component: string;
  readonly task: string;
  readonly tenant: string;
  readonly chat: string;
  readonly dataset: string;
  readonly document: string;
  readonly chunk: string;
}

/** What is no secret: no id of anybody's is in it, or it is open to all by design. */
const OPEN = new Set([
  'GET /openapi.json',
  'GET /agents',
  'POST /agents',
  'POST /agents/import',
  'GET /agents/tags',
  'GET /agents/templates',
  'GET /agents/prompts',
  'POST /agents/test_db_connection',
  'POST /agents/rerun',
  'GET /system/tokens',
  'POST /system/tokens',
  'GET /chats',
  'POST /chats',
  // The caller's own; see runs.test.ts.
  'GET /runs',
  // The caller's own; see session-list.test.ts.
  'GET /sessions',
  'GET /research',
  // What the server can do, without ids of tenants' things.
  'POST /agents/validate',
  'GET /components',
  'GET /models',
  'GET /system/info',
  // Servers of the caller's tenant alone; see mcp/server-list.test.ts.
  'GET /mcp/servers',
  // Without ids, or with those of datasets alone; see chats/.
  'POST /chat/recommendation',
  'POST /chat/recommandation',
  'POST /searchbots/related_questions',
  'POST /chat/mindmap',
  'GET /datasets',
  'POST /datasets',
  // Their datasets are in the query; see datasets/tags.test.ts.
  'GET /datasets/metadata/flattened',
  'GET /datasets/tags/aggregation',
  // Models are the operator's, and no key of a tenant changes what is told of them.
  'GET /chat/router',
  // Names of tools are no ids; see mcp/mcp.test.ts.
  'GET /mcp',
  'POST /mcp',
  'DELETE /mcp',
  ...['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].map((method) => `${method} /agents/:id/webhook`),
]);

/** Routes that agree to whatever is asked of things that are not there, and do nothing. */
const AGREEING: Readonly<Record<string, unknown>> = {
  'POST /tasks/:task/cancel': true,
  'PATCH /tasks/:task': true,
  'DELETE /system/tokens/:token': false,
};

/** Bodies without which a route would refuse for another reason. */
function bodyFor(route: string, things: Things): object {
  const bodies: Readonly<Record<string, object>> = {
    'PATCH /tasks/:task': { action: 'stop' },
    'PUT /agents/:id/tags': { tags: 'stolen' },
    'POST /agents/:id/components/:component/debug': { params: {} },
    'POST /agents/chat/completions': { agent_id: things.id, query: 'x' },
    'POST /chat/stream': { message: 'x', chat_id: things.id, session_id: things.session },
    'POST /chat/evaluate': { questions: [{ id: 'a', category: 'x', question: 'x' }], chat_id: things.id },
    'POST /agents_openai/:id/chat/completions': { messages: [{ role: 'user', content: 'x' }] },
    'DELETE /chats': { ids: [things.chat] },
    'POST /chat/completions': { question: 'x', chat_id: things.chat },
    'POST /chats/:chat/completions': { question: 'x' },
    'DELETE /datasets': { ids: [things.dataset] },
    'PUT /datasets/:dataset': { name: 'stolen' },
    'PUT /datasets/:dataset/terms': { terms: [] },
    'PUT /datasets/:dataset/tags': { from_tag: 'a', to_tag: 'b' },
    'DELETE /datasets/:dataset/tags': { tags: ['a'] },
    'DELETE /datasets/:dataset/documents': { ids: [things.document] },
    'PUT /datasets/:dataset/metadata/config': { metadata: [] },
    'POST /datasets/:dataset/search': { question: 'x' },
    'POST /datasets/search': { question: 'x', dataset_ids: [things.dataset] },
    'POST /datasets/evaluate': {
      dataset_ids: [things.dataset],
      questions: [{ id: 'a', category: 'x', question: 'x' }],
    },
    'POST /research': { question: 'x', dataset_ids: [things.dataset] },
    'POST /retrieval': { question: 'x', dataset_ids: [things.dataset] },
    'POST /documents/ingest': { doc_ids: [things.document], run: 1 },
  };
  return bodies[route] ?? { query: 'x' };
}

function addressOf({ path }: Route, things: Things): string {
  const filled = path.replace(/:([a-z]+)/g, (_, name: string) => encodeURIComponent(things[name] ?? name));
  if (path.endsWith('/chat/runs')) return `${filled}?session_id=${things.session}`;
  return path.endsWith('/download') && !path.includes('/attachments/') ? `${filled}?id=${things.file}` : filled;
}

const all = routeTable().map((route) => ({ ...route, name: `${route.method} ${route.path.slice(API_PREFIX.length)}` }));
const routes = all.filter(({ name }) => !OPEN.has(name));

/** Routes that ask for the administrator's key. */
const isForAdministrators = (name: string): boolean => name.includes('/admin/') || name === 'POST /chat/router';

/** Routes that take calls without any key. */
const isOpen = (name: string): boolean => name === 'GET /openapi.json' || name.endsWith(' /agents/:id/webhook');

describe('what belongs to another tenant', () => {
  let call: (method: string, path: string, body: unknown, headers: Record<string, string>) => Promise<Answer>;
  let things: Things;
  let own: Things;
  /** A page key of the owner, for all of its agents. */
  let page: Record<string, string>;
  let stillThere: () => Promise<void>;

  beforeAll(async () => {
    const { base } = newBase();
    const { dataset } = await base.datasets.create('acme', { name: 'secrets' });
    const { document } = await base.documents.add('acme', dataset.id, { name: 'secret.txt', content: [] });
    const chunk = await base.chunks.add('acme', document.id, { text: 'the secret' });
    const server = await startServer({
      env: {
        RUNNEL_API_KEYS: 'acme=one-of-acme-long-key,other=two-of-others-long-key',
        RUNNEL_ADMIN_KEY: ADMIN_KEY,
        RUNNEL_REFUSALS_PER_MINUTE: '1000',
      },
      outlivesTest: true,
      openKnowledge: async () => base,
    });
    call = server.call;
    const data = async (method: string, path: string, body: unknown, headers = owner) =>
      (await server.call(method, `${API_PREFIX}${path}`, body, headers)).body.data;

    const id = await server.agent(HOOK, owner);
    const version = (await data('POST', `/agents/${id}/versions`, {})).id;
    const done = await data('POST', `/agents/${id}/run`, { query: 'x' });
    const { token, beta } = await data('POST', '/system/tokens', {});
    page = { authorization: `Bearer ${beta}` };
    const bytes = new Uint8Array([1]);
    await server.stores.files.save('acme', {
      id: 'f1.png',
      name: 'f1.png',
      mimeType: 'image/png',
      bytes,
      createdAt: 1,
    });
    things = {
      id,
      version,
      session: done.session_id,
      run: done.run_id,
      message: done.message_id,
      file: 'f1.png',
      token,
      component: 'Message:A',
      task: done.session_id,
      tenant: 'acme',
      chat: (await data('POST', '/chats', { name: 'secret' })).id,
      dataset: dataset.id,
      document: document.id,
      chunk: chunk.id,
    };
    own = { ...things, id: await server.agent(HOOK, stranger) };

    const probing = await server.agent(PROBE, owner);
    const stream = await openStream(`${server.url}${API_PREFIX}/agents/${probing}/stream`, {
      body: { query: 'x' },
      headers: owner,
    });
    const probe = await server.probes.next();
    const [first] = await stream.until(() => true);
    const before = await data('GET', `/agents/${id}`, undefined);
    stillThere = async () => {
      expect(await data('GET', `/agents/${id}`, undefined)).toEqual(before);
      expect(await data('GET', `/agents/${id}/versions/${version}`, undefined)).toMatchObject({ id: version });
      expect(await data('GET', `/agents/${id}/sessions/${things.session}`, undefined)).toMatchObject({ round: 1 });
      expect(await data('GET', `/agents/${id}/runs/${things.run}`, undefined)).toMatchObject({ status: 'succeeded' });
      expect(await data('GET', '/system/tokens', undefined)).toHaveLength(1);
      expect(await base.chunks.find('acme', document.id, chunk.id)).toEqual(chunk);
      expect(await base.documents.find('acme', dataset.id, document.id)).toMatchObject({
        run: 'UNSTART',
        metadata: {},
      });
      for (const task of [first?.json.session_id, stream.headers.get('x-run-id')]) {
        await data('POST', `/tasks/${task}/cancel`, {}, stranger);
      }
      expect(probe.isStopped).toBe(false);
      await stream.leave();
      await server.stop();
    };
    return stillThere;
  });

  it.each(routes)('does not exist for $name', async (route) => {
    const { name, method } = route;
    const ask = (target: Things) => {
      const body = method === 'GET' ? undefined : bodyFor(name, target);
      return call(method, addressOf(route, target), body, stranger);
    };
    const answer = await ask(things);
    if (name in AGREEING) expect(answer.body).toMatchObject({ code: 0, data: AGREEING[name] });
    else expectRefusal(answer, name);

    // Guessing right and guessing wrong look the same.
    const unknown = Object.fromEntries(Object.keys(things).map((key) => [key, `${key}1.png`])) as unknown as Things;
    const guess = await ask({ ...unknown, component: 'Message:A', dataset: NO_DATASET });
    const ids = [...Object.values(things), ...Object.values(unknown), NO_DATASET];
    const wordsOf = ({ body }: Answer) => ids.reduce((text, id) => text.replaceAll(id, '?'), JSON.stringify(body));
    expect(guess.status).toBe(answer.status);
    expect(wordsOf(guess)).toBe(wordsOf(answer));
  });

  /** What a page key opens: of the things below, only agents. */
  const forPages = new Set([
    'POST /agents/:id/upload',
    'GET /agents/attachments/:file/download',
    'GET /agents/:id/runs/:run/events',
    'POST /agentbots/:id/completions',
    'GET /agentbots/:id/inputs',
    'GET /agentbots/:id/logs/:message',
    'POST /agents/:id/ui-messages',
    'GET /agents/:id/ui-messages/:chat/stream',
    'POST /agents/:id/ui-messages/:chat/inputs',
    'POST /agents/:id/ui-messages/:chat/stop',
    // Refused in the words that pages know.
    'POST /searchbots/related_questions',
  ]);
  it.each(all.filter(({ name }) => !forPages.has(name) && !isOpen(name)))(
    'is closed to the page keys of its own tenant for $name',
    async (route) => {
      const body = route.method === 'GET' ? undefined : bodyFor(route.name, things);
      const answer = await call(route.method, addressOf(route, things), body, page);
      expect(answer.status).toBe(401);
    },
  );

  it.each(all.filter(({ name }) => forPages.has(name)))(
    'is only what the page itself made for $name',
    async ({ name, ...route }) => {
      const body = route.method === 'GET' ? undefined : { query: 'x', session_id: things.session };
      const unknown = {
        ...things,
        file: 'f2.png',
        run: '0'.repeat(32),
        message: '1'.repeat(32),
        session: '2'.repeat(32),
      };
      const answer = await call(route.method, addressOf(route, things), body, page);
      const guess = await call(
        route.method,
        addressOf(route, unknown),
        body && { ...body, session_id: unknown.session },
        page,
      );
      expect(answer.status).toBe(name.endsWith('/:chat/stream') ? 204 : 200);
      expect(answer.body).toEqual(guess.body);
      // Nothing of the page's own is at work.
      if (name.includes('/ui-messages/:chat/')) return;
      if (name === 'GET /agentbots/:id/inputs') expect(answer.body.code).toBe(0);
      else if (name.includes('/logs/')) expect(answer.body).toMatchObject({ code: 0, data: {} });
      else expect([101, 102]).toContain(answer.body.code);
    },
  );

  const nested = routes.filter(({ path }) => /:id\/.*:(?:version|session|run|message)/.test(path));
  it.each(nested)('does not exist below an own agent for $name', async (route) => {
    const body = route.method === 'GET' ? undefined : {};
    const answer = await call(route.method, addressOf(route, own), body, stranger);
    if (route.path.includes('/logs/')) expect(answer.body).toMatchObject({ code: 0, data: {} });
    else expectRefusal(answer, route.name);
  });

  it.each([
    ['session_id', 'session', 'Session not found!'],
    ['resume_from', 'run', 'Run not found.'],
    ['version', 'version', 'Version not found.'],
  ] as const)('cannot be named in a turn as %s', async (field, thing, message) => {
    for (const path of ['run', 'stream', 'completions']) {
      const body = { query: 'x', [field]: things[thing] };
      const answer = await call('POST', `${API_PREFIX}/agents/${own.id}/${path}`, body, stranger);
      expect(answer.body).toEqual({ code: 102, message });
    }
  });
});

function expectRefusal({ status, body }: Answer, name: string): void {
  if (name.includes('agents_openai')) {
    expect([status, body.error.type]).toEqual([403, 'permission_error']);
    return;
  }
  if (/openai\/:chat/.test(name)) {
    expect([status, body.error.type]).toEqual([404, 'not_found_error']);
    return;
  }
  expect(status).toBe(isForAdministrators(name) ? 403 : 200);
  expect([102, 103, 109]).toContain(body.code);
}
