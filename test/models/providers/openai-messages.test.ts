import { firstValueFrom } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { ChatRequest } from '../../../src/models/chat-model.js';
import type { AssistantPart, ContentPart } from '../../../src/models/content-parts.js';
import {
  assistantMessage,
  type ChatMessage,
  systemMessage,
  toolMessage,
  userMessage,
} from '../../../src/models/messages.js';
import { collectMessage } from '../../../src/models/to-message-chunks.js';
import { answerStream, frame, sse, startServer } from '../fake-server.js';
import { all, failureOf, hello, modelAt } from '../model-at.js';

const tool = (name: string, deferred?: boolean) => ({
  name,
  description: `does ${name}`,
  parameters: { type: 'object' },
  ...(deferred && { deferred }),
});

/** The body that the server got for a request. */
async function sent(request: Partial<ChatRequest>) {
  const { url, arrived } = await startServer((response) =>
    answerStream(response, sse(frame({ content: 'x' }, 'stop'))),
  );
  await all(modelAt(url), { ...hello, ...request });
  return arrived[0]?.body;
}

const messagesFor = async (...messages: ChatMessage[]) => (await sent({ messages })).messages;
const namesOf = (body: { tools?: { function: { name: string } }[] }) => body.tools?.map((one) => one.function.name);

describe('the provider "openai-compatible", messages', () => {
  it('sends images, sounds, videos and files', async () => {
    const content: ContentPart[] = [
      { type: 'text', text: 'see' },
      { type: 'image', url: 'https://pictures.test/1.png', detail: 'low' },
      { type: 'image', data: 'AA==', mimeType: 'image/png' },
      { type: 'audio', data: 'BB==', mimeType: 'audio/mpeg' },
      { type: 'audio', url: 'data:audio/x-wav;base64,CC==' },
      { type: 'audio', url: 'https://sounds.test/1.wav' },
      { type: 'video', url: 'https://films.test/1.mp4' },
      { type: 'file', data: 'DD==', mimeType: 'application/pdf', name: 'a.pdf' },
      { type: 'file', fileId: 'file_1' },
    ];
    expect(await messagesFor(userMessage(content))).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'see' },
          { type: 'image_url', image_url: { url: 'https://pictures.test/1.png', detail: 'low' } },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } },
          { type: 'input_audio', input_audio: { data: 'BB==', format: 'mp3' } },
          { type: 'input_audio', input_audio: { data: 'CC==', format: 'wav' } },
          { type: 'audio_url', audio_url: { url: 'https://sounds.test/1.wav' } },
          { type: 'video_url', video_url: { url: 'https://films.test/1.mp4' } },
          { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,DD==' } },
          { type: 'file', file: { file_id: 'file_1' } },
        ],
      },
    ]);
  });

  it('sends names in the letters that the API takes, and nothing else of a message that is for its readers', async () => {
    const messages = await messagesFor(
      systemMessage('be nice', { name: 'house', id: 'm1', extra: { a: 1 } }),
      userMessage('hi', { name: ' Ann <b> Lee ' }),
      assistantMessage('hello', {
        name: 'writer',
        reasoning: 'hm',
        finishReason: 'stop',
        usage: { promptTokens: 1, completionTokens: 1, totalTokens: 2 },
      }),
      userMessage('bye', { name: '<>' }),
    );
    expect(messages).toEqual([
      { role: 'system', name: 'house', content: 'be nice' },
      { role: 'user', name: 'Ann_b_Lee', content: 'hi' },
      { role: 'assistant', name: 'writer', content: 'hello' },
      { role: 'user', name: '_', content: 'bye' },
    ]);
  });

  it('sends the parts of an answer in the fields that they stand in', async () => {
    const parts: AssistantPart[] = [
      {
        type: 'reasoning',
        text: 'hm',
        signature: 's',
        extra: { reasoning_details: [{ type: 'reasoning.text', text: 'hm' }] },
      },
      { type: 'reasoning', text: 'not signed here', signature: 'other' },
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b' },
      { type: 'image', url: 'data:image/png;base64,AA==' },
      { type: 'audio', data: 'AA==', mimeType: 'audio/pcm', id: 'audio_1' },
      { type: 'tool-call', id: 'c1', name: 'add', arguments: '{}', extra: { extra_content: { google: 1 }, other: 2 } },
    ];
    const [, sentBack] = await messagesFor(userMessage('x'), assistantMessage('never sent', { parts }));
    expect(sentBack).toEqual({
      role: 'assistant',
      content: 'ab',
      tool_calls: [
        { id: 'c1', type: 'function', function: { name: 'add', arguments: '{}' }, extra_content: { google: 1 } },
      ],
      audio: { id: 'audio_1' },
      images: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } }],
      reasoning_details: [{ type: 'reasoning.text', text: 'hm' }],
    });
  });

  it('sends back what it was answered', async () => {
    const details = [{ type: 'reasoning.text', text: 'hm', index: 0, signature: 'sig' }];
    const body = sse(
      frame({ reasoning: 'hm', reasoning_details: details }),
      frame({ content: 'a' }),
      frame(
        { tool_calls: [{ index: 0, id: 'c1', type: 'function', function: { name: 'add', arguments: '{}' } }] },
        'tool_calls',
      ),
    );
    const { url } = await startServer((response) => answerStream(response, body));
    const answer = await firstValueFrom(modelAt(url).chat(hello).pipe(collectMessage()));
    expect(answer).toMatchObject({ content: 'a', reasoning: 'hm', id: 'chat-1' });
    expect((await messagesFor(userMessage('x'), answer, toolMessage('1', 'c1')))[1]).toEqual({
      role: 'assistant',
      content: 'a',
      tool_calls: [{ id: 'c1', type: 'function', function: { name: 'add', arguments: '{}' } }],
      reasoning_details: details,
    });
  });

  it.each([
    ['thoughts', [{ reasoning_content: 'so ' }, { reasoning_content: 'what' }, { content: 'a' }], 'so what'],
    ['no thoughts', [{ reasoning_content: '', content: 'a' }], ''],
  ])('sends %s back beside tool calls, to servers that name them `reasoning_content`', async (_, pieces, thoughts) => {
    const call = (id: string | undefined, text: string) => ({
      tool_calls: [{ index: 0, id, type: 'function', function: { name: 'add', arguments: text } }],
    });
    const body = sse(
      ...pieces.map((piece) => frame(piece)),
      frame(call('c1', '{')),
      frame(call(undefined, '}'), 'tool_calls'),
    );
    const { url } = await startServer((response) => answerStream(response, body));
    const answer = await firstValueFrom(modelAt(url).chat(hello).pipe(collectMessage()));
    expect(answer.parts?.filter(({ extra }) => extra?.field === 'reasoning_content')).toHaveLength(1);
    expect((await messagesFor(userMessage('x'), answer, toolMessage('1', 'c1')))[1]).toEqual({
      role: 'assistant',
      content: 'a',
      tool_calls: [{ id: 'c1', type: 'function', function: { name: 'add', arguments: '{}' } }],
      reasoning_content: thoughts,
    });
  });

  it('sends results of tools as text, from messages of tools and of users', async () => {
    const messages = await messagesFor(
      toolMessage('never sent', 't1', {
        parts: [
          { type: 'text', text: 'found' },
          { type: 'tool-reference', name: 'paint' },
        ],
      }),
      userMessage([
        { type: 'text', text: 'and?' },
        { type: 'tool-result', toolCallId: 't2', content: 'too dark', isError: true },
      ]),
      userMessage([{ type: 'tool-result', toolCallId: 't3', content: [{ type: 'text', text: 'late' }] }]),
    );
    expect(messages).toEqual([
      { role: 'tool', tool_call_id: 't1', content: 'found\npaint' },
      { role: 'tool', tool_call_id: 't2', content: 'too dark' },
      { role: 'user', content: [{ type: 'text', text: 'and?' }] },
      { role: 'tool', tool_call_id: 't3', content: 'late' },
    ]);
  });
});

describe('the provider "openai-compatible", requests', () => {
  it('sends stop words, log probabilities, speech and tools of the provider', async () => {
    const body = await sent({
      stop: ['END', '\n\n'],
      logProbabilities: 2,
      speech: { voice: 'alloy', format: 'pcm16' },
      serverTools: [{ type: 'search' }],
    });
    expect(body).toMatchObject({
      stop: ['END', '\n\n'],
      logprobs: true,
      top_logprobs: 2,
      modalities: ['text', 'audio'],
      audio: { voice: 'alloy', format: 'pcm16' },
      tools: [{ type: 'search' }],
    });
    expect(body).not.toHaveProperty('tool_choice');
  });

  it('gives sound the type that was asked for', async () => {
    const body = sse(frame({ audio: { id: 'a', data: 'QQ==' } }, 'stop'));
    const { url } = await startServer((response) => answerStream(response, body));
    const speech = { voice: 'alloy', format: 'mp3' };
    const answer = await firstValueFrom(
      modelAt(url)
        .chat({ ...hello, speech })
        .pipe(collectMessage()),
    );
    expect(answer.parts).toEqual([{ type: 'audio', data: 'QQ==', mimeType: 'audio/mpeg', id: 'a' }]);
  });

  it.each<[string, ChatRequest['toolChoice'], unknown, unknown]>([
    ['only the allowed tools', { allowed: ['sub'], mode: 'auto' }, ['sub'], 'auto'],
    [
      'the allowed tools, of which one must be called',
      { allowed: ['sub', 'add'], mode: 'required' },
      ['add', 'sub'],
      'required',
    ],
    ['no tools when none are allowed', { allowed: [], mode: 'auto' }, undefined, undefined],
    ['no deferred tools', 'auto', ['add', 'sub'], 'auto'],
    [
      'a deferred tool that is chosen',
      { name: 'paint' },
      ['add', 'sub', 'paint'],
      { type: 'function', function: { name: 'paint' } },
    ],
    ['a deferred tool that is allowed', { allowed: ['paint'], mode: 'auto' }, ['paint'], 'auto'],
  ])('offers %s', async (_, toolChoice, names, choice) => {
    const body = await sent({ tools: [tool('add'), tool('sub'), tool('paint', true)], toolChoice });
    expect(namesOf(body)).toEqual(names);
    expect(body.tool_choice).toEqual(choice);
    expect(JSON.stringify(body)).not.toContain('deferred');
  });

  it.each([
    ['a message of a tool', toolMessage('', 't', { parts: [{ type: 'tool-reference', name: 'paint' }] })],
    [
      'a message of a user',
      userMessage([{ type: 'tool-result', toolCallId: 't', content: [{ type: 'tool-reference', name: 'paint' }] }]),
    ],
  ])('offers a deferred tool that %s refers to', async (_, message) => {
    const body = await sent({ tools: [tool('add'), tool('paint', true), tool('sing', true)], messages: [message] });
    expect(namesOf(body)).toEqual(['add', 'paint']);
  });

  it.each<[string, Partial<ChatRequest>, string]>([
    [
      'a file by URL',
      { messages: [userMessage([{ type: 'file', url: 'https://papers.test/1.pdf' }])] },
      'a file by its URL (message 0',
    ],
    ['an image by id', { messages: [userMessage([{ type: 'image', fileId: 'f' }])] }, 'an image by the id of a file'],
    [
      'an answer to an MCP server',
      { messages: [userMessage([{ type: 'mcp-approval', requestId: 'r', isApproved: false }])] },
      'an answer to a question of an MCP server',
    ],
    [
      'an image in the result of a tool',
      { messages: [userMessage('x'), toolMessage('', 't', { parts: [{ type: 'image', url: 'u' }] })] },
      'a part of the type "image" in the result of a tool (message 1, role tool, part 0)',
    ],
    [
      'a call that a provider made itself',
      {
        messages: [
          assistantMessage('', {
            parts: [
              { type: 'text', text: 'x' },
              { type: 'mcp-call', id: 'm', server: 's', name: 'n', arguments: '{}' },
            ],
          }),
        ],
      },
      'a part of the type "mcp-call" (message 0, role assistant, part 1). Send the message without parts.',
    ],
    [
      'a sound of an answer without its id',
      { messages: [assistantMessage('', { parts: [{ type: 'audio', data: 'A', mimeType: 'audio/wav' }] })] },
      'a sound without an id in an answer',
    ],
    ['MCP servers', { mcpServers: [{ name: 'shop', url: 'u' }] }, 'the MCP server "shop"'],
  ])('refuses %s before anything is sent', async (_, request, fragment) => {
    const { url, arrived } = await startServer((response) => answerStream(response, sse(frame({ content: 'x' }))));
    const error = await failureOf(all(modelAt(url), { ...hello, ...request }));
    expect(error).toMatchObject({ code: 'MODEL_REQUEST', retryable: false });
    expect(error.message).toContain(fragment);
    expect(arrived).toEqual([]);
  });
});
