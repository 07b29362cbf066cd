import { describe, expect, it } from 'vitest';
import { isTooDeep, MAX_JSON_DEPTH } from '../src/json.js';

const nested = (levels: number): unknown => JSON.parse('['.repeat(levels) + ']'.repeat(levels));

describe('isTooDeep', () => {
  it.each([
    ['a text', 'x', false],
    ['null', null, false],
    ['as many levels as are allowed', nested(MAX_JSON_DEPTH), false],
    ['one more', nested(MAX_JSON_DEPTH + 1), true],
    ['levels without end', nested(100_000), true],
    ['one deep branch among flat ones', { a: 1, b: [nested(MAX_JSON_DEPTH)] }, true],
  ])('judges %s', (_, value, expected) => {
    expect(isTooDeep(value)).toBe(expected);
  });
});
