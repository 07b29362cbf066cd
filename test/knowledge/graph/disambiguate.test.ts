import { beforeAll, describe, expect, it } from 'vitest';
import { compareNames } from '../../../src/knowledge/graph/names/compare-names.js';
import { disambiguate } from '../../../src/knowledge/graph/names/disambiguate.js';
import { nameForm, type Simplify } from '../../../src/knowledge/graph/names/name-forms.js';
import { loadChinese } from '../../../src/knowledge/words/chinese.js';
import { HARD_NAMES } from './hard-names.js';

let simplify: Simplify;
beforeAll(async () => {
  ({ simplify } = await loadChinese(() => Promise.reject(new Error('no dictionary is needed'))));
});

const likeness = (left: string, right: string) => compareNames(nameForm(left, simplify), nameForm(right, simplify));

describe('names by their letters', () => {
  it.each<[string, string, number, string]>([
    ['Redis', 'Redis', 1, 'exact'],
    ['bge-m3', 'BGE M3', 1, 'spelling'],
    ['資料庫', '资料库', 1, 'spelling'],
    ['SCP', 'StreamChatPipeline', 0.9, 'abbreviation'],
    ['UN', 'United Nations', 0.9, 'abbreviation'],
    ['北大', '北京大学', 0.9, 'abbreviation'],
    ['Stage 2', 'Stage 3', 0, 'apart'],
    ['GPT-4', 'GPT-4o', 0, 'apart'],
    ['Mercury (god)', 'Mercury (planet)', 0, 'apart'],
  ])('%s and %s', (left, right, score, by) => {
    expect(likeness(left, right)).toEqual({ score, by });
    expect(likeness(right, left)).toEqual({ score, by });
  });

  it('gives a name inside of another 0.8 at most, the less the shorter it is', () => {
    const [near, far] = [likeness('Redis Labs', 'Redis Labs Inc'), likeness('Redis', 'Redis Labs Incorporated')];
    expect(near.score).toBeLessThan(0.8);
    expect(far.score).toBeLessThan(near.score);
  });
});

describe('a hard list of names', () => {
  it('has at least three of four right, and at most one of twenty wrongly merged', () => {
    const verdicts = HARD_NAMES.map(({ mention, candidates, answer }) => {
      const { verdict, id } = disambiguate(mention, candidates, simplify);
      const given = verdict === 'same' ? id : undefined;
      return {
        name: mention.name,
        given,
        answer,
        isRight: given === answer,
        isWrongMerge: given !== undefined && given !== answer,
      };
    });
    const wrong = verdicts.filter(({ isRight }) => !isRight);
    expect(wrong.length / verdicts.length, JSON.stringify(wrong)).toBeLessThanOrEqual(0.1);
    const merged = verdicts.filter(({ isWrongMerge }) => isWrongMerge);
    expect(merged.length / verdicts.length, JSON.stringify(merged)).toBeLessThanOrEqual(0.05);
  });

  it('does not depend on the order of candidates', () => {
    for (const { mention, candidates } of HARD_NAMES)
      expect(disambiguate(mention, [...candidates].reverse(), simplify)).toEqual(
        disambiguate(mention, candidates, simplify),
      );
  });

  it('leaves it undecided between two that are equally good', () => {
    const about = 'an international organisation';
    const candidates = [
      { id: 'a', name: 'United Nations', about },
      { id: 'b', name: 'Universal Network', about },
    ];
    expect(disambiguate({ name: 'UN', about }, candidates, simplify).verdict).toBe('maybe');
  });
});
