import { describe, expect, it } from 'vitest';
import type { ChatDelta } from '../../../src/models/chat-model.js';
import type { AssistantPart } from '../../../src/models/content-parts.js';
import { createAnswerDecoder } from '../../../src/models/providers/openai-answer.js';
import { frame, sse } from '../fake-server.js';

const target = { model: 'm', endpoint: 'host/v1/chat/completions', secrets: ['sk-secret'] };

function decode(chunks: readonly string[]): { deltas: ChatDelta[]; failure: string | undefined } {
  const decoder = createAnswerDecoder(target);
  const deltas: ChatDelta[] = [];
  for (const chunk of chunks) {
    if (!decoder.isDone && !decoder.failure) deltas.push(...decoder.feed(chunk));
  }
  if (!decoder.isDone && !decoder.failure) deltas.push(...decoder.end());
  return { deltas, failure: decoder.failure && `${decoder.failure.code}: ${decoder.failure.message}` };
}

const text = (value: string): ChatDelta => ({ type: 'text', text: value });
const thinking = (value: string): ChatDelta => ({ type: 'thinking', text: value });
const finish = (reason: string, id = 'chat-1'): ChatDelta => ({ type: 'finish', reason, ...(id && { id }) });
const call = (index: number, id: string, name: string, args: string): ChatDelta => {
  return { type: 'tool-call', index, id, name, arguments: args };
};
const piece = (index: number | undefined, id: string | undefined, name: string | undefined, args: unknown) => ({
  ...(index !== undefined && { index }),
  ...(id !== undefined && { id }),
  type: 'function',
  function: { ...(name !== undefined && { name }), arguments: args },
});
const part = (one: AssistantPart): ChatDelta => ({ type: 'part', part: one });
const withProbabilities = (content: string, tokens: unknown) => ({
  id: 'chat-1',
  choices: [{ index: 0, delta: { content }, logprobs: { content: tokens } }],
});
const calls = (...tool_calls: unknown[]) => frame({ tool_calls });

const cases: readonly [name: string, body: string, deltas: readonly ChatDelta[]][] = [
  [
    'text, role and empty frames',
    sse(
      frame({ role: 'assistant', content: '' }),
      frame({ content: 'He' }),
      frame({ content: 'y' }),
      frame({}, 'stop'),
    ),
    [text('He'), text('y'), finish('stop')],
  ],
  [
    'usage in a frame without choices, before the finish',
    sse(frame({ content: 'a' }, 'stop'), {
      choices: [],
      usage: { prompt_tokens: 7, completion_tokens: 2, total_tokens: 9, prompt_tokens_details: { cached_tokens: 4 } },
    }),
    [
      text('a'),
      { type: 'usage', promptTokens: 7, completionTokens: 2, totalTokens: 9, cachedTokens: 4 },
      finish('stop'),
    ],
  ],
  [
    'usage in every frame counts once, the last',
    sse(
      { ...(frame({ content: 'a' }) as object), usage: { prompt_tokens: 1, completion_tokens: 1 } },
      {
        choices: [],
        usage: { prompt_tokens: 1, completion_tokens: 2 },
      },
    ),
    [text('a'), { type: 'usage', promptTokens: 1, completionTokens: 2, totalTokens: 3 }, finish('unknown')],
  ],
  [
    'reasoning under either name, once when under both',
    sse(
      frame({ reasoning_content: 'x' }),
      frame({ reasoning: 'y' }),
      frame({ reasoning: 'z', reasoning_content: 'z' }),
    ),
    [thinking('x'), thinking('y'), thinking('z'), finish('unknown')],
  ],
  [
    'content as a list of parts, with thinking inside',
    sse(
      frame({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] }] }),
      frame({ content: [{ type: 'text', text: 'yes' }] }, 'stop'),
    ),
    [thinking('hm'), text('yes'), finish('stop')],
  ],
  [
    'two tool calls in pieces',
    sse(
      calls(piece(0, 'a', 'add', '')),
      calls(piece(0, undefined, undefined, '{"x"')),
      calls(piece(1, 'b', 'sub', '{}')),
      calls(piece(0, undefined, undefined, ':1}')),
      frame({}, 'tool_calls'),
    ),
    [call(0, 'a', 'add', '{"x":1}'), call(1, 'b', 'sub', '{}'), finish('tool_calls')],
  ],
  [
    'tool calls without index, told apart by id',
    sse(
      calls(piece(undefined, 'a', 'add', '{"x"')),
      calls(piece(undefined, undefined, undefined, ':1}')),
      calls(piece(undefined, 'b', 'sub', '{}')),
    ),
    [call(0, 'a', 'add', '{"x":1}'), call(1, 'b', 'sub', '{}'), finish('unknown')],
  ],
  [
    'tool calls that share index 0',
    sse(calls(piece(0, 'a', 'add', '{}')), calls(piece(0, 'b', 'sub', '{}'))),
    [call(0, 'a', 'add', '{}'), call(1, 'b', 'sub', '{}'), finish('unknown')],
  ],
  [
    'tool calls without id, with object arguments, with none',
    sse(calls(piece(0, undefined, 'add', { x: 1 }), piece(1, undefined, 'now', ''))),
    [call(0, 'call_chat-1_0', 'add', '{"x":1}'), call(1, 'call_chat-1_1', 'now', '{}'), finish('unknown')],
  ],
  [
    'no end mark, no finish reason',
    `data: ${JSON.stringify(frame({ content: 'a' }))}\n\n`,
    [text('a'), finish('unknown')],
  ],
  ['no last blank line', `data: ${JSON.stringify(frame({ content: 'a' }, 'stop'))}`, [text('a'), finish('stop')]],
  [
    'comments, CRLF, ids, no blank after the colon',
    `: ping\r\n\r\nid: 1\r\ndata:${JSON.stringify(frame({ content: 'a' }, 'stop'))}\r\n\r\ndata:[DONE]\r\n\r\n`,
    [text('a'), finish('stop')],
  ],
  [
    'nothing after the end mark',
    `${sse(frame({ content: 'a' }, 'stop'))}data: nonsense\n\n`,
    [text('a'), finish('stop')],
  ],
  [
    'a server that does not stream',
    ` \n${JSON.stringify({
      id: 'c',
      choices: [
        {
          message: { content: 'hey', reasoning_content: 'hm', tool_calls: [piece(undefined, 'a', 'add', '{}')] },
          finish_reason: 'tool_calls',
        },
      ],
      usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
    })}`,
    [
      thinking('hm'),
      part({ type: 'reasoning', text: '', extra: { field: 'reasoning_content' } }),
      text('hey'),
      call(0, 'a', 'add', '{}'),
      { type: 'usage', promptTokens: 1, completionTokens: 1, totalTokens: 2 },
      finish('tool_calls', 'c'),
    ],
  ],
  [
    'tokens of thoughts, where the server says them',
    sse(frame({ content: 'a' }, 'stop'), {
      choices: [],
      usage: { prompt_tokens: 7, completion_tokens: 2, completion_tokens_details: { reasoning_tokens: 1 } },
    }),
    [
      text('a'),
      { type: 'usage', promptTokens: 7, completionTokens: 2, totalTokens: 9, reasoningTokens: 1 },
      finish('stop'),
    ],
  ],
  [
    'how likely tokens were, leaving out what is no token',
    sse(
      withProbabilities('a', [
        { token: 'a', logprob: -0.5, bytes: [97], top_logprobs: [{ token: 'b', logprob: -1, bytes: null }, 'x'] },
        { token: 'c', logprob: 'high' },
        null,
      ]),
      withProbabilities('b', null),
      frame({}, 'stop'),
    ),
    [
      text('a'),
      {
        type: 'log-probabilities',
        tokens: [{ token: 'a', logProbability: -0.5, bytes: [97], alternatives: [{ token: 'b', logProbability: -1 }] }],
      },
      text('b'),
      finish('stop'),
    ],
  ],
  [
    'spoken answers, piece by piece',
    sse(
      frame({ audio: { id: 'audio_1', transcript: 'He' } }),
      frame({ audio: { data: 'QQ==', transcript: 'y' } }),
      frame({ audio: { expires_at: 1 } }),
      frame({}, 'stop'),
    ),
    [
      part({ type: 'audio', data: '', mimeType: 'audio/pcm', id: 'audio_1', transcript: 'He' }),
      part({ type: 'audio', data: 'QQ==', mimeType: 'audio/pcm', transcript: 'y' }),
      finish('stop'),
    ],
  ],
  [
    'images and citations',
    sse(
      frame({ content: 'see' }),
      frame({ annotations: [{ type: 'url_citation', url_citation: { url: 'u' } }] }),
      frame(
        { images: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } }, { type: 'other' }] },
        'stop',
      ),
    ),
    [
      text('see'),
      part({ type: 'text', text: '', citations: [{ type: 'url_citation', url_citation: { url: 'u' } }] }),
      part({ type: 'image', url: 'data:image/png;base64,AA==' }),
      finish('stop'),
    ],
  ],
  [
    'signed thoughts, whose details come in pieces and end with the first text',
    sse(
      frame({ reasoning: 'so ', reasoning_details: [{ type: 'reasoning.text', text: 'so ', index: 0 }] }),
      frame({
        reasoning: 'what',
        reasoning_details: [{ type: 'reasoning.text', text: 'what', index: 0, signature: null }],
      }),
      frame({ reasoning_details: [{ type: 'reasoning.text', signature: 'sig', index: 0, format: 'f' }, 'x'] }),
      frame({ reasoning_details: [{ type: 'reasoning.encrypted', data: 'enc', index: 1 }] }),
      frame({ content: 'a' }),
      frame({ reasoning_details: [{ type: 'reasoning.encrypted', data: 'late', index: 2 }] }, 'stop'),
    ),
    [
      thinking('so '),
      thinking('what'),
      part({
        type: 'reasoning',
        text: '',
        signature: 'enc',
        extra: {
          reasoning_details: [
            { type: 'reasoning.text', text: 'so what', index: 0, signature: 'sig', format: 'f' },
            { type: 'reasoning.encrypted', data: 'enc', index: 1 },
          ],
        },
      }),
      text('a'),
      part({
        type: 'reasoning',
        text: '',
        signature: 'late',
        extra: { reasoning_details: [{ type: 'reasoning.encrypted', data: 'late', index: 2 }] },
      }),
      finish('stop'),
    ],
  ],
  [
    'what Gemini wants back with a call',
    sse(
      calls({ ...piece(0, 'a', 'add', '{}'), extra_content: { google: { thought_signature: 's' } } }),
      frame({}, 'tool_calls'),
    ),
    [
      {
        type: 'tool-call',
        index: 0,
        id: 'a',
        name: 'add',
        arguments: '{}',
        extra: { extra_content: { google: { thought_signature: 's' } } },
      },
      finish('tool_calls'),
    ],
  ],
  ['text beyond the BMP', sse(frame({ content: '日本🙂' }, 'stop')), [text('日本🙂'), finish('stop')]],
];

describe('createAnswerDecoder', () => {
  it.each(cases)('decodes %s', (_, body, deltas) => {
    expect(decode([body])).toEqual({ deltas, failure: undefined });
  });

  it.each(cases)('decodes %s wherever it is cut', (_, body, deltas) => {
    for (let at = 1; at < body.length; at += 1) {
      expect(decode([body.slice(0, at), body.slice(at)]).deltas, `cut at ${at}`).toEqual(deltas);
    }
    expect(decode([...body].map(String)).deltas, 'character by character').toEqual(deltas);
  });

  it.each([
    [
      'a frame that is no JSON',
      `${sse(frame({ content: 'a' })).replace('data: [DONE]', 'data: {oops')}`,
      [text('a')],
      'MODEL_RESPONSE',
      '{oops',
    ],
    ['a frame that is a number', 'data: 7\n\n', [], 'MODEL_RESPONSE', '"7"'],
    ['a frame that is cut off', 'data: {"choices":[{"del', [], 'MODEL_RESPONSE', 'not a JSON object'],
    [
      'an error midway',
      sse(frame({ content: 'a' }), { error: { message: 'bad sk-secret', code: 400 } }),
      [text('a')],
      'MODEL_REQUEST',
      'bad ***',
    ],
    ['an overload midway', sse({ error: { message: 'busy', code: 503 } }), [], 'MODEL_UNAVAILABLE', 'busy'],
    ['an error as text', sse({ error: 'no such model' }), [], 'MODEL_REQUEST', 'no such model'],
    ['an error in a JSON answer', '{"error":{"message":"nope"}}', [], 'MODEL_REQUEST', 'nope'],
    ['nothing', '', [], 'MODEL_RESPONSE', 'answered nothing'],
    ['a web page', '<html>\n\n<body>hello</body></html>', [], 'MODEL_RESPONSE', 'check the base URL'],
    [
      'too many tool calls',
      sse(calls(...Array.from({ length: 129 }, (_, i) => piece(i, `${i}`, 'f', '{}')))),
      [],
      'MODEL_RESPONSE',
      'too many',
    ],
  ] as const)('refuses %s, after what was good', (_, body, deltas, code, fragment) => {
    const decoded = decode([body]);
    expect(decoded.deltas).toEqual(deltas);
    expect(decoded.failure).toContain(`${code}: Model "m" at host/v1/chat/completions`);
    expect(decoded.failure).toContain(fragment);
  });
});
