import { firstValueFrom } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { Intent } from '../../../src/chat/intents/intent.js';
import { completeArguments } from '../../../src/chat/stages/complete-arguments.js';
import { parseIntent, parseIntentByRules } from '../../../src/chat/stages/parse-intent.js';
import { everydayTools as tools } from '../../../src/tools/index.js';
import { inputOf, modelOf, refused } from './support/model.js';

const NOW = Date.parse('2026-11-21T12:00:00Z');
const intents = (...list: readonly object[]) => JSON.stringify({ intents: list });

describe('stage 3', () => {
  it('goes by rules, and asks no model for what they know', async () => {
    const model = modelOf(intents({ kind: 'KB', confidence: 1 }));
    const result = await firstValueFrom(
      parseIntent({ message: '北京天气怎么样，再算一下 12*7', tools, model, now: NOW }),
    );
    expect(result.detail).toEqual({
      intents: [
        { kind: 'MCP', tool: 'weather', confidence: 0.95 },
        { kind: 'MCP', tool: 'calculator', confidence: 0.95 },
      ],
      source: 'rule',
    });
    expect(model.asked).toEqual([]);
  });

  it('gives what rules know within the subscription', () => {
    let result: unknown;
    parseIntent({ message: '你好', tools, model: modelOf('silence') }).subscribe((found) => {
      result = found.value;
    });
    expect(result).toMatchObject([{ kind: 'SYSTEM', topic: 'greeting' }]);
  });

  it('asks the model for what no rule knows, with the tools', async () => {
    const answer = intents(
      { kind: 'KB', confidence: 0.6 },
      { kind: 'MCP', tool: 'weather', args: { city: 'Oslo', x: 1 }, confidence: 0.9 },
    );
    const model = modelOf(answer);
    const result = await firstValueFrom(parseIntent({ message: 'shall I wear a coat over there', tools, model }));
    expect(result.value).toEqual([
      { kind: 'MCP', tool: 'weather', args: { city: 'Oslo' }, confidence: 0.9 },
      { kind: 'KB', confidence: 0.6 },
    ]);
    expect(result.detail).toMatchObject({ source: 'model' });
    expect(model.asked[0]?.jsonSchema?.name).toBe('chat_intent');
    expect(inputOf(model.asked[0])).toMatchObject({ message: 'shall I wear a coat over there', history: [] });
  });

  it('lets the model choose tools of other servers by their descriptions', async () => {
    const others = [{ name: 'book_room', description: 'Books a room.', parameters: { type: 'object' } }];
    const model = modelOf(intents({ kind: 'MCP', tool: 'book_room', args: { day: 'monday' }, confidence: 0.9 }));
    const { value } = await firstValueFrom(parseIntent({ message: 'a room for monday', tools, others, model }));
    expect(value).toEqual([{ kind: 'MCP', tool: 'book_room', args: { day: 'monday' }, confidence: 0.9 }]);
    expect(inputOf(model.asked[0])).toMatchObject({ tools: expect.arrayContaining([others[0]]) });
  });

  it.each([
    ['no JSON', 'nothing'],
    ['no intents', intents()],
    ['a tool that there is not', intents({ kind: 'MCP', tool: 'rm', confidence: 1 })],
    ['a kind that there is not', intents({ kind: 'ROOT', confidence: 1 })],
    ['no confidence', intents({ kind: 'KB' })],
    ['too much confidence', intents({ kind: 'KB', confidence: 7 })],
  ])('goes by rules when the model names %s', async (_what, answer) => {
    const result = await firstValueFrom(parseIntent({ message: 'tell me of joins', tools, model: modelOf(answer) }));
    expect(result).toMatchObject({
      value: [{ kind: 'KB', confidence: 0.7 }],
      detail: { source: 'rule' },
      status: 'degraded',
    });
  });

  it('goes by rules when the model fails', async () => {
    const result = await firstValueFrom(parseIntent({ message: 'tell me of joins', tools, model: modelOf(refused) }));
    expect(result).toMatchObject({ value: [{ kind: 'KB' }], status: 'degraded' });
  });

  it('asks for arguments that the model gave in a form that the tool does not take', async () => {
    const model = modelOf(intents({ kind: 'MCP', tool: 'sales', args: { period: 'soon' }, confidence: 0.9 }), '{}');
    const { value } = await firstValueFrom(parseIntent({ message: 'the money that came in', tools, model }));
    expect(value).toEqual([{ kind: 'MCP', tool: 'sales', args: {}, missing: ['period'], confidence: 0.85 }]);
  });

  it('repeats itself from the cache, but not what the model could not say', async () => {
    const cache = new Map<string, readonly Intent[]>();
    const model = modelOf(refused, intents({ kind: 'KB', confidence: 0.9 }));
    const ask = () => firstValueFrom(parseIntent({ message: 'tell me of joins', tools, model, cache }));
    expect((await ask()).status).toBe('degraded');
    expect((await ask()).detail.source).toBe('model');
    expect(await ask()).toMatchObject({ status: 'cache_hit', detail: { source: 'cache' } });
    expect(model.asked).toHaveLength(2);
  });

  it('has its rules for a model that is too slow', () => {
    expect(parseIntentByRules({ message: '3*4', tools }).value).toMatchObject([{ tool: 'calculator' }]);
  });
});

describe('arguments by a model', () => {
  const wanted: Intent = {
    kind: 'MCP',
    tool: 'weather',
    args: { date: 'tomorrow' },
    missing: ['city'],
    confidence: 0.85,
  };
  const complete = (answer: string | Error, intent = wanted) => {
    const model = modelOf(answer);
    const found = firstValueFrom(completeArguments([intent], { message: 'and tomorrow there?', tools, model }));
    return { model, found };
  };

  it('fill what rules did not find, and change nothing else', async () => {
    const { model, found } = complete('{"city": "Oslo", "date": "yesterday"}');
    expect(await found).toEqual([
      { kind: 'MCP', tool: 'weather', args: { date: 'tomorrow', city: 'Oslo' }, confidence: 0.95 },
    ]);
    expect(model.asked[0]?.jsonSchema).toMatchObject({
      name: 'tool_arguments',
      schema: { properties: { city: {} }, required: [] },
    });
    expect(inputOf(model.asked[0])).toMatchObject({
      message: 'and tomorrow there?',
      tool: { name: 'weather' },
      known: { date: 'tomorrow' },
      missing: ['city'],
    });
  });

  it.each<[string | Error]>([
    ['{}'],
    ['{"city": ""}'],
    ['{"city": {"a": 1}}'],
    ['{"__proto__": {"city": "x"}}'],
    ['sorry'],
    [refused],
  ])('stay missing when the model answers %j', async (answer) => {
    expect(await complete(answer).found).toEqual([wanted]);
  });

  it('are not asked for when none are missing, or there is no model', async () => {
    const { missing: _, ...whole } = wanted;
    const { model, found } = complete('{}', whole);
    expect(await found).toEqual([whole]);
    expect(model.asked).toEqual([]);
    expect(await firstValueFrom(completeArguments([wanted], { message: '', tools }))).toEqual([wanted]);
  });
});
