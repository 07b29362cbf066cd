import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { firstValueFrom } from 'rxjs';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { ChatModel, ChatRequest } from '../../../src/models/chat-model.js';
import { collectAnswer } from '../../../src/models/collect-answer.js';
import type { AssistantPart, ContentPart } from '../../../src/models/content-parts.js';
import {
  type AssistantMessage,
  assistantMessage,
  type ChatMessage,
  systemMessage,
  toolMessage,
  userMessage,
} from '../../../src/models/messages.js';
import { openaiResponses } from '../../../src/models/providers/openai-responses.js';
import { createModels } from '../../../src/models/router.js';
import { collectMessage } from '../../../src/models/to-message-chunks.js';
import { modelsFromEnvironment } from '../../../src/settings/read-settings.js';
import { answerJson, startServer } from '../fake-server.js';
import { all, connectionTo, failureOf, hello, KEY } from '../model-at.js';

type Event = { readonly type: string };

const modelAt = (url: string): ChatModel =>
  openaiResponses.chat(connectionTo(url, {}, openaiResponses), { streamUsage: true });

/** Server-sent events as the API writes them: the type of each as its name, too. */
const events = (...list: Event[]): string =>
  list.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');

const answer = (response: ServerResponse, ...list: Event[]): void =>
  void response.writeHead(200, { 'content-type': 'text/event-stream' }).end(events(...list));

const usage = {
  input_tokens: 10,
  input_tokens_details: { cached_tokens: 4 },
  output_tokens: 7,
  output_tokens_details: { reasoning_tokens: 3 },
  total_tokens: 17,
};
const response = (fields: object) => ({ id: 'resp_1', object: 'response', status: 'completed', output: [], ...fields });
const created = { type: 'response.created', response: response({ status: 'in_progress' }) };
const completed = (...output: object[]) => ({ type: 'response.completed', response: response({ output, usage }) });
const added = (output_index: number, item: object) => ({ type: 'response.output_item.added', output_index, item });
const done = (output_index: number, item: object) => ({ type: 'response.output_item.done', output_index, item });
const piece = (output_index: number, type: string, delta: string) => ({
  type: `response.${type}.delta`,
  output_index,
  delta,
});
const message = (text: string, fields: object = {}) => ({
  type: 'message',
  id: 'msg_1',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text, annotations: [], ...fields }],
});
const said = (output_index: number, text: string) => [
  added(output_index, { type: 'message', id: 'msg_1', content: [] }),
  piece(output_index, 'output_text', text),
  done(output_index, message(text)),
];

const tool = (name: string, deferred?: boolean) => ({
  name,
  description: `does ${name}`,
  parameters: { type: 'object' },
  ...(deferred && { deferred }),
});

/** The message of an answer with these events. */
async function messageOf(...list: Event[]): Promise<AssistantMessage> {
  const { url } = await startServer((answering) => answer(answering, ...list));
  return firstValueFrom(modelAt(url).chat(hello).pipe(collectMessage()));
}

/** The body that the server got for a request. */
async function sent(request: Partial<ChatRequest>) {
  const { url, arrived } = await startServer((answering) => answer(answering, created, completed()));
  await all(modelAt(url), { ...hello, ...request });
  return arrived[0]?.body;
}

const inputFor = async (...messages: ChatMessage[]) => (await sent({ messages })).input;

const search = { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'oslo' } };
const code = {
  type: 'code_interpreter_call',
  id: 'ci_1',
  status: 'completed',
  code: '1+1',
  outputs: [{ type: 'logs', logs: '2' }],
};
const found = {
  type: 'tool_search_output',
  id: 'tso_1',
  call_id: 'ts_1',
  status: 'completed',
  tools: [{ name: 'paint' }],
};
const picture = { type: 'image_generation_call', id: 'ig_1', status: 'completed', result: 'AA==' };
const list = {
  type: 'mcp_list_tools',
  id: 'mcpl_1',
  server_label: 'shop',
  tools: [{ name: 'find', description: 'finds', input_schema: { type: 'object' }, annotations: null }, { name: 'buy' }],
};
const mcpCall = (fields: object) => {
  return { type: 'mcp_call', id: 'mcp_1', server_label: 'shop', name: 'find', arguments: '{"q":1}', ...fields };
};
const approval = {
  type: 'mcp_approval_request',
  id: 'mcpr_1',
  server_label: 'shop',
  name: 'buy',
  arguments: '{"n":1}',
};
const call = {
  type: 'function_call',
  id: 'fc_1',
  call_id: 'call_1',
  name: 'add',
  arguments: '{"x":1}',
  namespace: 'sums',
};
const custom = { type: 'custom_tool_call', id: 'ctc_1', call_id: 'call_2', name: 'sql', input: 'select 1' };

const WHOLE: Event[] = [
  created,
  added(0, { type: 'reasoning', id: 'rs_1', summary: [] }),
  { type: 'response.reasoning_summary_part.added', output_index: 0, summary_index: 0 } as Event,
  piece(0, 'reasoning_summary_text', 'First.'),
  { type: 'response.reasoning_summary_part.added', output_index: 0, summary_index: 1 } as Event,
  piece(0, 'reasoning_summary_text', 'Then.'),
  done(0, {
    type: 'reasoning',
    id: 'rs_1',
    summary: [{ type: 'summary_text', text: 'First.' }],
    encrypted_content: 'enc',
  }),
  done(1, search),
  done(2, code),
  done(3, found),
  done(4, list),
  done(5, mcpCall({ output: 'found', approval_request_id: 'mcpr_0', error: null })),
  done(6, approval),
  done(7, picture),
  added(8, { type: 'message', id: 'msg_1', content: [] }),
  piece(8, 'output_text', 'Oslo is '),
  piece(8, 'output_text', 'a city.'),
  done(8, {
    ...message('Oslo is a city.', { annotations: [{ type: 'url_citation', url: 'u' }] }),
    phase: 'final_answer',
  }),
  added(9, { ...call, arguments: '' }),
  piece(9, 'function_call_arguments', '{"x"'),
  done(9, call),
  done(10, custom),
  { type: 'response.something_new', output_index: 11 } as Event,
  completed(),
];

const PARTS: AssistantPart[] = [
  { type: 'reasoning', text: 'First.\n\nThen.', signature: 'enc', id: 'rs_1' },
  {
    type: 'server-tool-call',
    id: 'ws_1',
    name: 'web_search',
    arguments: { action: { type: 'search', query: 'oslo' } },
    extra: { item: search },
  },
  { type: 'server-tool-call', id: 'ci_1', name: 'code_interpreter', arguments: { code: '1+1' }, extra: { item: code } },
  {
    type: 'server-tool-result',
    callId: 'ci_1',
    name: 'code_interpreter',
    content: [{ type: 'logs', logs: '2' }],
    extra: { isInCall: true },
  },
  {
    type: 'server-tool-result',
    callId: 'ts_1',
    name: 'tool_search',
    content: { tools: [{ name: 'paint' }] },
    extra: { item: found },
  },
  {
    type: 'mcp-list',
    id: 'mcpl_1',
    server: 'shop',
    tools: [{ name: 'find', description: 'finds', parameters: { type: 'object' } }, { name: 'buy' }],
  },
  { type: 'mcp-call', id: 'mcp_1', server: 'shop', name: 'find', arguments: '{"q":1}', approvalRequestId: 'mcpr_0' },
  { type: 'mcp-result', callId: 'mcp_1', server: 'shop', name: 'find', content: 'found' },
  { type: 'mcp-approval-request', id: 'mcpr_1', server: 'shop', name: 'buy', arguments: '{"n":1}' },
  {
    type: 'image',
    data: 'AA==',
    mimeType: 'image/png',
    extra: { item: { type: 'image_generation_call', id: 'ig_1', status: 'completed' } },
  },
  {
    type: 'text',
    text: 'Oslo is a city.',
    citations: [{ type: 'url_citation', url: 'u' }],
    extra: { phase: 'final_answer' },
  },
  { type: 'tool-call', id: 'call_1', name: 'add', arguments: '{"x":1}', extra: { namespace: 'sums' } },
  { type: 'tool-call', id: 'call_2', name: 'sql', arguments: 'select 1', kind: 'custom' },
];

describe('the provider "openai-responses", answers', () => {
  it('gives every item of an answer as a part, in order', async () => {
    const whole = await messageOf(...WHOLE);
    expect(whole.parts).toEqual(PARTS);
    expect(whole).toMatchObject({
      id: 'resp_1',
      content: 'Oslo is a city.',
      reasoning: 'First.\n\nThen.',
      toolCalls: [
        { id: 'call_1', name: 'add', arguments: '{"x":1}' },
        { id: 'call_2', name: 'sql', arguments: 'select 1', kind: 'custom' },
      ],
      finishReason: 'tool_calls',
      usage: { promptTokens: 10, completionTokens: 7, totalTokens: 17, cachedTokens: 4, reasoningTokens: 3 },
    });
  });

  it('gives the same answer wherever the network cuts it', async () => {
    const body = Buffer.from(events(...WHOLE));
    const { url } = await startServer(async (answering, _, count) => {
      const at = count * 211;
      answering.writeHead(200, { 'content-type': 'text/event-stream' });
      answering.socket?.setNoDelay(true);
      await new Promise<void>((resolve) => answering.write(body.subarray(0, at), () => setImmediate(resolve)));
      answering.end(body.subarray(at));
    });
    const model = modelAt(url);
    for (let cut = 211; cut < body.length; cut += 211) {
      const { parts } = await firstValueFrom(model.chat(hello).pipe(collectMessage()));
      expect(parts, `cut at ${cut}`).toEqual(PARTS);
    }
  });

  it('passes text, thoughts and log probabilities while they come', async () => {
    const logprobs = [{ token: 'a', logprob: -1, bytes: [97], top_logprobs: [] }];
    const { url } = await startServer((answering) =>
      answer(
        answering,
        created,
        piece(0, 'reasoning_text', 'hm'),
        { ...piece(1, 'output_text', 'a'), logprobs } as Event,
        piece(2, 'refusal', 'no'),
        completed(),
      ),
    );
    expect(await all(modelAt(url))).toEqual([
      { type: 'thinking', text: 'hm' },
      { type: 'text', text: 'a' },
      { type: 'log-probabilities', tokens: [{ token: 'a', logProbability: -1, bytes: [97] }] },
      { type: 'text', text: 'no' },
      { type: 'usage', promptTokens: 10, completionTokens: 7, totalTokens: 17, cachedTokens: 4, reasoningTokens: 3 },
      { type: 'finish', reason: 'stop', id: 'resp_1' },
    ]);
  });

  it('reads a server that does not stream', async () => {
    const output = [
      {
        type: 'reasoning',
        id: 'rs_1',
        summary: [{ type: 'summary_text', text: 'hm' }],
        content: [{ type: 'reasoning_text', text: 'so' }],
      },
      message('Oslo', { logprobs: [{ token: 'Oslo', logprob: -2 }] }),
      call,
    ];
    const { url } = await startServer((answering) => answerJson(answering, response({ output, usage })));
    const whole = await firstValueFrom(modelAt(url).chat(hello).pipe(collectMessage()));
    expect(whole).toMatchObject({
      content: 'Oslo',
      reasoning: 'hm\n\nso',
      toolCalls: [{ id: 'call_1', name: 'add', arguments: '{"x":1}' }],
      logProbabilities: [{ token: 'Oslo', logProbability: -2 }],
      finishReason: 'tool_calls',
      id: 'resp_1',
    });
  });

  it('takes from the end of an answer what was not passed while it came, and nothing twice', async () => {
    const whole = await messageOf(created, ...said(0, 'Oslo'), completed(message('Oslo'), search, call));
    expect(whole.content).toBe('Oslo');
    expect(whole.parts?.map(({ type }) => type)).toEqual(['text', 'server-tool-call', 'tool-call']);
    const again = await messageOf(created, done(0, search), done(1, call), completed(search, call));
    expect(again.parts?.map(({ type }) => type)).toEqual(['server-tool-call', 'tool-call']);
  });

  it('gives the failure of an MCP call beside the call', async () => {
    const whole = await messageOf(created, done(0, mcpCall({ error: 'gone', output: null })), completed());
    const called = { server: 'shop', name: 'find' };
    expect(whole.parts).toEqual([
      { type: 'mcp-call', id: 'mcp_1', ...called, arguments: '{"q":1}' },
      { type: 'mcp-result', callId: 'mcp_1', ...called, content: '', error: 'gone' },
    ]);
  });

  it('keeps a call that was cut off, and says why', async () => {
    const cut = {
      type: 'response.incomplete',
      response: response({ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } }),
    };
    const whole = await messageOf(
      created,
      added(0, { ...call, arguments: '' }),
      piece(0, 'function_call_arguments', '{"x"'),
      cut,
    );
    expect(whole).toMatchObject({ toolCalls: [{ id: 'call_1', arguments: '{"x"' }], finishReason: 'length' });
  });

  it('gives the reason "unknown" for an answer that breaks off without an end', async () => {
    expect((await messageOf(created, ...said(0, 'Os'))).finishReason).toBe('unknown');
  });

  it('ends an answer with more than 128 calls', async () => {
    const many = Array.from({ length: 129 }, (_, at) => done(at, { ...call, call_id: `c${at}` }));
    expect(await failureOf(messageOf(created, ...many))).toMatchObject({ code: 'MODEL_RESPONSE' });
  });

  it.each<[string, object, string, boolean]>([
    [
      'response.failed',
      { response: response({ status: 'failed', error: { code: 'server_error', message: `no ${KEY}` } }) },
      'MODEL_UNAVAILABLE',
      true,
    ],
    [
      'response.failed',
      { response: response({ status: 'failed', error: { code: 'rate_limit_exceeded', message: `no ${KEY}` } }) },
      'MODEL_UNAVAILABLE',
      true,
    ],
    [
      'response.failed',
      { response: response({ status: 'failed', error: { code: 'invalid_prompt', message: `no ${KEY}` } }) },
      'MODEL_REQUEST',
      false,
    ],
    ['error', { code: 'server_error', message: `no ${KEY}` }, 'MODEL_UNAVAILABLE', true],
    ['error', { error: { code: 'constructor', message: `no ${KEY}` } }, 'MODEL_REQUEST', false],
  ])('fails midway with %s %j', async (type, fields, errorCode, retryable) => {
    const error = await failureOf(messageOf(created, ...said(0, 'x'), { type, ...fields }));
    expect(error).toMatchObject({ code: errorCode, retryable });
    expect(error.message).toContain('no ***');
  });

  it.each([
    ['nothing', '', 'answered nothing'],
    ['a page', '<html>', 'it began with "<html>"'],
    ['an error in place of an answer', '{"error":{"message":"broken"}}', 'broken'],
  ])('refuses %s', async (_, body, fragment) => {
    const { url } = await startServer((answering) => void answering.writeHead(200).end(body));
    expect((await failureOf(all(modelAt(url)))).message).toContain(fragment);
  });

  it('closes the connection when it is unsubscribed', async () => {
    let gone: Promise<unknown> | undefined;
    const { url } = await startServer((answering) => {
      gone = once(answering, 'close');
      answering.writeHead(200, { 'content-type': 'text/event-stream' }).write(events(created, ...said(0, 'x')));
    });
    await firstValueFrom(modelAt(url).chat(hello));
    await gone;
  });
});

describe('the provider "openai-responses", requests', () => {
  it('sends the parts of an answer back as the items they came from', async () => {
    const [, ...items] = await inputFor(userMessage('hi'), assistantMessage('never sent', { parts: PARTS }));
    expect(items).toEqual([
      {
        type: 'reasoning',
        id: 'rs_1',
        summary: [{ type: 'summary_text', text: 'First.\n\nThen.' }],
        encrypted_content: 'enc',
      },
      search,
      code,
      found,
      {
        ...list,
        tools: [
          { name: 'find', description: 'finds', input_schema: { type: 'object' } },
          { name: 'buy', input_schema: { type: 'object' } },
        ],
      },
      mcpCall({ output: 'found', approval_request_id: 'mcpr_0' }),
      approval,
      picture,
      { role: 'assistant', content: 'Oslo is a city.', phase: 'final_answer' },
      { type: 'function_call', call_id: 'call_1', name: 'add', arguments: '{"x":1}', namespace: 'sums' },
      { type: 'custom_tool_call', call_id: 'call_2', name: 'sql', input: 'select 1' },
    ]);
  });

  it('sends a conversation of texts, calls and results', async () => {
    const toolCalls = [
      { id: 'call_1', name: 'add', arguments: '{}' },
      { id: 'call_2', name: 'sql', arguments: 'select 1', kind: 'custom' },
    ];
    expect(
      await inputFor(
        systemMessage('be nice'),
        userMessage('hi', { name: 'Ann' }),
        assistantMessage('', { toolCalls, reasoning: 'hm' }),
        toolMessage('1', 'call_1'),
        toolMessage('rows', 'call_2', {
          parts: [
            { type: 'text', text: 'rows' },
            { type: 'tool-reference', name: 'paint' },
            { type: 'image', data: 'AA==', mimeType: 'image/png' },
          ],
        }),
        assistantMessage('done'),
        userMessage([
          { type: 'text', text: 'and?' },
          { type: 'tool-result', toolCallId: 'call_1', content: 'late' },
          { type: 'mcp-approval', requestId: 'mcpr_1', isApproved: false, reason: 'too dear' },
        ]),
        userMessage([{ type: 'mcp-approval', requestId: 'mcpr_2', isApproved: true }]),
      ),
    ).toEqual([
      { role: 'system', content: 'be nice' },
      { role: 'user', content: 'hi' },
      { type: 'function_call', call_id: 'call_1', name: 'add', arguments: '{}' },
      { type: 'custom_tool_call', call_id: 'call_2', name: 'sql', input: 'select 1' },
      { type: 'function_call_output', call_id: 'call_1', output: '1' },
      {
        type: 'custom_tool_call_output',
        call_id: 'call_2',
        output: [
          { type: 'input_text', text: 'rows' },
          { type: 'input_text', text: 'paint' },
          { type: 'input_image', image_url: 'data:image/png;base64,AA==', detail: 'auto' },
        ],
      },
      { role: 'assistant', content: 'done' },
      { type: 'function_call_output', call_id: 'call_1', output: 'late' },
      { type: 'mcp_approval_response', approval_request_id: 'mcpr_1', approve: false, reason: 'too dear' },
      { role: 'user', content: [{ type: 'input_text', text: 'and?' }] },
      { type: 'mcp_approval_response', approval_request_id: 'mcpr_2', approve: true },
    ]);
  });

  it('sends images and files, by URL, in base64 and by id', async () => {
    const content: ContentPart[] = [
      { type: 'image_url', url: 'https://pictures.test/1.png' },
      { type: 'image', url: 'https://pictures.test/2.png', detail: 'low' },
      { type: 'image', fileId: 'file_1' },
      { type: 'file', url: 'https://papers.test/1.pdf' },
      { type: 'file', data: 'AA==', mimeType: 'application/pdf', name: 'a.pdf' },
      { type: 'file', fileId: 'file_2', name: 'b.pdf' },
    ];
    const [item] = await inputFor(userMessage(content));
    expect(item.content).toEqual([
      { type: 'input_image', image_url: 'https://pictures.test/1.png', detail: 'auto' },
      { type: 'input_image', image_url: 'https://pictures.test/2.png', detail: 'low' },
      { type: 'input_image', file_id: 'file_1', detail: 'auto' },
      { type: 'input_file', file_url: 'https://papers.test/1.pdf' },
      { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,AA==' },
      { type: 'input_file', file_id: 'file_2' },
    ]);
  });

  it('leaves out thoughts of other providers', async () => {
    const parts: AssistantPart[] = [
      { type: 'reasoning', text: 'hm', signature: 'theirs' },
      { type: 'reasoning', text: 'hm', id: 'rs_1' },
      { type: 'text', text: 'hi' },
    ];
    expect(await inputFor(assistantMessage('', { parts }))).toEqual([{ role: 'assistant', content: 'hi' }]);
  });

  it('sends everything a request says, in the words of the API', async () => {
    const { url, arrived } = await startServer((answering) => answer(answering, created, completed()));
    await all(modelAt(`${url}/responses`), {
      ...hello,
      model: 'gpt-5.1',
      tools: [tool('add'), tool('paint', true)],
      toolChoice: { allowed: ['add'], mode: 'required' },
      serverTools: [{ type: 'web_search' }],
      mcpServers: [
        { name: 'shop', url: 'https://mcp.test', token: 'tok', allowedTools: ['find'], approval: 'always' },
        { name: 'library', url: 'https://mcp.test/b' },
      ],
      jsonSchema: { name: 'sum', schema: { type: 'object' }, strict: true },
      sampling: { temperature: 0, topP: 0.5, maxTokens: 9, presencePenalty: 1, frequencyPenalty: 1 },
      logProbabilities: 2,
      thinking: 'enabled',
      user: 'u1',
      headers: { 'x-trace': 't' },
    });
    expect(arrived[0]?.path).toBe('/v1/responses');
    expect(arrived[0]?.headers).toMatchObject({ authorization: `Bearer ${KEY}`, 'x-trace': 't' });
    const offered = { type: 'function', parameters: { type: 'object' }, strict: false };
    expect(arrived[0]?.body).toEqual({
      model: 'gpt-5.1',
      input: [{ role: 'user', content: 'hi' }],
      stream: true,
      store: false,
      include: ['reasoning.encrypted_content', 'message.output_text.logprobs'],
      tools: [
        { ...offered, name: 'add', description: 'does add' },
        { ...offered, name: 'paint', description: 'does paint', defer_loading: true },
        { type: 'tool_search' },
        { type: 'web_search' },
        {
          type: 'mcp',
          server_label: 'shop',
          server_url: 'https://mcp.test',
          require_approval: 'always',
          authorization: 'tok',
          allowed_tools: ['find'],
        },
        { type: 'mcp', server_label: 'library', server_url: 'https://mcp.test/b', require_approval: 'never' },
      ],
      tool_choice: { type: 'allowed_tools', mode: 'required', tools: [{ type: 'function', name: 'add' }] },
      text: { format: { type: 'json_schema', name: 'sum', schema: { type: 'object' }, strict: true } },
      temperature: 0,
      top_p: 0.5,
      max_output_tokens: 9,
      top_logprobs: 2,
      reasoning: { summary: 'auto' },
      safety_identifier: 'u1',
    });
  });

  it('leaves out what a request does not say', async () => {
    expect(await sent({ toolChoice: 'auto' })).toEqual({
      model: 'gpt',
      input: [{ role: 'user', content: 'hi' }],
      stream: true,
      store: false,
    });
  });

  it.each<[ChatRequest['toolChoice'], unknown]>([
    ['none', 'none'],
    ['required', 'required'],
    [{ name: 'add' }, { type: 'function', name: 'add' }],
    [{ allowed: [], mode: 'auto' }, 'none'],
  ])('sends the choice %j', async (toolChoice, expected) => {
    expect((await sent({ tools: [tool('add')], toolChoice })).tool_choice).toEqual(expected);
  });

  it.each([
    ['gpt-5.1-codex', true],
    ['o4-mini', true],
    ['openai/gpt-5-mini', true],
    ['gpt-5-chat-latest', false],
    ['gpt-4.1', false],
  ])('asks %s for encrypted thoughts: %s', async (model, isAsked) => {
    expect((await sent({ model })).include).toEqual(isAsked ? ['reasoning.encrypted_content'] : undefined);
  });

  it('switches thinking off', async () => {
    expect((await sent({ thinking: 'disabled' })).reasoning).toEqual({ effort: 'none' });
  });

  it.each<[string, Partial<ChatRequest>, string]>([
    [
      'a sound',
      { messages: [userMessage([{ type: 'audio', data: 'A', mimeType: 'audio/wav' }])] },
      'a sound (message 0, role user, part 0)',
    ],
    [
      'a video in a result',
      { messages: [userMessage('x'), toolMessage('', 't', { parts: [{ type: 'video', url: 'u' }] })] },
      'a video (message 1, role tool, part 0)',
    ],
    [
      'an image of another provider',
      { messages: [assistantMessage('', { parts: [{ type: 'image', url: 'u' }] })] },
      'type "image"',
    ],
    [
      'a search of another provider',
      {
        messages: [
          assistantMessage('', { parts: [{ type: 'server-tool-call', id: 's', name: 'web_search', arguments: {} }] }),
        ],
      },
      'type "server-tool-call" that it did not answer itself (message 0, role assistant, part 0)',
    ],
    ['stop words', { stop: ['END'] }, 'no stop words'],
    ['speech', { speech: { voice: 'alloy', format: 'mp3' } }, 'no voices'],
    ['a choice of tools that are not offered', { toolChoice: { allowed: ['x'], mode: 'auto' } }, 'Offered are: none'],
  ])('refuses %s before anything is sent', async (_, request, fragment) => {
    const { url, arrived } = await startServer((answering) => answer(answering, created, completed()));
    const error = await failureOf(all(modelAt(url), { ...hello, ...request }));
    expect(error).toMatchObject({ code: 'MODEL_REQUEST', retryable: false });
    expect(error.message).toContain(fragment);
    expect(arrived).toEqual([]);
  });

  it('is a kind of factory, which has no other models than chats', async () => {
    const { url } = await startServer((answering) => answer(answering, created, ...said(0, 'hi'), completed()));
    const file = { factories: { Own: { kind: 'openai-responses', base_url: url, api_key: KEY } } };
    const configuration = await modelsFromEnvironment({ RUNNEL_MODELS: 'f' }, async () => JSON.stringify(file));
    const models = createModels(configuration);
    onTestFinished(() => models.close());
    const { model, name } = models.chat('gpt-x@Own');
    const whole = await firstValueFrom(model.chat({ ...hello, model: name }).pipe(collectAnswer()));
    expect(whole).toMatchObject({ text: 'hi', finishReason: 'stop' });
    expect(() => models.embedder('e@Own')).toThrow(expect.objectContaining({ code: 'MODEL_UNKNOWN' }));
  });
});
