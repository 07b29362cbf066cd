import { describe, expect, it } from 'vitest';
import { ECHO, startMcpServer } from '../adapters/mcp/support/mcp-server.js';
import { temporaryFile } from './canvases.js';
import { call } from './fake-terminal.js';

const node = (component_name: string, downstream: string[], params: object = {}) => ({
  obj: { component_name, params },
  downstream,
  upstream: [],
});

const canvas = (): string =>
  temporaryFile('mcp.json', {
    components: {
      begin: node('Begin', ['Agent:A']),
      'Agent:A': node('Agent', ['Message:M'], {
        llm_id: 'm',
        prompts: [{ role: 'user', content: '{sys.query}' }],
        mcp: [{ mcp_id: 'echo', tools: {} }],
      }),
      'Message:M': node('Message', [], { content: ['{Agent:A@content}'] }),
    },
    path: [],
    history: [],
    retrieval: [],
    globals: {},
  } as never);

const serversFile = (servers: object): string => temporaryFile('servers.json', { mcpServers: servers } as never);

describe('RUNNEL_MCP_SERVERS', () => {
  it('names the servers whose tools a run may call, and nothing of them is left behind it', async () => {
    const server = await startMcpServer({ echo: ECHO });
    const rules = [{ times: 1, tool_calls: [{ name: 'echo_0', arguments: { text: 'hi' } }] }, { reply: 'it said hi' }];
    const env = {
      RUNNEL_MODELS: temporaryFile('models.json', { scripted: { rules } } as never),
      RUNNEL_MCP_SERVERS: serversFile({ echo: { type: 'streamable-http', url: server.url } }),
    };
    const { exit, out } = await call(['run', canvas(), '--query', 'x'], { env });
    expect([exit, out]).toEqual([0, 'it said hi\n']);
    expect([server.opened(), server.sessions.size]).toEqual([1, 0]);
  });

  it.each([
    ['that is not there', () => '/nowhere/servers.json', 'cannot be read'],
    ['that is wrong', () => serversFile({ a: { type: 'stdio' } }), 'mcpServers.a.command'],
  ])('with a file %s stops the start', async (_, file, message) => {
    const { exit, err } = await call(['run', canvas()], { env: { RUNNEL_MCP_SERVERS: file() } });
    expect(exit).toBe(2);
    expect(err).toContain(message);
  });
});
