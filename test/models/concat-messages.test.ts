import { describe, expect, it } from 'vitest';
import { EngineError } from '../../src/errors.js';
import { concatMessageLists, concatMessages, concatParts, messageOf } from '../../src/models/concat-messages.js';
import type { ToolOutputPart } from '../../src/models/content-parts.js';
import type { AssistantChunk, MessageChunk, PartChunk, ToolCallChunk } from '../../src/models/messages.js';
import { property, type Random } from '../support/random.js';

const chunk = (fields: Omit<AssistantChunk, 'role'>): AssistantChunk => ({ role: 'assistant', ...fields });
const partsOf = (...parts: PartChunk[]): unknown => concatMessages(parts.map((part) => chunk({ parts: [part] }))).parts;
const callsOf = (...calls: ToolCallChunk[]): unknown =>
  concatMessages(calls.map((call) => chunk({ toolCalls: [call] }))).toolCalls;

function failure(work: () => unknown): EngineError {
  try {
    work();
  } catch (error) {
    expect(error).toBeInstanceOf(EngineError);
    return error as EngineError;
  }
  throw new Error('nothing was thrown');
}

describe('concatMessages', () => {
  it('joins texts and thoughts, and keeps what only one chunk says', () => {
    const joined = concatMessages([
      chunk({ content: 'Hel', name: 'writer' }),
      chunk({ reasoning: 'so ' }),
      chunk({ content: 'lo', reasoning: 'what', id: 'm1', name: '' }),
      chunk({ finishReason: 'stop' }),
    ]);
    const expected = {
      role: 'assistant',
      content: 'Hello',
      name: 'writer',
      reasoning: 'so what',
      id: 'm1',
      finishReason: 'stop',
    };
    expect(joined).toEqual(expected);
  });

  it('gives one chunk back as it is', () => {
    const only = chunk({
      parts: [
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b' },
      ],
    });
    expect(concatMessages([only])).toBe(only);
  });

  it('leaves its chunks as they are', () => {
    const chunks = [
      chunk({ extra: { a: { b: 'x' } }, usage: { promptTokens: 1, completionTokens: 1, totalTokens: 2 } }),
    ];
    const before = structuredClone(chunks);
    concatMessages([...chunks, ...chunks]);
    expect(chunks).toEqual(before);
  });

  it('keeps the last reason, the largest counts and all log probabilities', () => {
    const joined = concatMessages([
      chunk({ finishReason: 'length', usage: { promptTokens: 10, completionTokens: 1, totalTokens: 11 } }),
      chunk({ logProbabilities: [{ token: 'a', logProbability: -1 }], finishReason: '' }),
      chunk({ usage: { promptTokens: 4, completionTokens: 7, totalTokens: 11, cachedTokens: 3, reasoningTokens: 2 } }),
      chunk({ logProbabilities: [{ token: 'b', logProbability: -2 }], finishReason: 'stop' }),
      chunk({ usage: { promptTokens: 4, completionTokens: 7, totalTokens: 12, cachedTokens: 1 }, finishReason: '' }),
    ]);
    expect(joined).toEqual({
      role: 'assistant',
      finishReason: 'stop',
      usage: { promptTokens: 10, completionTokens: 7, totalTokens: 12, cachedTokens: 3, reasoningTokens: 2 },
      logProbabilities: [
        { token: 'a', logProbability: -1 },
        { token: 'b', logProbability: -2 },
      ],
    });
  });

  it('joins extra name by name: texts one after the other, objects inside, the last of everything else', () => {
    const joined = concatMessages([
      chunk({ extra: { text: 'a', count: 1, deep: { text: 'x', list: [1] }, only: null } }),
      chunk({ extra: { text: 'b', count: 2, deep: { text: 'y', list: [2] }, nothing: null } }),
      chunk({ extra: { text: null, flag: true } }),
    ]);
    expect(joined.extra).toEqual({
      text: 'ab',
      count: 2,
      deep: { text: 'xy', list: [2] },
      only: null,
      nothing: null,
      flag: true,
    });
  });

  it('takes a name "__proto__" in extra for a name', () => {
    const hostile = JSON.parse('{"__proto__":{"polluted":true}}');
    const { extra } = concatMessages([chunk({ extra: hostile }), chunk({ extra: hostile })]);
    expect(Object.getPrototypeOf(extra)).toBe(Object.prototype);
    expect(Object.keys(extra ?? {})).toEqual(['__proto__']);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  it.each<[string, MessageChunk[], string, number[]]>([
    [
      'roles',
      [chunk({}), { role: 'user', content: '' }],
      'role is "assistant" in chunk 0 and "user" in chunk 1',
      [0, 1],
    ],
    [
      'names',
      [chunk({}), chunk({ name: 'a' }), chunk({ name: 'b' })],
      'name is "a" in chunk 1 and "b" in chunk 2',
      [1, 2],
    ],
    ['ids', [chunk({ id: 'a' }), chunk({ id: 'b' })], 'id is "a" in chunk 0', [0, 1]],
    [
      'calls of results',
      [
        { role: 'tool', content: '', toolCallId: 'a' },
        { role: 'tool', content: '', toolCallId: 'b' },
      ],
      'toolCallId is "a" in chunk 0 and "b" in chunk 1',
      [0, 1],
    ],
    [
      'kinds of facts',
      [chunk({ extra: { a: { b: 'x' } } }), chunk({ extra: { a: { b: 1 } } })],
      'extra.a.b must be a text',
      [1],
    ],
    [
      'a content that is a number',
      [chunk({}), chunk({ content: 3 as never })],
      'content must be a list; chunk 1 has 3',
      [1],
    ],
    [
      'calls that are no list',
      [chunk({}), chunk({ toolCalls: 'x' as never })],
      'toolCalls must be a list; chunk 1 has "x"',
      [1],
    ],
    [
      'a chunk that is nothing',
      [chunk({}), undefined as never],
      'the chunk must be a message; chunk 1 has undefined',
      [1],
    ],
  ])('refuses different %s and says which chunks they came in', (_, chunks, message, positions) => {
    const error = failure(() => concatMessages(chunks));
    expect(error).toMatchObject({ code: 'CHUNKS_INVALID', message: expect.stringContaining(message) });
    expect(error.details).toMatchObject({ chunks: positions });
  });

  it('refuses no chunks at all', () => {
    expect(failure(() => concatMessages([]))).toMatchObject({ code: 'CHUNKS_INVALID' });
  });

  it('quotes long values in part only', () => {
    const error = failure(() => concatMessages([chunk({ id: 'a'.repeat(5_000) }), chunk({ id: 'b' })]));
    expect(error.message.length).toBeLessThan(400);
  });

  it('joins messages of users and of tools: texts to texts, parts side by side', () => {
    const image = { type: 'image_url', url: 'https://pictures.test/1.png' } as const;
    expect(
      concatMessages<MessageChunk>([
        { role: 'user', content: 'see' },
        { role: 'user', content: [{ type: 'text', text: ' this' }, image] },
        { role: 'user', content: '' },
      ]),
    ).toEqual({ role: 'user', content: [{ type: 'text', text: 'see this' }, image] });
    expect(
      concatMessages<MessageChunk>([
        { role: 'tool', content: 'a', toolCallId: 'c1', parts: [{ type: 'text', text: 'a' }, image] },
        { role: 'tool', content: 'b', toolCallId: 'c1', parts: [image, { type: 'text', text: 'b' }], isError: true },
      ]),
    ).toEqual({
      role: 'tool',
      content: 'ab',
      toolCallId: 'c1',
      parts: [{ type: 'text', text: 'a' }, image, image, { type: 'text', text: 'b' }],
      isError: true,
    });
  });
});

describe('concatMessages, tool calls', () => {
  it('joins the pieces of one index, wherever they stand, and orders the calls by index', () => {
    const calls = callsOf(
      { index: 1, id: 'b', name: 'sub', arguments: '{"y"' },
      { index: 0, id: 'a', kind: 'function', name: '' },
      { index: 1, arguments: ':2}', id: '', extra: { more: 1 } },
      { index: 0, name: 'add', arguments: '{}', extra: { text: 'x' } },
      { index: 0, extra: { text: 'y' } },
    );
    expect(calls).toEqual([
      { index: 0, id: 'a', kind: 'function', name: 'add', arguments: '{}', extra: { text: 'xy' } },
      { index: 1, id: 'b', name: 'sub', arguments: '{"y":2}', extra: { more: 1 } },
    ]);
  });

  it('puts calls without an index first, each by itself', () => {
    const calls = callsOf({ index: 0, name: 'c' }, { name: 'a', arguments: '1' }, { name: 'a', arguments: '2' });
    expect(calls).toEqual([
      { name: 'a', arguments: '1' },
      { name: 'a', arguments: '2' },
      { index: 0, name: 'c' },
    ]);
  });

  it.each(['id', 'name', 'kind'] as const)('refuses pieces of one call with a different %s', (field) => {
    const error = failure(() => callsOf({ index: 3, [field]: 'a' }, { index: 3 }, { index: 3, [field]: 'b' }));
    expect(error.code).toBe('CHUNKS_INVALID');
    expect(error.message).toContain(`toolCalls[3].${field} is "a" in chunk 0 and "b" in chunk 2`);
  });
});

describe('concatMessages, parts', () => {
  const image: PartChunk = { type: 'image', url: 'https://pictures.test/1.png' };

  it('joins neighbours that are text or reasoning, and keeps the last signature', () => {
    const parts = partsOf(
      { type: 'reasoning', text: 'Step 1', signature: 's1' },
      { type: 'reasoning', text: ', step 2', signature: 's2' },
      { type: 'reasoning', text: '.' },
      { type: 'text', text: 'a', citations: [1] },
      { type: 'text', text: 'b', citations: [2], extra: { note: 'x' } },
      image,
      { type: 'text', text: 'c' },
    );
    expect(parts).toEqual([
      { type: 'reasoning', text: 'Step 1, step 2.', signature: 's2' },
      { type: 'text', text: 'ab', citations: [1, 2], extra: { note: 'x' } },
      image,
      { type: 'text', text: 'c' },
    ]);
  });

  it('keeps neighbours apart that are pictures, or thoughts with different ids', () => {
    const thoughts: PartChunk[] = [
      { type: 'reasoning', text: 'a', id: '1' },
      { type: 'reasoning', text: 'b', id: '2' },
    ];
    expect(partsOf(image, image, ...thoughts)).toEqual([image, image, ...thoughts]);
  });

  it.each([
    ['cuts of one text', ['QUJD', 'REVG']],
    ['pieces with padding of their own', ['QQ==', 'QkM=', 'REVG']],
    ['pieces cut inside four letters', ['QUJ', 'DRE', 'VG']],
  ])('joins sound from %s', (_, pieces) => {
    const joined = partsOf(...pieces.map((data): PartChunk => ({ type: 'audio', data, mimeType: 'audio/wav' })));
    expect(joined).toEqual([{ type: 'audio', data: 'QUJDREVG', mimeType: 'audio/wav' }]);
  });

  it('keeps sound apart that is behind URLs or of different types', () => {
    const sounds: PartChunk[] = [
      { type: 'audio', url: 'https://sound.test/1' },
      { type: 'audio', url: 'https://sound.test/2' },
      { type: 'audio', data: 'QUJD', mimeType: 'audio/wav' },
      { type: 'audio', data: 'QUJD', mimeType: 'audio/mpeg' },
    ];
    expect(partsOf(...sounds)).toEqual(sounds);
  });

  it('joins the pieces of one index, even where others stand between them', () => {
    const parts = partsOf(
      { type: 'text', text: 'a', index: 0 },
      { type: 'text', text: 'x', index: 1 },
      { type: 'text', text: 'b', index: 0 },
      { type: 'mcp-call', id: 'm', server: 's', name: 'n', arguments: '{"a"', index: 2 },
      { type: 'mcp-call', id: '', server: 's', name: '', arguments: ':1}', index: 2 },
    );
    expect(parts).toEqual([
      { type: 'text', text: 'ab', index: 0 },
      { type: 'text', text: 'x', index: 1 },
      { type: 'mcp-call', id: 'm', server: 's', name: 'n', arguments: '{"a":1}', index: 2 },
    ]);
  });

  it('does not join a part with an index to one without', () => {
    const parts: PartChunk[] = [
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b', index: 0 },
      { type: 'text', text: 'c' },
    ];
    expect(partsOf(...parts)).toEqual(parts);
  });

  it('refuses pieces of one index that are not one part', () => {
    const error = failure(() =>
      partsOf({ type: 'text', text: 'a', index: 0 }, { type: 'reasoning', text: 'b', index: 0 }),
    );
    expect(error.message).toContain('parts[0].type is "text" in chunk 0 and "reasoning" in chunk 1');
  });
});

describe('concatMessageLists', () => {
  it('joins position by position, where a list has anything there', () => {
    const result = (content: string, toolCallId: string) => ({ role: 'tool', content, toolCallId }) as const;
    const lists = [
      [result('a', '1'), undefined, undefined],
      [undefined, result('x', '2'), undefined],
      [result('b', '1'), result('y', '2'), undefined],
    ];
    expect(concatMessageLists(lists)).toEqual([result('ab', '1'), result('xy', '2'), undefined]);
  });

  it.each([
    [
      'lengths',
      [[chunk({})], [chunk({}), chunk({})]],
      'must be a list of 1 messages, as chunk 0; chunk 1 has a list of 2',
    ],
    [
      'roles at one position',
      [
        [chunk({}), chunk({})],
        [chunk({}), { role: 'user', content: '' } as const],
      ],
      '[1].role',
    ],
  ])('refuses different %s', (_, messages: readonly (readonly MessageChunk[])[], fragment) => {
    const error = failure(() => concatMessageLists(messages));
    expect(error).toMatchObject({ code: 'CHUNKS_INVALID', message: expect.stringContaining(fragment) });
  });

  it('refuses no lists at all', () => {
    expect(failure(() => concatMessageLists([])).code).toBe('CHUNKS_INVALID');
  });
});

describe('concatParts', () => {
  it('joins pieces of what a tool gives', () => {
    const image: ToolOutputPart = { type: 'image', url: 'https://pictures.test/1.png' };
    const pieces: ToolOutputPart[][] = [
      [{ type: 'text', text: 'a' }],
      [],
      [{ type: 'text', text: 'b' }, image],
      [image],
    ];
    expect(concatParts(pieces)).toEqual([{ type: 'text', text: 'ab' }, image, image]);
    expect(concatParts([])).toEqual([]);
  });
});

describe('messageOf', () => {
  it('takes indexes away, and gives calls the id and the arguments that their provider left out', () => {
    const message = messageOf(
      chunk({
        toolCalls: [
          { index: 0, name: 'add', arguments: '' },
          { index: 4, id: 'b', name: 'sub', arguments: '{"x":1}' },
        ],
        parts: [{ type: 'text', text: 'a', index: 0 }],
      }),
    );
    expect(message).toEqual({
      role: 'assistant',
      content: '',
      toolCalls: [
        { id: 'call_0', name: 'add', arguments: '{}' },
        { id: 'b', name: 'sub', arguments: '{"x":1}' },
      ],
      parts: [{ type: 'text', text: 'a' }],
    });
  });
});

/** A chunk with some of everything; all chunks of one message go together. */
function randomChunk(random: Random): AssistantChunk {
  const some = <T>(make: () => T): T[] => Array.from({ length: random.int(3) }, make);
  const word = (): string => random.pick(['', 'a', 'bc', 'd e']);
  const index = (): { index?: number } => (random.chance(0.6) ? { index: random.int(3) } : {});
  const part = (): PartChunk => {
    const at = index();
    // The index decides the kind, since pieces of one part are of one kind.
    const kind = at.index ?? random.int(4);
    if (kind === 0) return { type: 'text', text: word(), ...at };
    if (kind === 1) return { type: 'reasoning', text: word(), ...(random.chance(0.3) && { signature: word() }), ...at };
    if (kind === 2)
      return { type: 'audio', data: random.pick(['QQ==', 'QkM=', 'REVG', '']), mimeType: 'audio/wav', ...at };
    return { type: 'image', url: word() };
  };
  const call = (): ToolCallChunk => {
    const at = index();
    return { ...at, arguments: word(), ...(random.chance(0.5) && { id: `call ${at.index}` }) };
  };
  const count = (): number => random.int(9);
  return chunk({
    ...(random.chance(0.5) && { content: word() }),
    ...(random.chance(0.3) && { reasoning: word() }),
    ...(random.chance(0.3) && { name: random.pick(['', 'writer']) }),
    ...(random.chance(0.3) && { finishReason: word() }),
    ...(random.chance(0.3) && { usage: { promptTokens: count(), completionTokens: count(), totalTokens: count() } }),
    ...(random.chance(0.3) && {
      extra: { text: word(), last: count(), deep: { text: word() }, maybe: random.pick([null, 'x']) },
    }),
    ...(random.chance(0.5) && { toolCalls: some(call) }),
    ...(random.chance(0.7) && { parts: some(part) }),
  });
}

describe('a law of chunks', () => {
  property('it does not matter which chunks are joined first', 500, (random) => {
    const chunks = Array.from({ length: 2 + random.int(6) }, () => randomChunk(random));
    const at = 1 + random.int(chunks.length - 1);
    const inTwo = concatMessages([concatMessages(chunks.slice(0, at)), concatMessages(chunks.slice(at))]);
    const oneByOne = chunks
      .slice(1)
      .reduce((whole, next) => concatMessages([whole, next]), chunks[0] as AssistantChunk);
    const atOnce = concatMessages(chunks);
    expect(inTwo).toEqual(atOnce);
    expect(oneByOne).toEqual(atOnce);
  });
});
