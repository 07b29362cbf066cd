import { describe, expect, it } from 'vitest';
import { dataOperations } from '../../src/components/data-operations.js';
import type { Json } from '../../src/json.js';
import { runNode, type Values } from './data-node.js';

const PEOPLE = [
  { name: 'Ann', age: 30, city: 'Rome' },
  { name: 'Bob', age: 25 },
];
const VALUES: Values = {
  outputs: {
    begin: {
      people: PEOPLE,
      one: { a: 1, k: 'x', l: [1] },
      two: { a: 2, k: ['y', 'z'], l: 2, o: { deep: true } },
      mixed: [{ a: 1 }, 2, 'text', null, [{ a: 3 }], { a: 4 }],
      number: 7,
      nothing: null,
      tricky: { ['__proto__']: 1, toString: 2 },
      literals: [{ n: '1', l: "['a', (1, 2)]", j: '{"k": null}', t: 'plain', deep: { f: '3.5' }, low: 'true' }],
    },
    later: null,
  },
  variables: { 'sys.query': 'Rome', 'env.list': ['a'], 'env.empty': '' },
};

const operate = (params: Json): Json | undefined => runNode(dataOperations, params, VALUES).outputs.result;

describe('DataOperations', () => {
  describe('gathers objects', () => {
    const KEEP_A = { operations: 'select_keys', select_keys: ['a'] };
    it.each<[string, Json, Json]>([
      ['one object', ['begin@one'], [{ a: 1 }]],
      ['several references, in order', ['begin@two', 'begin@one'], [{ a: 2 }, { a: 1 }]],
      ['a single text', 'begin@one', [{ a: 1 }]],
      ['a text with commas', 'begin@one, begin@two', [{ a: 1 }, { a: 2 }]],
      ['a reference in braces', ['{begin@one}'], [{ a: 1 }]],
      ['the objects among the items of a list', ['begin@mixed'], [{ a: 1 }, { a: 4 }]],
      ['nothing of a number', ['begin@number'], []],
      ['nothing of null', ['begin@nothing'], []],
      ['nothing of a node that has not run', ['later@result'], []],
      ['nothing without a query', [], []],
      ['nothing of an absent query', null, []],
      ['nothing of what is no reference', ['hello', ''], []],
    ])('%s', (_name, query, expected) => {
      expect(operate({ ...KEEP_A, query })).toEqual(expected);
    });

    it('warns of an output that its node does not have', () => {
      const result = runNode(dataOperations, { ...KEEP_A, query: ['begin@gone', 'begin@one'] }, VALUES);
      expect(result.outputs).toEqual({ result: [{ a: 1 }] });
      expect(result.warnings).toEqual([expect.stringContaining('begin@gone')]);
    });

    it('fails for a node that does not exist', () => {
      expect(() => operate({ ...KEEP_A, query: ['ghost@out'] })).toThrow(/"ghost"/);
    });
  });

  describe('select_keys and remove_keys', () => {
    const query = ['begin@people'];
    it.each<[string, Json, Json]>([
      [
        'keep',
        { operations: 'select_keys', select_keys: ['city', 'name'] },
        [{ name: 'Ann', city: 'Rome' }, { name: 'Bob' }],
      ],
      [
        'keep, as the editor stores them',
        { operations: 'select_keys', select_keys: [{ name: 'age' }] },
        [{ age: 30 }, { age: 25 }],
      ],
      ['keep none', { operations: 'select_keys' }, [{}, {}]],
      [
        'remove',
        { operations: 'remove_keys', remove_keys: ['age', 'zip'] },
        [{ name: 'Ann', city: 'Rome' }, { name: 'Bob' }],
      ],
      ['remove none', { operations: 'remove_keys', remove_keys: null }, PEOPLE],
    ])('%s', (_name, params, expected) => {
      expect(JSON.stringify(operate({ query, ...(params as object) }))).toBe(JSON.stringify(expected));
    });
  });

  describe('rename_keys', () => {
    it.each<[string, [string, string][], Json]>([
      [
        'moves the key to the end',
        [['name', 'who']],
        [
          { age: 30, city: 'Rome', who: 'Ann' },
          { age: 25, who: 'Bob' },
        ],
      ],
      [
        'trims names',
        [[' name ', ' who ']],
        [
          { age: 30, city: 'Rome', who: 'Ann' },
          { age: 25, who: 'Bob' },
        ],
      ],
      ['replaces a key in its place', [['name', 'age']], [{ age: 'Ann', city: 'Rome' }, { age: 'Bob' }]],
      [
        'goes pair by pair',
        [
          ['name', 'x'],
          ['x', 'y'],
        ],
        [
          { age: 30, city: 'Rome', y: 'Ann' },
          { age: 25, y: 'Bob' },
        ],
      ],
      [
        'skips what is absent, empty or the same',
        [
          ['zip', 'z'],
          ['', 'x'],
          ['name', ' '],
          ['age', 'age'],
        ],
        PEOPLE,
      ],
    ])('%s', (_name, pairs, expected) => {
      const renames = pairs.map(([oldKey, newKey]) => ({ old_key: oldKey, new_key: newKey }));
      const result = operate({ query: ['begin@people'], operations: 'rename_keys', rename_keys: renames });
      expect(JSON.stringify(result)).toBe(JSON.stringify(expected));
    });
  });

  describe('append_or_update', () => {
    it.each<[string, Json, Json]>([
      ['a text', 'new', 'new'],
      ['a template', 'in {sys.query}!', 'in Rome!'],
      ['a reference keeps its type', '{env.list}', ['a']],
      ['a reference without braces', 'begin@number', 7],
      ['a number', 5, 5],
      ['an object', { k: '{sys.query}' }, { k: '{sys.query}' }],
      ['an empty variable', '{env.empty}', ''],
      ['a node that has not run', '{later@result}', null],
      ['an address is no reference', 'ann@rome.example', 'ann@rome.example'],
      ['an absent value', null, null],
    ])('%s', (_name, value, expected) => {
      const updates = [{ key: ' city ', value }];
      expect(operate({ query: ['begin@people'], operations: 'append_or_update', updates })).toEqual([
        { name: 'Ann', age: 30, city: expected },
        { name: 'Bob', age: 25, city: expected },
      ]);
    });

    it('skips empty keys and keeps the place of a key that exists', () => {
      const updates = [
        { key: ' ', value: 1 },
        { key: 'name', value: 'Cy' },
        { key: 'new', value: 2 },
      ];
      const result = operate({ query: ['begin@people'], operations: 'append_or_update', updates });
      expect(Object.entries((result as readonly Json[])[1] as object)).toEqual([
        ['name', 'Cy'],
        ['age', 25],
        ['new', 2],
      ]);
    });
  });

  describe('filter_values', () => {
    const ROWS = [
      { i: 0, v: 'Rome' },
      { i: 1, v: 'rome' },
      { i: 2, v: 10 },
      { i: 3, v: true },
      { i: 4, v: null },
      { i: 5, v: ['Rome'] },
      { i: 6 },
    ];
    const filter = (...rules: Json[]): Json => {
      const params = { query: ['begin@rows'], operations: 'filter_values', filter_values: rules };
      const values = { ...VALUES, outputs: { begin: { rows: ROWS } } };
      const result = runNode(dataOperations, params, values).outputs.result as readonly { i: number }[];
      return result.map(({ i }) => i);
    };

    it.each<[string, Json, number[]]>([
      ['=', 'Rome', [0]],
      ['=', '{sys.query}', [0]],
      ['=', '10', [2]],
      ['=', 10, [2]],
      ['=', 'true', [3]],
      ['=', '', [4]],
      ['=', null, [4]],
      ['≠', 'Rome', [1, 2, 3, 4, 5]],
      ['contains', 'ome', [0, 1, 5]],
      ['start with', 'Ro', [0]],
      ['end with', 'ome', [0, 1]],
      ['Contains', 'ome', [0, 1, 5]],
      ['equals', 'Rome', [0]],
      ['!=', 'Rome', [1, 2, 3, 4, 5]],
      ['', 'Rome', [0]],
      ['matches', 'Rome', []],
    ])('%s %j', (operator, value, expected) => {
      expect(filter({ key: 'v', operator, value })).toEqual(expected);
    });

    it('asks every rule, and keeps everything without one', () => {
      expect(filter({ key: 'v', operator: 'contains', value: 'om' }, { key: 'i', operator: '≠', value: '1' })).toEqual([
        0, 5,
      ]);
      expect(filter()).toEqual([0, 1, 2, 3, 4, 5, 6]);
    });

    it('looks at own keys only', () => {
      expect(filter({ key: 'toString', operator: 'contains', value: '' })).toEqual([]);
    });
  });

  describe('combine', () => {
    it.each<[string, Json, Json]>([
      ['no objects', [], {}],
      ['one object', ['begin@one'], { a: 1, k: 'x', l: [1] }],
      [
        'two values, a value and a list, a list and a value',
        ['begin@one', 'begin@two'],
        { a: [1, 2], k: ['x', 'y', 'z'], l: [1, 2], o: { deep: true } },
      ],
      [
        'two lists, two objects',
        ['begin@two', 'begin@two'],
        {
          a: [2, 2],
          k: ['y', 'z', 'y', 'z'],
          l: [2, 2],
          o: [{ deep: true }, { deep: true }],
        },
      ],
      [
        'three times',
        ['begin@one', 'begin@one', 'begin@two'],
        { a: [1, 1, 2], k: ['x', 'x', 'y', 'z'], l: [1, 1, 2], o: { deep: true } },
      ],
    ])('%s', (_name, query, expected) => {
      expect(operate({ query, operations: 'combine' })).toEqual(expected);
    });
  });

  it('literal_eval is the default and reads texts that look like values', () => {
    expect(operate({ query: ['begin@literals'] })).toEqual([
      { n: 1, l: ['a', [1, 2]], j: { k: null }, t: 'plain', deep: { f: 3.5 }, low: true },
    ]);
  });

  it.each([
    'select_keys',
    'combine',
    'append_or_update',
    'remove_keys',
    'rename_keys',
    'filter_values',
    'literal_eval',
  ])('%s is safe with the keys of every object', (operations) => {
    const renames = [{ old_key: 'toString', new_key: '__proto__' }];
    const updates = [{ key: '__proto__', value: 9 }];
    const keys = ['__proto__', 'toString'];
    const params = { operations, query: ['begin@tricky'], rename_keys: renames, updates, select_keys: keys };
    const result = operate(params);
    const object = (Array.isArray(result) ? result[0] : result) as object;
    expect(Object.getPrototypeOf(object)).toBe(Object.prototype);
    expect(Object.hasOwn(object, '__proto__')).toBe(true);
  });

  it.each<[string, Json]>([
    ['an unknown operation', { operations: 'explode' }],
    ['a query of numbers', { query: [1] }],
    ['rules that are no objects', { operations: 'filter_values', filter_values: ['x'] }],
  ])('refuses %s', (_name, params) => {
    expect(dataOperations.params.safeParse(params).success).toBe(false);
  });
});
