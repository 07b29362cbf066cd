import { describe, expect, it } from 'vitest';
import type { Intent } from '../../../src/chat/intents/intent.js';
import { parseIntents } from '../../../src/chat/intents/parse-intents.js';
import { answerDirectly } from '../../../src/chat/stages/answer-directly.js';
import { guideAmbiguity } from '../../../src/chat/stages/guide-ambiguity.js';

const kb = (confidence: number, more: Partial<Intent> = {}): Intent => ({ kind: 'KB', confidence, ...more });
const mcp = (tool: string, confidence: number, more: Partial<Intent> = {}): Intent => ({
  kind: 'MCP',
  tool,
  confidence,
  ...more,
});

describe('stage 4', () => {
  it.each<[string, readonly Intent[], object]>([
    ['one sure intent', [kb(0.7)], { confidence: 0.7, margin: 1, options: [] }],
    [
      'two of a kind, however close',
      [mcp('weather', 0.9), mcp('sales', 0.9)],
      { confidence: 0.9, margin: 1, options: [] },
    ],
    ['two kinds 0.15 apart', [mcp('weather', 0.85), kb(0.7)], { confidence: 0.85, margin: 0.15, options: [] }],
    [
      'two kinds in two parts of a message',
      [mcp('weather', 0.75, { text: 'a' }), kb(0.7, { text: 'b' })],
      { confidence: 0.75, margin: 1, options: [] },
    ],
  ])('goes on with %s', (_what, intents, detail) => {
    expect(guideAmbiguity(intents, 'x')).toEqual({ detail });
  });

  it.each<[string, readonly Intent[], string]>([
    ['less than 0.7', [kb(0.69)], 'below 0.7'],
    ['two kinds less than 0.15 apart', [mcp('weather', 0.84), kb(0.7)], '0.14 apart'],
    [
      'two kinds of which a third of the first kind stands between',
      [mcp('weather', 0.9), mcp('sales', 0.89), kb(0.8)],
      '0.1 apart',
    ],
  ])('asks back with %s', (_what, intents, reason) => {
    const { answer, detail } = guideAmbiguity(intents, 'hm');
    expect(answer?.reason).toContain(reason);
    expect(answer?.text).toContain('1. ');
    const options = detail.options as string[];
    expect(options.length).toBeGreaterThan(1);
    expect(options.length).toBeLessThanOrEqual(4);
    expect(new Set(options).size).toBe(options.length);
  });

  it('asks in the language of the message', () => {
    expect(guideAmbiguity([kb(0.2)], '那个').answer?.text).toContain('您是想');
    expect(guideAmbiguity([kb(0.2)], 'that').answer?.text).toContain('Would you like to');
  });

  it('asks for what a tool needs when nothing else is asked', () => {
    const missing = mcp('weather', 0.85, { missing: ['city'] });
    expect(guideAmbiguity([missing], '今天天气怎么样').answer).toEqual({
      text: '您想查询哪个城市的天气？',
      reason: 'the tool weather needs city',
    });
    expect(guideAmbiguity([missing, kb(0.7, { text: 'b' })], 'x').answer).toBeUndefined();
    expect(guideAmbiguity([mcp('dice', 0.9, { missing: ['sides'] })], 'x').answer?.text).toBe('Please give "sides".');
  });

  it('goes on with nothing', () => {
    expect(guideAmbiguity([], 'x')).toEqual({ detail: { confidence: 0, margin: 0, options: [] } });
  });
});

describe('stage 5', () => {
  it.each([
    ['你好', 'greeting', '您好'],
    ['hello', 'greeting', 'Hello'],
    ['你是谁', 'identity', '我是'],
    ['who are you?', 'identity', 'I am'],
    ['你能做什么', 'help', '知识库'],
    ['help', 'help', 'knowledge base'],
    ['谢谢', 'thanks', '不客气'],
    ['thanks, that helped', 'thanks', 'You are welcome'],
  ])('answers %s from a template', (message, kind, words) => {
    const { answer, detail } = answerDirectly(parseIntents(message), message);
    expect(detail).toEqual({ kind });
    expect(answer?.text).toContain(words);
  });

  it('says nothing to anything else', () => {
    expect(answerDirectly(parseIntents('北京天气'), '北京天气')).toEqual({ detail: { kind: null } });
    expect(answerDirectly([], '')).toEqual({ detail: { kind: null } });
    const mixed: readonly Intent[] = [{ kind: 'SYSTEM', topic: 'help', confidence: 1 }, kb(0.7)];
    expect(answerDirectly(mixed, 'x').answer).toBeUndefined();
  });

  it('goes by the name that the operator gave it', () => {
    expect(answerDirectly(parseIntents('who are you'), 'who are you', { name: 'Ada' }).answer?.text).toContain(
      'assistant of Ada',
    );
  });
});
