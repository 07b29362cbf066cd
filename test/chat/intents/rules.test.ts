import { describe, expect, it } from 'vitest';
import { parseIntents } from '../../../src/chat/intents/parse-intents.js';
import { MAX_RULED, type ToolRule } from '../../../src/chat/intents/rule.js';
import { toolRules } from '../../../src/chat/intents/rules/index.js';
import { readUtterance } from '../../../src/chat/intents/utterance.js';
import { everydayTools } from '../../../src/tools/index.js';

const NOW = Date.parse('2026-11-21T12:00:00Z');

describe('rules of tools', () => {
  it('are one for each everyday tool', () => {
    expect(toolRules.map(({ tool }) => tool).sort()).toEqual(everydayTools.map(({ name }) => name).sort());
  });

  it('give arguments that the tools take', () => {
    const schemas = new Map(everydayTools.map((tool) => [tool.name, tool.arguments]));
    for (const said of [
      '北京明天天气',
      'sales for Q4 2025 in the west',
      'TKT-1',
      '3*4',
      '东京几点',
      '100美元换日元',
      'cpu usage in the last hour',
      '搜索 流',
    ]) {
      for (const { tool = '', args = {} } of parseIntents(said, { now: NOW })) {
        for (const [name, value] of Object.entries(args))
          expect(schemas.get(tool)?.[name]?.safeParse(value).success, said).toBe(true);
      }
    }
  });

  it('are joined by one more as data', () => {
    const dice: ToolRule = {
      tool: 'dice',
      find: ({ lower }) => (lower.includes('dice') ? [{ args: { sides: 6 } }] : []),
    };
    const rules = [...toolRules, dice];
    expect(parseIntents('roll a dice', { now: NOW, rules })).toEqual([
      { kind: 'MCP', tool: 'dice', args: { sides: 6 }, text: 'roll a dice', confidence: 0.95 },
    ]);
  });

  it('are asked only of tools that may be called', () => {
    expect(parseIntents('3*4', { now: NOW, tools: ['weather'] })).toEqual([{ kind: 'KB', confidence: 0.7 }]);
  });

  it('take the zone of the user for the time where they are', () => {
    const [intent] = parseIntents('what time is it', { now: NOW, timezone: 'Europe/Oslo' });
    expect(intent?.args).toEqual({ timezone: 'Europe/Oslo' });
  });

  it('are sure of complete requests, less of others, and least of what none knows', () => {
    const sure = (said: string) => parseIntents(said, { now: NOW }).map(({ confidence }) => confidence);
    expect(sure('北京天气')).toEqual([0.95]);
    expect(sure('今天天气')).toEqual([0.85]);
    expect(sure('什么是检查点')).toEqual([0.7]);
    expect(sure('hello')).toEqual([0.98]);
    expect(sure('什么是检查点？北京天气怎么样？')).toEqual([0.95, 0.7]);
  });

  it.each(['', ' ', '???', '👍', 'asdf qwer', "'; drop table sales; --", '[1]', '\u0000', 'of the and'])(
    'send %j to the knowledge base',
    (said) => {
      expect(parseIntents(said, { now: NOW })).toEqual([{ kind: 'KB', confidence: 0.7 }]);
    },
  );

  it('name eight intents at most', () => {
    const many = Array.from({ length: 11 }, (_, at) => `${at}+1`).join('; ');
    expect(parseIntents(many, { now: NOW }).length).toBeLessThanOrEqual(8);
  });
});

/** Beginnings that many patterns can begin with, and ends that none can end with. */
const HOSTILE = [
  ...[
    'a',
    ' ',
    '1',
    '1,',
    '1 ',
    '(',
    '((1',
    '1+',
    '-',
    '的',
    '三',
    '百',
    '天气',
    '工单',
    '销售',
    'weather in ',
    'in a ',
    'a b ',
    'what is ',
    'usd ',
    '$1 ',
  ],
  ...[
    'hi ',
    'hello',
    '谢谢',
    '你好',
    'thanks ',
    'search ',
    '搜索',
    'and ',
    'and then ',
    '然后',
    'cpu ',
    '"',
    "'",
    '#',
    'tkt-',
    'tkt 1',
    'two hundred and ',
    '100美元',
    '上一',
    'q1',
    '１',
    '% of ',
    '1 of ',
  ],
];

describe.each(HOSTILE)('a text of %j again and again', (piece) => {
  it('is read by every rule as far as rules read', () => {
    const said = `${piece.repeat(Math.ceil(MAX_RULED / piece.length)).slice(0, MAX_RULED - 1)}!`;
    const utterance = readUtterance(said, { now: NOW });
    for (const { find } of toolRules) expect(Array.isArray(find(utterance))).toBe(true);
    expect(parseIntents(said, { now: NOW }).length).toBeGreaterThan(0);
  });

  it('is for the knowledge base with a hundred thousand characters', () => {
    const said = piece.repeat(Math.ceil(100_000 / piece.length));
    expect(parseIntents(said, { now: NOW })).toEqual([{ kind: 'KB', confidence: 0.7 }]);
  });
});
