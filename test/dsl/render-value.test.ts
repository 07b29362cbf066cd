import { describe, expect, it } from 'vitest';
import { renderJson, renderNumber, renderValue } from '../../src/dsl/render-value.js';
import type { Json } from '../../src/json.js';

describe('renderValue', () => {
  it.each([
    [undefined, ''],
    [null, ''],
    ['', ''],
    ['as "it" is', 'as "it" is'],
    [true, 'true'],
    [0, '0'],
    [1.5, '1.5'],
    [5.0, '5'],
    [[], '[]'],
    [{}, '{}'],
    [{ n: 1.5, t: true, z: null, s: 'q"q' }, '{"n": 1.5, "t": true, "z": null, "s": "q\\"q"}'],
    [[1, 'two', [3], { four: 4 }], '[1, "two", [3], {"four": 4}]'],
    [{ 名: '小明🙂' }, '{"名": "小明🙂"}'],
    [['\n\t\\'], '["\\n\\t\\\\"]'],
  ] satisfies [Json | undefined, string][])('gives %j as %j', (value, text) => {
    expect(renderValue(value)).toBe(text);
  });

  it('joins lists, and nothing else, when it is given a delimiter', () => {
    expect(renderValue(['a', 1, null, [2, 3], { k: 1 }], { delimiter: '; ' })).toBe('a; 1; ; [2, 3]; {"k": 1}');
    expect(renderValue([], { delimiter: ',' })).toBe('');
    expect(renderValue({ a: [1, 2] }, { delimiter: ';' })).toBe('{"a": [1, 2]}');
    expect(renderValue(['a', 'b'], { delimiter: '' })).toBe('ab');
  });

  it('writes an own key named __proto__', () => {
    expect(renderJson(JSON.parse('{"__proto__": {"x": 1}}'))).toBe('{"__proto__": {"x": 1}}');
  });

  it('refuses what is nested too deeply instead of running out of stack', () => {
    const deep: Json = JSON.parse('['.repeat(20_000) + ']'.repeat(20_000));
    expect(() => renderJson(deep)).toThrow(expect.objectContaining({ code: 'TEMPLATE_TOO_LARGE' }));
  });
});

describe('renderNumber', () => {
  it.each([
    [0, '0'],
    [-0, '0'],
    [-3, '-3'],
    [0.1 + 0.2, '0.30000000000000004'],
    [0.0001, '0.0001'],
    [0.00001, '1e-05'],
    [-1.25e-7, '-1.25e-07'],
    [1e-100, '1e-100'],
    [1e16, '10000000000000000'],
    [1e21, '1e+21'],
    [Number.NaN, 'null'],
    [Number.POSITIVE_INFINITY, 'null'],
  ])('writes %d as %s', (value, text) => {
    expect(renderNumber(value)).toBe(text);
  });
});
