import { describe, expect, it } from 'vitest';
import { renderJinja } from '../../src/templates/template.js';

/** Every row gives what Python 3.12 gives. */
const ROWS: readonly (readonly [call: string, expected: string])[] = [
  ["'{}-{}'.format(1, 'a')", '1-a'],
  ["'{1}-{0}-{1}'.format(1, 'a')", 'a-1-a'],
  ["'{x}{y}'.format(y=3, x=2)", '23'],
  ["'{0[a]}/{1[0]}'.format({'a': 1}, ['b'])", '1/b'],
  ["'{{}} {{{}}}'.format(1)", '{} {1}'],
  ["'{:.2f}|{:>5}|{:05d}|{:,}|{!s}'.format(1.5, 'a', 3, 1234567, 'q')", '1.50|    a|00003|1,234,567|q'],
  ["'{:b}|{:x}|{:#X}|{:o}'.format(5, 255, 255, 8)", '101|ff|0XFF|10'],
  ["'{:e}|{:.1%}|{:g}|{:.3}'.format(12345.678, 0.256, 0.00001, 3.14159)", '1.234568e+04|25.6%|1e-05|3.14'],
  ["'{:^7}|{:*<5}|{:+d}|{:=+6d}|{:-^6}'.format('m', 'z', 3, 4, 'ab')", '   m   |z****|+3|+    4|--ab--'],
  ["'{:.2}|{:6.1f}|{:06.1f}|{:_}'.format('abc', -2.25, -2.25, 12345)", 'ab|  -2.2|-002.2|12_345'],
  ["''.format()", ''],
];

const FAILING: readonly string[] = [
  "'{} {}'.format(1)",
  "'{x}'.format(y=1)",
  "'{0.real}'.format(1)",
  "'{0.__class__}'.format('')",
  "'{0[a].b}'.format({'a': 1})",
  "'{0[b]}'.format({'a': 1})",
  "'{0[constructor]}'.format({'a': 1})",
  "'{0[length]}'.format([1])",
  "'{0[name]}'.format(range)",
  "'{:d}'.format('a')",
  "'{:d}'.format(1.5)",
  "'{:q}'.format(1)",
  "'{:{}}'.format(1, 2)",
  "'{'.format(1)",
  "'}'.format(1)",
];

describe('format of a text', () => {
  it.each(ROWS)('%s', (call, expected) => {
    expect(renderJinja(`{{ ${call} }}`, {})).toBe(expected);
  });

  it.each(FAILING)('%s fails', (call) => {
    expect(() => renderJinja(`{{ ${call} }}`, {})).toThrow(expect.objectContaining({ code: 'TEMPLATE_FAILED' }));
  });

  it('stays within the limits of a template', () => {
    expect(() => renderJinja("{{ '{:9999}'.format(1) * 1000 }}", {}, { maxChars: 10_000 })).toThrow(
      expect.objectContaining({ code: 'TEMPLATE_TOO_LARGE' }),
    );
  });
});
