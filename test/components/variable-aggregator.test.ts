import { describe, expect, it } from 'vitest';
import { variableAggregator } from '../../src/components/variable-aggregator.js';
import type { Json } from '../../src/json.js';
import { runNode } from './data-node.js';

const VALUES = {
  outputs: {
    a: { text: 'A', zero: 0, no: false, empty: '', none: null, list: [], object: {}, deep: { k: [null, 'v'] } },
    b: { list: [0], object: { k: 0 }, number: 3, yes: true, text: 'B' },
    later: null,
  },
  variables: { 'sys.query': 'Q', 'env.user': { name: 'Ann' } },
  item: 'I',
};

const aggregate = (variables: Json, options: object = {}) =>
  runNode(variableAggregator, { groups: [{ group_name: 'out', variables }], ...options } as Json, VALUES);

describe('VariableAggregator', () => {
  const EVERYTHING_EMPTY = ['a@zero', 'a@no', 'a@empty', 'a@none', 'a@list', 'a@object'];

  it.each<[string, string[], Json]>([
    ['the first', ['a@text', 'b@text'], 'A'],
    ['the second when the first has not run', ['later@text', 'b@text'], 'B'],
    ['past everything that is empty', [...EVERYTHING_EMPTY, 'b@text'], 'B'],
    ['past what does not exist', ['ghost@x', 'a@gone', 'env.gone', 'no reference', '', 'b@text'], 'B'],
    ['a list with its type', ['b@list'], [0]],
    ['an object with its type', ['b@object'], { k: 0 }],
    ['a number with its type', ['b@number'], 3],
    ['a boolean with its type', ['b@yes'], true],
    ['a path', ['a@deep.k.0', 'a@deep.k.-1'], 'v'],
    ['a variable and its path', ['env.user.name'], 'Ann'],
    ['an alias', ['item'], 'I'],
    ['a reference in braces', ['{{ sys.query }}'], 'Q'],
    ['null when nothing is there', [...EVERYTHING_EMPTY, 'later@x'], null],
  ])('gives %s', (_name, references, expected) => {
    const result = aggregate(references.map((value) => ({ value })));
    expect(result.outputs).toEqual({ out: expected });
    expect(result.warnings).toEqual([]);
  });

  it.each<[string, Json]>([
    ['a@zero', 0],
    ['a@no', false],
    ['a@empty', ''],
    ['a@list', []],
    ['a@object', {}],
    ['a@none', 'B'],
  ])('with accept_falsy takes %s as %j', (reference, expected) => {
    const result = aggregate([reference, 'b@text'], { accept_falsy: true });
    expect(result.outputs).toEqual({ out: expected });
  });

  it('gives one output for each group, in order', () => {
    const groups = [
      { group_name: 'second', variables: ['b@text'] },
      { group_name: 'first', variables: [{ value: null }, { value: 'a@text' }] },
      { group_name: '__proto__', variables: ['sys.query'] },
    ];
    const { outputs } = runNode(variableAggregator, { groups }, VALUES);
    expect(Object.entries(outputs)).toEqual([
      ['second', 'B'],
      ['first', 'A'],
      ['__proto__', 'Q'],
    ]);
  });

  it.each<[string, string[], Json]>([
    ['the last that has a value', ['a@text', 'b@text'], 'B'],
    ['a value before none', ['a@text', 'a@empty'], 'A'],
    ['null when none has one', ['a@zero', 'a@empty'], null],
  ])('gives of groups with one name %s', (_name, references, expected) => {
    const groups = references.map((value) => ({ group_name: 'out', variables: [{ value }] }));
    expect(runNode(variableAggregator, { groups }, VALUES).outputs).toEqual({ out: expected });
  });

  it.each<[string, Json]>([
    ['no groups', { groups: [] }],
    ['absent groups', {}],
    ['a group without a name', { groups: [{ group_name: '', variables: ['a@b'] }] }],
    ['a group without variables', { groups: [{ group_name: 'g', variables: [] }] }],
    ['variables that are no list', { groups: [{ group_name: 'g', variables: 'a@b' }] }],
  ])('refuses %s', (_name, params) => {
    expect(variableAggregator.params.safeParse(params).success).toBe(false);
  });
});
