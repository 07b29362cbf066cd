import { describe, expect, it } from 'vitest';
import type { Json } from '../../src/json.js';
import { readFString } from '../../src/templates/template.js';
import { property } from '../support/random.js';

const fill = (template: string, values: Readonly<Record<string, Json>> = {}) =>
  readFString(template).fill(({ name }) => values[name] ?? null);

describe('an f-string', () => {
  it.each<[template: string, values: Readonly<Record<string, Json>>, filled: string]>([
    ['', {}, ''],
    ['plain', {}, 'plain'],
    ['{a}', { a: 'x' }, 'x'],
    ['{a}{b} {a}!', { a: 'x', b: 'y' }, 'xy x!'],
    ['{{a}} {{{a}}} }}{{', { a: 'x' }, '{a} {x} }{'],
    ['{{"a": "{a}"}}', { a: 'x' }, '{"a": "x"}'],
    ['{größe} {first_name} {a-b} {_x1}', { größe: '7', first_name: 'Ann', 'a-b': 'c', _x1: 'd' }, '7 Ann c d'],
    ['{a}', { a: '{b} {{ {a:>10} }}' }, '{b} {{ {a:>10} }}'],
    ['{n} {t} {z}', { n: 1e-5, t: true, z: null }, '1e-05 true '],
    ['{l} {o}', { l: [1, 'x'], o: { k: '中' } }, '[1, "x"] {"k": "中"}'],
    ['{a}', { a: '😀' }, '😀'],
  ])('%s', (template, values, filled) => {
    expect(fill(template, values)).toBe(filled);
  });

  /** What Python 3.12 gives. */
  it.each<[template: string, value: Json, filled: string]>([
    ['{x:>5}|', 'ab', '   ab|'],
    ['{x:<5}|', 'ab', 'ab   |'],
    ['{x:^6}|', 'ab', '  ab  |'],
    ['{x:*^6}|', 'ab', '**ab**|'],
    ['{x:.2}|', 'abc', 'ab|'],
    ['{x:5s}|', 'ab', 'ab   |'],
    ['{x:.2f}', 2.71548, '2.72'],
    ['{x:8.2f}|', -2.5, '   -2.50|'],
    ['{x:05d}', 42, '00042'],
    ['{x:+d}', 3, '+3'],
    ['{x:,}', 1234567, '1,234,567'],
    ['{x:,.2f}', 1234567.891, '1,234,567.89'],
    ['{x:_}', 12345, '12_345'],
    ['{x:.1%}', 0.256, '25.6%'],
    ['{x:x} {x:#X} {x:b} {x:o}', 255, 'ff 0XFF 11111111 377'],
    ['{x:e}', 12345.678, '1.234568e+04'],
    ['{x:>6}|', 42, '    42|'],
    ['{x:=+6d}', 4, '+    4'],
  ])('%s of %o', (template, x, filled) => {
    expect(fill(template, { x })).toBe(filled);
  });

  it('tells its fields in order, with what they need', () => {
    const { fields } = readFString('{a} {n:.2f} {w:>10} {a:.3s} {m:,} {s:+}');
    expect(fields.map(({ name, spec, type }) => [name, spec, type])).toEqual([
      ['a', '', 'text'],
      ['n', '.2f', 'number'],
      ['w', '>10', 'value'],
      ['a', '.3s', 'text'],
      ['m', ',', 'number'],
      ['s', '+', 'number'],
    ]);
  });

  it.each([
    ['an open brace', 'a\nb {', 'is not closed', { line: 2, column: 3 }],
    ['an open field', 'a {b', 'is not closed', { line: 1, column: 3 }],
    ['JSON', '{"a": 1}', 'write "{{" and "}}" for braces', { line: 1, column: 1 }],
    ['a closing brace', 'a }', 'a "}" without a field', { line: 1, column: 3 }],
    ['no name', 'a {}', 'has no name', { line: 1, column: 3 }],
    ['a position', '{0}', 'has no name', { line: 1, column: 1 }],
    ['a path of attributes', '{user.name}', 'has a path', { line: 1, column: 1 }],
    ['a path of keys', '{user[name]}', 'has a path', { line: 1, column: 1 }],
    ['an attribute of Python', '{x.__class__}', 'has a path', { line: 1, column: 1 }],
    ['a conversion', '{x!r}', 'has a conversion', { line: 1, column: 1 }],
    ['blanks in a name', '{ x }', 'has no usable name', { line: 1, column: 1 }],
    ['an unknown type', '{x:q}', 'has the unknown type "q"', { line: 1, column: 1 }],
    ['a specification that is none', '{x:>>>}', 'cannot be read', { line: 1, column: 1 }],
    ['a width without end', '{x:99999}', 'is wider than 10000', { line: 1, column: 1 }],
    ['too many digits', '{x:.101f}', 'has more than 100 digits', { line: 1, column: 1 }],
    ['a field in a specification', '{x:{w}}', 'is not closed', { line: 1, column: 1 }],
  ])('refuses %s and says where', (_what, template, problem, details) => {
    expect(() => readFString(template)).toThrow(
      expect.objectContaining({ code: 'TEMPLATE_INVALID', message: expect.stringContaining(problem), details }),
    );
  });

  it.each<[template: string, value: Json, problem: string]>([
    ['{x:.2f}', 'abc', 'needs a number for "{x:.2f}", but got "abc"'],
    ['{x:d}', 1.5, 'cannot be written so for "{x:d}", but got 1.5'],
    ['{x:>5}', [1], 'needs a text or a number for "{x:>5}", but got a list or an object'],
    ['{x:d}', null, 'needs a number for "{x:d}", but got null'],
  ])('%s of %o fails and says which field', (template, x, problem) => {
    expect(() => fill(template, { x })).toThrow(
      expect.objectContaining({ code: 'TEMPLATE_FAILED', message: `The field "x" ${problem}.` }),
    );
  });

  it('gives no longer text than it may, and reads no longer template', () => {
    const { fill: fillBounded } = readFString('{x}{x}');
    expect(fillBounded(() => 'abc', { maxChars: 6 })).toBe('abcabc');
    expect(() => fillBounded(() => 'abc', { maxChars: 5 })).toThrow(
      expect.objectContaining({ code: 'TEMPLATE_TOO_LARGE' }),
    );
    expect(() => readFString('x'.repeat(1_048_577))).toThrow(expect.objectContaining({ code: 'TEMPLATE_TOO_LARGE' }));
  });

  property('a text whose braces are doubled is filled with itself', 200, (random) => {
    const text = Array.from({ length: random.int(30) }, () => random.pick(['{', '}', 'a', ' ', '\n', ':'])).join('');
    const doubled = text.replace(/[{}]/g, '$&$&');
    expect(fill(doubled)).toBe(text);
    expect(fill(`${doubled}{x}`, { x: text })).toBe(text + text);
  });
});
