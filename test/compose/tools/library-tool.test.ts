import { type Observable, of, throwError } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { McpServer, McpTool } from '../../../src/adapters/mcp/mcp-servers.js';
import { mcpTools, toolOf } from '../../../src/compose/tools/library-tool.js';
import { toolDefinition } from '../../../src/compose/tools/step-tool.js';
import { type AnyTool, invoke, run, toolResult, toolsNode } from '../../../src/index.js';
import { assistantMessage } from '../../../src/models/messages.js';
import { defineTool } from '../../../src/tools/tool.js';

const weather = defineTool({
  component: 'Weather',
  name: 'weather',
  summary: 'Tells the weather.',
  arguments: { city: z.string().describe('Where.') },
  params: { unit: z.enum(['C', 'F']).default('C'), key: z.string() },
  outputs: { degrees: { type: 'number', description: 'How warm it is.' } },
  timeoutSeconds: 10,
  check: ({ key }) => (key === '' ? ['key: must not be empty'] : []),
  call: ({ city }, { params, services, key }) => {
    if (city === 'Atlantis') return throwError(() => new Error('it sank'));
    const days = services.tools?.artifactDays ?? 0;
    return of(
      { type: 'progress', message: `asking for ${city}` } as const,
      toolResult(
        `${days + 20} ${params.unit} in ${city} (${key})`,
        { degrees: 20 },
        {
          artifacts: [{ name: 'map.png', url: '/files/1', mimeType: 'image/png', bytes: 3 }],
        },
      ),
    );
  },
}) as AnyTool;

function message(name: string, args: object) {
  return assistantMessage('', { toolCalls: [{ id: 'c1', name, arguments: JSON.stringify(args) }] });
}

describe('toolOf', () => {
  const node = toolsNode({ tools: [toolOf(weather, { key: 'k' })] });

  it('shows a tool of canvases to models as agents do, or under another name', () => {
    expect(toolDefinition(toolOf(weather, { key: 'k' }))).toMatchObject({
      name: 'weather',
      description: 'Tells the weather.',
      parameters: {
        type: 'object',
        properties: { city: { type: 'string', description: 'Where.' } },
        required: ['city'],
      },
    });
    expect(toolOf(weather, { key: 'k' }, { name: 'sky', description: 'Looks up.' })).toMatchObject({
      name: 'sky',
      description: 'Looks up.',
    });
  });

  it('calls it with its parameters, the services of the run and a key of its own; files come with the message', async () => {
    const [result] = await invoke(node, message('weather', { city: 'Oslo' }), {
      run: 'r',
      services: { tools: { artifactDays: 1 } },
    });
    expect(result).toMatchObject({
      content: expect.stringMatching(/^21 C in Oslo \(.+#c1\)$/),
      extra: { artifacts: [{ name: 'map.png', url: '/files/1', mime_type: 'image/png', size: 3 }] },
    });
  });

  it('says its progress in the events of the run', async () => {
    const notices: unknown[] = [];
    await new Promise<void>((resolve, reject) => {
      run(node, { input: message('weather', { city: 'Oslo' }) }).subscribe({
        next: (event) => {
          if (event.type === 'node-notice') notices.push([event.name, event.data]);
        },
        error: reject,
        complete: resolve,
      });
    });
    expect(notices).toEqual([['tool-progress', { call: 'c1', message: 'asking for Oslo' }]]);
  });

  it('fails as the tool does', async () => {
    await expect(invoke(node, message('weather', { city: 'Atlantis' }))).rejects.toMatchObject({
      code: 'TOOL_FAILED',
      message: 'Tool "weather" (call c1) failed: Weather error: it sank',
    });
    await expect(invoke(node, message('weather', {}))).rejects.toMatchObject({ code: 'TOOL_ARGUMENTS' });
  });

  it.each([
    ['a parameter that is missing', {}, 'key: '],
    ['a parameter that does not fit', { key: 'k', unit: 'K' }, 'unit: '],
    ['what the tool itself refuses', { key: '' }, 'key: must not be empty'],
  ])('refuses %s', (_, params, why) => {
    expect(() => toolOf(weather, params)).toThrow(why);
    expect(() => toolOf(weather, params)).toThrow(expect.objectContaining({ code: 'OPTION_INVALID' }));
  });

  it('is asked for by a node that is given a tool of canvases as it is', () => {
    expect(() => toolsNode({ tools: [weather as never] })).toThrow('Wrap it: toolOf(Weather, params)');
  });
});

describe('mcpTools', () => {
  const LISTED: readonly McpTool[] = [
    {
      name: 'read file',
      description: 'Reads.',
      inputSchema: { type: 'object', properties: { path: { type: 'string' } } },
    },
    { name: 'read_file', description: 'Reads, too.', inputSchema: { type: 'object' } },
  ];

  /** A server whose calls are noted. */
  function server(calls: unknown[]): McpServer {
    const connection = {
      tools: () => of(LISTED),
      call: ({ name, args }: { readonly name: string; readonly args: object }) => {
        calls.push({ name, args });
        return of(toolResult('', { content: `${name} done` }));
      },
    };
    return {
      id: 'files',
      use<T>(user: { readonly run: string }, work: (to: never) => Observable<T>) {
        calls.push(user.run);
        return work(connection as never);
      },
    };
  }

  it('offers the tools of a server under names that models can call, and calls them by their own', async () => {
    const calls: unknown[] = [];
    const tools = await mcpTools(server(calls), { prefix: 'fs_' });
    expect(tools.map(toolDefinition)).toEqual([
      { name: 'fs_read_file', description: 'Reads.', parameters: LISTED[0]?.inputSchema },
      { name: 'fs_read_file_2', description: 'Reads, too.', parameters: LISTED[1]?.inputSchema },
    ]);
    const [result] = await invoke(toolsNode({ tools }), message('fs_read_file', { path: 'a' }), { run: 'r1' });
    expect(result?.content).toBe('read file done');
    expect(calls).toEqual(['list-files', 'r1', { name: 'read file', args: { path: 'a' } }]);
  });

  it('offers only those that are named, which must be there', async () => {
    expect(await mcpTools(server([]), { only: ['read_file'] })).toHaveLength(1);
    await expect(mcpTools(server([]), { only: ['write'] })).rejects.toMatchObject({
      code: 'OPTION_INVALID',
      message: 'mcpTools: server "files" has no tool "write"; it has read file, read_file.',
    });
  });
});
