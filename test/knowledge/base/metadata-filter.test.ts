import { describe, expect, it } from 'vitest';
import { readMetadataFilter } from '../../../src/knowledge/base/metadata-filter.js';
import { metadataTest } from '../../../src/knowledge/search/metadata-filter.js';

const METADATA = { author: 'Ada', year: 1843, tags: ['Engine', 'notes'], empty: '', none: null, date: '2024-05-01' };

const fits = (name: string, operator: string, value: string | number | string[] = '') => {
  const filter = readMetadataFilter({ conditions: [{ name, comparison_operator: operator, value }] });
  return filter !== undefined && metadataTest(filter)(METADATA);
};

describe('a filter by metadata', () => {
  it.each([
    ['author', 'is', 'ada', true],
    ['author', '=', 'Bob', false],
    ['author', 'not is', 'Bob', true],
    ['author', '≠', 'Ada', false],
    ['missing', '≠', 'Ada', true],
    ['tags', 'is', 'engine', true],
    ['tags', 'not contains', 'eng', false],
    ['author', 'contains', 'd', true],
    ['author', 'in', 'Bob, Ada', true],
    ['author', 'in', ['Bob', 'Eve'], false],
    ['author', 'not in', 'Bob,Eve', true],
    ['author', 'start with', 'a', true],
    ['author', 'end with', 'a', true],
    ['year', '>', '999', true],
    ['year', '<', 1843, false],
    ['year', '≥', '1843', true],
    ['year', '≤', '1842', false],
    ['date', '>', '2024-04-30', true],
    ['missing', '>', '1', false],
    ['empty', 'empty', '', true],
    ['none', 'empty', '', true],
    ['author', 'not empty', '', true],
    ['constructor', 'not empty', '', false],
  ] as const)('finds that %s %s %s is %s', (name, operator, value, expected) => {
    expect(fits(name, operator, value as string)).toBe(expected);
  });

  it('asks for all conditions, or for one', () => {
    const conditions = [
      { name: 'author', comparison_operator: 'is', value: 'Ada' },
      { key: 'year', op: '=', value: '1900' },
    ];
    const read = (logic: string) =>
      readMetadataFilter({ logic, conditions }) as NonNullable<ReturnType<typeof readMetadataFilter>>;
    expect(metadataTest(read('and'))(METADATA)).toBe(false);
    expect(metadataTest(read('or'))(METADATA)).toBe(true);
  });

  it('reads that of the tool Retrieval, and none where it is disabled', () => {
    const manual = [{ key: 'author', op: 'is', value: 'Ada' }];
    expect(readMetadataFilter({ method: 'manual', manual })).toMatchObject({ conditions: [{ name: 'author' }] });
    expect(readMetadataFilter({ method: 'disabled', manual })).toBeUndefined();
    expect(readMetadataFilter({})).toBeUndefined();
  });

  it.each([
    [{ conditions: 'x' }],
    [{ conditions: ['x'] }],
    [{ conditions: [{ name: 'a', comparison_operator: 'toString' }] }],
  ])('refuses %j', (given) => {
    expect(() => readMetadataFilter(given)).toThrow(expect.objectContaining({ code: 'BAD_REQUEST' }));
  });
});
