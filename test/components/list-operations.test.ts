import { describe, expect, it } from 'vitest';
import { listOperations } from '../../src/components/list-operations.js';
import { EngineError } from '../../src/errors.js';
import type { Json } from '../../src/json.js';
import { runNode } from './data-node.js';

const operate = (list: Json, params: object) =>
  runNode(listOperations, { query: 'begin@list', ...params } as Json, {
    outputs: { begin: { list }, later: null },
    variables: { 'sys.query': 'an' },
  });
const resultOf = (list: Json, params: object): Json | undefined => operate(list, params).outputs.result;

describe('ListOperations', () => {
  const ABC = ['a', 'b', 'c'];

  describe.each<[string, Record<string, Json>]>([
    ['nth', { '-4': [], '-3': ['a'], '-1': ['c'], 0: [], 1: ['a'], 3: ['c'], 4: [] }],
    ['head', { '-1': [], 0: [], 1: ['a'], 2: ['a', 'b'], 3: ABC, 4: ABC }],
    ['tail', { '-1': [], 0: [], 1: ['c'], 2: ['b', 'c'], 3: ABC, 4: ABC }],
  ])('%s', (operations, results) => {
    it.each(Object.entries(results))('n = %s gives %j', (n, expected) => {
      expect(resultOf(ABC, { operations, n: Number(n) })).toEqual(expected);
    });

    it.each(Object.keys(results))('strict, n = %s is what the list has, or an error', (n) => {
      const isInside =
        operations === 'nth' ? Number(n) !== 0 && Math.abs(Number(n)) <= 3 : Number(n) >= 1 && Number(n) <= 3;
      const attempt = () => resultOf(ABC, { operations, n: Number(n), strict: true });
      if (isInside) expect(attempt()).toEqual(results[n]);
      else
        expect(attempt).toThrow(
          new EngineError(
            'NODE_FAILED',
            `"${operations}" is strict and the list has 3 items, but n is ${n}. Use an n that the list has.`,
          ),
        );
    });
  });

  describe('reads n leniently', () => {
    it.each<[Json, Json]>([
      ['2', ['b']],
      [' -1 ', ['c']],
      [2.9, ['b']],
      [true, ['a']],
      ['2.5', []],
      ['two', []],
      [null, []],
      [[2], []],
    ])('%j', (n, expected) => {
      expect(resultOf(ABC, { operations: 'nth', n })).toEqual(expected);
    });
  });

  it.each<[Json, boolean]>([
    [true, true],
    ['true', true],
    [' YES ', true],
    ['on', true],
    ['1', true],
    [1, true],
    ['no', false],
    ['', false],
    [0, false],
    [null, false],
  ])('strict %j is %s', (strict, isStrict) => {
    const attempt = () => resultOf(ABC, { operations: 'head', n: 9, strict });
    if (isStrict) expect(attempt).toThrow(EngineError);
    else expect(attempt()).toEqual(ABC);
  });

  it.each<[Json, Json]>([
    ['', ['b']],
    [null, ['b']],
    [' nth ', ['b']],
    ['topN', ['a', 'b']],
    ['TOPN', ['a', 'b']],
  ])('operations %j', (operations, expected) => {
    expect(resultOf(ABC, { operations, n: 2 })).toEqual(expected);
  });

  describe('filter', () => {
    const LIST = ['Ann', 'Jan', 2, '2', 22, true, null, ['an'], { an: 1 }];
    it.each<[Json, Json, Json]>([
      ['=', '2', [2, '2']],
      ['=', 2, [2, '2']],
      ['=', 'true', [true]],
      ['=', '', [null]],
      ['=', '["an"]', [['an']]],
      ['≠', '2', ['Ann', 'Jan', 22, true, null, ['an'], { an: 1 }]],
      ['contains', 'an', ['Jan', ['an'], { an: 1 }]],
      ['contains', '{sys.query}', ['Jan', ['an'], { an: 1 }]],
      ['start with', 'A', ['Ann']],
      ['end with', 'n', ['Ann', 'Jan']],
      ['like', 'n', []],
      [null, '2', [2, '2']],
    ])('%s %j', (operator, value, expected) => {
      expect(resultOf(LIST, { operations: 'filter', filter: { operator, value } })).toEqual(expected);
    });

    it('keeps what is empty without a filter', () => {
      expect(resultOf(LIST, { operations: 'filter' })).toEqual([null]);
    });
  });

  describe('sort', () => {
    const A1 = { g: 'a', n: 1 };
    const A2 = { g: 'a', n: 2 };
    const B1 = { g: 'b', n: 1 };
    const G = { g: 'c' };
    it.each<[string, object, Json[], Json]>([
      ['numbers', {}, [10, 9, -1, 2.5], [-1, 2.5, 9, 10]],
      ['numbers, descending', { sort_method: 'desc' }, [10, 9, -1], [10, 9, -1]],
      ['descending in any case', { sort_method: ' DESC ' }, [1, 2], [2, 1]],
      ['an unknown method is ascending', { sort_method: 'down' }, [2, 1], [1, 2]],
      [
        'texts by code point',
        {},
        ['b', '\u{1F600}', 'ä', 'a', '\uFF5E', 'C', 'aa'],
        ['C', 'a', 'aa', 'b', 'ä', '\uFF5E', '\u{1F600}'],
      ],
      ['all kinds', {}, [{}, null, [1], 'x', true, 2, false, '1'], [2, '1', 'x', false, true, [1], {}, null]],
      ['all kinds, descending, nulls last', { sort_method: 'desc' }, [null, [1], 'x', 2], [[1], 'x', 2, null]],
      ['lists item by item', {}, [[2], [1, 2], [1], [[]]], [[1], [1, 2], [2], [[]]]],
      [
        'objects by their pairs',
        {},
        [{ k: 2, z: 0 }, { z: 9, k: 1 }, { j: 5 }],
        [{ j: 5 }, { z: 9, k: 1 }, { k: 2, z: 0 }],
      ],
      ['by one field, stable', { sort_by: 'g' }, [B1, A2, A1], [A2, A1, B1]],
      ['by one field, descending, stable', { sort_by: 'g', sort_method: 'desc' }, [A2, A1, B1], [B1, A2, A1]],
      ['by two fields', { sort_by: ' g , n,' }, [B1, A2, A1], [A1, A2, B1]],
      ['by a list of fields', { sort_by: ['n', 'g'] }, [A2, B1, A1], [A1, B1, A2]],
      ['a missing field last', { sort_by: 'n' }, [G, A2, A1], [A1, A2, G]],
      ['a missing field last, descending', { sort_by: 'n', sort_method: 'desc' }, [G, A1, A2], [A2, A1, G]],
      ['a field that every object inherits', { sort_by: 'toString' }, [B1, A1], [B1, A1]],
      ['what is no object last', { sort_by: 'n' }, [3, A2, A1], [A1, A2, 3]],
      ['fields mean nothing without objects', { sort_by: 'n' }, [3, 1], [1, 3]],
      ['nothing', {}, [], []],
    ])('%s', (_name, params, list, expected) => {
      expect(resultOf(list, { operations: 'sort', ...params })).toEqual(expected);
    });
  });

  describe('drop_duplicates', () => {
    it.each<[string, Json[], Json[]]>([
      ['keeps the first of each', ['a', 'b', 'a', 1, '1', 1], ['a', 'b', 1, '1']],
      ['tells true from 1', [1, true, 0, false, null, ''], [1, true, 0, false, null, '']],
      ['takes 1.0 for 1', [1, 1.0], [1]],
      [
        'compares deeply, keys in any order',
        [{ a: [1], b: 2 }, { b: 2, a: [1] }, { a: ['1'], b: 2 }, [1], [1]],
        [{ a: [1], b: 2 }, { a: ['1'], b: 2 }, [1]],
      ],
      ['tells lists from objects and texts', [[], {}, '[]', '{}'], [[], {}, '[]', '{}']],
    ])('%s', (_name, list, expected) => {
      expect(resultOf(list, { operations: 'drop_duplicates' })).toEqual(expected);
    });
  });

  it('gives the first and the last item, null when there is none', () => {
    expect(operate([3, 1, 2], { operations: 'head', n: 2 }).outputs).toEqual({ result: [3, 1], first: 3, last: 1 });
    expect(operate([], { operations: 'sort' }).outputs).toEqual({ result: [], first: null, last: null });
  });

  it.each<[Json, string]>([
    [{ a: 1 }, 'of the kind object'],
    ['[1]', 'of the kind text'],
    [0, 'of the kind number'],
    [null, 'without a value'],
  ])('fails for %j, which is %s', (list, description) => {
    expect(() => operate(list, { operations: 'sort' })).toThrow(`"begin@list" is ${description}`);
  });

  it.each(['later@list', 'begin@gone', 'sys.gone', 'no reference', 'ghost@list'])('fails for %s', (query) => {
    expect(() => operate(ABC, { query })).toThrow(EngineError);
  });

  it.each<[string, Json]>([
    ['no query', {}],
    ['an empty query', { query: ' ' }],
    ['an unknown operation', { query: 'a@b', operations: 'shuffle' }],
  ])('refuses %s', (_name, params) => {
    expect(listOperations.params.safeParse(params).success).toBe(false);
  });
});
