import { describe, expect, it, vi } from 'vitest';
import { parseReference, type Reference } from '../../src/dsl/reference.js';
import { interpolate, type Lookup, readPath, readReference, readText, resolveParam } from '../../src/dsl/resolve.js';
import type { Json } from '../../src/json.js';
import { sourceOf } from './value-source.js';

const SOURCE = sourceOf({
  outputs: {
    begin: {
      name: 'Ann',
      none: null,
      waiting: undefined,
      number: 5,
      list: ['zero', 1, { k: 'two' }],
      object: { a: { b: { c: 'deep' } }, '1': 'one' },
      json: '{"user": {"tags": ["x", "y"]}}',
      nested: '{"inner": "{\\"x\\": 7}"}',
      braces: '{sys.query}',
    },
  },
  variables: { 'sys.query': 'what?', 'env.o': { k: 'v', d: { e: 1 } }, 'env.o.exact': 'exact', 'sys.files': [] },
  aliases: { item: { name: 'it' }, index: 3 },
});

const found = (value: Json): Lookup => ({ status: 'found', value });

describe('readText', () => {
  it.each([
    ['begin@name', found('Ann')],
    ['{{ begin@name }}', found('Ann')],
    ['begin@none', found(null)],
    ['begin@waiting', { status: 'unset' }],
    ['begin@waiting.a', { status: 'unset' }],
    ['begin@nothing', { status: 'undeclared' }],
    ['begin@nothing.a', { status: 'undeclared' }],
    ['ghost@x', { status: 'unresolved' }],
    ['sys.query', found('what?')],
    ['sys.nothing', { status: 'unresolved' }],
    ['env.o.k', found('v')],
    ['env.o.d.e', found(1)],
    ['env.o.exact', found('exact')],
    ['env.o.z', found(null)],
    ['env.z.k', { status: 'unresolved' }],
    ['SYS.query', { status: 'unresolved' }],
    ['item.name', found('it')],
    ['index', found(3)],
    ['result', { status: 'unresolved' }],
    ['no reference', { status: 'unresolved' }],
    ['', { status: 'unresolved' }],
    // Paths
    ['begin@none.a', found(null)],
    ['begin@number.a', found(null)],
    ['begin@list.0', found('zero')],
    ['begin@list.2.k', found('two')],
    ['begin@list.-1.k', found('two')],
    ['begin@list.-3', found('zero')],
    ['begin@list.-4', found(null)],
    ['begin@list.9', found(null)],
    ['begin@list.x', found(null)],
    ['begin@list.1x', found(null)],
    ['begin@list.length', found(null)],
    ['begin@object.a.b.c', found('deep')],
    ['begin@object.1', found('one')],
    ['begin@object.a.z.c', found(null)],
    ['begin@object.constructor', found(null)],
    ['begin@object.__proto__', found(null)],
    ['begin@object.toString.name', found(null)],
    ['begin@json.user.tags.1', found('y')],
    ['begin@nested.inner.x', found(7)],
    ['begin@name.first', found(null)],
  ] satisfies [string, Lookup][])('reads %j', (text, lookup) => {
    expect(readText(text, SOURCE)).toEqual(lookup);
  });

  it('reads a reference without a path as the very value', () => {
    const list = [{ a: 1 }];
    const reference = parseReference('a@list') as Reference;
    const lookup = readReference(reference, sourceOf({ outputs: { a: { list } } }));
    expect(lookup.status === 'found' && lookup.value).toBe(list);
  });
});

describe('readPath', () => {
  it('parses texts of up to 1 MiB only', () => {
    const small = JSON.stringify({ a: 'x'.repeat(1000) });
    const large = JSON.stringify({ a: 'x'.repeat(1_048_576) });
    expect(readPath(small, ['a'])).toHaveLength(1000);
    expect(readPath(large, ['a'])).toBeNull();
  });

  it('reads an own key that looks like a prototype', () => {
    expect(readPath(JSON.parse('{"__proto__": {"x": 1}}'), ['__proto__', 'x'])).toBe(1);
  });
});

describe('resolveParam', () => {
  it.each([
    ['begin@list', ['zero', 1, { k: 'two' }]],
    ['{begin@list}', ['zero', 1, { k: 'two' }]],
    ['{{ begin@number }}', 5],
    ['sys.files', []],
    ['{item}', { name: 'it' }],
    ['{begin@none}', null],
    ['{begin@waiting}', null],
    ['{begin@nothing}', ''],
    ['{begin@nothing.deeper}', null],
    ['n={begin@number}', 'n=5'],
    ['{begin@number}{begin@number}', '55'],
    ['item', 'item'],
    ['index', 'index'],
    ['ann@example.com', 'ann@example.com'],
    ['{ghost@x}', ''],
    ['{result}', '{result}'],
    ['env.nothing', 'env.nothing'],
    ['plain', 'plain'],
    ['', ''],
    [5, 5],
    [null, null],
    [['{begin@name}'], ['{begin@name}']],
  ] satisfies [Json, Json][])('gives %j as %j', (value, expected) => {
    expect(resolveParam(value, SOURCE)).toEqual(expected);
  });

  it('reports what names nothing', () => {
    const onUnresolved = vi.fn();
    resolveParam('{begin@nothing}', SOURCE, { onUnresolved });
    resolveParam('{ghost@x}', SOURCE, { onUnresolved });
    resolveParam('{begin@waiting}', SOURCE, { onUnresolved });
    expect(onUnresolved.mock.calls.map(([, lookup]) => lookup.status)).toEqual(['undeclared', 'unresolved']);
  });
});

describe('interpolate', () => {
  it.each([
    ['Hi {begin@name} there', 'Hi Ann there'],
    ['{{begin@name}}|{{{begin@name}}}|{{ begin@name }}', 'Ann|Ann|Ann'],
    ['{"q": {sys.query}}', '{"q": what?}'],
    ['[{begin@none}][{begin@waiting}][{begin@nothing}][{ghost@x}][{sys.nothing}]', '[][][][][]'],
    ['{begin@list}', '["zero", 1, {"k": "two"}]'],
    ['[{begin@braces}]', '[{sys.query}]'],
    ['{item.name}{index}{result}{Item}', 'it3{result}{Item}'],
    ['{garbage} {"a": 1} {a b@c}', '{garbage} {"a": 1} {a b@c}'],
  ])('turns %j into %j', (text, expected) => {
    expect(interpolate(text, SOURCE)).toBe(expected);
  });

  it('uses the given text of values, and reports what names nothing', () => {
    const onUnresolved = vi.fn();
    const text = '{begin@name}{begin@none}{begin@nothing}{ghost@x}{sys.nothing}{result}{begin@waiting}';
    expect(interpolate(text, SOURCE, { render: (value) => `<${JSON.stringify(value)}>`, onUnresolved })).toBe(
      '<"Ann"><null>{result}',
    );
    expect(onUnresolved.mock.calls).toEqual([
      [{ kind: 'output', component: 'begin', name: 'nothing', path: [] }, { status: 'undeclared' }],
      [{ kind: 'output', component: 'ghost', name: 'x', path: [] }, { status: 'unresolved' }],
      [{ kind: 'variable', key: 'sys.nothing' }, { status: 'unresolved' }],
    ]);
  });
});
