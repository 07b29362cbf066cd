import { lastValueFrom, of, toArray } from 'rxjs';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import { stepActivation } from '../../../marble-tests/support/step-activation.js';
import type { Interrupt } from '../../../src/compose/interrupt.js';
import { CallActivation } from '../../../src/compose/tools/call-activation.js';
import { defineTool } from '../../../src/compose/tools/define-tool.js';
import { type StepTool, toolDefinition } from '../../../src/compose/tools/step-tool.js';
import type { JsonObject } from '../../../src/json.js';
import type { StandardSchema } from '../../../src/standard-schema.js';
import { codeExec } from '../../../src/tools/code-exec.js';

const CALL = new CallActivation(stepActivation(), {
  id: 'call_1',
  name: 'tool',
  answer: undefined,
  answers: new Map(),
  fresh: new Map(),
  memo: undefined,
  isResumed: false,
  options: {},
  schema: undefined,
});

function call(tool: StepTool, args: JsonObject = {}) {
  return lastValueFrom(tool.call(args, CALL).pipe(toArray()));
}

const NAME = { name: 'tool', description: 'A tool.' };

describe('defineTool in the short form', () => {
  it('tells models its arguments as JSON Schema, those with a default as optional', () => {
    const tool = defineTool({
      ...NAME,
      input: z.object({
        query: z.string().describe('What to find.'),
        top: z.int().default(3),
        since: z.date().optional(),
      }),
      run: () => '',
    });
    expect(toolDefinition(tool)).toEqual({
      ...NAME,
      parameters: {
        type: 'object',
        properties: {
          query: { type: 'string', description: 'What to find.' },
          top: expect.objectContaining({ type: 'integer', default: 3 }),
          since: {},
        },
        required: ['query'],
      },
    });
  });

  it('gives the function checked arguments with their types and defaults', async () => {
    const tool = defineTool({
      ...NAME,
      input: z.object({ query: z.string().trim(), top: z.number().default(3) }),
      run: (args) => {
        expectTypeOf(args).toEqualTypeOf<{ query: string; top: number }>();
        return args;
      },
    });
    expect(await call(tool, { query: ' oslo ' })).toEqual([{ text: '{"query":"oslo","top":3}' }]);
  });

  it('takes any Standard Schema that writes JSON Schema, also one that checks later', async () => {
    const schema: StandardSchema<unknown, { n: number }> = {
      '~standard': {
        version: 1,
        vendor: 'ours',
        validate: async (value) => ({ value: { n: Number((value as { n: unknown }).n) } }),
        ...({ jsonSchema: { input: () => ({ type: 'object', properties: { n: {} } }) } } as object),
      },
    };
    const tool = defineTool({ ...NAME, input: schema, run: ({ n }) => n + 1 });
    expect(tool.parameters).toEqual({ type: 'object', properties: { n: {} } });
    expect(await call(tool, { n: '41' })).toEqual([{ text: '42' }]);
  });

  it('takes a JSON Schema, fills in its defaults and checks by it', async () => {
    const tool = defineTool({
      ...NAME,
      input: {
        properties: {
          unit: { type: 'string', enum: ['C', 'F'], default: 'C' },
          days: { type: 'array', items: { $ref: '#/$defs/day' }, maxItems: 2 },
        },
        required: ['days'],
        $defs: { day: { type: 'integer', minimum: 1 } },
      },
      run: (args) => {
        expectTypeOf(args).toEqualTypeOf<JsonObject>();
        return args;
      },
    });
    expect(tool.parameters).toMatchObject({ type: 'object' });
    expect(await call(tool, { days: [1, 2] })).toEqual([{ text: '{"unit":"C","days":[1,2]}' }]);
    await expect(call(tool, { days: [1, 0], unit: 'K' })).rejects.toMatchObject({
      code: 'TOOL_ARGUMENTS',
      details: { tool: 'tool', issues: [{ path: 'unit' }, { path: 'days.1' }] },
    });
  });

  it('refuses arguments that do not fit with every issue, and does not call the function', async () => {
    let calls = 0;
    const tool = defineTool({
      ...NAME,
      input: z.object({ query: z.string(), top: z.int().min(1), deep: z.object({ on: z.boolean() }) }),
      run: () => {
        calls += 1;
        return '';
      },
    });
    await expect(call(tool, { top: 0, deep: { on: 'yes' } })).rejects.toThrow(
      /^The arguments of tool do not fit: query: .+; top: .+; deep\.on: .+\. Call it again with arguments that fit\.$/,
    );
    expect(calls).toBe(0);
  });

  it('needs no arguments', async () => {
    const tool = defineTool({ ...NAME, run: () => 'now' });
    expect(tool.parameters).toEqual({ type: 'object', properties: {} });
    expect(await call(tool, { extra: 1 })).toEqual([{ text: 'now' }]);
  });

  it.each([
    ['text as it is', 'text', [{ text: 'text' }]],
    ['nothing as no text', undefined, [{ text: '' }]],
    ['null as JSON', null, [{ text: 'null' }]],
    ['an object as JSON', { a: [1, 'x'] }, [{ text: '{"a":[1,"x"]}' }]],
    ['a promise by its value', Promise.resolve(7), [{ text: '7' }]],
    ['an Observable piece by piece', of('a', { b: 1 }), [{ text: 'a' }, { text: '{"b":1}' }]],
    ['a promise of a stream as the stream', Promise.resolve(of('a', 'b')), [{ text: 'a' }, { text: 'b' }]],
  ])('gives %s', async (_, result, expected) => {
    expect(await call(defineTool({ ...NAME, run: () => result as unknown }))).toEqual(expected);
  });

  it('gives an async iterable piece by piece', async () => {
    const tool = defineTool({
      ...NAME,
      async *run() {
        yield 'a';
        yield 'b';
      },
    });
    expect(await call(tool)).toEqual([{ text: 'a' }, { text: 'b' }]);
  });

  it('makes of results what its output rule says: text, parts, or both', async () => {
    const asText = defineTool({ ...NAME, run: () => ({ n: 3 }), output: ({ n }) => `${n} pages` });
    const asParts = defineTool({
      ...NAME,
      run: async () => 'https://x.test/p.png',
      output: (url) => [
        { type: 'text', text: 'a map' },
        { type: 'image', url },
      ],
    });
    const asContent = defineTool({ ...NAME, run: () => 5, output: (n) => ({ text: `${n}`, extra: { n } }) });
    expect(await call(asText)).toEqual([{ text: '3 pages' }]);
    expect(await call(asParts)).toEqual([
      {
        text: 'a map',
        parts: [
          { type: 'text', text: 'a map' },
          { type: 'image', url: 'https://x.test/p.png' },
        ],
      },
    ]);
    expect(await call(asContent)).toEqual([{ text: '5', extra: { n: 5 } }]);
  });

  it('says what to do about a result that JSON cannot hold', async () => {
    const tool = defineTool({ ...NAME, run: () => ({ n: 1n }) });
    await expect(call(tool)).rejects.toMatchObject({
      code: 'TOOL_FAILED',
      message: expect.stringContaining('Give the tool an "output"'),
    });
  });

  it('types the answers to its questions by its schema of answers', () => {
    defineTool({
      ...NAME,
      answer: z.object({ isAllowed: z.boolean() }),
      run: (_, { answer, interrupt }) => {
        expectTypeOf(answer).toEqualTypeOf<{ isAllowed: boolean } | undefined>();
        expectTypeOf(interrupt).returns.toEqualTypeOf<Interrupt>();
        return String(answer?.isAllowed);
      },
    });
  });

  it('leaves tools of canvases as they are', () => {
    expect(defineTool(codeExec)).toBe(codeExec);
  });

  it.each([
    ['a name with blanks', { name: 'my tool' }, 'letters, digits, "_" and "-"'],
    ['a name that is too long', { name: 'x'.repeat(65) }, 'at most 64'],
    ['no description', { description: undefined }, '"description" must be text'],
    ['no function', { run: 'x' }, '"run" must be a function'],
    ['a time limit of nothing', { timeoutMs: 0 }, '"timeoutMs" must be a whole number of at least 1'],
    ['a list as arguments', { input: { type: 'array' } }, 'must describe an object'],
    ['a zod schema of no object', { input: z.string() }, 'must describe an object'],
    ['a keyword that cannot be checked', { input: { not: { required: ['x'] } } }, 'cannot be used'],
    ['a reference to another file', { input: { properties: { a: { $ref: 'x.json' } } } }, 'cannot be used'],
    ['text as arguments', { input: 'x' }, '"input" must be'],
    [
      'a schema without JSON Schema',
      { input: { '~standard': { version: 1, vendor: 'ours', validate: (value: unknown) => ({ value }) } } },
      'a schema of ours that gives no JSON Schema',
    ],
  ])('refuses %s', (_, wrong, message) => {
    const sketch = { ...NAME, run: () => '', ...wrong } as never;
    expect(() => defineTool(sketch)).toThrow(message);
    expect(() => defineTool(sketch)).toThrow(expect.objectContaining({ code: 'OPTION_INVALID' }));
  });
});
