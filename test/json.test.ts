import { describe, expect, it } from 'vitest';
import { isTooDeep, jsonErrorPlace, MAX_JSON_DEPTH } from '../src/json.js';

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

describe('the place where JSON breaks', () => {
  it.each([
    ['', 'line 1, column 1'],
    ['  ', 'line 1, column 3'],
    ['{"a": 1', 'line 1, column 8'],
    ['{"a": 1,\n "b": [1, 2,\n  ]}', 'line 3, column 3'],
    ['{"a" 1}', 'line 1, column 6'],
    ['{a: 1}', 'line 1, column 2'],
    ["{'a': 1}", 'line 1, column 2'],
    ['{"a": 1}}', 'line 1, column 9'],
    ['[1 2]', 'line 1, column 4'],
    ['[1, 2}', 'line 1, column 6'],
    ['{"a": tru}', 'line 1, column 7'],
    ['[01]', 'line 1, column 3'],
    ['{\n\n  // why\n}', 'line 3, column 3'],
    ['["open', 'line 1, column 7'],
    ['["a\nb"]', 'line 1, column 4'],
    ['["a\\x"]', 'line 1, column 4'],
    ['["a", ]', 'line 1, column 7'],
    [':', 'line 1, column 1'],
    ['NaN', 'line 1, column 1'],
  ])('of %j is %s', (text, place) => {
    expect(jsonErrorPlace(text)).toBe(place);
  });

  it.each(['null', '0', '""', '[]', '{}', ' {"a": [-1.5e+3, true, false, null, "\\u00e9\\n", {}], "b": {"c": []}} '])(
    'is nowhere in %s',
    (text) => {
      expect(jsonErrorPlace(text)).toBeUndefined();
    },
  );

  it('is the end of every text that breaks off', () => {
    const text = '{"name": "a \\" b", "list": [1.5, true, null, {"x": {}}]}';
    for (let end = 0; end < text.length; end += 1) {
      const part = text.slice(0, end);
      // In the middle of a word or an escape it is the beginning of that.
      const column = Number(/column (\d+)$/.exec(jsonErrorPlace(part) ?? '')?.[1]);
      expect(column, part).toBeLessThanOrEqual(end + 1);
      expect(column, part).toBeGreaterThan(end - 5);
    }
  });
});
