import { describe, expect, it } from 'vitest';
import { createSplitter, stringTransform } from '../../src/components/string-transform.js';
import type { Json, JsonObject } from '../../src/json.js';
import { outputsOf, runAtOnce, warningsOf } from './text-activation.js';

const split = (value: Json | undefined, delimiters?: string[]) => {
  const outputs = { src: value === undefined ? {} : { v: value } };
  return outputsOf(
    runAtOnce(stringTransform, { split_ref: '{src@v}', ...(delimiters && { delimiters }) }, { outputs }),
  );
};

const merge = (script: string, values: JsonObject = {}, delimiters = [',']) =>
  runAtOnce(stringTransform, { method: 'merge', script, delimiters }, { outputs: { n: values } });

describe('template_engine', () => {
  const render = (script: string, values: JsonObject, engine: string) =>
    outputsOf(
      runAtOnce(stringTransform, { method: 'merge', script, template_engine: engine }, { outputs: { n: values } }),
    ).result;

  it.each<[string, string, JsonObject, string]>([
    ['lists as lists', '{{#each {n@l}}}<{{this}}>{{/each}}', { l: ['a', 'b'] }, '<a><b>'],
    ['conditions', '{{#if {n@x}}}yes{{else}}no{{/if}} {n@x}', { x: 0 }, 'no 0'],
    ['text without tags', 'plain {n@x}', { x: [1, 2] }, 'plain 1,2'],
    ['values without reading them again', '{n@x}', { x: '{{#if 1}}{n@x}' }, '{{#if 1}}{n@x}'],
    ['tags of Jinja as text', '{% if 1 %}', {}, '{% if 1 %}'],
  ])('"handlebars" reads %s', (_, script, values, result) => {
    expect(render(script, values, 'handlebars')).toBe(result);
  });

  it('"jinja" is the language by default', () => {
    expect(render('{% if true %}{n@x}{% endif %}', { x: 1 }, 'jinja')).toBe('1');
  });

  it('refuses any other language, and a template that cannot be parsed', () => {
    expect(() => render('x', {}, 'mustache')).toThrow(/expected .*jinja.* or .*handlebars/);
    expect(() => render('{{#if}}', {}, 'handlebars')).toThrow(expect.objectContaining({ code: 'TEMPLATE_INVALID' }));
  });
});

describe('split', () => {
  it.each<[string, string, string[], string[]]>([
    ['at the comma by default', 'p,q', [','], ['p', 'q']],
    ['keeping empty pieces', ',p,,q,', [','], ['', 'p', '', 'q', '']],
    ['nowhere', 'whole', ['#'], ['whole']],
    ['at what is special in patterns', 'a|b.c*d(e', ['|', '.', '*', '('], ['a', 'b', 'c', 'd', 'e']],
    ['at the first listed of several at one place', 'x=>y', ['=', '=>'], ['x', '>y']],
    ['at the longer one when it is listed first', 'x=>y', ['=>', '='], ['x', 'y']],
    ['at line ends', 'one\r\ntwo\nthree', ['\r\n', '\n'], ['one', 'two', 'three']],
    ['between all characters', 'a🙂b', [''], ['a', '🙂', 'b']],
    ['between all characters beside a delimiter', 'ab-c', ['-', ''], ['a', 'b', 'c']],
    ['nothing into one empty piece', '', ['', '-'], ['']],
    ['beside characters of two units', '🙂-🙂', ['-', '#'], ['🙂', '🙂']],
  ])('cuts %s', (_, text, delimiters, pieces) => {
    expect(createSplitter(delimiters)(text)).toEqual(pieces);
  });

  it.each<[string, Json | undefined]>([
    ['null', null],
    ['an empty text', ''],
    ['zero', 0],
    ['false', false],
    ['an empty list', []],
    ['an output that was never set', undefined],
  ])('gives one empty piece for %s', (_, value) => {
    expect(split(value)).toEqual({ result: [''] });
  });

  it.each<[string, Json, RegExp]>([
    ['a list', ['a'], /"\{src@v\}" is a list/],
    ['an object', { a: 1 }, /type object/],
    ['a number', 7, /type number/],
  ])('fails for %s', (_, value, message) => {
    expect(() => split(value)).toThrow(message);
  });

  it.each([
    ['a node that does not exist', 'ghost@v', /there is no ghost@v/],
    ['no reference', 'some words', /is no reference/],
    ['nothing', '', /is no reference/],
  ])('fails for %s', (_, reference, message) => {
    expect(() => runAtOnce(stringTransform, { split_ref: reference })).toThrow(message);
  });
});

describe('merge', () => {
  it.each<[string, string, JsonObject, string]>([
    ['texts and literals', '{n@a} and {n@b}', { a: 'x', b: 'y' }, 'x and y'],
    ['a value with backslashes', '[{n@a}]', { a: 'C:\\new\\1' }, '[C:\\new\\1]'],
    ['objects as JSON', '{n@o}/{n@o.k}', { o: { k: 1, ü: 'v' } }, '{"k": 1, "ü": "v"}/1'],
    ['null as nothing', '<{n@a}>', { a: null }, '<>'],
    ['a name beside its reference', 'n_a is {n@a}', { a: 'x' }, 'n_a is x'],
    ['names that begin alike', '{n@o}{n@o.k}', { o: { k: 5 } }, '{"k": 5}5'],
    ['a value that looks like a reference', '{n@a}', { a: '{n@b}', b: 'no' }, '{n@b}'],
    ['double braces', '{{n@a}}', { a: 'x' }, 'x'],
    ['a template', '{% for i in range(2) %}{{ i }}{n@a}{% endfor %}', { a: 'z' }, '0z1z'],
  ])('puts in %s', (_, script, values, result) => {
    expect(outputsOf(merge(script, values))).toEqual({ result });
  });

  it('joins lists with the first delimiter, also inside of a template', () => {
    const values = { l: ['a', { b: 1 }, null] };
    expect(outputsOf(merge('{n@l}', values, ['; ', '-']))).toEqual({ result: 'a; {"b": 1}; ' });
    expect(outputsOf(merge('{% if true %}{n@l}{% endif %}', values, ['+']))).toEqual({ result: 'a+{"b": 1}+' });
  });

  it('leaves lists JSON when the delimiter is empty', () => {
    expect(outputsOf(merge('<{n@l}>', { l: ['a', 1, null] }, ['']))).toEqual({ result: '<["a", 1, null]>' });
  });

  it('warns once of each name without a value', () => {
    const events = merge('{n@none}{n@none}{env.none}');
    expect(outputsOf(events)).toEqual({ result: '' });
    expect(warningsOf(events)).toEqual([expect.stringContaining('"n@none"'), expect.stringContaining('"env.none"')]);
  });

  it('fails for a node that does not exist', () => {
    expect(() => merge('{ghost@a}')).toThrow(/reads "ghost@a", but there is no node "ghost"/);
  });
});

it('declares what it reads', () => {
  const needs = (params: Json) => stringTransform.needs?.(stringTransform.params.parse(params));
  expect(needs({ split_ref: 'a@b.c', script: '{other@x}' })).toEqual(['a@b']);
  expect(needs({ split_ref: 'sys.query' })).toEqual([]);
  expect(needs({ method: 'merge', split_ref: 'a@b', script: '{c@d}{{c@d.e}}{sys.query}{f@g}' })).toEqual([
    'c@d',
    'f@g',
  ]);
});

it.each([{ method: 'cut' }, { delimiters: [] }, { delimiters: 'x' }])('refuses %j', (params) => {
  expect(stringTransform.params.safeParse(params).success).toBe(false);
});
