import { describe, expect, it } from 'vitest';
import { evaluateLiterals, readLiteral, readPythonLiteral } from '../../src/dsl/python-literal.js';
import type { Json } from '../../src/json.js';

describe('readPythonLiteral', () => {
  it.each([
    ['True', true],
    [' False ', false],
    ['None', null],
    ['1', 1],
    ['-5', -5],
    ['+5', 5],
    ['--5', 5],
    ['1.5', 1.5],
    ['.5', 0.5],
    ['5.', 5],
    ['1e3', 1000],
    ['1_000', 1000],
    ['0xFf', 255],
    ['0o17', 15],
    ['0b101', 5],
    ['00', 0],
    ['0.5', 0.5],
    ['01.5', 1.5],
    ["'a'", 'a'],
    ['"a"', 'a'],
    ["'it\\'s'", "it's"],
    ['"\\n\\t\\x41\\u00e9\\U0001F642\\101\\q\\\\"', '\n\tAé🙂A\\q\\'],
    ["r'\\n'", '\\n'],
    ["u'x'", 'x'],
    ["'''a\n'b'''", "a\n'b"],
    ['\'a\' "b"', 'ab'],
    ["'a' r'\\n'", 'a\\n'],
    ["''", ''],
    ['[]', []],
    ["[1, 'a', None,]", [1, 'a', null]],
    ['()', []],
    ['(1)', 1],
    ['(1,)', [1]],
    ['(1, 2)', [1, 2]],
    ['{}', {}],
    ['{\'x\': 1, "y": (2, [3]),}', { x: 1, y: [2, [3]] }],
    ["{1: 'a', True: 'b', None: 'c', 1.5: 'd'}", { 1: 'a', true: 'b', null: 'c', '1.5': 'd' }],
    ['{1, 2}', [1, 2]],
    ["{ 'a' : { 'b' : True } }", { a: { b: true } }],
    ['[\n1,\n2\n]', [1, 2]],
  ] satisfies [string, Json][])('reads %j', (text, value) => {
    expect(readPythonLiteral(text)).toEqual(value);
  });

  it.each([
    '',
    ' ',
    'true',
    'null',
    'abc',
    '01',
    '1.2.3',
    '1 2',
    '1,',
    '0x',
    '1_',
    '1__0',
    '1a',
    'Truex',
    "'a",
    "'a\nb'",
    "'\\x4'",
    "'\\u12'",
    "'\\",
    '[1',
    '[1 2]',
    '[,]',
    '[1,,2]',
    '(,)',
    '{1: 2, 3}',
    '{1, 2: 3}',
    '{[1]: 2}',
    '{:}',
    '{,}',
    '{1:}',
    "b'x'",
    "f'{x}'",
    '1 + 2',
    '-True',
    "__import__('os')",
    '[x for x in y]',
    'print(1)',
    '1j',
    '1e999',
    '...',
    "'\\U00110000'",
    '['.repeat(201) + ']'.repeat(201),
    '['.repeat(1_000_000),
    '-'.repeat(1_000_000),
    `0${'1'.repeat(100_000)}e5x`,
  ])('refuses %.40j', (text) => {
    expect(readPythonLiteral(text)).toBeUndefined();
  });

  it('keeps a key named __proto__ as a key', () => {
    const value = readPythonLiteral("{'__proto__': {'x': 1}}");
    expect(JSON.stringify(value)).toBe('{"__proto__":{"x":1}}');
    expect(({} as { x?: unknown }).x).toBeUndefined();
  });
});

describe('readLiteral', () => {
  it('prefers JSON', () => {
    expect(readLiteral('{"a": [true, null]}')).toEqual({ a: [true, null] });
    expect(readLiteral('"\\/"')).toBe('/');
    expect(readLiteral("{'a': [True, None]}")).toEqual({ a: [true, null] });
    expect(readLiteral('nonsense')).toBeUndefined();
  });
});

describe('evaluateLiterals', () => {
  it.each([
    ['True', true],
    ['None', null],
    ['true', true],
    ['TRUE', 'TRUE'],
    ['none', 'none'],
    ['null', 'null'],
    ['1', 1],
    ['3.5', 3.5],
    [' 7\n', 7],
    ['\tTrue ', true],
    [' none ', ' none '],
    [" ['a'] ", ['a']],
    ['01', '01'],
    ['1.2.3', '1.2.3'],
    ['-5', '-5'],
    ['abc', 'abc'],
    ['', ''],
    ["'quoted'", 'quoted'],
    ["'broken", "'broken"],
    ['[1, 2]', [1, 2]],
    ['(1,2)', [1, 2]],
    ["{'x':1}", { x: 1 }],
    ['{"k": "v"}', { k: 'v' }],
    ['{"k": "1"}', { k: '1' }],
    [5, 5],
    [null, null],
    [
      [{ a: '1', b: '[1, 2]', c: '{"k": "v"}', d: 'plain', e: { f: '3.5' } }],
      [{ a: 1, b: [1, 2], c: { k: 'v' }, d: 'plain', e: { f: 3.5 } }],
    ],
  ] satisfies [Json, Json][])('turns %j into %j', (value, expected) => {
    expect(evaluateLiterals(value)).toEqual(expected);
  });

  it('changes nothing of what it is given', () => {
    const value = { a: ['1'], b: { c: 'True' } };
    evaluateLiterals(value);
    expect(value).toEqual({ a: ['1'], b: { c: 'True' } });
  });
});
