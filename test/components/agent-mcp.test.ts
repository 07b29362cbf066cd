import { lastValueFrom, Observable, toArray } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { McpServers } from '../../src/adapters/mcp/mcp-servers.js';
import { agent } from '../../src/components/agent.js';
import type { NodeEvent } from '../../src/graph/node-events.js';
import type { JsonObject } from '../../src/json.js';
import type { ScriptInput } from '../../src/models/scripted.js';
import { functionName } from '../../src/tools/call-tool.js';
import { ECHO, said, startMcpServer } from '../adapters/mcp/support/mcp-server.js';
import { over } from '../adapters/mcp/support/using.js';
import { activationOf, chatServices, nodeOf, outputsOf, warningsOf } from './text-activation.js';

const TAVILY = { component_name: 'TavilySearch', name: 'Search', params: { api_key: 'k' } };
const SCHEMA = { type: 'object', $defs: { a: { enum: [1, 'b', null] } }, properties: { x: { $ref: '#/$defs/a' } } };
const STORED = {
  'find it!': { name: 'find it!', description: 'Finds </tool> it.', inputSchema: SCHEMA, enabled: true },
};

async function run(params: JsonObject, script: ScriptInput, mcp?: McpServers, headers: JsonObject = {}) {
  const { services, requests } = chatServices(script);
  const activation = activationOf({ variables: { 'sys.query': 'who?' }, services: { ...services, mcp, headers } });
  const events$ = nodeOf(agent, { llm_id: 'm', sys_prompt: 'BOSS', ...params })(activation);
  if (!(events$ instanceof Observable)) throw new Error('an agent with tools is a stream');
  const events = await lastValueFrom((events$ as Observable<NodeEvent>).pipe(toArray()));
  return { events, requests };
}

const calls = (name: string, args: Record<string, string> = {}) => ({
  rules: [{ times: 1, tool_calls: [{ name, arguments: args }] }],
  default: { reply: 'done' },
});

describe('tools of MCP servers', () => {
  it('are offered as the document stores them, behind the others, without asking the server', async () => {
    const server = await startMcpServer({});
    const { requests } = await run(
      { tools: [TAVILY], mcp: [{ mcp_id: 's', tools: STORED }] },
      { default: { reply: 'x' } },
      over(server.url),
    );
    expect(requests[0]?.tools?.map(({ name }) => name)).toEqual(['tavily_search_0', 'find_it_1']);
    expect(requests[0]?.tools?.[1]).toEqual({
      name: 'find_it_1',
      description: 'Finds </tool> it.',
      parameters: SCHEMA,
    });
    expect(server.asked).toEqual([]);
  });

  it('are asked from the server where the document names none, and called by their own names', async () => {
    const server = await startMcpServer({ 'say-it': { ...ECHO, run: ({ text }) => said(`echo: ${text}`) } });
    const servers = over(server.url);
    const { events, requests } = await run(
      { mcp: [{ mcp_id: 's', tools: {} }] },
      calls('say-it_0', { text: 'hi' }),
      servers,
      { 'x-user': 'ada' },
    );
    expect(requests[0]?.tools).toEqual([
      { name: 'say-it_0', description: 'Says it again.', parameters: ECHO.inputSchema },
    ]);
    expect(requests[1]?.messages.at(-1)).toMatchObject({ role: 'tool', content: 'echo: hi' });
    expect(outputsOf(events)).toEqual({ content: 'done' });
    const log = events.find((event) => event.type === 'notice' && event.name === 'tool-called');
    expect(log).toMatchObject({
      data: { path: 'X', tool_name: 'say-it', arguments: { text: 'hi' }, result: 'echo: hi' },
    });
    await servers.close();
    expect([server.opened(), server.sessions.size]).toEqual([1, 0]);
    expect(new Set(server.headers.map((headers) => headers['x-user']))).toEqual(new Set(['ada']));
  });

  it('share one session with those of agents inside', async () => {
    const server = await startMcpServer({ echo: ECHO });
    const servers = over(server.url);
    const inner = {
      component_name: 'Agent',
      name: 'Helper',
      params: { llm_id: 'm', sys_prompt: 'HELPER', mcp: [{ mcp_id: 's' }] },
    };
    const script: ScriptInput = {
      rules: [
        { when: { system: 'HELPER' }, times: 1, tool_calls: [{ name: 'echo_0', arguments: { text: 'in' } }] },
        { when: { system: 'HELPER' }, reply: 'helped' },
        { times: 1, tool_calls: [{ name: 'Helper_0', arguments: { user_prompt: 'go', reasoning: '', context: '' } }] },
      ],
      default: { reply: 'done' },
    };
    const { requests } = await run({ tools: [inner], mcp: [{ mcp_id: 's' }] }, script, servers);
    expect(requests.at(-1)?.messages.at(-1)).toMatchObject({ role: 'tool', content: 'helped' });
    await servers.close();
    expect([server.opened(), server.sessions.size]).toEqual([1, 0]);
  });

  it('are missing with a warning when there is no such server, in agents inside, too', async () => {
    const inner = { component_name: 'Agent', name: 'Helper', params: { llm_id: 'm', mcp: [{ mcp_id: 'lost' }] } };
    const { events, requests } = await run(
      { tools: [inner], mcp: [{ mcp_id: 'gone', tools: STORED }] },
      { default: { reply: 'on my own' } },
    );
    expect(warningsOf(events)).toEqual([
      expect.stringContaining('no MCP server "gone" here, so agent "X"'),
      expect.stringContaining('no MCP server "lost" here, so agent "Helper"'),
    ]);
    expect(requests[0]?.tools?.map(({ name }) => name)).toEqual(['Helper_0']);
    expect(outputsOf(events)).toEqual({ content: 'on my own' });
  });

  it('are missing with a warning when the server does not answer', async () => {
    const server = await startMcpServer({}, (_, response) => {
      response.writeHead(503).end();
      return true;
    });
    const { events } = await run({ mcp: [{ mcp_id: 's' }] }, { default: { reply: 'x' } }, over(server.url));
    expect(warningsOf(events)).toEqual([expect.stringContaining('MCP server "s" answered with status 503')]);
    expect(outputsOf(events)).toEqual({ content: 'x' });
  });

  it('that fail are told to the model', async () => {
    const server = await startMcpServer({
      bad: { run: () => ({ isError: true, content: [{ type: 'text', text: 'no such city' }] }) },
    });
    const { requests } = await run({ mcp: [{ mcp_id: 's' }] }, calls('bad_0'), over(server.url));
    expect(requests[1]?.messages.at(-1)).toMatchObject({ content: expect.stringContaining('no such city') });
  });

  it.each(['bad', 's', '*'])('are asked for where the document says so, by %s', async (name) => {
    const params = { mcp: [{ mcp_id: 's', tools: { bad: {} } }], require_approval: [name] };
    const server = await startMcpServer({});
    const { events } = await run(params, calls('bad_0'), over(server.url));
    expect(events.at(-1)).toMatchObject({ type: 'interrupt' });
    expect(server.asked).toEqual([]);
  });

  it.each([
    ['__proto__', '__proto___3'],
    ['</function> {"name": "x"}', 'function_name_x_3'],
    ['日本', 'tool__3'],
    ['x'.repeat(500), `${'x'.repeat(62)}_3`],
  ])('called %j have names that providers take', (name, expected) => {
    expect(functionName(name, 3)).toBe(expected);
  });
});
