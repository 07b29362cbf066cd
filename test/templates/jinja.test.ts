import { describe, expect, it } from 'vitest';
import { renderJinja } from '../../src/templates/template.js';

const VALUES = {
  xs: ['a', 'b', 'c'],
  d: { b: 1, a: 2 },
  users: [
    { name: 'Ann', age: 30, active: true, tags: ['t1'] },
    { name: 'bob', age: 41, active: false, tags: ['t2'] },
    { name: 'Cy', age: 30, active: true, tags: [] },
  ],
};

/** Every row gives what Jinja2 3.1 gives, with values written as JSON and none as nothing. */
const ROWS: readonly (readonly [string, string])[] = [
  ["{{ 'a'~1~none~2.5 }}", 'a12.5'],
  [
    "{{ 7//2 }}|{{ -7//2 }}|{{ 7%3 }}|{{ -7%3 }}|{{ 7/2 }}|{{ 2**10 }}|{{ 'ab'*3 }}|{{ [1]*2 + [3] }}",
    '3|-4|1|2|3.5|1024|ababab|[1, 1, 3]',
  ],
  ['{{ 1 + 2 * 3 }}|{{ (1+2)*3 }}|{{ 2**3**2 }}|{{ -2**2 }}|{{ -1|abs }}|{{ 10 - 2 - 3 }}', '7|9|64|4|1|5'],
  [
    "{{ 1 < 2 < 3 }}|{{ 1 < 3 < 2 }}|{{ 'a' in 'abc' }}|{{ 2 not in [1,3] }}|{{ 'a' in d }}|{{ not true }}|{{ true and 0 }}|{{ '' or 'x' }}",
    'true|false|true|true|true|false|0|x',
  ],
  ["{{ 'yes' if 1 else 'no' }}|{{ 'yes' if 0 }}|{{ 1 if false else 2 if false else 3 }}", 'yes||3'],
  [
    "{{ 'abc'[0] }}{{ 'abc'[-1] }}|{{ 'abcdef'[1:3] }}|{{ 'abcdef'[::-1] }}|{{ [1,2,3,4][::2] }}|{{ [1,2,3][-2:] }}|{{ 'abcdef'[4:1:-1] }}|{{ 'abc'[:99] }}",
    'ac|bc|fedcba|[1, 3]|[2, 3]|edc|abc',
  ],
  [
    "{{ d.a }}{{ d['b'] }}{{ d.get('z','q') }}{{ d.zz }}|{{ d.items()|list }}|{{ d.keys()|list }}|{{ d.values()|list }}",
    '21q|[["b", 1], ["a", 2]]|["b", "a"]|[1, 2]',
  ],
  [
    "{% for x in xs %}{{ loop.index }}{{ loop.index0 }}{{ loop.revindex }}{{ loop.revindex0 }}{{ loop.first }}{{ loop.last }}{{ loop.length }}{{ loop.previtem }}{{ loop.nextitem }}{{ loop.cycle('o','e') }};{% endfor %}",
    '1032truefalse3bo;2121falsefalse3ace;3210falsetrue3bo;',
  ],
  ['a\r\n{{ 1 }}\rb\r\n', 'a\n1\nb'],
  ['{{ 0.1 % 2 }}|{{ -0.1 % 2 }}|{{ 5 % -3 }}|{{ -6 % 3 }}', '0.1|1.9|-1|0'],
  [`{{ "a-b_c x.y o'k 1e3 éa".title() }}`, "A-B_C X.Y O'K 1E3 Éa"],
  ['{% for x in [] %}x{% else %}none{% endfor %}', 'none'],
  ['{% for x in [1,2,3,4] if x is even %}{{ x }}{{ loop.length }}{% endfor %}', '2242'],
  ['{% for x in [1,1,2] %}{{ loop.changed(x) }}{% endfor %}', 'truefalsetrue'],
  [
    '{% for x in [1,[2,[3]]] recursive %}{% if x is iterable %}[{{ loop(x) }}]{% else %}{{ loop.depth }}:{{ x }} {% endif %}{% endfor %}',
    '1:1 [2:2 [3:3 ]]',
  ],
  ['{% for a,(b,c) in [(1,(2,3))] %}{{a}}{{b}}{{c}}{% endfor %}', '123'],
  ['{% set x=1 %}{% for i in [1,2] %}{% set x=x+i %}{{x}}{% endfor %}{{x}}', '231'],
  ['{% set ns=namespace(n=0) %}{% for i in [1,2] %}{% set ns.n=ns.n+i %}{% endfor %}{{ns.n}}', '3'],
  [
    '{% set a,b=1,2 %}{{a}}{{b}}{% set t %}hi {{a}}{% endset %}{{t|upper}}{% set u|upper %}q{% endset %}{{u}}',
    '12HI 1Q',
  ],
  [
    "{% macro m(a,b='x') %}{{a}}-{{b}}{{ varargs }}{{ kwargs }}{% endmacro %}{{ m(1) }}|{{ m(1,2,3,k=4) }}|{{ m(b=9,a=8) }}",
    '1-x[]{}|1-2[3]{"k": 4}|8-9[]{}',
  ],
  [
    "{% macro box(t) %}<{{t}}>{{ caller(5) }}</{{t}}>{% endmacro %}{% call(n) box('b') %}in{{n}}{% endcall %}",
    '<b>in5</b>',
  ],
  ["{% filter upper %}abc{{ 'd' }}{% endfilter %}|{% filter replace('a','b')|upper %}aa{% endfilter %}", 'ABCD|BB'],
  ['{% with a=1, b=2 %}{{a+b}}{% endwith %}{{ a }}', '3'],
  ['{% raw %}{{ x }}{% y %}{% endraw %}z|{%- raw -%}  q  {%- endraw -%}  w', '{{ x }}{% y %}z|qw'],
  ['a\n  {%- if true %} b {%- endif %}\nc {#- x -#} d\n', 'a b\ncd'],
  ["{% if 0 %}a{% elif '' %}b{% elif [1] %}c{% else %}d{% endif %}", 'c'],
  [
    '{{ range(3)|list }}{{ range(1,4)|list }}{{ range(5,0,-2)|list }}{{ dict(a=1,b=2)|items|list }}',
    '[0, 1, 2][1, 2, 3][5, 3, 1][["a", 1], ["b", 2]]',
  ],
  ["{% set c=cycler('a','b') %}{{ c.next() }}{{ c.next() }}{{ c.next() }}{{ c.current }}", 'abab'],
  ["{% set j=joiner('|') %}{% for x in xs %}{{ j() }}{{ x }}{% endfor %}", 'a|b|c'],
  [
    "{{ 'a,b,c'.split(',') }}{{ ' a  b '.split() }}{{ 'a,b,c'.split(',',1) }}{{ 'a,b,c'.rsplit(',',1) }}{{ 'a\nb'.splitlines() }}",
    '["a", "b", "c"]["a", "b"]["a", "b,c"]["a,b", "c"]["a", "b"]',
  ],
  [
    "{{ 'abc'.upper() }}{{ 'abc'.startswith('a') }}{{ 'abc'.find('c') }}{{ 'aXbX'.replace('X','-',1) }}{{ ','.join(['a','b']) }}{{ 'x'.center(5,'*') }}{{ '7'.zfill(3) }}{{ '-7'.zfill(4) }}{{ 'a-b'.partition('-')|list }}{{ 'banana'.count('an') }}{{ 'Ab'.swapcase() }}{{ ' x'.lstrip() }}|{{ '12'.isdigit() }}{{ 'ab'.isalpha() }}{{ 'AB'.isupper() }}",
    'ABCtrue2a-bXa,b**x**007-007["a", "-", "b"]2aBx|truetruetrue',
  ],
  [
    "{{ 3 is odd }}{{ 3 is divisibleby 3 }}{{ 3 is divisibleby(2) }}{{ x is defined }}{{ xs is defined }}{{ none is none }}{{ 'a' is string }}{{ 1 is number }}{{ d is mapping }}{{ xs is sequence }}{{ xs is iterable }}{{ 1 is sameas 1 }}{{ 'ABC' is upper }}{{ 'a' is in ['a'] }}{{ 3 is eq 3 }}{{ 3 is not lt 2 }}{{ true is boolean }}{{ 1.5 is float }}{{ 2 is integer }}{{ range is callable }}{{ true is true }}{{ 'upper' is filter }}{{ 'odd' is test }}",
    'truetruefalsefalsetruetruetruetruetruetruetruetruetruetruetruetruetruetruetruetruetruetruetrue',
  ],
  ["{{ [1,'a',none,true,{'k':[1.5]}] }}", '[1, "a", null, true, {"k": [1.5]}]'],
  [
    '{{ 1.0 }}|{{ 1e3 }}|{{ 0.1+0.2 }}|{{ 1_000 }}|{{ 0xff }}|{{ 0b11 }}|{{ 1e-7 }}',
    '1|1000|0.30000000000000004|1000|255|3|1e-07',
  ],
  [`{{ 'a' 'b' }}|{{ "x\\ty\\u00e9\\n" }}|{{ '\\d' }}`, 'ab|x\tyé\n|\\d'],
  ["{{ '日本語🙂'|length }}{{ '日本🙂'|reverse }}{{ '🙂x'[0] }}", '4🙂本日🙂'],
  [
    '{% for x in [1,2,3] %}{% if x == 2 %}{% continue %}{% endif %}{{x}}{% endfor %}{% for x in [1,2,3] %}{% if x==2 %}{% break %}{% endif %}{{x}}{% endfor %}',
    '131',
  ],
  ['{% block b %}x{{ 1 }}{% endblock %}{% autoescape false %}<{% endautoescape %}', 'x1<'],
  [
    "{{ users[0].name }}{{ users.0.name }}{{ users[-1]['name'] }}{{ users|map(attribute='tags.0')|join }}",
    'AnnAnnCyt1t2',
  ],
  ['{{ 1 in [1] and 2 in [2] or x.y }}', 'true'],
  ["{{ 'a' ~ 'b' in 'xabx' }}", 'true'],
  ['{{ 5 - -3 }}|{{ 5--3 }}|{{ +3 }}|{{ not 1 == 2 }}', '8|8|3|true'],
  ['{{ [1,2,3]|first is odd }}', 'true'],
  ["{{- 'a' -}}   b {{+ 'c' }}", 'ab c'],
];

/** What does not parse, and the line that the message names. */
const INVALID: readonly (readonly [string, number])[] = [
  ['{% for x in %}oops{% endfor %}', 1],
  ['a\n{{ 1 + }}', 2],
  ['{{ ; }}', 1],
  ['{{ a@ }}', 1],
  ['{{ (1 }}', 1],
  ['{{ 1) }}', 1],
  ['\n\n{{ "open }}', 3],
  ['{{ x', 1],
  ['{% if 1 %}x', 1],
  ['{% endif %}', 1],
  ['{% else %}', 1],
  ['{% nope %}', 1],
  ['{% 5 %}', 1],
  ['{% include "/etc/passwd" %}', 1],
  ['{% import "os" as os %}', 1],
  ['{% extends "x" %}', 1],
  ['{# no end', 1],
  ['{% raw %}no end', 1],
  ['{{ x[] }}', 1],
  ['{{ x[1:2:3:4] }}', 1],
  ['{{ f(a=1, 2) }}', 1],
  ['{{ {"a"} }}', 1],
  ['{{ "\\UFFFFFFFF" }}', 1],
  ['{% call x %}{% endcall %}', 1],
  ['{% set x.y.z = 1 %}', 1],
];

/** What parses and fails. */
const FAILING: readonly string[] = [
  '{{ 1 / 0 }}',
  '{{ 1 // 0 }}',
  '{{ 1 % 0 }}',
  '{{ 9 ** 9999 }}',
  '{{ (-1) ** 0.5 }}',
  '{{ "a" + 1 }}',
  '{{ 1 < "a" }}',
  '{{ 1 in 5 }}',
  '{{ 1 in "a" }}',
  '{{ -"a" }}',
  '{{ none + 1 }}',
  '{{ missing.x }}',
  '{{ missing[0] }}',
  '{{ missing() }}',
  '{{ d.a() }}',
  '{{ d.missing() }}',
  '{{ 5() }}',
  '{{ 1 is nope }}',
  '{{ 1 is divisibleby }}',
  '{{ 1 is divisibleby 0 }}',
  '{{ "a" is odd }}',
  '{{ 1 is odd(2) }}',
  '{% for a, b in [[1]] %}{% endfor %}',
  '{% for x in 5 %}{% endfor %}',
  '{% for x in [1] %}{{ loop([]) }}{% endfor %}',
  '{% set d.a = 5 %}',
  '{{ range(1, 2, 0) }}',
  '{{ range("a") }}',
  '{{ cycler() }}',
  '{{ "abc"[::0] }}',
  '{{ "abc"["a":] }}',
  '{{ "a".split("") }}',
  '{{ "a".index("z") }}',
  '{{ [1].index(2) }}',
  '{{ f(**xs) }}',
  '{{ dict(**5) }}',
  '{{ xs.append(1) }}',
  '{{ d.update({}) }}',
  '{{ xs.pop() }}',
];

/** What would use too much. */
const TOO_LARGE: readonly string[] = [
  '{% for a in range(90000) %}{% for b in range(90000) %}{{ b }}{% endfor %}{% endfor %}',
  '{{ range(999999999) }}',
  '{{ "a" * 99999999999 }}',
  '{{ [1] * 999999 }}',
  '{% set ns = namespace(s="ab") %}{% for i in range(99) %}{% set ns.s = ns.s ~ ns.s %}{% endfor %}',
  '{% set ns = namespace(x=[1]) %}{% for i in range(99) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}{{ ns.x }}',
  '{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}',
  '{% for x in [1] recursive %}{{ loop([1]) }}{% endfor %}',
  '{{ "x" | center(99999999) }}',
  '{{ "ab" | list | join("c" * 1048577) }}',
  '{{ ("a" * 1000000) | list | sort | length }}{{ ("a" * 1000000) | list | unique | list | length }}',
  '{{ "a" | replace("", "b" * 1000000) ~ "c" * 1000000 }}',
  '{% macro m(x) %}{{ m(x + "a") }}{{ m(x + "b") }}{% endmacro %}{{ m("") }}',
  '{% for a in range(1000) %}{% for b in range(1000) %}{% for c in range(1000) %}{% set d = a * b * c %}{% endfor %}{% endfor %}{% endfor %}',
  '{% filter upper %}{% for i in range(99999) %}{{ "x" * 100 }}{% endfor %}{% endfilter %}',
  '{% set s %}{% for i in range(99999) %}{{ "x" * 100 }}{% endfor %}{% endset %}',
  '{{ "x" | indent(99999999) }}',
  '{{ ("a" * 100000) | replace("a", "b" * 100000) }}',
  '{{ (["a" * 1000] * 1000) | join("b" * 1000) }}',
  '{% for i in range(50000) %}{{ ("a" * 1000000) | upper | length }}{% endfor %}',
  '{{ [3] | batch(99999999, 0) }}',
  '{{ [3] | slice(99999999, 0) }}',
  '{% set x = range(50000) %}{% for i in x %}{{ x == x | list }}{% endfor %}',
  '{% set x = range(50000) %}{% for i in x %}{{ -1 in x }}{% endfor %}',
  `{{ a${'.a'.repeat(1000)} }}`,
  `{{ ${'1 + '.repeat(1000)}1 }}`,
  `{{ x${'|upper'.repeat(1000)} }}`,
  'x'.repeat(1_048_577),
];

describe('Jinja', () => {
  it.each(ROWS)('%s', (template, expected) => {
    expect(renderJinja(template, VALUES)).toBe(expected);
  });

  it.each(INVALID)('%j does not parse, and line %i is named', (template, line) => {
    expect(() => renderJinja(template, VALUES)).toThrow(
      expect.objectContaining({
        code: 'TEMPLATE_INVALID',
        details: { line },
        message: expect.stringContaining(`line ${line}:`),
      }),
    );
  });

  it.each(FAILING)('%s fails while it runs', (template) => {
    expect(() => renderJinja(template, VALUES)).toThrow(expect.objectContaining({ code: 'TEMPLATE_FAILED' }));
  });

  it.each([
    ['{{ v|sort|length }}'],
    ['{{ v|groupby(0)|length }}'],
    ['{{ d|dictsort|length }}'],
    [`{{ v|sort(attribute="${'0,'.repeat(100)}0")|length }}`],
  ])('%.40s costs more than looking at the items', (template) => {
    const values = {
      v: Array.from({ length: 2_000 }, (_, at) => [at]),
      d: { ...Array.from({ length: 2_000 }, () => 0) },
    };
    const most = { maxSteps: 2_000 };
    expect(renderJinja('{{ v|length }}{{ v|list|length }}{{ d|length }}', values, most)).toBe('200020002000');
    expect(() => renderJinja(template.repeat(2), values, most)).toThrow(
      expect.objectContaining({ code: 'TEMPLATE_TOO_LARGE' }),
    );
  });

  it.each(TOO_LARGE)('%.60s is stopped', (template) => {
    expect(() => renderJinja(template, VALUES)).toThrow(expect.objectContaining({ code: 'TEMPLATE_TOO_LARGE' }));
  });

  it.each([
    ['{{ '.concat('('.repeat(5000), ')'.repeat(5000), ' }}')],
    ['{{ '.concat('not '.repeat(5000), '1 }}')],
    ['{{ '.concat('- '.repeat(5000), '1 }}')],
    ['{% if 1 %}'.repeat(5000)],
  ])('%.20s… is refused before the stack runs out', (template) => {
    expect(() => renderJinja(template, {})).toThrow(expect.objectContaining({ code: 'TEMPLATE_INVALID' }));
  });

  it.each([
    '{{ "%999999999d" | format(1) }}',
    '{{ "{:>99999999}".format(1) }}',
    '{{ "%-99999999s" % "x" }}',
    '{{ 9 ** 9 ** 9 }}',
  ])('%s is as wide as a column may be', (template) => {
    expect(renderJinja(template, {}).length).toBeLessThanOrEqual(10_000);
  });

  it('names the line at which it fails', () => {
    expect(() => renderJinja('a\n{% if true %}\n{{ 1 / 0 }}{% endif %}', {})).toThrow(/line 3: division by zero/);
  });

  it('reads own keys only, whatever they are called', () => {
    const values = JSON.parse('{"o": {"__proto__": "p", "constructor": "c", "items": "i", "get": 1}}');
    expect(renderJinja('{{ o.__proto__ }}{{ o.constructor }}{{ o.items }}{{ o.items()|length }}', values)).toBe('pci4');
    expect(
      renderJinja('{{ o.toString }}{{ o["hasOwnProperty"] }}{{ {}.__proto__ }}|{{ toString }}{{ constructor }}', {
        o: {},
      }),
    ).toBe('|');
  });

  it('keeps a key named __proto__ of an object that the template builds', () => {
    expect(renderJinja('{{ {"__proto__": {"x": 1}} }}{{ dict(__proto__=1)["x"] }}', {})).toBe(
      '{"__proto__": {"x": 1}}',
    );
  });

  it('goes by the limits that it is given, and refuses limits that are none', () => {
    expect(() => renderJinja('{{ "abc" }}', {}, { maxChars: 2 })).toThrow(
      expect.objectContaining({ code: 'TEMPLATE_TOO_LARGE' }),
    );
    expect(() => renderJinja('{{ 1 }}{{ 2 }}', {}, { maxSteps: 3 })).toThrow(
      expect.objectContaining({ code: 'TEMPLATE_TOO_LARGE' }),
    );
    expect(() => renderJinja('', {}, { maxDepth: 0 })).toThrow(expect.objectContaining({ code: 'OPTION_INVALID' }));
  });

  it('cuts and indexes long texts without going through them', () => {
    expect(renderJinja('{{ t[:3] }}{{ t[-1] }}{{ t | length }}', { t: 'abc'.repeat(300_000) })).toBe('abcc900000');
  });
});
