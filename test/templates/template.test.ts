import { describe, expect, it, vi } from 'vitest';
import { renderValue } from '../../src/dsl/render-value.js';
import { isJinja, renderTemplate } from '../../src/templates/template.js';
import { sourceOf } from '../dsl/value-source.js';

const SOURCE = sourceOf({
  outputs: {
    begin: {
      name: 'Ann',
      s: 'VAL',
      o: { n: 5 },
      list: ['a', 'b'],
      path: 'C:\\dir\\new',
      tags: '{{ 7*7 }}{sys.query}',
      empty: null,
      later: undefined,
    },
    'Agent:Foo': { content: 'said' },
  },
  variables: { 'sys.query': 'foo boo', 'env.items': ['a', 'b'], 'env.flag': true },
  aliases: { item: { name: 'it' }, index: 2 },
});
const OUTSIDE = sourceOf({ outputs: { begin: { s: 'VAL' } } });

describe('isJinja', () => {
  it.each([
    ['plain', false],
    ['Hello,{{sys.query}}!', false],
    ['{{ begin@name }} {{{begin@name}}} {{ {begin@name} }}', false],
    ['{{ item }}', false],
    ['{"a": {"q": {sys.query}}', false],
    ['{"q": {sys.query}}', false],
    ['{# only a comment #}', false],
    ['{% no end', false],
    ['%} {%', false],
    ['{ {x} }', false],
    ['{{ x }}', true],
    ['{{ {sys.query} | upper }}', true],
    ['{{{sys.query} | upper }}', true],
    ['{{ item.name | upper }}', true],
    ['{% if {sys.query} %}', true],
    ['{% if {sys.query} == {a@b} %}x', true],
    ['a }} b', true],
    ['a {{ b', true],
    ['{{{a@b} {', false],
    ['{{garbage}}', true],
  ])('%j: %s', (text, expected) => {
    expect(isJinja(text)).toBe(expected);
  });
});

describe('a Jinja template of a canvas', () => {
  it.each([
    // References in the text
    ['begin_s is {begin@s}', 'begin_s is VAL'],
    ['{begin@o}{begin@o.n}', '{"n": 5}5'],
    ['{% for i in range(2) %}{{ i }}{begin@s}{% endfor %}', '0VAL1VAL'],
    ['{% if true %}v={begin@path}{% endif %}', 'v=C:\\dir\\new'],
    ['a {begin@s} b {{begin@s}} c {{ begin@s }} d {{{begin@s}}}', 'a VAL b VAL c VAL d VAL'],
    ['{% if true %}{"q": {begin@s}}{% endif %}', '{"q": VAL}'],
    ['[{begin@tags}][{{ {begin@tags} }}]', '[{{ 7*7 }}{sys.query}][{{ 7*7 }}{sys.query}]'],
    ['[{ghost@x}{begin@nope}{begin@later}{begin@empty}]', '[]'],
    ['{% raw %}{{ {begin@s} }}{% endraw %}', '{{ {begin@s} }}'],
    ['{# {begin@s} #}x', 'x'],
    // References in tags
    ['{{ {sys.query} | upper }}/{{{sys.query}|upper}}/{{ {sys.query}|length }}', 'FOO BOO/FOO BOO/7'],
    ['{{ begin@name | upper }}{{ Agent:Foo@content | upper }}', 'ANNSAID'],
    ['{% if {sys.query} == "foo boo" %}yes{% endif %}', 'yes'],
    ['{% if {{sys.query}} == "foo boo" %}yes{% endif %}', 'yes'],
    ['{% for w in {sys.query}.split(" ") %}<{{ w }}>{% endfor %}', '<foo><boo>'],
    ['{% for w in begin@name.split("n") %}<{{ w }}>{% endfor %}', '<A><><>'],
    ['{{ "Hi {begin@name}!" | upper }}{{ \'{begin@name}\' ~ "{nope}" }}', 'HI ANN!Ann{nope}'],
    ['{{ {begin@path} }}{{ {begin@path} | length }}', 'C:\\dir\\new10'],
    ['{{ {"k": {begin@s}} }}', '{"k": "VAL"}'],
    ['{{- {begin@s} -}} x', 'VALx'],
    // Text by default
    ['{{ {env.items} | length }}:{{ {env.items} }}', '10:["a", "b"]'],
    ['{{ {env.flag} ~ "" }}{{ {begin@o.n} | int + 1 }}', 'true6'],
    ['{{ {begin@later} | default("d") }}{{ {begin@later} | default("d", true) }}', 'd'],
    // Names
    ['{{ sys.query | upper }}{{ env.items | length }}{{ env.items[1] }}{{ env.flag and 1 }}', 'FOO BOO2b1'],
    ['{{ sys["query"] }}{{ sys.nope }}{{ sys.nope is defined }}', 'foo boofalse'],
    ['{{ item.name | upper }}{{ index + 1 }}{{ result is defined }}', 'IT3false'],
    ['{% for item in [1, 2] %}{{ item }}{{ index }}{% endfor %}{item.name}', '1222it'],
    ['{{ begin is defined }}{{ range(2) | length }}', 'false2'],
  ])('%j gives %j', (template, expected) => {
    expect(renderTemplate(template, 'jinja', SOURCE)).toBe(expected);
  });

  it.each([
    ['{{ {env.items} | length }}:{{ {env.items} }}', '2:["a", "b"]'],
    ['{% for x in {begin@list} %}<{{ x }}>{% endfor %}', '<a><b>'],
    ['{{ {begin@o}.n + 1 }}{{ {env.flag} is boolean }}', '6true'],
    ['{{ {begin@later} | default("d") }}{{ {ghost@x} | default("e") }}{{ {begin@empty} is none }}', 'detrue'],
    ['{begin@list}', '["a", "b"]'],
  ])('with typed values %j gives %j', (template, expected) => {
    expect(renderTemplate(template, 'jinja', SOURCE, { values: 'typed' })).toBe(expected);
  });

  it('leaves short names outside of a body as they are written', () => {
    expect(
      renderTemplate('{item}|{% if {item} %}x{% else %}y{% endif %}|{{ item }}|{{ "{index}" }}', 'jinja', OUTSIDE),
    ).toBe('{item}|y||{index}');
  });

  it('gives the text that the caller wants', () => {
    const render = (value: Parameters<typeof renderValue>[0]) => renderValue(value, { delimiter: '; ' });
    expect(renderTemplate('[{begin@list}]{{ {begin@list} | upper }}', 'jinja', SOURCE, { render })).toBe('[a; b]A; B');
  });

  it('reports what names nothing, wherever it stands', () => {
    const onUnresolved = vi.fn();
    renderTemplate(
      '{ghost@a}{{ {ghost@b} | upper }}{{ "{ghost@c}" }}{begin@later}{{ sys.nope | upper }}',
      'jinja',
      SOURCE,
      {
        onUnresolved,
      },
    );
    renderTemplate('{{ {begin@nope} | default("x") }}', 'jinja', SOURCE, { onUnresolved, values: 'typed' });
    expect(onUnresolved.mock.calls.map(([reference, { status }]) => [reference.name, status])).toEqual([
      ['a', 'unresolved'],
      ['b', 'unresolved'],
      ['c', 'unresolved'],
      ['nope', 'undeclared'],
    ]);
  });

  it('bounds the text of values too', () => {
    const source = sourceOf({ variables: { 'sys.query': 'x'.repeat(1000) } });
    expect(() => renderTemplate('{sys.query}{sys.query}', 'jinja', source, { limits: { maxChars: 1500 } })).toThrow(
      expect.objectContaining({ code: 'TEMPLATE_TOO_LARGE' }),
    );
  });

  it.each([['{{ {a@b} {c@d} }}'], ['{{ a@ }}'], ['{{a@b@c}}'], ['{% if {a@b %}x{% endif %}']])(
    'refuses %j',
    (template) => {
      expect(() => renderTemplate(template, 'jinja', SOURCE)).toThrow(
        expect.objectContaining({ code: 'TEMPLATE_INVALID' }),
      );
    },
  );
});

describe('a Handlebars template of a canvas', () => {
  it.each([
    ['Hi {begin@name} {{begin@name}} {{ begin@name }}', 'Hi Ann Ann Ann'],
    ['{{#each {begin@list}}}<{{this}}>{{/each}}', '<a><b>'],
    ['{{#if {sys.query}}}yes{{else}}no{{/if}}', 'yes'],
    ['{{#each {begin@list}}}{{#if {begin@s}}}{begin@s}{{/if}}{{/each}}', 'VALVAL'],
    ['{{lookup {begin@list} 1}}{{ {begin@o}.n }}', 'b5'],
    [
      '{{sys.query}} {{#with sys}}{{query}}{{/with}} {{env.items.[1]}} {{item.name}} {{@root.index}}',
      'foo boo foo boo b it 2',
    ],
    ['[{begin@tags}]{{! {begin@s} }}{{!-- }} {begin@s} --}}', '[{{ 7*7 }}{sys.query}]'],
    ['\\{{begin@s}}|{{lookup "}} {begin@s}" 0}}|{{[a }} b]}}', '\\VAL|}|'],
    ['{"q": {begin@s}}<{{{env.items}}}>', '{"q": VAL}<["a", "b"]>'],
    ['{{#if x}}{', undefined],
    ['{{> missing}}', undefined],
  ])('%j gives %j', (template, expected) => {
    const render = () => renderTemplate(template, 'handlebars', SOURCE, { values: 'typed' });
    if (expected === undefined)
      expect(render).toThrow(expect.objectContaining({ code: expect.stringMatching(/^TEMPLATE_/) }));
    else expect(render()).toBe(expected);
  });

  it('passes private characters of the template on', () => {
    expect(renderTemplate('\ue0000\ue000{begin@s}', 'handlebars', SOURCE)).toBe('\ue0000\ue000VAL');
  });
});
