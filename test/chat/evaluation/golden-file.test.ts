import { describe, expect, it } from 'vitest';
import { readGolden } from '../../../src/chat/evaluation/golden-file.js';

const line = (change: object = {}): string => JSON.stringify({ id: 'a', category: 'c', question: 'q?', ...change });

describe('readGolden', () => {
  it('reads a question a line, with defaults, and passes over empty lines', () => {
    const [first, second, ...others] = readGolden(
      `${line()}\n\r\n${line({ id: 'b', match: 'all', answerable: false })}\n`,
      'f',
    );
    expect(first).toEqual({
      ...{ id: 'a', category: 'c', question: 'q?', expected_keywords: [], match: 'any', expected_sources: [] },
      ...{ difficulty: 'medium', answerable: true },
    });
    expect(second).toMatchObject({ id: 'b', match: 'all', answerable: false });
    expect(others).toEqual([]);
  });

  it.each([
    ['no JSON', '{"id":', 'line 1 of "f" is not valid JSON'],
    ['a question without a category', JSON.stringify({ id: 'a', question: 'q' }), 'category'],
    ['a misspelt name', line({ expected_source: ['x'] }), 'expected_source'],
    ['an id that comes twice', `${line()}\n${line()}`, 'line 2 of "f" has the id "a" of another question'],
    ['no question', '\n', '"f" has no question'],
  ])('refuses %s', (_, content, said) => {
    expect(() => readGolden(content, 'f')).toThrowError(
      expect.objectContaining({ code: 'USAGE', message: expect.stringContaining(said) }),
    );
  });
});
