import { once } from 'node:events';
import { firstValueFrom } from 'rxjs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { collectAnswer } from '../../../src/models/collect-answer.js';
import { createModels } from '../../../src/models/router.js';
import { modelsFromEnvironment } from '../../../src/settings/read-settings.js';
import { answerJson, startServer } from '../fake-server.js';
import { all, failureOf, hello, KEY } from '../model-at.js';
import { answer, claudeAt, closed, delta, end, events, opened, sent, start, text } from './anthropic-events.js';

/** Thinking, a text and two calls of tools, one of them without arguments. */
const WHOLE = [
  start({ input_tokens: 10, cache_read_input_tokens: 5, cache_creation_input_tokens: 2, output_tokens: 1 }),
  { type: 'ping' },
  opened(0, { type: 'thinking', thinking: '' }),
  delta(0, { type: 'thinking_delta', thinking: 'hm é🙂' }),
  delta(0, { type: 'signature_delta', signature: 'abc' }),
  closed(0),
  ...text(1, '日本'),
  opened(2, { type: 'tool_use', id: 'toolu_1', name: 'add', input: {} }),
  delta(2, { type: 'input_json_delta', partial_json: '' }),
  delta(2, { type: 'input_json_delta', partial_json: '{"x":' }),
  delta(2, { type: 'input_json_delta', partial_json: ' 1}' }),
  closed(2),
  opened(3, { type: 'tool_use', id: 'toolu_2', name: 'now', input: {} }),
  closed(3),
  ...end('tool_use', 20),
];

describe('the provider "anthropic"', () => {
  it('streams thinking, text, tool calls, usage and the reason in the common words', async () => {
    const { url } = await startServer((response) => answer(response, ...WHOLE));
    expect(await all(claudeAt(url))).toEqual([
      { type: 'thinking', text: 'hm é🙂' },
      { type: 'part', part: { type: 'reasoning', text: '', signature: 'abc' } },
      { type: 'text', text: '日本' },
      { type: 'tool-call', index: 0, id: 'toolu_1', name: 'add', arguments: '{"x": 1}' },
      { type: 'tool-call', index: 1, id: 'toolu_2', name: 'now', arguments: '{}' },
      { type: 'usage', promptTokens: 17, completionTokens: 20, totalTokens: 37, cachedTokens: 5 },
      { type: 'finish', reason: 'tool_calls', id: 'msg_1' },
    ]);
  });

  it('gives the same answer wherever the network cuts it, inside characters too', async () => {
    const body = Buffer.from(events(...WHOLE));
    const { url } = await startServer(async (response, _, count) => {
      const at = count * 7;
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.socket?.setNoDelay(true);
      await new Promise<void>((resolve) => response.write(body.subarray(0, at), () => setImmediate(resolve)));
      response.end(body.subarray(at));
    });
    const model = claudeAt(url);
    for (let cut = 7; cut < body.length; cut += 7) {
      const { text: said, thinking, toolCalls } = await firstValueFrom(model.chat(hello).pipe(collectAnswer()));
      expect([said, thinking, toolCalls.length], `cut at ${cut}`).toEqual(['日本', 'hm é🙂', 2]);
    }
  });

  it.each([
    ['end_turn', 'stop'],
    ['stop_sequence', 'stop'],
    ['max_tokens', 'length'],
    ['refusal', 'content_filter'],
    ['something_new', 'something_new'],
    ['constructor', 'constructor'],
  ])('reports the end %s as %s', async (reason, common) => {
    const { url } = await startServer((response) => answer(response, start(), ...text(0, 'x'), ...end(reason)));
    expect((await all(claudeAt(url))).at(-1)).toEqual({ type: 'finish', reason: common, id: 'msg_1' });
  });

  it('sends everything a request says, in the words of the API', async () => {
    const { url, arrived } = await startServer((response) => answer(response, start(), ...end('end_turn')));
    await all(claudeAt(`${url}/messages`), {
      model: 'claude-sonnet-4-5',
      messages: [
        { role: 'system', content: 'be nice' },
        { role: 'system', content: 'be brief' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'see' },
            { type: 'image_url', url: 'data:image/png;base64,AA==' },
            { type: 'image_url', url: 'https://pictures.test/1.png' },
          ],
        },
        {
          role: 'assistant',
          content: '',
          toolCalls: [
            { id: 't1', name: 'add', arguments: '{"x":1}' },
            { id: 't2', name: 'add', arguments: 'not JSON' },
          ],
        },
        { role: 'tool', toolCallId: 't1', content: '2' },
        { role: 'tool', toolCallId: 't2', content: 'failed' },
        { role: 'user', content: 'and?' },
      ],
      tools: [{ name: 'add', description: 'adds', parameters: { type: 'object' } }],
      toolChoice: { name: 'add' },
      jsonSchema: { name: 'sum', schema: { type: 'object' } },
      sampling: { temperature: 0, topP: 0.5, maxTokens: 9, presencePenalty: 1, frequencyPenalty: 1 },
      user: 'u1',
      headers: { 'x-trace': 't' },
    });
    expect(arrived[0]?.path).toBe('/v1/messages');
    expect(arrived[0]?.headers).toMatchObject({ 'x-api-key': KEY, 'anthropic-version': '2023-06-01', 'x-trace': 't' });
    expect(arrived[0]?.headers.authorization).toBeUndefined();
    expect(arrived[0]?.body).toEqual({
      model: 'claude-sonnet-4-5',
      max_tokens: 9,
      system: 'be nice\n\nbe brief',
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'see' },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA==' } },
            { type: 'image', source: { type: 'url', url: 'https://pictures.test/1.png' } },
          ],
        },
        {
          role: 'assistant',
          content: [
            { type: 'tool_use', id: 't1', name: 'add', input: { x: 1 } },
            { type: 'tool_use', id: 't2', name: 'add', input: {} },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 't1', content: '2' },
            { type: 'tool_result', tool_use_id: 't2', content: 'failed' },
            { type: 'text', text: 'and?' },
          ],
        },
      ],
      stream: true,
      tools: [{ name: 'add', description: 'adds', input_schema: { type: 'object' } }],
      tool_choice: { type: 'tool', name: 'add' },
      temperature: 0,
      top_p: 0.5,
      output_config: { format: { type: 'json_schema', schema: { type: 'object' } } },
      metadata: { user_id: 'u1' },
    });
  });

  it('leaves out what a request does not say', async () => {
    const expected = {
      model: 'gpt',
      max_tokens: 4096,
      messages: [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }],
    };
    expect(await sent({ toolChoice: 'auto' })).toEqual({ ...expected, stream: true });
  });

  it.each([
    ['claude-opus-4-5-20251101', { thinking: { type: 'enabled', budget_tokens: 4096 }, max_tokens: 4105 }],
    ['claude-sonnet-4-20250514', { thinking: { type: 'enabled', budget_tokens: 4096 }, max_tokens: 4105 }],
    ['claude-opus-4-6', { thinking: { type: 'adaptive', display: 'summarized' }, max_tokens: 9 }],
    ['claude-sonnet-5', { thinking: { type: 'adaptive', display: 'summarized' }, max_tokens: 9 }],
  ])('lets %s think, without what excludes thinking', async (model, expected) => {
    const tools = [{ name: 'add', description: 'adds', parameters: { type: 'object' } }];
    const request = { model, tools, toolChoice: 'required', thinking: 'enabled' } as const;
    const body = await sent({ ...request, sampling: { temperature: 0, maxTokens: 9 } });
    expect(body).toMatchObject({ ...expected, tool_choice: { type: 'auto' } });
    expect(body).not.toHaveProperty('temperature');
    expect((await sent({ ...request, thinking: 'disabled' })).thinking).toEqual({ type: 'disabled' });
  });

  it('does not ask for thinking within a turn of tools, whose signed beginning it does not have', async () => {
    const messages = [
      ...hello.messages,
      { role: 'assistant', content: '', toolCalls: [{ id: 't', name: 'add', arguments: '{}' }] },
      { role: 'tool', toolCallId: 't', content: '1' },
    ] as const;
    expect(await sent({ model: 'claude-haiku-4-5', messages, thinking: 'enabled' })).not.toHaveProperty('thinking');
  });

  it.each([
    [529, 'overloaded_error', 'MODEL_UNAVAILABLE', true],
    [400, 'invalid_request_error', 'MODEL_REQUEST', false],
  ])('reports the refusal %i without the key', async (status, type, code, retryable) => {
    const body = { type: 'error', error: { type, message: `no ${KEY}` } };
    const { url } = await startServer((response) => answerJson(response, body, status));
    const error = await failureOf(all(claudeAt(url)));
    expect(error).toMatchObject({ code, retryable, details: { status } });
    expect(error.message).toContain('no ***');
  });

  it.each([
    ['overloaded_error', 'MODEL_UNAVAILABLE', true],
    ['invalid_request_error', 'MODEL_REQUEST', false],
  ])('fails midway with %s', async (type, code, retryable) => {
    const broken = { type: 'error', error: { type, message: 'no more' } };
    const { url } = await startServer((response) => answer(response, start(), ...text(0, 'x'), broken));
    expect(await failureOf(all(claudeAt(url)))).toMatchObject({ code, retryable });
  });

  it.each([
    ['nothing', '', 'answered nothing'],
    ['a page', '<html>', 'it began with "<html>"'],
    ['events that are no JSON', 'data: oops\n\n', 'not a JSON object'],
  ])('refuses %s', async (_, body, fragment) => {
    const { url } = await startServer((response) => void response.writeHead(200).end(body));
    const error = await failureOf(all(claudeAt(url)));
    expect(error).toMatchObject({ code: 'MODEL_RESPONSE', message: expect.stringContaining(fragment) });
  });

  it('closes the connection when it is unsubscribed', async () => {
    let gone: Promise<unknown> | undefined;
    const { url } = await startServer((response) => {
      gone = once(response, 'close');
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(events(start(), ...text(0, 'x')));
    });
    await firstValueFrom(claudeAt(url).chat(hello));
    await gone;
  });

  it('is a kind of factory, which has no other models than chats', async () => {
    const { url, arrived } = await startServer((response) =>
      answer(response, start(), ...text(0, 'hi'), ...end('end_turn')),
    );
    const file = {
      factories: {
        Claude: { kind: 'anthropic', base_url: url, api_key: KEY, headers: { 'Anthropic-Version': 'later' } },
      },
    };
    const configuration = await modelsFromEnvironment({ RUNNEL_MODELS: 'f' }, async () => JSON.stringify(file));
    const models = createModels(configuration);
    onTestFinished(() => models.close());
    const { model, name } = models.chat('claude-x@Claude');
    expect(await firstValueFrom(model.chat({ ...hello, model: name }).pipe(collectAnswer()))).toMatchObject({
      text: 'hi',
    });
    expect(arrived[0]?.headers).toMatchObject({ 'x-api-key': KEY, 'anthropic-version': 'later' });
    expect(() => models.embedder('e@Claude')).toThrow(
      expect.objectContaining({ code: 'MODEL_UNKNOWN', message: expect.stringContaining('"anthropic"') }),
    );
    const wrong = modelsFromEnvironment({ RUNNEL_MODELS: 'f' }, async () =>
      JSON.stringify({ factories: { A: { kind: 'other', base_url: url } } }),
    );
    await expect(wrong).rejects.toThrow('factories.A.kind');
  });
});
