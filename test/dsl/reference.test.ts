import { describe, expect, it } from 'vitest';
import {
  findReferences,
  normalizeReference,
  parseReference,
  type Reference,
  splitTemplate,
} from '../../src/dsl/reference.js';

const AB: Reference = { kind: 'output', component: 'a', name: 'b', path: [] };
const QUERY: Reference = { kind: 'variable', key: 'sys.query' };
const alias = (name: 'item' | 'index' | 'result', ...path: string[]): Reference => ({ kind: 'alias', name, path });
const output = (component: string, name: string, ...path: string[]): Reference => ({
  kind: 'output',
  component,
  name,
  path,
});

/** A text, what is found in it, and the reference. */
const FOUND: readonly (readonly [text: string, match: string, reference: Reference])[] = [
  ['{a@b}', '{a@b}', AB],
  ['{{a@b}}', '{{a@b}}', AB],
  ['{{{a@b}}}', '{{{a@b}}}', AB],
  ['{{a@b}', '{{a@b}', AB],
  ['{a@b}}}', '{a@b}}}', AB],
  ['{{ a@b }}', '{{ a@b }}', AB],
  ['{ a@b }', '{ a@b }', AB],
  ['{{\na@b\r\n}}', '{{\na@b\r\n}}', AB],
  ['{ {a@b} }', '{ {a@b} }', AB],
  ['{{ {a@b} }}', '{{ {a@b} }}', AB],
  ['x {a@b}  } y', '{a@b}', AB],
  ['x { {a@b} y', '{a@b}', AB],
  ['{\n  {a@b}\n}', '{a@b}', AB],
  ['Hi {sys.query} there', '{sys.query}', QUERY],
  ['{{llm_0@x}}', '{{llm_0@x}}', output('llm_0', 'x')],
  ['{Agent:Foo@content}', '{Agent:Foo@content}', output('Agent:Foo', 'content')],
  ['{a@b.c.0.-1.d-e}', '{a@b.c.0.-1.d-e}', output('a', 'b', 'c', '0', '-1', 'd-e')],
  ['{SYS.query}', '{SYS.query}', { kind: 'variable', key: 'SYS.query' }],
  ['{env.a.b_2}', '{env.a.b_2}', { kind: 'variable', key: 'env.a.b_2' }],
  ['{item}', '{item}', alias('item')],
  ['{{item}}', '{{item}}', alias('item')],
  ['{{ item }}', '{{ item }}', alias('item')],
  ['{index}', '{index}', alias('index')],
  ['{result}', '{result}', alias('result')],
  ['{{item.name}}', '{{item.name}}', alias('item', 'name')],
  ['{item@x}', '{item@x}', output('item', 'x')],
  // A brace of the text waits for the last brace.
  ['{"q": {a@b}}', '{a@b}', AB],
  ['{"q": {"r": {{a@b}}}}', '{{a@b}}', AB],
  ['{"q": 1} {a@b}}', '{a@b}}', AB],
];

const NOT_FOUND: readonly string[] = [
  '',
  '{Agent-1@x}',
  '{begin@中文}',
  '{a@b c}',
  '{a@b@c}',
  '{sys.a-b}',
  '{sys.}',
  '{env.}',
  '{@x}',
  '{a@}',
  '{Item}',
  '{items}',
  '{item.}',
  '{garbage}',
  '{{garbage}}',
  'a@b',
  '{a@b',
  'a@b}',
  '{}',
  '{ }',
  '{"a": 1}',
  '{% item %}',
  '{sysxquery}',
];

/** Texts that make a careless pattern slow. */
const HOSTILE: readonly string[] = [
  '{'.repeat(1_000_000),
  '{ '.repeat(500_000),
  '{a@'.repeat(300_000),
  `{${' '.repeat(1_000_000)}`,
  `{a@b}${' '.repeat(1_000_000)}}`,
  `${' '.repeat(1_000_000)}{a@b}`,
  `{${'a'.repeat(1_000_000)}`,
  `{${'a:'.repeat(500_000)}`,
  `{sys.${'.'.repeat(1_000_000)}-}`,
  `{a@b${'}'.repeat(1_000_000)}`,
  '{a@b} '.repeat(150_000),
  '{ {a@b} '.repeat(120_000),
];

describe('findReferences', () => {
  it.each(FOUND)('finds in %j the text %j', (text, match, reference) => {
    const start = text.indexOf(match);
    expect(findReferences(text)).toEqual([{ reference, start, end: start + match.length, text: match }]);
  });

  it.each(NOT_FOUND)('finds nothing in %j', (text) => {
    expect(findReferences(text)).toEqual([]);
  });

  it('finds several, in order, also without anything between them', () => {
    expect(findReferences('{a@b}{{item}} {sys.query}{x').map(({ text, start }) => [text, start])).toEqual([
      ['{a@b}', 0],
      ['{{item}}', 5],
      ['{sys.query}', 14],
    ]);
  });

  it.each(HOSTILE.map((text) => [text.slice(0, 12), text]))('comes to an end on a long text of %j', (_start, text) => {
    const found = findReferences(text);
    expect(found.every(({ start, end, text: match }) => text.slice(start, end) === match)).toBe(true);
  });
});

describe('splitTemplate', () => {
  it('gives literals and references in order', () => {
    expect(splitTemplate('a {a@b} c{sys.query}')).toEqual([
      { kind: 'text', text: 'a ' },
      { kind: 'reference', reference: AB, text: '{a@b}' },
      { kind: 'text', text: ' c' },
      { kind: 'reference', reference: QUERY, text: '{sys.query}' },
    ]);
    expect(splitTemplate('')).toEqual([]);
    expect(splitTemplate('plain')).toEqual([{ kind: 'text', text: 'plain' }]);
  });

  it('gives parts whose texts joined are the text, for any text', () => {
    const seed = 20_240_607;
    const random = generator(seed);
    const pieces = [
      '{',
      '}',
      '{{',
      '}}',
      ' ',
      '\n',
      'a@b',
      'sys.query',
      'item',
      '.x',
      'word',
      '"',
      '@',
      ':',
      '%',
      '中',
    ];
    for (let round = 0; round < 3000; round++) {
      const text = Array.from({ length: 1 + (random() % 24) }, () => pieces[random() % pieces.length]).join('');
      const parts = splitTemplate(text);
      expect(parts.map((part) => part.text).join(''), `seed ${seed}, text ${JSON.stringify(text)}`).toBe(text);
      for (const part of parts)
        if (part.kind === 'reference') expect(parseReference(part.text)).toEqual(part.reference);
    }
  });
});

describe('parseReference', () => {
  it.each([
    ['begin@x', output('begin', 'x')],
    ['{begin@x}', output('begin', 'x')],
    ['{ begin@x }', output('begin', 'x')],
    [' {{ begin@x }} \n', output('begin', 'x')],
    ['{ { begin@x } }', output('begin', 'x')],
    ['Agent-1@x', output('Agent-1', 'x')],
    ['begin@中文.a', output('begin', '中文', 'a')],
    ['a@b@c', output('a', 'b@c')],
    ['a@', output('a', '')],
    ['sys.query', QUERY],
    ['{{env.x.y}}', { kind: 'variable', key: 'env.x.y' }],
    ['item', alias('item')],
    ['{result.a.0}', alias('result', 'a', '0')],
  ] satisfies [string, Reference][])('reads %j', (text, reference) => {
    expect(parseReference(text)).toEqual(reference);
  });

  it.each(['', '   ', '{}', '{{ }}', '@x', 'plain', 'sys.', 'item.', 'a@b c', 'x {a@b}', '{a@b}{c@d}', 'Item'])(
    'gives nothing for %j',
    (text) => {
      expect(parseReference(text)).toBeUndefined();
    },
  );

  it('normalizes whatever is around the name', () => {
    expect(normalizeReference(' {{ { a@b } }}\t')).toBe('a@b');
    expect(normalizeReference('a b')).toBe('a b');
  });
});

/** A small generator of whole numbers that gives the same row for the same seed. */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state >>> 8;
  };
}
