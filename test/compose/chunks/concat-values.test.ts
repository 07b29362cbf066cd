import { describe, expect, it } from 'vitest';
import { concatValues } from '../../../src/compose/chunks/concat-values.js';
import { EngineError } from '../../../src/errors.js';
import { property, type Random } from '../../support/random.js';

class Link {
  readonly to: string;
  constructor(to: string) {
    this.to = to;
  }
}

const refusal = (...parts: string[]) =>
  expect.objectContaining({
    code: 'CHUNKS_INVALID',
    message: expect.stringMatching(new RegExp(parts.map((part) => part.replace(/[[\]().]/g, '\\$&')).join('.*'), 's')),
  });

const link = new Link('a');

describe('concatValues', () => {
  const list = [1, 2];
  it.each<[string, readonly unknown[], unknown]>([
    ['texts', ['a', '', 'b', 'c'], 'abc'],
    ['two texts', ['a', 'b'], 'ab'],
    ['texts with gaps', ['a', null, 'b', undefined], 'ab'],
    ['numbers: the last', [1, 2, 0], 0],
    ['booleans: the last', [true, false], false],
    ['bigints: the last', [1n, 2n], 2n],
    ['dates: the last', [new Date(1), new Date(0)], new Date(0)],
    ['a number and null', [1, null], 1],
    ['numbers, with gaps between and behind', [1, undefined, true, null, 3, null, undefined], 3],
    ['a date and null at a key', [{ at: new Date(0) }, { at: null }], { at: new Date(0) }],
    ['null before a number', [null, 1], 1],
    ['a number and undefined', [1, undefined], 1],
    ['only null', [null, null], null],
    ['null and undefined', [null, undefined], null],
    ['only undefined', [undefined, undefined], undefined],
    ['objects key by key', [{ a: 'x', n: 1 }, { a: 'y' }, { n: 2, b: true }], { a: 'xy', n: 2, b: true }],
    [
      'objects in objects',
      [{ a: { b: 'x', c: null } }, { a: { b: 'y', d: 'z' } }],
      { a: { b: 'xy', c: null, d: 'z' } },
    ],
    ['a key that only one object has', [{ a: list }, { b: link }], { a: list, b: link }],
    ['objects and nothing', [{ a: 1 }, undefined, null, { b: 2 }], { a: 1, b: 2 }],
    ['one list that is not empty', [[], list, []], list],
    ['empty lists', [[], []], []],
    ['one instance among nothing', [undefined, link, null], link],
    ['an instance and an empty text', ['', link, {}], link],
    ['empty collections and one that is not', [new Map(), new Map([[1, 2]]), new Map()], new Map([[1, 2]])],
    ['no bytes and some', [new Uint8Array(), new Uint8Array([1])], new Uint8Array([1])],
    ['different things that are all empty', ['', [], {}], {}],
    ['an object with a role that is none of a message', [{ role: 'a' }, { role: 'b' }], { role: 'ab' }],
    [
      'an object with a role of a message and other keys',
      [{ role: 'tool', at: 1 }, { at: 2 }],
      { role: 'tool', at: 2 },
    ],
  ])('makes one of %s', (_, chunks, expected) => {
    expect(concatValues(chunks)).toEqual(expected);
  });

  it('gives a single chunk back as it is, whatever it is, and does not ask the rule', () => {
    const rule = (): never => {
      throw new Error('asked');
    };
    for (const chunk of [link, list, undefined, '', () => 1]) expect(concatValues([chunk], rule)).toBe(chunk);
  });

  it('keeps the identity of what only one chunk has', () => {
    expect(concatValues<object>([{ a: list }, { b: 1 }])).toEqual({ a: list, b: 1 });
    expect((concatValues<object>([{ a: list }, { b: 1 }]) as { a: unknown }).a).toBe(list);
  });

  it('uses the rule that is given in place of that of the type', () => {
    expect(concatValues([1, 2, 3], (numbers) => numbers.reduce((sum, one) => sum + one))).toBe(6);
    const links = (all: readonly Link[]): Link => new Link(all.map(({ to }) => to).join('/'));
    expect(concatValues([new Link('a'), new Link('b')], links)).toEqual(new Link('a/b'));
  });

  it('joins chunks of a message by the rules of messages', () => {
    const answer = concatValues<object>([
      { role: 'assistant', content: 'Hel' },
      { role: 'assistant', content: 'lo', toolCalls: [{ index: 0, id: 'c1', name: 'find', arguments: '{"q"' }] },
      { role: 'assistant', toolCalls: [{ index: 0, arguments: ':1}' }], finishReason: 'tool_calls' },
    ]);
    expect(answer).toEqual({
      role: 'assistant',
      content: 'Hello',
      toolCalls: [{ index: 0, id: 'c1', name: 'find', arguments: '{"q":1}' }],
      finishReason: 'tool_calls',
    });
  });

  it('joins lists of messages position by position, and messages inside objects', () => {
    const chunk = (one: string, two: string) => [
      { role: 'user', content: one },
      { role: 'assistant', content: two },
    ];
    expect(concatValues<unknown>([chunk('a', 'b'), [], chunk('c', 'd')])).toEqual(chunk('ac', 'bd'));
    expect(concatValues<unknown>([{ all: chunk('a', 'b') }, { all: chunk('c', 'd') }])).toEqual({
      all: chunk('ac', 'bd'),
    });
  });

  it('treats keys that objects are born with as any others', () => {
    const one = JSON.parse('{"__proto__":{"polluted":"a"},"constructor":"x","toString":"p"}') as object;
    const other = JSON.parse('{"__proto__":{"polluted":"b"},"constructor":"y","toString":"q"}') as object;
    const joined = concatValues([one, other]);
    expect(Object.entries(joined)).toEqual([
      ['__proto__', { polluted: 'ab' }],
      ['constructor', 'xy'],
      ['toString', 'pq'],
    ]);
    expect(Object.getPrototypeOf(joined)).toBe(Object.prototype);
    expect({}).not.toHaveProperty('polluted');
  });

  it('changes none of the chunks', () => {
    const chunks = [Object.freeze({ a: Object.freeze({ b: 'x' }) }), Object.freeze({ a: Object.freeze({ b: 'y' }) })];
    concatValues(chunks);
    expect(chunks).toEqual([{ a: { b: 'x' } }, { a: { b: 'y' } }]);
  });

  it.each<[string, readonly unknown[], string[]]>([
    [
      'no rule for lists',
      [[], [1], [2]],
      ['the chunks have a list in chunk 1 and a list in chunk 2', 'give one that makes one value'],
    ],
    [
      'no rule for instances',
      [link, new Link('b')],
      ['a value of class Link in chunk 0 and a value of class Link in chunk 1'],
    ],
    ['a text and a number', ['a', undefined, 1], ['a text in chunk 0 and a number in chunk 2']],
    ['a number and a text, null between them', [5, null, 'a'], ['a number in chunk 0 and a text in chunk 2']],
    [
      'the same at a key',
      [{ a: 5 }, { a: null }, {}, { a: 'x' }],
      ['"a" has a number in chunk 0 and a text in chunk 3'],
    ],
    [
      'a date and an object, null around them',
      [null, new Date(0), null, {}, { a: 1 }],
      ['a date in chunk 1 and a plain'],
    ],
    [
      'a key with two types',
      [{ a: { b: 'x' } }, {}, { a: { b: 3 } }],
      ['"a.b" has a text in chunk 0 and a number in chunk 2'],
    ],
    ['functions', [() => 1, () => 2], ['a function in chunk 0 and a function in chunk 1']],
    [
      'messages of different roles',
      [
        { role: 'user', content: 'a' },
        { role: 'assistant', content: 'b' },
      ],
      ['role is "user" in chunk 0'],
    ],
    [
      'messages at a key',
      [{ to: { role: 'user', content: 'a' } }, { to: { role: 'tool', content: 'b', toolCallId: '1' } }],
      ['At "to":', 'role is "user" in chunk 0'],
    ],
    [
      'lists of messages of different lengths',
      [
        [{ role: 'user', content: 'a' }],
        [
          { role: 'user', content: 'a' },
          { role: 'user', content: 'b' },
        ],
      ],
      ['list of 1 messages'],
    ],
  ])('refuses %s', (_, chunks, words) => {
    expect(() => concatValues(chunks)).toThrow(refusal(...words));
  });

  it('refuses no chunks at all', () => {
    expect(() => concatValues([])).toThrow(expect.objectContaining({ code: 'STREAM_EMPTY' }));
  });

  it('refuses values that contain themselves', () => {
    const ring = (): object => {
      const one: Record<string, unknown> = {};
      one.next = one;
      return one;
    };
    expect(() => concatValues([ring(), ring()])).toThrow(refusal('more than 200 levels deep, or contains itself'));
  });

  it('joins a hundred thousand texts and objects', () => {
    const count = 100_000;
    expect(concatValues(Array.from({ length: count }, () => 'ab'))).toHaveLength(2 * count);
    const objects = Array.from({ length: count }, (_, at) => ({ text: 'a', at, deep: { text: 'b' } }));
    expect(concatValues(objects)).toEqual({
      text: 'a'.repeat(count),
      at: count - 1,
      deep: { text: 'b'.repeat(count) },
    });
  });

  property('gives the same when neighbours were concatenated before', 500, (random) => {
    const make = maker(random, 0);
    const chunks = Array.from({ length: 2 + random.int(8) }, () => make());
    const whole = concatValues(chunks);
    const cut = 1 + random.int(chunks.length - 1);
    const parts = [concatValues(chunks.slice(0, cut)), concatValues(chunks.slice(cut))];
    expect(concatValues(parts)).toEqual(whole);
  });

  property('refuses what does not fit together however much of it was concatenated before', 2000, (random) => {
    const odd = [5, true, null, undefined, 'a', '', new Date(0), {}, { a: 1 }, { a: null }, { a: 'x' }, [], [1], link];
    const chunks = Array.from({ length: 3 + random.int(3) }, () => random.pick(odd));
    const cut = 1 + random.int(chunks.length - 1);
    const parts = [chunks.slice(0, cut), chunks.slice(cut)].map((part) => () => concatValues(part));
    expect(outcome(parts)).toEqual(outcome(chunks.map((chunk) => () => chunk)));
  });
});

/** The value of chunks; the code when they do not fit together. */
function outcome(chunks: readonly (() => unknown)[]): unknown {
  try {
    return { value: concatValues(chunks.map((chunk) => chunk())) };
  } catch (error) {
    return EngineError.is(error) ? error.code : error;
  }
}

/** Makes values of one shape, which is random itself. */
function maker(random: Random, depth: number): () => unknown {
  switch (random.int(depth > 2 ? 3 : 5)) {
    case 0:
      return () => random.pick(['', 'a', 'bc', 'd']);
    case 1:
      return () => random.pick([0, 1, 2.5, true, null]);
    case 2:
      return () => ({ role: 'assistant', content: random.pick(['', 'x', 'y']) });
    default: {
      const fields = random
        .some(['a', 'b', '__proto__', 'role'], 0.7)
        .map((key) => [key, maker(random, depth + 1)] as const);
      return () => Object.fromEntries(fields.filter(() => random.chance(0.7)).map(([key, make]) => [key, make()]));
    }
  }
}
