import { describe, expect, it } from 'vitest';
import { createNode, type FakeOptions, fakeActivation, performNow } from '../../marble-tests/support/activation.js';
import { parallel } from '../../src/components/parallel.js';
import type { Json, JsonObject } from '../../src/json.js';

const OUTPUTS = { v: { ref: 'a@v' }, deep: { ref: 'a@o.k' }, at: { ref: 'index' } };

/** Runs a Parallel over `list`, whose body gives `a@v` twice the item and `a@o.k` the item, and fails at the item 13. */
const sideBySide = (list: Json, params: JsonObject = {}): unknown => {
  const options: FakeOptions = {
    outputs: { begin: { list }, a: {}, later: null },
    body: ({ aliases }, fake) => {
      const item = Number(aliases?.item);
      if (item === 13) throw new Error('unlucky');
      fake.write('a', { v: item * 2, o: { k: item } });
      return 'done';
    },
  };
  const node = createNode(parallel, { items_ref: 'begin@list', outputs: OUTPUTS, ...params }, { body: ['a'] });
  const last = performNow(node, fakeActivation(options)).at(-1);
  return last?.type === 'settled' ? last.outputs : last;
};

describe('Parallel', () => {
  it.each([0, 1, 2, 100])('collects in the order of the items, with a concurrency of %i', (max_concurrency) => {
    expect(sideBySide([1, 2], { max_concurrency })).toEqual({
      v: [2, 4],
      deep: [1, 2],
      at: [0, 1],
      _result: [
        { a: { v: 2, 'o.k': 1 }, item: 1, index: 0 },
        { a: { v: 4, 'o.k': 2 }, item: 2, index: 1 },
      ],
    });
  });

  it.each<readonly [string, Json, JsonObject]>([
    ['an empty list', [], {}],
    ['null', null, {}],
    ['what has no value yet', [1], { items_ref: 'later@x' }],
  ])('gives empty lists for %s', (_name, list, params) => {
    expect(sideBySide(list, params)).toEqual({ v: [], deep: [], at: [], _result: [] });
  });

  it('opens isolated rounds', () => {
    const activation = fakeActivation({ outputs: { begin: { list: ['x'] } } });
    performNow(createNode(parallel, { items_ref: 'begin@list' }, { body: ['a'] }), activation);
    expect(activation.rounds).toEqual([{ key: '0', aliases: { item: 'x', index: 0, result: 'x' }, isolated: true }]);
  });

  it.each<readonly [string, readonly Json[], readonly Json[]]>([
    ['null', [2, null, 4], [{ item: 1 }, null, { item: 2 }]],
    ['skip', [2, 4], [{ item: 1 }, { item: 2 }]],
  ])('on_item_error %s', (on_item_error, v, results) => {
    expect(sideBySide([1, 13, 2], { on_item_error })).toMatchObject({ v, _result: results });
  });

  it('fails with the error of a round as it is', () => {
    expect(() => sideBySide([1, 13])).toThrowError(/^unlucky$/);
  });

  it.each<Json>(['text', 5, { k: 1 }])('fails over %j', (list) => {
    expect(() => sideBySide(list)).toThrowError(expect.objectContaining({ code: 'NODE_FAILED' }));
  });

  it.each([{ on_item_error: 'ignore' }, { max_concurrency: -1 }, { max_concurrency: 1.5 }])(
    'is refused with %j',
    (params) => {
      expect(parallel.params.safeParse(params).success).toBe(false);
    },
  );

  it.each([1, 8])('walks 100,000 synchronous rounds on a flat stack, %i at a time', (max_concurrency) => {
    const list = Array.from({ length: 100_000 }, () => 1);
    expect(sideBySide(list, { max_concurrency })).toMatchObject({ v: list.map(() => 2) });
  });
});
