import { describe, expect, it } from 'vitest';
import { readTerms, termsFor } from '../../../src/knowledge/base/terms.js';
import { TERMS } from '../../../src/knowledge/search/terms.js';

describe('readTerms', () => {
  it('reads pairs, without the white space around them', () => {
    expect(readTerms([[' 泵', 'pump ']], 'The terms')).toEqual([['泵', 'pump']]);
    expect(readTerms([], 'The terms')).toEqual([]);
  });

  it.each([
    ['no list', { 泵: 'pump' }, 'expected array'],
    ['no pair', [['泵']], 'at [0]'],
    ['three', [['a', 'b', 'c']], 'at [0]'],
    ['an empty term', [['a', ' ']], 'at [0][1]'],
    ['a long term', [['a', 'x'.repeat(101)]], 'at [0][1]'],
    ['too many', Array.from({ length: 2_001 }, () => ['a', 'b']), '2000'],
  ])('refuses %s, and says where', (_, value, said) => {
    expect(() => readTerms(value, 'The terms')).toThrowError(
      expect.objectContaining({ code: 'BAD_REQUEST', message: expect.stringContaining(said) }),
    );
  });
});

describe('termsFor', () => {
  it('has those of the package, of the server and of each dataset', () => {
    expect(termsFor([['a', 'b']], [{ terms: [['c', 'd']] }, {}])).toEqual([...TERMS, ['a', 'b'], ['c', 'd']]);
    expect(TERMS.length).toBeGreaterThanOrEqual(47);
  });
});
