import Handlebars from 'handlebars';
import { describe, expect, it } from 'vitest';
import { renderHandlebars } from '../../src/templates/template.js';

const VALUES = {
  name: 'Ann',
  html: `<b a="1">&'\`=</b>`,
  zero: 0,
  empty: '',
  yes: true,
  no: false,
  none: null,
  xs: ['p', 'q'],
  nested: [['a'], ['b', 'c']],
  users: [
    { name: 'Bob', tags: ['t'] },
    { name: 'Cy', tags: [] },
  ],
  o: { k: 'v', l: 'w' },
  'first name': 'F',
  if: 'a value named if',
};

/** Templates that must give what Handlebars itself gives. */
const SAME: readonly string[] = [
  'plain {single} \\{{escaped}} \\\\{{name}}',
  '{{name}} {{{html}}} {{html}} {{&html}}',
  '{{missing}}{{none}}{{zero}}{{yes}}{{no}}{{empty}}',
  '{{o.k}} {{o.missing.deep}} {{xs.[0]}} {{xs.length}} {{[first name]}} {{o/k}} {{this.name}} {{./name}}',
  '{{#if yes}}a{{/if}}{{#if no}}b{{else}}c{{/if}}{{#if zero}}d{{else}}e{{/if}}{{#if zero includeZero=true}}f{{/if}}{{#if xs}}g{{/if}}{{#if missing}}h{{/if}}',
  '{{#if no}}1{{else if empty}}2{{else if name}}3{{else}}4{{/if}}',
  '{{#unless no}}a{{else}}b{{/unless}}{{#unless yes}}c{{^}}d{{/unless}}',
  '{{#each xs}}{{@index}}{{@key}}{{@first}}{{@last}}{{this}};{{/each}}',
  '{{#each o}}{{@key}}={{this}}{{@index}};{{/each}}',
  '{{#each missing}}x{{else}}none{{/each}}{{#each empty}}x{{else}}none{{/each}}',
  '{{#each users}}{{name}}:{{#each tags}}{{this}}{{../name}}{{../../name}}{{else}}-{{/each}};{{/each}}',
  '{{#each nested}}{{#each this}}{{@../index}}{{@index}}{{this}} {{/each}}{{/each}}',
  '{{#each users as |user i|}}{{i}}{{user.name}}{{#each user.tags as |tag|}}{{tag}}{{user.name}}{{i}}{{/each}}{{/each}}',
  '{{#with o}}{{k}}{{../name}}{{@root.name}}{{/with}}{{#with none}}x{{else}}y{{/with}}{{#with o as |p|}}{{p.k}}{{/with}}',
  '{{#o}}{{k}}{{/o}}{{#xs}}{{this}}{{@index}}{{/xs}}{{^missing}}no{{/missing}}{{#yes}}{{name}}{{/yes}}{{#no}}x{{/no}}',
  '{{lookup xs 1}}{{lookup o "k"}}{{#each xs}}{{lookup ../xs @index}}{{/each}}{{lookup (lookup users 0) "name"}}{{lookup missing 1}}',
  '{{! comment }}a{{!-- with }} --}}b',
  'a  {{~name~}}  b\n{{~#if yes~}}\n c \n{{~/if~}}\n d',
  'x\n  {{#if yes}}\n  y\n  {{/if}}\nz\n{{! alone }}\nw',
  '{{#*inline "p"}}<{{name}}{{x}}>{{/inline}}{{> p}}{{> p x=1}}{{> p o}}{{#each users}}{{> p}}{{/each}}',
  '{{#*inline "list"}}\n- {{name}}\n{{/inline}}\nall:\n  {{> list}}\nend',
  '{{#> nothing}}fallback {{name}}{{/nothing}}',
  '{{#*inline "lay"}}[{{> @partial-block}}]{{/inline}}{{#> lay}}{{name}}{{/lay}}',
  '{{#if yes}}{{#*inline "q"}}Q{{/inline}}{{> q}}{{/if}}',
  '{{> (lookup . "name")}}{{#*inline "Ann"}}dynamic{{/inline}}',
  '{{"first name"}}{{this.if}}{{./if}}',
  '{{#each xs}}{{#if @first}}{{this}}{{else}}{{../name}}{{/if}}{{/each}}',
  '{{#with users.[1]}}{{name}}{{/with}}{{#each users.[0].tags}}{{this}}{{/each}}',
];

describe('renderHandlebars', () => {
  it.each(SAME)('gives what Handlebars gives for %j', (template) => {
    expect(renderHandlebars(template, VALUES)).toBe(Handlebars.compile(template)(VALUES));
  });

  it('writes lists and objects as JSON, and escapes only when it should', () => {
    expect(renderHandlebars('{{{o}}}{{{xs}}}', VALUES)).toBe('{"k": "v", "l": "w"}["p", "q"]');
    expect(renderHandlebars('{{html}}{{{html}}}', { html: '<' }, { noEscape: true })).toBe('<<');
  });

  it('gives a raw block as it is written', () => {
    expect(renderHandlebars('{{{{raw}}}} {{name}} {{{{/raw}}}}', VALUES)).toBe(' {{name}} ');
  });

  it('reads own keys only', () => {
    const values = JSON.parse('{"o": {"__proto__": {"x": "own"}, "constructor": "c"}, "e": {}}');
    expect(
      renderHandlebars(
        '{{o.__proto__.x}}{{o.constructor}}{{e.constructor}}{{e.toString}}{{lookup e "__proto__"}}{{constructor}}',
        values,
      ),
    ).toBe('ownc');
  });

  it.each([
    ['{{nope 1}}', 'TEMPLATE_FAILED'],
    ['{{log name}}', 'TEMPLATE_FAILED'],
    ['{{#nope 1}}{{/nope}}', 'TEMPLATE_FAILED'],
    ['{{#if}}{{/if}}', 'TEMPLATE_FAILED'],
    ['{{#if a b}}{{/if}}', 'TEMPLATE_FAILED'],
    ['{{lookup (nope 1) 2}}', 'TEMPLATE_FAILED'],
    ['{{> nope}}', 'TEMPLATE_FAILED'],
    ['{{* nope}}', 'TEMPLATE_FAILED'],
    ['{{#* nope "x"}}{{/nope}}', 'TEMPLATE_FAILED'],
    ['{{#if a}}', 'TEMPLATE_INVALID'],
    ['{{/if}}', 'TEMPLATE_INVALID'],
    ['{{#if a}}{{/each}}', 'TEMPLATE_INVALID'],
    ['{{ a b', 'TEMPLATE_INVALID'],
    ['{{a.this}}', 'TEMPLATE_INVALID'],
    ['{{#*inline "p"}}{{> p}}{{/inline}}{{> p}}', 'TEMPLATE_TOO_LARGE'],
    ['{{#*inline "p"}}{{#each xs}}{{> p ..}}{{/each}}{{/inline}}{{> p}}', 'TEMPLATE_TOO_LARGE'],
    ['{{#if a}}'.repeat(50_000), 'TEMPLATE_TOO_LARGE'],
    [`{{#if a}}${'{{else if b}}'.repeat(5000)}{{/if}}`, 'TEMPLATE_TOO_LARGE'],
    [`{{a ${'(b '.repeat(5000)}`, 'TEMPLATE_TOO_LARGE'],
    ['{{#each big}}{{#each @root.big}}{{#each @root.big}}x{{/each}}{{/each}}{{/each}}', 'TEMPLATE_TOO_LARGE'],
    ['{{#each big}}{{{@root.long}}}{{/each}}', 'TEMPLATE_TOO_LARGE'],
    ['x'.repeat(1_048_577), 'TEMPLATE_TOO_LARGE'],
  ])('%.70j ends with %s', (template, code) => {
    const values = { xs: [1, 2], big: Array.from({ length: 1000 }, () => 0), long: 'x'.repeat(10_000) };
    expect(() => renderHandlebars(template, values)).toThrow(expect.objectContaining({ code }));
  });

  it('names the line', () => {
    expect(() => renderHandlebars('a\n{{nope 1}}', {})).toThrow(/line 2: there is no helper "nope"/);
    expect(() => renderHandlebars('a\n\n{{#if a}}{{/each}}', {})).toThrow(/line 3:/);
    expect(() => renderHandlebars('a\n{{ ! }', {})).toThrow(/line 2:/);
  });
});
