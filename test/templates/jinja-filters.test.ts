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

/** Every row gives what Jinja2 3.1 gives, with values written as JSON. */
const ROWS: readonly (readonly [string, string])[] = [
  [`{{ 'hello world'|title }}|{{ "o'neil-smith (bob)"|title }}`, "Hello World|O'neil-Smith (Bob)"],
  ["{{ 'hELLO'|capitalize }}", 'Hello'],
  ["{{ '  x '|trim }}|{{ 'xxaxx'|trim('x') }}", 'x|a'],
  ["{{ xs|join(', ') }}", 'a, b, c'],
  ["{{ users|join(', ', attribute='name') }}", 'Ann, bob, Cy'],
  ['{{ xs|first }}{{ xs|last }}', 'ac'],
  ['{{ [3,1,2]|sort|join }}', '123'],
  ["{{ ['b','A','c']|sort|join }}", 'Abc'],
  ["{{ ['b','A','c']|sort(case_sensitive=true)|join }}", 'Abc'],
  ["{{ users|sort(attribute='age,name')|map(attribute='name')|join(',') }}", 'Ann,Cy,bob'],
  ["{{ users|sort(attribute='age', reverse=true)|map(attribute='name')|join(',') }}", 'bob,Ann,Cy'],
  ["{{ [1,2,1,'a','A']|unique|list }}", '[1, 2, "a"]'],
  ["{{ users|selectattr('age','gt',30)|map(attribute='name')|list }}", '["bob"]'],
  ["{{ users|rejectattr('active')|map(attribute='name')|list }}", '["bob"]'],
  ["{{ range(10)|select('even')|list }}", '[0, 2, 4, 6, 8]'],
  ["{{ range(10)|reject('divisibleby',3)|list }}", '[1, 2, 4, 5, 7, 8]'],
  ["{{ [1,2,3]|sum }}|{{ users|sum(attribute='age') }}|{{ users|sum('age', 10) }}", '6|101|111'],
  ["{{ [3,1]|max }}{{ [3,1]|min }}{{ ['b','A']|max }}", '31b'],
  [
    "{{ -5|abs }}|{{ 2.5|round }}|{{ 3.5|round }}|{{ 2.675|round(2) }}|{{ 1234.5|round(-2) }}|{{ 2.1|round(0,'ceil') }}|{{ 2.19|round(1,'floor') }}|{{ 0.125|round(2) }}|{{ 2.55|round(1) }}",
    '5|2|4|2.67|1200|3|2.1|0.12|2.5',
  ],
  ["{{ [1,2,3,4,5]|batch(2)|list }}|{{ [1,2,3]|batch(2,'x')|list }}", '[[1, 2], [3, 4], [5]]|[[1, 2], [3, "x"]]'],
  [
    "{{ [1,2,3,4,5,6,7]|slice(3)|list }}|{{ [1,2,3,4,5]|slice(3,'x')|list }}",
    '[[1, 2, 3], [4, 5], [6, 7]]|[[1, 2], [3, 4], [5, "x"]]',
  ],
  [
    "{% for g in users|groupby('age') %}{{ g.grouper }}:{{ g.list|map(attribute='name')|join(',') }};{% endfor %}",
    '30:Ann,Cy;41:bob;',
  ],
  ["{% for a, us in users|groupby('age') %}{{ a }}={{ us|length }};{% endfor %}", '30=2;41=1;'],
  [
    "{{ 'foo bar baz qux'|truncate(9) }}|{{ 'foo bar baz qux'|truncate(9,true) }}|{{ 'foo bar baz qux'|truncate(11) }}|{{ 'foo bar baz qux'|truncate(9,false,'..',0) }}",
    'foo...|foo ba...|foo bar baz qux|foo..',
  ],
  ["{{ 'a b  c, d-e'|wordcount }}", '5'],
  ["{{ '<p>a <b>x</b><!-- no -->\n y</p>'|striptags }}", 'a x y'],
  ["{{ '<b>1 &lt; 2</b> &amp; &#39;&#x41;&quot; &amp;lt; &none; &#0;'|striptags }}", `1 < 2 & 'A" &lt; &none; &#0;`],
  [
    "{{ d|dictsort }}|{{ d|dictsort(by='value') }}|{{ d|dictsort(reverse=true) }}",
    '[["a", 2], ["b", 1]]|[["b", 1], ["a", 2]]|[["b", 1], ["a", 2]]',
  ],
  ['{% for k,v in d|items %}{{k}}{{v}}{% endfor %}', 'b1a2'],
  ["{{ 'abc'|reverse }}|{{ [1,2]|reverse|list }}", 'cba|[2, 1]'],
  [
    "{{ 'a\nb\n\nc'|indent }}|{{ 'a\nb'|indent(2,true) }}|{{ 'a\n\nb'|indent(2,blank=true) }}|{{ 'a\nb'|indent('> ') }}",
    'a\n    b\n\n    c|  a\n  b|a\n  \n  b|a\n> b',
  ],
  ["{{ 'a b/c?d=é'|urlencode }}|{{ {'a b':'1&2','c':'/'}|urlencode }}", 'a%20b/c%3Fd%3D%C3%A9|a+b=1%262&c=%2F'],
  [`{{ '<a href="x">&\\'</a>'|e }}`, '&lt;a href=&#34;x&#34;&gt;&amp;&#39;&lt;/a&gt;'],
  [
    "{{ '%s-%d-%05.2f-%x-%%'|format('a',7,3.14159,255) }}|{{ '%(a)s'|format(a=1) }}|{{ '%-5s|%5s'|format('a','b') }}|{{ '%e %g %g'|format(12345.678, 0.00001, 1234567) }}|{{ '%+d % d'|format(3,4) }}",
    'a-7-03.14-ff-%|1|a    |    b|1.234568e+04 1e-05 1.23457e+06|+3  4',
  ],
  [
    "{{ '%.0f %.0f %.1f %.2f'|format(2.5,3.5,0.25,2.675) }}|{{ '%d %+d'|format(-0.5,-0.5) }}|{{ '%.1f %d'|format(1e21,1e21) }}",
    '2 4 0.2 2.67|0 +0|1000000000000000000000.0 1000000000000000000000',
  ],
  ["{{ '%3s|%-3s|'|format('🙂','🙂') }}", '  🙂|🙂  |'],
  [
    "{{ 'ab longword x'|wordwrap(5) }}|{{ '   wide'|wordwrap(4) }}|{{ 'un-breakable x-y'|wordwrap(6) }}",
    'ab lo\nngwor\nd x|wide|un-bre\nakable\nx-y',
  ],
  ["{{ 'abc'|center(10) }}|{{ 'ab'|center(7) }}|", '   abc    |   ab  |'],
  [
    "{{ 'the quick brown fox jumps'|wordwrap(10) }}|{{ 'abcdefghij'|wordwrap(4) }}|{{ 'abcdefghij x'|wordwrap(4,false) }}|{{ 'a-b well-known thing'|wordwrap(6) }}|{{ 'x y\n\nz'|wordwrap(5) }}",
    'the quick\nbrown fox\njumps|abcd\nefgh\nij|abcdefghij\nx|a-b\nwell-\nknown\nthing|x y\n\nz',
  ],
  ["{{ missing|default('d') }}|{{ ''|default('d') }}|{{ ''|default('d',true) }}|{{ none|d('x') }}", 'd||d|'],
  [
    "{{ '42'|int + 1 }}|{{ 'x'|int(7) }}|{{ '3.9'|int }}|{{ 'ff'|int(base=16) }}|{{ '0x1f'|int(0,16) }}|{{ '1.5'|float }}|{{ 'z'|float(2) }}",
    '43|7|3|255|31|1.5|2',
  ],
  [
    '{{ 13|filesizeformat }}|{{ 1000|filesizeformat }}|{{ 1500000|filesizeformat }}|{{ 1536|filesizeformat(true) }}',
    '13 Bytes|1.0 kB|1.5 MB|1.5 KiB',
  ],
  ["<x{{ {'class':'a b','n':none,'i':5}|xmlattr }}>", '<x class="a b" i="5">'],
  [
    "{{ {'a':{'b':1}}.a.b }}|{{ {'a':1}['a'] }}|{{ (1,2)|list }}|{{ (1)|string }}|{{ [[1,2],[3]]|map('first')|list }}|{{ ['a','b']|map('upper')|join }}|{{ ['1','2']|map('int')|sum }}|{{ users|map(attribute='zz',default='-')|join }}|{{ ['a']|map('default','x')|list }}",
    '1|1|[1, 2]|1|[1, 3]|AB|3|---|["a"]',
  ],
  ["{{ xs|count }}{{ d|length }}{{ ''|length }}", '320'],
  ["{{ 'x'|safe }}{{ 5|string ~ 'a' }}", 'x5a'],
  ["{{ '<b>'|forceescape }}", '&lt;b&gt;'],
  ["{{ [none, 0, '', 'a']|select|list }}{{ [none,0,'a']|reject|list }}", '["a"][null, 0]'],
  ["{{ d|tojson }}|{{ [1,'a']|tojson }}", '{"a": 2, "b": 1}|[1, "a"]'],
  ["{{ users|unique(attribute='age')|map(attribute='name')|list }}", '["Ann", "bob"]'],
  ["{{ users|max(attribute='age') }}", '{"name": "bob", "age": 41, "active": false, "tags": ["t2"]}'],
];

/** Every row fails with `TEMPLATE_FAILED`. */
const FAILING: readonly string[] = [
  '{{ 1 | nope }}',
  '{{ 1 | join(1, 2, 3) }}',
  '{{ "a" | upper(x=1) }}',
  '{{ "a" | round }}',
  '{{ "a" | abs }}',
  '{{ 1 | round(0, "up") }}',
  '{{ [1, "a"] | sort }}',
  '{{ [1, none] | max }}',
  '{{ ["a"] | sum }}',
  '{{ 5 | length }}',
  '{{ 5 | list }}',
  '{{ xs | batch(0) }}',
  '{{ xs | slice(0) }}',
  '{{ xs | dictsort }}',
  '{{ d | dictsort(by="size") }}',
  '{{ xs | items }}',
  '{{ xs | map }}',
  '{{ xs | map("nope") | list }}',
  '{{ xs | select("nope") }}',
  '{{ xs | selectattr }}',
  '{{ "abc" | truncate(2) }}',
  '{{ "a" | wordwrap(0) }}',
  '{{ "%s %s" | format(1) }}',
  '{{ "%d" | format("x") }}',
  '{{ "%y" | format(1) }}',
  '{{ "100%" | format(1) }}',
  '{{ "a" | center("w") }}',
  '{{ "a" | int(base=99) }}',
  '{{ xs | xmlattr }}',
  '{{ {"a b": 1} | xmlattr }}',
];

describe('Jinja filters', () => {
  it.each(ROWS)('%s', (template, expected) => {
    expect(renderJinja(template, VALUES)).toBe(expected);
  });

  it.each(FAILING)('%s fails', (template) => {
    expect(() => renderJinja(template, VALUES)).toThrow(expect.objectContaining({ code: 'TEMPLATE_FAILED' }));
  });

  it('write JSON with its keys in order and safe for HTML', () => {
    const v = { b: `<é>&'😀`, a: [1, null, { d: 1, c: 2 }] };
    expect(renderJinja('{{ v | tojson }}', { v })).toBe(
      String.raw`{"a": [1, null, {"c": 2, "d": 1}], "b": "\u003c\u00e9\u003e\u0026\u0027\ud83d\ude00"}`,
    );
    expect(renderJinja('{{ v | tojson(2) }}', { v: { b: 1, a: 2 } })).toBe('{\n  "a": 2,\n  "b": 1\n}');
  });

  it('do not change the values that they are given', () => {
    const values = { xs: [3, 1, 2], d: { b: 1, a: 2 } };
    renderJinja('{{ xs|sort }}{{ xs|reverse }}{{ d|dictsort }}{{ xs|unique }}{{ xs|batch(2, 0) }}', values);
    expect(values).toEqual({ xs: [3, 1, 2], d: { b: 1, a: 2 } });
  });
});
