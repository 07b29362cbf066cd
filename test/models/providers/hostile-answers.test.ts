import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import type { ChatDelta } from '../../../src/models/chat-model.js';
import { anthropic } from '../../../src/models/providers/anthropic.js';
import { answerStream, frame, sse, startServer } from '../fake-server.js';
import { all, connectionTo, failureOf, modelAt } from '../model-at.js';

/** Sends `piece` for as long as the client reads, and counts the bytes. */
function flood(piece: string, sent: { bytes: number }) {
  return (response: ServerResponse): void => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const more = (): void => {
      if (response.destroyed) return;
      sent.bytes += piece.length;
      if (response.write(piece)) setImmediate(more);
      else response.once('drain', more);
    };
    more();
  };
}

const event = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;
const calling = (call: object): unknown => frame({ tool_calls: [call] });
const LIMIT = 256 * 1024;

describe('a hostile server of models', () => {
  it.each([
    ['text', event(frame({ content: 'x'.repeat(100) }))],
    ['reasoning', event(frame({ reasoning_content: 'x'.repeat(100) }))],
    ['nothing', event(frame({}))],
    ['comments', ': keep waiting\n\n'],
    ['one event that never ends', 'data: x'.repeat(50)],
    ['one line that never ends', 'x'.repeat(1_000)],
    ['one JSON object that never ends', '{"a":"x"'.repeat(50)],
    ['empty lines', '\n\n\n\n'],
    [
      'the arguments of one call',
      event(calling({ index: 0, id: 'a', function: { name: 'f', arguments: 'x'.repeat(100) } })),
    ],
    ['usage', event({ choices: [], usage: { prompt_tokens: 1 } })],
  ])('cannot answer for ever with %s', async (_, piece) => {
    const sent = { bytes: 0 };
    const { url } = await startServer(flood(piece, sent));
    const error = await failureOf(all(modelAt(url, { maxResponseBytes: LIMIT })));
    expect(error).toMatchObject({ code: 'MODEL_RESPONSE', retryable: false });
    expect(error.message).toMatch(/more than 262144 bytes|not a JSON object/);
    // What lies in the buffers of sockets comes on top.
    expect(sent.bytes).toBeLessThan(64 * LIMIT);
  });

  it.each([
    ['by new ids', (n: number) => ({ id: `call-${n}`, function: { name: 'f' } })],
    ['by new indexes', (n: number) => ({ index: n * 1_000_003, id: `call-${n}`, function: { name: 'f' } })],
    ['by negative indexes', (n: number) => ({ index: -n - 1, function: { name: 'f' } })],
    ['by fractions', (n: number) => ({ index: n + 0.5, function: { name: 'f' } })],
  ])('cannot ask for any number of calls, %s', async (_, call) => {
    const frames = Array.from({ length: 1_000 }, (__, n) => calling(call(n)));
    const { url } = await startServer((response) => answerStream(response, sse(...frames)));
    const error = await failureOf(all(modelAt(url)));
    expect(error).toMatchObject({ code: 'MODEL_RESPONSE', message: expect.stringContaining('too many tool calls') });
  });

  it.each<[string, unknown[], ChatDelta[]]>([
    [
      'calls of prototypes',
      [
        calling({
          index: 0,
          id: '__proto__',
          function: { name: 'constructor', arguments: '{"__proto__":{"polluted":1}}' },
        }),
      ],
      [
        {
          type: 'tool-call',
          index: 0,
          id: '__proto__',
          name: 'constructor',
          arguments: '{"__proto__":{"polluted":1}}',
        },
      ],
    ],
    [
      'calls of other types',
      [
        calling({ index: '__proto__', id: 5, function: { name: {}, arguments: 7 } }),
        frame({ tool_calls: [null, 1, 'x', []] }),
      ],
      [{ type: 'tool-call', index: 0, id: 'call_chat-1_0', name: '', arguments: '{}' }],
    ],
    [
      'texts of other types',
      [frame({ content: { a: 1 }, reasoning_content: 5, refusal: [] }), frame({ content: [null, { text: 5 }] })],
      [],
    ],
    [
      'choices of other types',
      [{ choices: 'x' }, { choices: [null] }, { choices: { 0: 1 } }, { choices: [{ delta: 'x' }] }],
      [],
    ],
    [
      'names of prototypes',
      [JSON.parse('{"__proto__":{"polluted":1},"choices":[{"delta":{"__proto__":{"polluted":1}}}]}')],
      [],
    ],
  ])('is read as it is: %s', async (_, frames, deltas) => {
    const { url } = await startServer((response) => answerStream(response, sse(...frames)));
    const outcome = await all(modelAt(url)).catch((error: unknown) => error);
    if (Array.isArray(outcome)) expect(outcome.filter(({ type }) => type !== 'finish')).toEqual(deltas);
    else expect(outcome).toMatchObject({ code: 'MODEL_RESPONSE' });
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });

  it('is believed no numbers that are none', async () => {
    const usages = [
      { prompt_tokens: -5, completion_tokens: 'x', total_tokens: null },
      { prompt_tokens: 1e300, completion_tokens: {}, total_tokens: 1e18 },
    ];
    for (const usage of usages) {
      const { url } = await startServer((response) => answerStream(response, sse({ choices: [], usage })));
      expect(await all(modelAt(url))).toContainEqual({
        type: 'usage',
        promptTokens: 0,
        completionTokens: 0,
        totalTokens: 0,
      });
    }
  });

  it('may send bytes that are no UTF-8', async () => {
    const { url } = await startServer((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const [before = '', after = ''] = sse(frame({ content: 'aXb' })).split('X');
      response.write(before);
      response.write(Buffer.from([0xff, 0xc0, 0xaf, 0xed, 0xa0, 0x80, 0xf5, 0x80]));
      response.end(after);
    });
    const [first] = await all(modelAt(url));
    expect(first).toMatchObject({ type: 'text', text: expect.stringMatching(/^a\ufffd+b$/) });
  });

  it('may send lone surrogates, which are stored as what they are', async () => {
    const { url } = await startServer((response) =>
      answerStream(response, 'data: {"choices":[{"delta":{"content":"a\\ud800b\\u0000"}}]}\n\ndata: [DONE]\n\n'),
    );
    const [first] = await all(modelAt(url));
    expect((first as { text: string }).text.length).toBe(4);
    expect(() => JSON.stringify(first)).not.toThrow();
  });

  it.each([
    ['objects', '{"choices":'.repeat(5_000)],
    ['lists', `{"choices":${'['.repeat(20_000)}${']'.repeat(20_000)}}`],
  ])('cannot run out of stack with %s that are nested deeply', async (_, text) => {
    const { url } = await startServer((response) => answerStream(response, `data: ${text}\n\ndata: [DONE]\n\n`));
    const outcome = await all(modelAt(url)).catch((error: unknown) => error);
    if (!Array.isArray(outcome)) expect(outcome).toMatchObject({ code: 'MODEL_RESPONSE' });
  });
});

describe('a hostile server of Anthropic models', () => {
  const model = (url: string) =>
    anthropic.chat(connectionTo(url, { maxResponseBytes: LIMIT }, anthropic), { streamUsage: true });
  const begin = event({ type: 'message_start', message: { usage: { input_tokens: 1 } } });

  it.each([
    ['text', event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'x'.repeat(100) } })],
    ['pings', event({ type: 'ping' })],
    ['events that it makes up', event({ type: '__proto__', index: 0 })],
    [
      'arguments',
      event({
        type: 'content_block_delta',
        index: 0,
        delta: { type: 'input_json_delta', partial_json: 'x'.repeat(100) },
      }),
    ],
  ])('cannot answer for ever with %s', async (_, piece) => {
    const sent = { bytes: 0 };
    const { url } = await startServer(flood(begin + piece, sent));
    expect(await failureOf(all(model(url)))).toMatchObject({ code: 'MODEL_RESPONSE' });
    expect(sent.bytes).toBeLessThan(64 * LIMIT);
  });

  it('cannot ask for any number of calls', async () => {
    const calls = Array.from({ length: 1_000 }, (_, index) =>
      event({ type: 'content_block_start', index, content_block: { type: 'tool_use', id: `c${index}`, name: 'f' } }),
    );
    const { url } = await startServer((response) => answerStream(response, begin + calls.join('')));
    expect(String(await failureOf(all(model(url))))).toContain('too many tool calls');
  });
});
