import { catchError, concatMap, forkJoin, lastValueFrom, map, mergeMap, of, range, timer, toArray } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/json.js';
import { failureOf } from '../egress/support/servers.js';
import { ECHO, said, startMcpServer, startSseServer } from './support/mcp-server.js';
import { callOnce, declare, over, textOfCall, use } from './support/using.js';

const RUNS = Number(process.env.RUNNEL_TEST_MCP_CALLS ?? 20);

const NESTED: JsonObject = {
  type: 'object',
  $defs: {
    place: { type: 'object', properties: { city: { type: 'string', enum: ['Oslo', 'Rome'] } }, required: ['city'] },
  },
  properties: {
    route: { type: 'array', minItems: 1, items: { $ref: '#/$defs/place' } },
    when: { anyOf: [{ type: 'string', format: 'date' }, { type: 'null' }], default: null, description: 'The day.' },
    properties: { type: 'object', additionalProperties: { type: 'integer' }, 'x-own': [1, { deep: true }] },
  },
  required: ['route'],
  additionalProperties: false,
};

const call = (name: string, args: JsonObject = {}) => ({ name, args, trace: {}, files: undefined });

describe('a server over streamable HTTP', () => {
  it('is called, and its session closed behind the call', async () => {
    const server = await startMcpServer({ echo: ECHO });
    const servers = over(server.url);
    expect(await callOnce(servers, 'echo', { text: 'hi' })).toEqual([
      { type: 'result', text: 'echo: hi', outputs: { content: 'echo: hi' } },
    ]);
    await servers.close();
    expect([server.opened(), server.sessions.size]).toEqual([1, 0]);
    // Initialise, its confirmation, the call, the end: no stream for what nobody listens to.
    expect(server.asked).toEqual(['POST /mcp', 'POST /mcp', 'POST /mcp', 'DELETE /mcp']);
    await server.quiet();
  });

  it(`opens one session per run and leaves none, after ${RUNS} calls`, async () => {
    const server = await startMcpServer({ echo: ECHO });
    const servers = over(server.url);
    const runs = Math.ceil(RUNS / 10);
    const runs$ = range(0, runs).pipe(
      mergeMap((run) => {
        const calling = { run: `run ${run}` };
        const some = (from: number) =>
          use(
            servers,
            (connection) => range(from, 5).pipe(mergeMap((n) => connection.call(call('echo', { text: `${n}` })))),
            calling,
          );
        // Two agents of one run, at work at the same time.
        return forkJoin([some(0).pipe(toArray()), some(5).pipe(toArray())]);
      }, 4),
      toArray(),
    );
    const results = (await lastValueFrom(runs$)).flat(2);
    expect(results).toHaveLength(runs * 10);
    await servers.close();
    expect([server.opened(), server.sessions.size]).toEqual([runs, 0]);
    await server.quiet();
    expect(server.mostOpen()).toBeLessThanOrEqual(8);
  });

  it('gives its schemas unharmed', async () => {
    const server = await startMcpServer({ plan: { ...ECHO, inputSchema: NESTED } });
    const [tool] = await lastValueFrom(use(over(server.url), (connection) => connection.tools()));
    expect(tool).toEqual({ name: 'plan', description: 'Says it again.', inputSchema: NESTED });
  });

  it('is asked for its list once, by runs that send the same', async () => {
    const server = await startMcpServer({ echo: ECHO });
    const servers = over(server.url);
    const list = (run: string, headers: JsonObject = {}) =>
      lastValueFrom(use(servers, (connection) => connection.tools(), { run, headers }));
    expect(await list('1')).toHaveLength(1);
    expect(await list('2')).toHaveLength(1);
    expect(server.opened()).toBe(1);
    expect(await list('3', { 'x-user': 'eve' })).toHaveLength(1);
    expect(server.opened()).toBe(2);
  });

  it('shares nothing between runs that send different headers', async () => {
    const server = await startMcpServer({ echo: ECHO });
    const servers = over(server.url);
    const both$ = forkJoin(
      ['ada', 'eve'].map((user) =>
        use(servers, (connection) => connection.call(call('echo', { text: user })), { headers: { 'x-user': user } }),
      ),
    );
    expect(await lastValueFrom(both$)).toMatchObject([{ text: 'echo: ada' }, { text: 'echo: eve' }]);
    expect(server.opened()).toBe(2);
  });

  it('tells how far a call is', async () => {
    const server = await startMcpServer({
      slow: {
        run: async (_, { mcpReq }) => {
          const progressToken = mcpReq._meta?.progressToken as number;
          await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress: 1, total: 2 } });
          const message = 'nearly';
          await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress: 2, message } });
          return said('done');
        },
      },
    });
    expect(await callOnce(over(server.url), 'slow')).toEqual([
      { type: 'progress', message: '1 of 2' },
      { type: 'progress', message: 'nearly' },
      { type: 'result', text: 'done', outputs: { content: 'done' } },
    ]);
  });

  it('may be restarted between two calls of a run', async () => {
    const server = await startMcpServer({ echo: ECHO });
    const both$ = use(over(server.url), (connection) =>
      range(0, 3).pipe(
        concatMap((n) => {
          if (n === 1) server.restart();
          return connection.call(call('echo', { text: `${n}` }));
        }),
        toArray(),
      ),
    );
    expect(await lastValueFrom(both$)).toMatchObject([{ text: 'echo: 0' }, { text: 'echo: 1' }, { text: 'echo: 2' }]);
    expect(server.opened()).toBe(2);
  });

  it.each([
    ['Bad Request: unknown session', 2, 'echo: 1'],
    ['the tool wants a number', 1, 'failed'],
  ])('is called once more after a 400 only when that speaks of sessions: %s', async (words, sessions, expected) => {
    let refuse = false;
    const server = await startMcpServer({ echo: ECHO }, (_request, response) => {
      if (refuse) response.writeHead(400).end(words);
      const isRefused = refuse;
      refuse = false;
      return isRefused;
    });
    const both$ = use(over(server.url), (connection) =>
      range(0, 2).pipe(
        concatMap((n) => {
          refuse = n === 1;
          return connection.call(call('echo', { text: `${n}` })).pipe(
            map((event) => (event.type === 'result' ? event.text : '')),
            catchError(() => of('failed')),
          );
        }),
        toArray(),
      ),
    );
    expect(await lastValueFrom(both$)).toEqual(['echo: 0', expected]);
    expect(server.opened()).toBe(sessions);
  });

  it('sends what the trace says with every call', async () => {
    const server = await startMcpServer({ echo: ECHO });
    const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
    await lastValueFrom(
      use(over(server.url), (connection) => connection.call({ ...call('echo'), trace: { traceparent } })),
    );
    expect(server.headers.map((headers) => headers.traceparent)).toContain(traceparent);
  });
});

describe('a call that is given up', () => {
  it('is cancelled at the server, its connection closed, and the session goes on', async () => {
    let cancelled: () => void = () => {};
    const isCancelled = new Promise<void>((resolve) => {
      cancelled = resolve;
    });
    let begun: () => void = () => {};
    const hasBegun = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const server = await startMcpServer({
      echo: ECHO,
      hang: {
        run: (_, { mcpReq }) =>
          new Promise(() => {
            mcpReq.signal.addEventListener('abort', cancelled);
            begun();
          }),
      },
    });
    const after$ = use(over(server.url), (connection) => {
      const hanging = connection.call(call('hang')).subscribe();
      return timer(0).pipe(
        concatMap(() => hasBegun),
        concatMap(() => {
          hanging.unsubscribe();
          return isCancelled;
        }),
        concatMap(() => connection.call(call('echo', { text: 'still here' }))),
        concatMap(async (result) => {
          await server.quiet();
          return result;
        }),
      );
    });
    expect(await lastValueFrom(after$)).toMatchObject({ text: 'echo: still here' });
    expect(server.opened()).toBe(1);
  });

  it('closes the session when nobody else uses it, with the cancellation on its way first', async () => {
    const methods: string[] = [];
    let begun: () => void = () => {};
    const hasBegun = new Promise<void>((resolve) => {
      begun = resolve;
    });
    let cancelled: () => void = () => {};
    const isCancelled = new Promise<void>((resolve) => {
      cancelled = resolve;
    });
    const server = await startMcpServer(
      {
        hang: {
          run: (_, { mcpReq }) =>
            new Promise(() => {
              mcpReq.signal.addEventListener('abort', cancelled);
              begun();
            }),
        },
      },
      (request) => {
        methods.push(request.method ?? '');
        return false;
      },
    );
    const servers = over(server.url);
    const calling = use(servers, (connection) => connection.call(call('hang'))).subscribe();
    await hasBegun;
    calling.unsubscribe();
    await isCancelled;
    await servers.close();
    expect(methods).toEqual(['POST', 'POST', 'POST', 'POST', 'DELETE']);
    expect(server.sessions.size).toBe(0);
    await server.quiet();
  });
});

describe('a server over an event stream', () => {
  const overEvents = (url: string) => declare({ s: { type: 'sse', url, timeout: 5 } });

  it('is listed and called, and left without connections', async () => {
    const server = await startSseServer({ echo: { ...ECHO, inputSchema: NESTED } });
    const servers = overEvents(server.url);
    const both$ = use(servers, (connection) =>
      forkJoin([connection.tools(), connection.call(call('echo', { text: 'hi' }))]),
    );
    expect(await lastValueFrom(both$)).toMatchObject([[{ name: 'echo', inputSchema: NESTED }], { text: 'echo: hi' }]);
    await servers.close();
    await server.quiet();
  });

  it('may drop its stream in the middle of a call: that one fails, the next one works', async () => {
    const server = await startSseServer({
      echo: ECHO,
      drop: {
        run: () => {
          server.dropStreams();
          return new Promise(() => {});
        },
      },
    });
    const servers = overEvents(server.url);
    const failure = 'Tool "drop" of MCP server "s" closed the connection before it answered.';
    const both$ = use(servers, (connection) =>
      connection.call(call('drop')).pipe(
        catchError((error: Error) => {
          expect(error.message).toBe(failure);
          return connection.call(call('echo', { text: '2' }));
        }),
      ),
    );
    expect(await lastValueFrom(both$)).toMatchObject({ text: 'echo: 2' });
    await servers.close();
    await server.quiet();
  });

  it('cannot send requests to another origin', async () => {
    const elsewhere = await startSseServer({ echo: ECHO });
    const server = await startSseServer({ echo: ECHO }, () => `${new URL(elsewhere.url).origin}/messages`);
    const servers = overEvents(server.url);
    const failure = await failureOf(callOnce(servers, 'echo', { text: 'x' }));
    expect(String(failure)).toContain('does not match connection origin');
    expect(elsewhere.asked).toEqual([]);
    await servers.close();
    await server.quiet();
  });
});

describe('servers of tenants', () => {
  it('are seen by those alone that they are declared for', async () => {
    const url = 'http://127.0.0.1:18080/';
    const servers = declare({
      all: { type: 'sse', url },
      a: { type: 'sse', url, tenants: ['a'] },
    });
    const seen = (tenant: string) =>
      ['all', 'a', 'other', '__proto__'].filter((id) => servers.forTenant(tenant).find(id));
    expect(seen('a')).toEqual(['all', 'a']);
    expect(seen('b')).toEqual(['all']);
    expect(servers.find('a')).toBeUndefined();
  });

  it('share no session, whatever their runs are called', async () => {
    const server = await startMcpServer({ echo: ECHO });
    const servers = over(server.url);
    const both$ = forkJoin(
      ['a', 'b'].map((tenant) =>
        use(servers.forTenant(tenant), (connection) => connection.call(call('echo', { text: tenant }))),
      ),
    );
    await lastValueFrom(both$);
    expect(server.opened()).toBe(2);
  });
});

it('reads the text of a call', async () => {
  const server = await startMcpServer({ echo: ECHO });
  expect(await textOfCall(over(server.url), 'echo', { text: 'ü' })).toBe('echo: ü');
});
