/** The client of MCP's TypeScript SDK, over a socket. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { offeredTools } from '../../../src/components/offered-tools.js';
import type { JsonObject } from '../../../src/json.js';
import { documentOf, ECHO, FORM } from '../support/documents.js';
import { startServer, type TestServer } from '../support/server.js';

const TRIP = documentOf({
  begin: ['Begin', ['Message:A'], { mode: 'task', inputs: { city: { name: 'City', type: 'line', optional: false } } }],
  'Message:A': ['Message', [], { content: ['to {begin@city}'] }],
});

async function connect({ url }: TestServer): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' });
  // The optional properties of its class are not those of its interface.
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/api/v1/mcp`)) as Transport);
  onTestFinished(() => client.close());
  return client;
}

async function publish({ call }: TestServer, title: string, dsl: JsonObject): Promise<string> {
  const { body } = await call('POST', '/api/v1/agents', { title, dsl, release: true });
  expect(body.code).toBe(0);
  return body.data.id;
}

describe('the MCP SDK', () => {
  it('sees the tools of the server, and learns how an agent becomes one, when there is none', async () => {
    const client = await connect(await startServer());
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(offeredTools.map(({ name }) => name));
    expect(client.getInstructions()).toContain('POST /api/v1/agents/{id}/publish');
  });

  it('lists and calls a tool', async () => {
    const server = await startServer();
    await publish(server, 'Echo', ECHO);
    const client = await connect(server);
    expect((await client.listTools()).tools[0]).toMatchObject({ name: 'Echo', inputSchema: { required: ['query'] } });
    const { content } = await client.callTool({ name: 'Echo', arguments: { query: 'hi' } });
    expect(content).toEqual([{ type: 'text', text: 'you said hi' }]);
    await client.ping();
  });

  it.each([
    ['Echo', ECHO, {}, 'There is no `query`.'],
    ['Echo', ECHO, { qury: 'hi' }, 'There is no `query`. Unknown: `qury`.'],
    ['Trip', TRIP, { query: 'hi' }, 'There is no `city`.'],
    ['Trip', TRIP, { city: null, town: 'Oslo' }, 'There is no `city`. Unknown: `town`.'],
  ])('is refused by %s without what it requires, before anything runs', async (name, dsl, args, message) => {
    const server = await startServer();
    const agentId = await publish(server, name, dsl);
    const client = await connect(server);
    const refused = client.callTool({ name, arguments: args });
    await expect(refused).rejects.toMatchObject({ code: -32602, message: expect.stringContaining(message) });
    const { items } = await server.stores.runs.list('local', { agentId, offset: 0, limit: 10 });
    expect(items).toEqual([]);
  });

  it('gets the question of a form, and how to answer it', async () => {
    const server = await startServer();
    await publish(server, 'Form', FORM);
    const client = await connect(server);
    const { isError, content } = await client.callTool({ name: 'Form', arguments: { query: 'go' } });
    expect(isError).toBe(true);
    expect(JSON.stringify(content)).toContain('Where to?');
  });
});
