import { describe, expect, it, vi } from 'vitest';
import { isTooDeep, JSON_LIMITS, jsonErrorPlace, MAX_JSON_DEPTH, parseJson, whyNotJson } from '../src/json.js';

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

describe('reading JSON from outside', () => {
  const object = (names: number, prefix = 'k'): string =>
    `{${Array.from({ length: names }, (_, at) => `"${prefix}${at}":0`).join()}}`;
  const list = (length: number, item: (at: number) => string): string =>
    `[${Array.from({ length }, (_, at) => item(at)).join()}]`;

  it.each<[string, string]>([
    ['as many names of one object as are allowed', object(JSON_LIMITS.names)],
    ['many objects that are alike', list(40_000, () => object(10))],
    ['unlike objects', list(900, (at) => object(100, `o${at}_`))],
    ['as many levels as are allowed', `${'['.repeat(MAX_JSON_DEPTH)}${']'.repeat(MAX_JSON_DEPTH)}`],
    ['colons, brackets and quotes within texts', list(1_000, () => '"\\\\\\":[{\\"x\\":,"')],
    ['many numbers', list(1_000_000, () => '1')],
    ['names of names', '{"a":"__proto__","b":["__proto__"],"proto":1,"__proto":2,"c":"\\u005f_proto__"}'],
    ['a long text', JSON.stringify('x'.repeat(2_000_000))],
  ])('takes %s', (_, text) => {
    expect(parseJson(text)).toEqual(JSON.parse(text));
  });

  it.each<[string, string, string]>([
    ['too many names of one object', object(JSON_LIMITS.names + 1), 'has an object with more than 10000 names'],
    ['the same in a list', `[[${object(JSON_LIMITS.names + 1)}]]`, 'has an object with more than 10000 names'],
    ['too many unlike objects', list(1_100, (at) => object(100, `o${at}_`)), 'has objects that are all unlike'],
    ['the names of a few in ever other orders', list(30_000, shuffled), 'has objects that are all unlike'],
    ['too many objects', list(JSON_LIMITS.parts, () => '{}'), 'has more than 500000 texts, lists and objects'],
    ['too many lists', list(JSON_LIMITS.parts, () => '[]'), 'has more than 500000 texts, lists and objects'],
    ['too many texts', list(JSON_LIMITS.parts, () => '""'), 'has more than 500000 texts, lists and objects'],
    ['too many numbers', list(JSON_LIMITS.values, () => '1'), 'has more than 2000000 values'],
    ['too many levels', '['.repeat(2_000), 'has more than 200 levels of lists and objects'],
    ['levels of objects', '{"a":'.repeat(2_000), 'has more than 200 levels of lists and objects'],
    ['a name', '{"a":[{"__proto__" : {}}]}', 'has the name "__proto__", which objects may not have'],
    ['the name in escapes', '{"\\u005F\\u005fproto__":{}}', 'has the name "__proto__", which objects may not have'],
    ['its letters in escapes', '{"__\\u0070ro\\u0074o__":{}}', 'has the name "__proto__", which objects may not have'],
    ['no JSON', '{"a" 1}', 'is not valid JSON (line 1, column 6)'],
  ])('refuses %s', (_, text, why) => {
    expect(parseJson(text)).toBeUndefined();
    expect(whyNotJson(text)).toContain(why);
  });

  it('counts bytes, not characters', () => {
    expect(parseJson('"é"', { maxBytes: 4 })).toBe('é');
    expect(parseJson('"é"', { maxBytes: 3 })).toBeUndefined();
    expect(whyNotJson('"é"', { maxBytes: 3 })).toBe('has more than 3 bytes');
  });

  it('builds nothing of what it refuses', () => {
    const parse = vi.spyOn(JSON, 'parse');
    parseJson(object(JSON_LIMITS.names + 1));
    parseJson('['.repeat(1_000_000));
    expect(parse).not.toHaveBeenCalled();
    parse.mockRestore();
  });
});

/** An object of eight of 1,000 names, in an order of its own. */
function shuffled(seed: number): string {
  let state = seed + 1;
  const next = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return (state >>> 8) % 1_000;
  };
  const names = new Set(Array.from({ length: 8 }, next));
  return `{${[...names].map((name) => `"n${name}":0`).join()}}`;
}
