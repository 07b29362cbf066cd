import { firstValueFrom } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { ChatRequest } from '../../../src/models/chat-model.js';
import type { AssistantPart, ContentPart } from '../../../src/models/content-parts.js';
import { type AssistantMessage, assistantMessage, toolMessage, userMessage } from '../../../src/models/messages.js';
import { anthropic } from '../../../src/models/providers/anthropic.js';
import { collectMessage } from '../../../src/models/to-message-chunks.js';
import { startServer } from '../fake-server.js';
import { all, connectionTo, failureOf, hello } from '../model-at.js';
import { answer, arrivedFor, claudeAt, closed, delta, end, opened, sent, start, text } from './anthropic-events.js';

const tool = (name: string, deferred?: boolean) => ({
  name,
  description: `does ${name}`,
  parameters: { type: 'object' },
  ...(deferred && { deferred }),
});

/** The message of an answer with these events between start and end. */
async function messageOf(...blocks: { readonly type: string }[]): Promise<AssistantMessage> {
  const { url } = await startServer((response) => answer(response, start(), ...blocks, ...end('end_turn')));
  return firstValueFrom(claudeAt(url).chat(hello).pipe(collectMessage()));
}

/** What the API gets for parts of an answer. */
async function sentBack(...parts: AssistantPart[]): Promise<unknown> {
  const body = await sent({ messages: [userMessage('hi'), assistantMessage('', { parts }), userMessage('go on')] });
  return body.messages[1]?.content;
}

const block = (index: number, content: object) => [opened(index, content), closed(index)];
const json = (index: number, partial_json: string) => delta(index, { type: 'input_json_delta', partial_json });

/** Everything the server does itself, between signed thoughts and an answer with citations. */
const WHOLE = [
  opened(0, { type: 'thinking', thinking: '' }),
  delta(0, { type: 'thinking_delta', thinking: 'I look it up.' }),
  delta(0, { type: 'signature_delta', signature: 'sig-' }),
  delta(0, { type: 'signature_delta', signature: 'nature' }),
  closed(0),
  ...block(1, { type: 'redacted_thinking', data: 'secret' }),
  ...text(2, 'Searching.'),
  opened(3, { type: 'server_tool_use', id: 'srv_1', name: 'web_search', input: {} }),
  json(3, '{"query":'),
  json(3, '"oslo"}'),
  closed(3),
  ...block(4, {
    type: 'web_search_tool_result',
    tool_use_id: 'srv_1',
    content: [{ type: 'web_search_result', url: 'u' }],
  }),
  opened(5, { type: 'mcp_tool_use', id: 'mcp_1', name: 'find', server_name: 'library', input: {} }),
  json(5, '{"q":1}'),
  closed(5),
  ...block(6, {
    type: 'mcp_tool_result',
    tool_use_id: 'mcp_1',
    is_error: false,
    content: [{ type: 'text', text: 'found' }],
  }),
  ...block(7, {
    type: 'mcp_tool_result',
    tool_use_id: 'mcp_1',
    is_error: true,
    content: [{ type: 'text', text: 'broken' }],
  }),
  opened(8, { type: 'text', text: '' }),
  delta(8, { type: 'text_delta', text: 'Oslo is ' }),
  delta(8, { type: 'citations_delta', citation: { type: 'web_search_result_location', url: 'u' } }),
  delta(8, { type: 'text_delta', text: 'a city.' }),
  closed(8),
  ...text(9, ' Bye.'),
  opened(10, {
    type: 'tool_use',
    id: 't1',
    name: 'add',
    input: {},
    caller: { type: 'code_execution_20250825', tool_id: 'srv_1' },
  }),
  json(10, '{"x":1}'),
  closed(10),
  ...block(11, { type: 'something_new', data: 1 }),
];

const PARTS: AssistantPart[] = [
  { type: 'reasoning', text: 'I look it up.', signature: 'sig-nature' },
  { type: 'reasoning', text: '', signature: 'secret', isRedacted: true },
  { type: 'text', text: 'Searching.' },
  { type: 'server-tool-call', id: 'srv_1', name: 'web_search', arguments: { query: 'oslo' } },
  {
    type: 'server-tool-result',
    callId: 'srv_1',
    name: 'web_search',
    content: [{ type: 'web_search_result', url: 'u' }],
  },
  { type: 'mcp-call', id: 'mcp_1', name: 'find', server: 'library', arguments: '{"q":1}' },
  { type: 'mcp-result', callId: 'mcp_1', name: 'find', server: 'library', content: [{ type: 'text', text: 'found' }] },
  {
    type: 'mcp-result',
    callId: 'mcp_1',
    name: 'find',
    server: 'library',
    content: [{ type: 'text', text: 'broken' }],
    error: 'broken',
  },
  { type: 'text', text: 'Oslo is a city.', citations: [{ type: 'web_search_result_location', url: 'u' }] },
  { type: 'text', text: ' Bye.' },
  {
    type: 'tool-call',
    id: 't1',
    name: 'add',
    arguments: '{"x":1}',
    extra: { caller: { type: 'code_execution_20250825', tool_id: 'srv_1' } },
  },
];

describe('the provider "anthropic", blocks', () => {
  it('gives every block of an answer as a part, in order', async () => {
    const message = await messageOf(...WHOLE);
    expect(message.parts).toEqual(PARTS);
    expect(message).toMatchObject({
      id: 'msg_1',
      content: 'Searching.Oslo is a city. Bye.',
      reasoning: 'I look it up.',
      toolCalls: [{ id: 't1', name: 'add', arguments: '{"x":1}' }],
      finishReason: 'stop',
    });
  });

  it('sends the parts of an answer back as the blocks they came from', async () => {
    expect(await sentBack(...PARTS)).toEqual([
      { type: 'thinking', thinking: 'I look it up.', signature: 'sig-nature' },
      { type: 'redacted_thinking', data: 'secret' },
      { type: 'text', text: 'Searching.' },
      { type: 'server_tool_use', id: 'srv_1', name: 'web_search', input: { query: 'oslo' } },
      { type: 'web_search_tool_result', tool_use_id: 'srv_1', content: [{ type: 'web_search_result', url: 'u' }] },
      { type: 'mcp_tool_use', id: 'mcp_1', name: 'find', server_name: 'library', input: { q: 1 } },
      { type: 'mcp_tool_result', tool_use_id: 'mcp_1', is_error: false, content: [{ type: 'text', text: 'found' }] },
      { type: 'mcp_tool_result', tool_use_id: 'mcp_1', is_error: true, content: 'broken' },
      { type: 'text', text: 'Oslo is a city.', citations: [{ type: 'web_search_result_location', url: 'u' }] },
      { type: 'text', text: ' Bye.' },
      {
        type: 'tool_use',
        id: 't1',
        name: 'add',
        input: { x: 1 },
        caller: { type: 'code_execution_20250825', tool_id: 'srv_1' },
      },
    ]);
  });

  it('leaves out thoughts and citations of other providers', async () => {
    const parts: AssistantPart[] = [
      { type: 'reasoning', text: 'hm' },
      { type: 'reasoning', text: 'hm', signature: 'enc', id: 'rs_1' },
      { type: 'text', text: 'hi', citations: [{ type: 'url_citation', url: 'u' }, 'page 1'] },
    ];
    expect(await sentBack(...parts)).toEqual([{ type: 'text', text: 'hi' }]);
  });

  it('keeps the call of a block that was cut off', async () => {
    const message = await messageOf(opened(0, { type: 'tool_use', id: 't1', name: 'add', input: {} }), json(0, '{"x'));
    expect(message.toolCalls).toEqual([{ id: 't1', name: 'add', arguments: '{"x' }]);
  });

  it('ends an answer with more than 128 calls, those of the server counted in', async () => {
    const many = Array.from({ length: 129 }, (_, at) =>
      block(at, { type: 'server_tool_use', id: `s${at}`, name: 'web_search', input: {} }),
    );
    expect(await failureOf(messageOf(...many.flat()))).toMatchObject({ code: 'MODEL_RESPONSE' });
  });

  it.each([
    [{ input_tokens: 1, output_tokens: 9, output_tokens_details: { thinking_tokens: 4 } }, { reasoningTokens: 4 }],
    [{ input_tokens: 1, output_tokens: 9 }, {}],
  ])('counts the tokens of thoughts where the API says them', async (usage, expected) => {
    const { url } = await startServer((response) =>
      answer(response, start(usage), ...text(0, 'x'), ...end('end_turn')),
    );
    const message = await firstValueFrom(claudeAt(url).chat(hello).pipe(collectMessage()));
    expect(message.usage).toEqual({ promptTokens: 1, completionTokens: 7, totalTokens: 8, ...expected });
  });
});

describe('the provider "anthropic", requests', () => {
  it('sends images and documents, by URL, in base64 and by id', async () => {
    const content: ContentPart[] = [
      { type: 'image', url: 'https://pictures.test/1.png', detail: 'high' },
      { type: 'image', data: 'AA==', mimeType: 'image/png' },
      { type: 'image', url: 'data:image/jpeg;base64,BB==' },
      { type: 'image', fileId: 'file_1' },
      { type: 'file', url: 'https://papers.test/1.pdf', name: 'One' },
      { type: 'file', data: 'CC==', mimeType: 'application/pdf' },
      { type: 'file', data: Buffer.from('blå').toString('base64'), mimeType: 'text/markdown', name: 'notes.md' },
      { type: 'file', fileId: 'file_2' },
    ];
    const arrived = await arrivedFor({ messages: [userMessage(content)] });
    expect(arrived?.headers['anthropic-beta']).toBe('files-api-2025-04-14');
    expect(arrived?.body.messages[0].content).toEqual([
      { type: 'image', source: { type: 'url', url: 'https://pictures.test/1.png' } },
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA==' } },
      { type: 'image', source: { type: 'base64', media_type: 'image/jpeg', data: 'BB==' } },
      { type: 'image', source: { type: 'file', file_id: 'file_1' } },
      { type: 'document', source: { type: 'url', url: 'https://papers.test/1.pdf' }, title: 'One' },
      { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'CC==' } },
      { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'blå' }, title: 'notes.md' },
      { type: 'document', source: { type: 'file', file_id: 'file_2' } },
    ]);
  });

  it('sends results of tools with parts, failures and found tools, from messages of tools and of users', async () => {
    const calls = ['t1', 't2'].map((id) => ({ id, name: 'look', arguments: '{}' }));
    const body = await sent({
      messages: [
        userMessage('look'),
        assistantMessage('', { toolCalls: calls }),
        toolMessage('see', 't1', {
          parts: [
            { type: 'text', text: 'see' },
            { type: 'image', data: 'AA==', mimeType: 'image/png' },
            { type: 'tool-reference', name: 'paint' },
          ],
        }),
        userMessage([
          { type: 'tool-result', toolCallId: 't2', content: 'too dark', isError: true },
          { type: 'text', text: 'and?' },
        ]),
      ],
    });
    expect(body.messages[2].content).toEqual([
      {
        type: 'tool_result',
        tool_use_id: 't1',
        content: [
          { type: 'text', text: 'see' },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA==' } },
          { type: 'tool_reference', tool_name: 'paint' },
        ],
      },
      { type: 'tool_result', tool_use_id: 't2', content: 'too dark', is_error: true },
      { type: 'text', text: 'and?' },
    ]);
  });

  it('sends stop words, and only the allowed tools', async () => {
    const request = { stop: ['END'], tools: [tool('add'), tool('sub')] };
    const chosen = async (mode: 'auto' | 'required') => sent({ ...request, toolChoice: { allowed: ['sub'], mode } });
    const tools = [{ name: 'sub', description: 'does sub', input_schema: { type: 'object' } }];
    expect(await chosen('auto')).toMatchObject({ stop_sequences: ['END'], tools, tool_choice: { type: 'auto' } });
    expect(await chosen('required')).toMatchObject({ tools, tool_choice: { type: 'any' } });
  });

  it('offers deferred tools by name and its search for them, but not a tool that is chosen', async () => {
    const arrived = await arrivedFor({
      tools: [tool('add'), tool('sub', true), tool('paint', true)],
      toolChoice: { name: 'paint' },
      headers: { 'Anthropic-Beta': 'mine' },
    });
    expect(arrived?.headers['anthropic-beta']).toBe('mine,advanced-tool-use-2025-11-20');
    expect(arrived?.body.tools).toEqual([
      { name: 'add', description: 'does add', input_schema: { type: 'object' } },
      { name: 'sub', description: 'does sub', input_schema: { type: 'object' }, defer_loading: true },
      { name: 'paint', description: 'does paint', input_schema: { type: 'object' } },
      { type: 'tool_search_tool_bm25_20251119', name: 'tool_search_tool_bm25' },
    ]);
  });

  it('takes the search that a request brings', async () => {
    const search = { type: 'tool_search_tool_regex_20251119', name: 'tool_search_tool_regex' };
    const { tools } = await sent({ tools: [tool('sub', true)], serverTools: [search] });
    expect(tools.map((one: { name: string }) => one.name)).toEqual(['sub', 'tool_search_tool_regex']);
  });

  it('offers tools of the provider and of MCP servers, also without tools of ours', async () => {
    const search = { type: 'web_search_20250305', name: 'web_search', max_uses: 2 };
    const arrived = await arrivedFor({
      serverTools: [search],
      mcpServers: [
        { name: 'library', url: 'https://mcp.test/a', token: 'tok' },
        { name: 'shop', url: 'https://mcp.test/b', allowedTools: ['find'], approval: 'never' },
      ],
    });
    expect(arrived?.headers['anthropic-beta']).toBe('mcp-client-2025-11-20');
    expect(arrived?.body).toMatchObject({
      mcp_servers: [
        { type: 'url', name: 'library', url: 'https://mcp.test/a', authorization_token: 'tok' },
        { type: 'url', name: 'shop', url: 'https://mcp.test/b' },
      ],
      tools: [
        search,
        { type: 'mcp_toolset', mcp_server_name: 'library' },
        {
          type: 'mcp_toolset',
          mcp_server_name: 'shop',
          default_config: { enabled: false },
          configs: { find: { enabled: true } },
        },
      ],
    });
    expect(arrived?.body).not.toHaveProperty('tool_choice');
  });

  it('keeps the parts of the API that a factory asks for, beside its own', async () => {
    const { url, arrived } = await startServer((response) => answer(response, start(), ...end('end_turn')));
    const connection = connectionTo(url, { headers: { 'anthropic-beta': 'theirs' } }, anthropic);
    const messages = [userMessage([{ type: 'file', fileId: 'f' }])];
    await all(anthropic.chat(connection, { streamUsage: true }), { ...hello, messages });
    expect(arrived[0]?.headers['anthropic-beta']).toBe('theirs,files-api-2025-04-14');
  });

  it('lets a model think within a turn of tools whose signed beginning is there', async () => {
    const parts: AssistantPart[] = [
      { type: 'reasoning', text: 'hm', signature: 'sig' },
      { type: 'tool-call', id: 't', name: 'add', arguments: '{}' },
    ];
    const messages = [userMessage('hi'), assistantMessage('', { parts }), toolMessage('1', 't')];
    const body = await sent({ model: 'claude-haiku-4-5', messages, thinking: 'enabled' });
    expect(body.thinking).toEqual({ type: 'enabled', budget_tokens: 4096 });
    expect(body.messages[1].content[0]).toEqual({ type: 'thinking', thinking: 'hm', signature: 'sig' });
  });

  it.each<[string, Partial<ChatRequest>, string]>([
    [
      'a sound',
      { messages: [userMessage([{ type: 'audio', data: 'A', mimeType: 'audio/wav' }])] },
      'a sound (message 0, role user, part 0)',
    ],
    [
      'a video in a result',
      {
        messages: [
          userMessage('x'),
          toolMessage('', 't', {
            parts: [
              { type: 'text', text: 'x' },
              { type: 'video', url: 'u' },
            ],
          }),
        ],
      },
      'a video (message 1, role tool, part 1)',
    ],
    [
      'a spreadsheet',
      { messages: [userMessage([{ type: 'file', data: 'A', mimeType: 'application/vnd.ms-excel' }])] },
      'a file of the type "application/vnd.ms-excel"',
    ],
    [
      'an answer to an MCP server',
      { messages: [userMessage([{ type: 'mcp-approval', requestId: 'r', isApproved: true }])] },
      'an answer to a question of an MCP server',
    ],
    [
      'an image of an answer',
      { messages: [assistantMessage('', { parts: [{ type: 'image', url: 'u' }] })] },
      'a part of the type "image" in an answer (message 0, role assistant, part 0)',
    ],
    [
      "another provider's search",
      {
        messages: [
          assistantMessage('', {
            parts: [{ type: 'server-tool-call', id: 'w', name: 'web_search', arguments: {}, extra: { item: {} } }],
          }),
        ],
      },
      'of another provider',
    ],
    ['log probabilities', { logProbabilities: 0 }, 'log probabilities'],
    ['speech', { speech: { voice: 'alloy', format: 'wav' } }, 'no voices'],
    ['approvals of MCP calls', { mcpServers: [{ name: 'shop', url: 'u', approval: 'always' }] }, '"shop"'],
    [
      'a choice of tools that are not offered',
      { tools: [tool('add')], toolChoice: { allowed: ['x'], mode: 'auto' } },
      'Offered are: add',
    ],
    ['a required choice of none', { tools: [tool('add')], toolChoice: { allowed: [], mode: 'required' } }, 'no tools'],
  ])('refuses %s before anything is sent', async (_, request, fragment) => {
    const { url, arrived } = await startServer((response) => answer(response, start(), ...end('end_turn')));
    const error = await failureOf(all(claudeAt(url), { ...hello, ...request }));
    expect(error).toMatchObject({ code: 'MODEL_REQUEST', retryable: false });
    expect(error.message).toContain(fragment);
    expect(arrived).toEqual([]);
  });
});
