import { describe, expect, it } from 'vitest';
import { createRules } from '../../../src/knowledge/graph/rules/extract-by-rules.js';
import { findByPatterns } from '../../../src/knowledge/graph/rules/own-patterns.js';
import { readOwnRules } from '../../../src/knowledge/graph/rules/own-rules.js';

const HOSTED = {
  pattern: '(?P<source>[A-Z]\\w+)(?: \\w+){0,3} hosted on (?P<target>[A-Z]\\w+)',
  relation: 'hosted on',
};
const LOCATED = { pattern: '(?P<source>\\p{Han}{2,6})(?:不)?部署在(?P<target>\\p{Han}{2,6})', relation: 'hosted_on' };
const TERM = { name: 'Lyra Scheduler', type: 'scheduler', aliases: ['the harp', 'Lyra'] };

describe('rules of a user', () => {
  const statedIn = async (text: string): Promise<string[]> => {
    const { terms, patterns } = await readOwnRules({ terms: [TERM], patterns: [HOSTED, LOCATED] });
    const { relations } = createRules({ terms, patterns: await findByPatterns(patterns) })(text);
    return relations
      .filter(({ isExplicit, relation }) => isExplicit && relation === 'hosted_on')
      .map(({ source, target }) => `${source} > ${target}`);
  };

  it.each<[string, string[]]>([
    ['Orion is hosted on Vega. Altair was always hosted on Deneb.', ['Orion > Vega', 'Altair > Deneb']],
    ['We know that Lyra is hosted on Vega.', ['Lyra Scheduler > Vega']],
    ['Orion is hosted on Vega, not on Deneb.', ['Orion > Vega']],
    ['It was never Altair, but Orion is hosted on Vega.', ['Orion > Vega']],
    ['Orion is not hosted on Vega.', []],
    ['Orion is no longer hosted on Vega.', []],
    ['It is not true that Orion is hosted on Vega.', []],
    ['Is it so that Orion is hosted on Vega?', []],
    ['If Orion is hosted on Vega, we stay.', []],
    ['Perhaps Orion is hosted on Vega.', []],
    ['猎户引擎部署在织女机房。', ['猎户引擎 > 织女机房']],
    ['猎户引擎不部署在织女机房。', []],
    ['如果猎户引擎部署在织女机房，我们就留下。', []],
    ['猎户引擎部署在织女机房吗？', []],
  ])('%s', async (text, expected) => {
    expect(await statedIn(text)).toEqual(expected);
  });

  it('find terms by all their names, with their types', async () => {
    const { terms } = await readOwnRules({ terms: [TERM] });
    const { mentions } = createRules({ terms })('We like the harp; lyra scheduler is fine.');
    expect(mentions.map(({ name, type }) => [name, type])).toEqual([
      ['Lyra Scheduler', 'scheduler'],
      ['Lyra Scheduler', 'scheduler'],
    ]);
  });
});

describe('rules that cannot be taken', () => {
  const ends = (between: string): object => ({
    patterns: [{ pattern: `(?P<source>\\w+)${between}(?P<target>\\w+)`, relation: 'r' }],
  });

  it.each<[string, object, string]>([
    ['no pattern', ends('('), 'patterns[0].pattern: it cannot be read'],
    ['a look-ahead', ends('(?=x)'), 'patterns[0].pattern: it cannot be read'],
    ['an empty pattern', { patterns: [{ pattern: ' ', relation: 'r' }] }, 'patterns[0].pattern: it is empty'],
    ['a pattern without ends', { patterns: [{ pattern: 'hosted', relation: 'r' }] }, 'no group "source" and no group'],
    ['one end', { patterns: [{ pattern: '(?P<source>x) on', relation: 'r' }] }, 'it has no group "target"'],
    ['a long pattern', ends('x'.repeat(500)), 'patterns[0].pattern: it has 530 characters; at most 500'],
    ['one that fits every sentence', ends('.*'), 'patterns[0].pattern: it fits every sentence'],
    [
      'one that fits every sentence of Chinese',
      { patterns: [{ pattern: '(?P<source>\\p{Han}+)了(?P<target>\\p{Han}*)|(?P<a>\\p{Han})', relation: 'r' }] },
      'it fits every sentence',
    ],
    [
      'one that fits an empty text',
      { patterns: [{ pattern: '(?P<source>a*)(?P<target>b*)', relation: 'r' }] },
      'patterns[0].pattern: it fits an empty text',
    ],
    ['a control character in a pattern', ends('\u0000'), 'patterns[0].pattern: it holds a control'],
    ['no relation', { patterns: [{ ...HOSTED, relation: ' ' }] }, 'patterns[0].relation: it is empty'],
    ['the second of two', { patterns: [HOSTED, { pattern: '[', relation: 'r' }] }, 'patterns[1].pattern: it cannot'],
    ['101 patterns', { patterns: Array.from({ length: 101 }, () => HOSTED) }, 'patterns: 101 of them'],
    [
      '2,001 terms',
      { terms: Array.from({ length: 2_001 }, (_, at) => ({ name: `n${at}`, type: 't' })) },
      'terms: 2001',
    ],
    ['a term without a name', { terms: [{ ...TERM, name: '' }] }, 'terms[0].name: it is empty'],
    ['a long type', { terms: [{ ...TERM, type: 'x'.repeat(101) }] }, 'terms[0].type: it has 101'],
    ['a control character', { terms: [{ ...TERM, aliases: ['a', 'b\u0000'] }] }, 'terms[0].aliases[1]: it holds'],
    [
      'the name of another',
      { terms: [TERM, { name: 'LYRA', type: 't' }] },
      'terms[1].name: "LYRA" is a name of terms[0]',
    ],
  ])('%s', async (_, given, why) => {
    await expect(readOwnRules(given)).rejects.toMatchObject({
      code: 'BAD_REQUEST',
      message: expect.stringContaining(why),
    });
  });
});
