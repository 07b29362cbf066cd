import { describe, expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import type { EngineError } from '../../src/errors.js';
import { assistantMessage } from '../../src/models/messages.js';
import { type ParseMessageOptions, parseMessage } from '../../src/models/parse-message.js';
import type { StandardSchema } from '../../src/standard-schema.js';

const book = z.object({ title: z.string(), pages: z.number().default(1) });
const call = (name: string, text: string) => ({ id: `call_${name}`, name, arguments: text });

function failure(work: () => unknown): EngineError {
  try {
    work();
  } catch (error) {
    return error as EngineError;
  }
  throw new Error('nothing was thrown');
}

describe('parseMessage', () => {
  it.each([
    ['alone', '{"title":"Oslo"}'],
    ['with blanks around it', '\n {"title":"Oslo"} \n'],
    ['in a fenced block', '```json\n{"title":"Oslo"}\n```'],
    ['in a fenced block without a language, between words', 'Here you are:\n```\n{"title":"Oslo"}\n```\nEnjoy.'],
    ['in the first fenced block that is JSON', '```ts\nconst a = 1;\n```\n\n```json\n{"title":"Oslo"}```'],
    ['in lines that end in the way of Windows', '```json\r\n{"title":"Oslo"}\r\n```\r\n'],
  ])('reads JSON from the content, %s', (_, content) => {
    const read = parseMessage(book);
    const value = read(assistantMessage(content));
    expectTypeOf(value).toEqualTypeOf<{ title: string; pages: number }>();
    expect(value).toEqual({ title: 'Oslo', pages: 1 });
  });

  it('does not look for fences inside of JSON', () => {
    const content = JSON.stringify({ title: '```json\n{"title":"Rome"}\n```' });
    expect(parseMessage(book)(assistantMessage(content)).title).toContain('```');
  });

  it.each<[string, ParseMessageOptions, unknown]>([
    ['the first call', { from: 'toolCall' }, { title: 'Oslo' }],
    ['the first call of a tool', { from: 'toolCall', tool: 'shelve' }, { title: 'Rome' }],
    ['a value inside', { from: 'toolCall', tool: 'shelve', path: 'books.1.title' }, 'Bergen'],
  ])('reads the arguments of %s', (_, options, expected) => {
    const toolCalls = [
      call('find', '{"title":"Oslo"}'),
      call('shelve', '{"title":"Rome","books":[{},{"title":"Bergen"}]}'),
      call('shelve', '{"title":"never"}'),
    ];
    const read = parseMessage(z.union([z.string(), z.object({ title: z.string() })]), options);
    expect(read(assistantMessage('', { toolCalls }))).toEqual(expected);
  });

  it('takes a call without arguments for one with none', () => {
    const read = parseMessage(z.object({}), { from: 'toolCall' });
    expect(read(assistantMessage('', { toolCalls: [call('now', '')] }))).toEqual({});
  });

  it('takes a schema of any library that implements Standard Schema', () => {
    const positive: StandardSchema<unknown, number> = {
      '~standard': {
        version: 1,
        vendor: 'own',
        validate: (value) =>
          typeof value === 'number' && value > 0
            ? { value }
            : { issues: [{ message: 'must be above 0', path: [{ key: 'deep' }, 0] }] },
      },
    };
    expect(parseMessage(positive, { path: 'a.b' })(assistantMessage('{"a":{"b":3}}'))).toBe(3);
    const error = failure(() => parseMessage(positive, { path: 'a.b' })(assistantMessage('{"a":{"b":-3}}')));
    expect(error.message).toContain('a.b.deep.0: must be above 0');
  });

  it.each<[string, Parameters<typeof assistantMessage>, ParseMessageOptions, string, string]>([
    ['text', ['I do not know.'], {}, 'is not valid JSON (line 1, column 1). Received: I do not know.', ''],
    ['nothing', [''], {}, 'Received: nothing', ''],
    ['a fence that never ends', ['```json\n{"title":"Oslo"}'], {}, 'is not valid JSON', ''],
    ['another form', ['{"title":1}'], {}, 'title: ', ''],
    ['nothing at the path', ['{"a":{"c":1}}'], { path: 'a.b.c' }, 'has nothing at "a.b". Received: {"c":1}', 'a.b'],
    [
      'only an inherited name at the path',
      ['{}'],
      { path: 'constructor.name' },
      'has nothing at "constructor"',
      'constructor',
    ],
    ['a position that is none', ['[1]'], { path: 'length' }, 'has nothing at "length"', 'length'],
    ['no call', ['{"title":"x"}'], { from: 'toolCall' }, 'The answer has no tool call', ''],
    [
      'no call of the tool',
      ['', { toolCalls: [call('find', '{}')] }],
      { from: 'toolCall', tool: 'shelve' },
      'no call of the tool "shelve". Received: find',
      '',
    ],
    [
      'arguments that are no JSON',
      ['', { toolCalls: [call('find', '{"a"')] }],
      { from: 'toolCall' },
      'The arguments of the call of "find" are not valid JSON',
      '',
    ],
  ])('refuses %s, with the path and what was received', (_, message, options, fragment, path) => {
    const error = failure(() => parseMessage(book, options)(assistantMessage(...message)));
    expect(error).toMatchObject({ code: 'OUTPUT_INVALID', details: { path } });
    expect(error.message).toContain(fragment);
  });

  it('ends its sentences once, also where the schema has ended its own', () => {
    const dotless = z.object({ title: z.string().regex(/^[^.]*$/, 'A title has no full stop.') });
    const error = failure(() => parseMessage(dotless)(assistantMessage('{"title":"Oslo."}')));
    expect(error.message).toContain('does not fit: title: A title has no full stop. Received:');
  });

  it('quotes long answers in part only', () => {
    const error = failure(() => parseMessage(book)(assistantMessage('x'.repeat(100_000))));
    expect(error.message.length).toBeLessThan(500);
  });

  it('tries a hundred blocks of an answer, and no more', () => {
    const blocks = (count: number): string => `${'```\n\n```\n'.repeat(count)}\`\`\`\n{"title":"Oslo"}\n\`\`\``;
    expect(parseMessage(book)(assistantMessage(blocks(99))).title).toBe('Oslo');
    expect(failure(() => parseMessage(book)(assistantMessage(blocks(100)))).code).toBe('OUTPUT_INVALID');
  });

  it('refuses a path with an empty name when it is made', () => {
    expect(failure(() => parseMessage(book, { path: 'a..b' }))).toMatchObject({
      code: 'OPTION_INVALID',
      message: expect.stringContaining('received "a..b"'),
    });
  });

  it('refuses a schema that checks asynchronously, also one that fails', () => {
    const slow = (result: Promise<never>): StandardSchema<unknown, never> => ({
      '~standard': { version: 1, vendor: 'own', validate: () => result },
    });
    const read = parseMessage(slow(Promise.reject(new Error('late'))));
    expect(failure(() => read(assistantMessage('{}'))).code).toBe('OPTION_INVALID');
  });
});
