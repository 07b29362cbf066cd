import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { lastValueFrom } from 'rxjs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createGuardedFetch } from '../../../src/adapters/egress/guarded-fetch.js';
import { offeredTools } from '../../../src/components/offered-tools.js';
import { over, textOfCall, use } from '../../adapters/mcp/support/using.js';
import { documentOf, ECHO, FORM, MODEL, PROBE } from '../support/documents.js';
import { startServer, type TestServer } from '../support/server.js';

const PATH = '/api/v1/mcp';

const TRIP = documentOf({
  begin: [
    'Begin',
    ['Message:A'],
    {
      mode: 'task',
      inputs: {
        city: { name: 'Where to', type: 'line', optional: false },
        nights: { name: 'Nights', type: 'integer', optional: true },
        class: { name: 'Class', type: 'options', optional: true, options: ['first', 'second'] },
        ticket: { name: 'Ticket', type: 'file', optional: true },
      },
    },
  ],
  'Message:A': ['Message', [], { content: ['{begin@city} for {begin@nights}, {sys.query}'] }],
});

async function publish(
  { call }: TestServer,
  title: string,
  dsl: object,
  { headers = {}, ...fields }: { headers?: Record<string, string>; description?: string } = {},
): Promise<string> {
  const { body } = await call('POST', '/api/v1/agents', { title, dsl, release: true, ...fields }, headers);
  if (body.code !== 0) throw new Error(JSON.stringify(body));
  return body.data.id;
}

async function connect({ url }: TestServer, headers: Record<string, string> = {}, mode: 'legacy' | 'auto' = 'legacy') {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
  // Not the global fetch: that opens a connection in reserve whenever one is broken off, and the server waits for it.
  const guarded = createGuardedFetch({ allowPrivateNetwork: true });
  const options = { requestInit: { headers }, fetch: guarded.fetch as typeof fetch };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}${PATH}`), options));
  onTestFinished(async () => {
    await client.close();
    guarded.close();
  });
  return client;
}

/** Without the tools that every server has. */
async function agentTools(client: Awaited<ReturnType<typeof connect>>) {
  const own = offeredTools.map(({ name }) => name);
  return (await client.listTools()).tools.filter(({ name }) => !own.includes(name));
}

describe.each(['legacy', 'auto'] as const)('published agents as tools, for a client of the kind %s', (mode) => {
  it('are listed with what they take', async () => {
    const server = await startServer();
    await publish(server, 'Trip', TRIP, { description: 'Plans a trip.' });
    const id = await publish(server, '旅行 planner (new)', ECHO);
    await server.agent(ECHO);
    const client = await connect(server, {}, mode);
    const tools = await agentTools(client);
    expect(tools).toMatchObject([
      {
        name: 'Trip',
        title: 'Trip',
        description: 'Plans a trip.',
        inputSchema: {
          type: 'object',
          properties: {
            query: { type: 'string' },
            city: { type: 'string', description: 'Where to' },
            nights: { type: 'integer' },
            class: { type: 'string', enum: ['first', 'second'] },
            ticket: { type: 'object' },
          },
          required: ['city'],
        },
      },
      { name: `planner_new_${id}`, inputSchema: { required: ['query'] } },
    ]);
  });

  it('answer', async () => {
    const server = await startServer();
    await publish(server, 'Trip', TRIP);
    const id = await publish(server, 'With blanks', ECHO);
    const client = await connect(server, {}, mode);
    const trip = await client.callTool({ name: 'Trip', arguments: { city: 'Oslo', nights: 2, query: 'by train' } });
    expect(trip.content).toEqual([{ type: 'text', text: 'Oslo for 2, by train' }]);
    const echo = await client.callTool({ name: `With_blanks_${id}`, arguments: { query: 'hi' } });
    expect(echo).toMatchObject({ content: [{ text: 'you said hi' }], _meta: { session_id: expect.any(String) } });
    expect(echo.isError).toBeUndefined();
  });

  it('tell how far they are while they run', async () => {
    const server = await startServer();
    await publish(server, 'Probe', PROBE);
    const client = await connect(server, {}, mode);
    const told: string[] = [];
    let heard: () => void = () => {};
    const half = new Promise<void>((resolve) => {
      heard = resolve;
    });
    const answer = client.callTool(
      { name: 'Probe', arguments: { query: 'go' } },
      {
        onprogress: ({ message = '' }) => {
          told.push(message);
          if (told.join('').includes('half')) heard();
        },
      },
    );
    const probe = await server.probes.next();
    probe.say('half ');
    await half;
    probe.say('way');
    probe.settle();
    expect((await answer).content).toEqual([{ type: 'text', text: 'half way' }]);
  });

  it('are cancelled with their call', async () => {
    const server = await startServer();
    const id = await publish(server, 'Probe', PROBE);
    const client = await connect(server, {}, mode);
    const abort = new AbortController();
    const answer = client.callTool({ name: 'Probe', arguments: { query: 'go' } }, { signal: abort.signal });
    answer.catch(() => {});
    const probe = await server.probes.next();
    abort.abort();
    await probe.stopped;
    await expect(answer).rejects.toThrow();
    const { items } = await server.stores.runs.list('local', { agentId: id, offset: 0, limit: 10 });
    expect(items).toHaveLength(1);
  });

  it('say what they ask', async () => {
    const server = await startServer();
    const id = await publish(server, 'Form', FORM);
    const client = await connect(server, {}, mode);
    const { content, isError, _meta } = await client.callTool({ name: 'Form', arguments: { query: 'go' } });
    expect(isError).toBe(true);
    const [{ text } = { text: '' }] = content as { text: string }[];
    expect(text).toContain('Where to?');
    expect(text).toContain('city (City)');
    const session = (_meta as { session_id: string }).session_id;
    expect(text).toContain(session);
    const { body } = await server.call('POST', '/api/v1/agents/chat/completions', {
      agent_id: id,
      session_id: session,
      inputs: { city: 'Oslo' },
    });
    expect(body.data.data.content).toBe('to Oslo');
  });
});

it('are tools of agents of another server', async () => {
  const server = await startServer({ env: { RUNNEL_API_KEYS: 'a=one-of-acme-long-key' } });
  await publish(server, 'Trip', TRIP, { headers: { authorization: 'Bearer one-of-acme-long-key' } });
  await publish(server, 'Probe', PROBE, { headers: { authorization: 'Bearer one-of-acme-long-key' } });
  const servers = over(`${server.url}${PATH}`, { authorization_token: 'one-of-acme-long-key' });
  const tools = await lastValueFrom(use(servers, (connection) => connection.tools()));
  expect(tools.map(({ name }) => name).slice(0, 2)).toEqual(['Trip', 'Probe']);
  expect(await textOfCall(servers, 'Trip', { city: 'Oslo', nights: 2, query: 'now' })).toBe('Oslo for 2, now');
  const call = { name: 'Probe', args: { query: 'x' }, trace: {}, files: undefined };
  const calling = use(servers, (connection) => connection.call(call)).subscribe();
  const probe = await server.probes.next();
  calling.unsubscribe();
  await probe.stopped;
});

describe('the address of the tools', () => {
  const initialize = {
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'x', version: '1' } },
  };
  const accept = { accept: 'application/json, text/event-stream' };

  it('needs a key, and shows each tenant its own', async () => {
    const server = await startServer({ env: { RUNNEL_API_KEYS: 'a=one-of-acme-long-key,b=two-of-others-long-key' } });
    const one = { authorization: 'Bearer one-of-acme-long-key' };
    const two = { authorization: 'Bearer two-of-others-long-key' };
    const id = await publish(server, 'Secret plans', ECHO, { headers: one });
    expect((await server.call('POST', PATH, initialize, accept)).status).toBe(401);
    const stranger = await connect(server, two);
    expect(await agentTools(stranger)).toEqual([]);
    await expect(stranger.callTool({ name: `Secret_plans_${id}`, arguments: { query: 'x' } })).rejects.toThrow(
      'no tool',
    );
    const owner = await connect(server, one);
    expect(await agentTools(owner)).toHaveLength(1);
  });

  it('lets no other tenant cancel a call', async () => {
    const server = await startServer({ env: { RUNNEL_API_KEYS: 'a=one-of-acme-long-key,b=two-of-others-long-key' } });
    await publish(server, 'Probe', PROBE, { headers: { authorization: 'Bearer one-of-acme-long-key' } });
    const begun = await server.call('POST', PATH, initialize, {
      ...accept,
      authorization: 'Bearer one-of-acme-long-key',
    });
    const session = begun.headers.get('mcp-session-id') ?? '';
    const post = (message: object, key: string) =>
      server.call(
        'POST',
        PATH,
        { jsonrpc: '2.0', ...message },
        {
          ...accept,
          authorization: `Bearer ${key}`,
          'mcp-session-id': session,
        },
      );
    const cancel = { method: 'notifications/cancelled', params: { requestId: 7 } };
    const answer = post(
      { id: 7, method: 'tools/call', params: { name: 'Probe', arguments: { query: 'x' } } },
      'one-of-acme-long-key',
    );
    const probe = await server.probes.next();
    await post(cancel, 'two-of-others-long-key');
    expect(probe.isStopped).toBe(false);
    await post(cancel, 'one-of-acme-long-key');
    await probe.stopped;
    expect((await answer).status).toBe(200);
  });

  it('answers a client that another process has introduced, whose cancellation of a call there does nothing', async () => {
    const [one, two] = [await startServer(), await startServer()];
    await publish(one, 'Probe', PROBE);
    const begun = await one.call('POST', PATH, initialize, accept);
    const post = (server: typeof one, message: object) =>
      server.call(
        'POST',
        PATH,
        { jsonrpc: '2.0', ...message },
        { ...accept, 'mcp-session-id': begun.headers.get('mcp-session-id') ?? '' },
      );
    const answer = post(one, { id: 7, method: 'tools/call', params: { name: 'Probe', arguments: { query: 'x' } } });
    const probe = await one.probes.next();
    const cancel = { method: 'notifications/cancelled', params: { requestId: 7 } };
    expect((await post(two, cancel)).status).toBe(202);
    expect((await post(two, { id: 8, method: 'tools/list' })).status).toBe(200);
    expect(probe.isStopped).toBe(false);
    expect((await post(one, cancel)).status).toBe(202);
    await probe.stopped;
    expect((await answer).status).toBe(200);
  });

  it('cancels the run of a client that goes away', async () => {
    const server = await startServer();
    await publish(server, 'Probe', PROBE);
    const abort = new AbortController();
    const message = {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'Probe', arguments: { query: 'x' } },
    };
    const answer = createGuardedFetch({ allowPrivateNetwork: true })
      .fetch(`${server.url}${PATH}`, {
        method: 'POST',
        body: JSON.stringify(message),
        headers: { ...accept, 'content-type': 'application/json' },
        signal: abort.signal,
      })
      .then((response) => response.text());
    answer.catch(() => {});
    const probe = await server.probes.next();
    abort.abort();
    await probe.stopped;
    await expect(answer).rejects.toThrow();
  });

  it.each([
    ['a batch', [initialize, initialize], {}],
    ['another origin', initialize, { origin: 'https://evil.example' }],
  ])('refuses %s', async (_, body, headers) => {
    const server = await startServer();
    const answer = await server.call('POST', PATH, body, { ...accept, ...headers });
    expect(answer.body.code).not.toBe(0);
  });

  it.each(['GET', 'DELETE'])('answers %s with 405', async (method) => {
    const server = await startServer();
    expect((await server.call(method, PATH, undefined, { accept: 'text/event-stream' })).status).toBe(405);
  });

  it('refuses names and arguments that are none', async () => {
    const server = await startServer();
    await publish(server, 'Model', MODEL);
    const client = await connect(server);
    for (const name of ['', 'nope', '__proto__', `_${'x'.repeat(500)}`, '_'.repeat(100)]) {
      await expect(client.callTool({ name, arguments: {} })).rejects.toThrow('There is no tool');
    }
    await expect(client.request({ method: 'tools/list', params: { cursor: '-1' } })).rejects.toThrow('cursor');
    expect(server.errors).toEqual([]);
  });
});

describe.each(['legacy', 'auto'] as const)('tools of the server, for a client of the kind %s', (mode) => {
  it('are listed with what they take, behind the agents', async () => {
    const server = await startServer();
    await publish(server, 'Trip', TRIP);
    const client = await connect(server, {}, mode);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual([
      'Trip',
      ...['calculator', 'currency', 'datetime', 'knowledge_lookup', 'sales', 'system_metrics', 'ticket', 'weather'],
    ]);
    const weather = tools.find(({ name }) => name === 'weather');
    expect(weather?.inputSchema).toMatchObject({
      type: 'object',
      properties: { city: {}, date: {} },
      required: ['city'],
    });
  });

  it('answer, and say what is wrong', async () => {
    const client = await connect(await startServer(), {}, mode);
    const right = await client.callTool({ name: 'calculator', arguments: { expression: '(3+5)*12' } });
    expect(right).toMatchObject({
      content: [{ type: 'text', text: '(3+5)*12 = 96' }],
      structuredContent: { value: 96 },
    });
    const wrong = await client.callTool({ name: 'calculator', arguments: { expression: '1/0' } });
    expect(wrong).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('division by zero') }] });
    const unfit = client.callTool({ name: 'weather', arguments: {} });
    await expect(unfit).rejects.toMatchObject({ code: -32602, message: expect.stringContaining('city') });
  });

  it('know the sales and tickets of the tenant, and how busy the server is', async () => {
    const client = await connect(await startServer(), {}, mode);
    const ticket = await client.callTool({ name: 'ticket', arguments: { id: 'tkt-1234' } });
    expect(ticket.content).toMatchObject([{ text: expect.stringContaining('TKT-1234') }]);
    const sales = await client.callTool({ name: 'sales', arguments: { period: 'last_year', region: '华北' } });
    expect(sales.structuredContent).toMatchObject({ currency: 'CNY', is_sample: true });
    const load = await client.callTool({ name: 'system_metrics', arguments: { metric: 'latency' } });
    expect(load.structuredContent).toMatchObject({ metric: 'latency', p50_ms: expect.any(Number) });
  });

  it('give their name to an agent that has it', async () => {
    const server = await startServer();
    await publish(server, 'calculator', ECHO);
    const client = await connect(server, {}, mode);
    expect((await client.listTools()).tools.filter(({ name }) => name === 'calculator')).toHaveLength(1);
    const { content } = await client.callTool({ name: 'calculator', arguments: { query: '1+1' } });
    expect(content).toEqual([{ type: 'text', text: 'you said 1+1' }]);
  });
});
