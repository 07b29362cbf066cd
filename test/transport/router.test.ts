import Koa from 'koa';
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { route as embedderRoute } from '../../src/entries/server.js';
import { SILENT_LOG } from '../../src/logger.js';
import { readConfig } from '../../src/settings/read-settings.js';
import { createMemoryStores } from '../../src/stores/memory-stores.js';
import { Callers } from '../../src/transport/access/callers.js';
import { createMemoryCounter } from '../../src/transport/access/rate-limits.js';
import { API_PREFIX, createApi } from '../../src/transport/app.js';
import { answerErrors } from '../../src/transport/http/guards.js';
import { flag, text } from '../../src/transport/http/input.js';
import { type Access, type Route, route, routesBelow } from '../../src/transport/http/route.js';
import { createRouter, createRouteTable, type RouterOptions } from '../../src/transport/http/router.js';
import type { ServerParts } from '../../src/transport/server-parts.js';
import { startServer } from './support/server.js';

const ADMIN_KEY = 'a-key-for-the-administrator';

/** What guards use of a server. */
function partsOf(env: Readonly<Record<string, string>> = {}): ServerParts {
  const stores = createMemoryStores();
  const parts = {
    config: readConfig(env),
    stores,
    logger: SILENT_LOG,
    createCounter: createMemoryCounter,
    quotaMetrics: { refused: () => {} },
  };
  return parts as unknown as ServerParts;
}

function optionsOf(parts = partsOf()): RouterOptions {
  const keys = [{ tenant: 'acme', key: 'good' }];
  const limits = { mostPerMinute: 1_000, trustedProxies: [], now: Date.now };
  const callers = new Callers({ keys, tokens: parts.stores.tokens, ...limits });
  return { parts, guard: { callers, strangers: { admit: () => {} }, corsOrigins: [] } };
}

async function serve(routes: readonly Route[], parts?: ServerParts) {
  const app = new Koa();
  app.use(answerErrors(SILENT_LOG));
  app.use(createRouter(routes, optionsOf(parts)));
  const server = app.listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as { readonly port: number };
  return async (method: string, path: string, body?: unknown, key?: string) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers: {
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: await response.json() };
  };
}

const open = { summary: 'x', access: 'open' } as const;

describe('declared routes', () => {
  it.each([
    ['as declared', (routes: Route[]) => routes],
    ['in another order', (routes: Route[]) => routes.toReversed()],
  ])('answer by path, not by order: %s', async (_, order) => {
    const call = await serve(
      order([
        route('GET /things/:id', { ...open, handle: ({ params }) => ({ id: params.id }) }),
        route('GET /things/tags', { ...open, handle: () => ({ fixed: 'tags' }) }),
        route('GET /things/:id/parts/:part', { ...open, handle: ({ params }) => ({ ...params }) }),
        route('GET /things/all/parts/:part', { ...open, handle: ({ params }) => ({ all: params.part }) }),
      ]),
    );
    const bodyOf = async (path: string) => (await call('GET', path)).body;
    expect(await bodyOf('/things/tags')).toEqual({ fixed: 'tags' });
    expect(await bodyOf('/things/7')).toEqual({ id: '7' });
    expect(await bodyOf('/things/7/parts/8')).toEqual({ id: '7', part: '8' });
    expect(await bodyOf('/things/all/parts/8')).toEqual({ all: '8' });
  });

  it('match letters of either case, a slash at the end, and HEAD where they take GET; other methods of the path are named', async () => {
    const call = await serve([
      route('GET /things/:id', { ...open, handle: ({ params }) => ({ id: params.id }) }),
      route('POST /things/tags', { ...open, handle: () => ({ fixed: 'tags' }) }),
      route('GET /', { ...open, handle: () => ({ root: true }) }),
    ]);
    expect((await call('GET', '/THINGS/a%20b/')).body).toEqual({ id: 'a b' });
    expect((await call('GET', '/things/%zz')).body).toEqual({ id: '%zz' });
    // The fixed segment has no route for the method, so the parameter takes it.
    expect((await call('GET', '/things/tags')).body).toEqual({ id: 'tags' });
    expect((await call('GET', '/')).body).toEqual({ root: true });
    expect((await call('GET', '/things//')).status).toBe(404);
    expect((await call('GET', '/things/a/b')).status).toBe(404);
    expect(await call('DELETE', '/things/tags')).toMatchObject({
      status: 405,
      body: { message: expect.stringContaining('Use GET or HEAD or POST.') },
    });
  });

  it.each(['/things/:id.json', '/things/{:id}', '/things/*rest'])(
    'have segments that are text or a parameter, not %s',
    (path) => {
      const odd = route(`GET ${path}` as 'GET /', { ...open, handle: () => ({}) });
      expect(() => createRouter([odd], optionsOf())).toThrow('a segment is fixed text or ":" and a name');
    },
  );

  it('must not answer the same requests twice', () => {
    const twice = [
      route('GET /things/:id', { ...open, handle: () => ({}) }),
      route('GET /things/:name', { ...open, handle: () => ({}) }),
    ];
    expect(() => createRouter(twice, optionsOf())).toThrow(
      'Two routes answer the same requests: GET /things/:id and /things/:name.',
    );
    expect(() =>
      createRouter([twice[0] as Route, route('POST /things/:id', { ...open, handle: () => ({}) })], optionsOf()),
    ).not.toThrow();
  });

  it('give their handlers what they declare, and refuse the rest', async () => {
    const call = await serve([
      route('POST /things/:id', {
        ...open,
        query: z.object({ name: z.string(), loud: flag, count: text.transform((value) => Number(value ?? 1)) }),
        body: z.looseObject({ size: z.number() }),
        handle: ({ params, query, body }) => ({ id: params.id, ...query, size: body.size }),
      }),
    ]);
    expect((await call('POST', '/things/a?name=x&name=n&loud=1&count=', { size: 2 })).body).toEqual({
      id: 'a',
      name: 'n',
      loud: true,
      count: 1,
      size: 2,
    });
    expect((await call('POST', '/things/a', { size: 2 })).body).toMatchObject({
      code: 101,
      message: '`name` is required.',
    });
    expect((await call('POST', '/things/a?name=n', { size: 'x' })).body).toMatchObject({ code: 101 });
    expect((await call('POST', '/things/%00?name=n', { size: 2 })).body).toMatchObject({
      code: 101,
      message: '`agent_id` must have 1 to 255 characters and no control characters.',
    });
  });

  it('find the record of the path before they read anything else', async () => {
    const call = await serve([
      route('POST /things/:id', {
        ...open,
        finds: async ({ params }) => {
          if (params.id !== 'mine') throw new Error('no such thing');
          return { name: params.id };
        },
        body: z.looseObject({ size: z.number() }),
        refuse: (exchange, error) => {
          exchange.status = 418;
          exchange.body = { refused: String(error) };
        },
        handle: ({ found, body }) => ({ found, size: body.size }),
      }),
    ]);
    expect(await call('POST', '/things/mine', { size: 1 })).toEqual({
      status: 200,
      body: { found: { name: 'mine' }, size: 1 },
    });
    expect(await call('POST', '/things/yours', { size: 'x' })).toEqual({
      status: 418,
      body: { refused: 'Error: no such thing' },
    });
  });

  it.each<[Access, Record<string, number>]>([
    ['open', { none: 200, bad: 200, good: 200, [ADMIN_KEY]: 200 }],
    ['key', { none: 401, bad: 401, good: 200, [ADMIN_KEY]: 401 }],
    ['page', { none: 401, bad: 401, good: 200, [ADMIN_KEY]: 401 }],
    ['admin', { none: 401, bad: 401, good: 403, [ADMIN_KEY]: 200 }],
  ])('are open to those that they name: %s', async (access, expected) => {
    const parts = partsOf({ RUNNEL_ADMIN_KEY: ADMIN_KEY });
    const call = await serve([route('GET /x', { summary: 'x', access, handle: () => ({}) })], parts);
    for (const [key, status] of Object.entries(expected)) {
      const answer = await call('GET', '/x', undefined, key === 'none' ? undefined : key);
      expect([key, answer.status]).toEqual([key, status]);
    }
    // What does not exist needs no key.
    expect((await call('GET', '/y')).status).toBe(404);
    expect((await call('POST', '/x', {})).status).toBe(405);
  });

  it('are those of the router; the ones for administrators only with a key for them', () => {
    const routes = routesBelow(API_PREFIX, createApi());
    const namesOf = (declared: readonly Pick<Route, 'method' | 'path'>[]) =>
      declared.map(({ method, path }) => `${method} ${path}`).sort();
    const routed = (env: Record<string, string>) => namesOf(createRouteTable(routes, optionsOf(partsOf(env))).routes);
    expect(routed({ RUNNEL_ADMIN_KEY: ADMIN_KEY })).toEqual(namesOf(routes));
    expect(routed({})).toEqual(namesOf(routes.filter(({ access }) => access !== 'admin')));
  });

  it('can be added to a server from outside, guarded and described as its own', async () => {
    const greeting = embedderRoute('GET /greetings/:name', {
      summary: 'Greets',
      query: z.object({ loud: flag }),
      data: z.string(),
      handle: ({ tenant, params, query }) => ({
        code: 0,
        data: `${query.loud ? 'HELLO' : 'hello'} ${params.name} of ${tenant}`,
      }),
    });
    const group = { name: 'greetings', description: 'Greetings.', routes: [greeting] };
    const { call } = await startServer({ env: { RUNNEL_API_KEYS: 'acme=the-key-of-acme-x' }, routes: [group] });
    const path = `${API_PREFIX}/greetings/Ada`;
    expect((await call('GET', path)).status).toBe(401);
    const headers = { authorization: 'Bearer the-key-of-acme-x' };
    expect((await call('GET', `${path}?loud=true`, undefined, headers)).body.data).toBe('HELLO Ada of acme');
    const { body } = await call('GET', `${API_PREFIX}/openapi.json`);
    expect(body.paths[`${API_PREFIX}/greetings/{name}`].get).toMatchObject({ summary: 'Greets', tags: ['greetings'] });
  });
});
