import { describe, expect, it } from 'vitest';
import { createRules } from '../../../src/knowledge/graph/rules/extract-by-rules.js';
import { TECHNICAL_TERMS } from '../../../src/knowledge/graph/rules/technical-terms.js';
import { SENTENCES } from './sentences.js';

const rules = createRules();

describe('relations by rules', () => {
  it.each(SENTENCES)('%s', (sentence, ...expected) => {
    const stated = rules(sentence).relations.filter(({ isExplicit }) => isExplicit);
    expect(stated.map(({ source, relation, target }) => `${source} ${relation} ${target}`)).toEqual(expected);
  });
});

describe('names by rules', () => {
  it('knows at least 55 technical terms', () => {
    expect(TECHNICAL_TERMS.length).toBeGreaterThanOrEqual(55);
  });

  const namesIn = (text: string): string[] => rules(text).mentions.map(({ name }) => name);

  it.each<[string, string[]]>([
    ['The director Ed Wood was born in New York City.', ['Ed Wood', 'New York City']],
    ['Scott Derrickson wrote "Deliver Us from Evil" in 2014.', ['Scott Derrickson', 'Deliver Us from Evil']],
    ['K8s and Postgres run here; react to it.', ['Kubernetes', 'PostgreSQL']],
    ['他读了《红楼梦》。', ['红楼梦']],
    ['Put ":" or "--" behind "Salt Atlas".', ['Salt Atlas']],
    ['Everything was quiet. However it rained.', []],
    ['University of Oxford students', ['University of Oxford']],
  ])('%s', (text, expected) => {
    expect(namesIn(text)).toEqual(expected);
  });

  it('tells where each name stands', () => {
    const text = 'We moved.\n\nThen Redis went to Ed Wood.';
    for (const { name, start, end } of rules(text).mentions) expect(text.slice(start, end)).toBe(name);
    expect(rules(text).mentions).toHaveLength(2);
  });

  it('joins at most 30 names of a paragraph, with half the weight', () => {
    const text = Array.from({ length: 60 }, (_, at) => `we saw Name${at}x`).join(', ');
    const { relations } = rules(text);
    expect(relations).toHaveLength((30 * 29) / 2);
    expect(new Set(relations.map(({ weight }) => weight))).toEqual(new Set([0.5]));
  });
});
