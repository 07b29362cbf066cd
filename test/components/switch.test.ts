import { describe, expect, it } from 'vitest';
import { createNode, fakeActivation, performNow } from '../../marble-tests/support/activation.js';
import { switchComponent } from '../../src/components/switch.js';
import { settled } from '../../src/graph/node-events.js';
import type { Json, JsonObject } from '../../src/json.js';

const is = (reference: string, value: Json, operator = '='): JsonObject => ({ cpn_id: reference, operator, value });

const choose = (conditions: readonly JsonObject[], variables: JsonObject = {}): readonly unknown[] => {
  const names = { a: 'Node A', b: 'Node B', c: 'Node C' };
  const outputs = { begin: { v: 'x', n: 2 }, later: null };
  const node = createNode(switchComponent, { conditions: conditions as Json[], end_cpn_ids: ['c'] });
  return performNow(node, fakeActivation({ outputs, names, variables: { 'sys.query': 'go', ...variables } }));
};

/** The ids that were chosen, without a warning. */
const chosen = (...conditions: readonly JsonObject[]): unknown => {
  const [move] = choose(conditions) as readonly { readonly next?: readonly string[] }[];
  return move?.next;
};

const X = is('begin@v', 'x');
const NO = is('begin@v', 'no');

describe('Switch', () => {
  it('gives display names and ids', () => {
    expect(choose([{ logical_operator: 'and', items: [X], to: ['a', 'b'] }])).toEqual([
      settled({ next: ['Node A', 'Node B'], _next: ['a', 'b'] }, { next: ['a', 'b'] }),
    ]);
  });

  it.each<readonly [string, readonly JsonObject[], readonly string[]]>([
    ['and: all must hold', [{ logical_operator: 'and', items: [X, NO], to: ['a'] }], ['c']],
    ['or: one is enough', [{ logical_operator: 'or', items: [NO, X], to: ['a'] }], ['a']],
    ['any other word means or', [{ items: [NO, X], to: ['a'] }], ['a']],
    [
      'the first condition that holds decides',
      [
        { logical_operator: 'and', items: [NO], to: ['a'] },
        { items: [X], to: ['b'] },
      ],
      ['b'],
    ],
    ['no items never hold', [{ logical_operator: 'and', items: [], to: ['a'] }], ['c']],
    [
      'items without a reference are left out',
      [{ logical_operator: 'and', items: [is('', 'q'), X], to: ['a'] }],
      ['a'],
    ],
    [
      'nothing but items without a reference never holds',
      [{ logical_operator: 'and', items: [is('', '')], to: ['a'] }],
      ['c'],
    ],
    ['one id instead of a list', [{ items: [X], to: 'a' }], ['a']],
    ['a reference in braces', [{ items: [is('{begin@v}', 'x')], to: ['a'] }], ['a']],
    ['a reference to compare with', [{ items: [is('begin@v', '{begin@v}')], to: ['a'] }], ['a']],
    ['text that looks like a reference', [{ items: [is('begin@v', 'begin@v', '≠')], to: ['a'] }], ['a']],
    ['a variable', [{ items: [is('sys.query', 'g', 'start with')], to: ['a'] }], ['a']],
    ['a node that has not run', [{ items: [is('later@x', '', 'empty')], to: ['a'] }], ['a']],
    ['no value', [{ items: [{ cpn_id: 'begin@v', operator: 'not empty' }], to: ['a'] }], ['a']],
    ['a null value', [{ items: [is('begin@n', null)], to: ['a'] }], ['c']],
  ])('%s', (_name, conditions, expected) => {
    expect(chosen(...conditions)).toEqual(expected);
  });

  it('looks at all items of an and, otherwise no further than it must', () => {
    const broken = is('begin@v', 'x', 'like');
    expect(() => chosen({ logical_operator: 'and', items: [NO, broken], to: ['a'] })).toThrowError(/like/);
    expect(chosen({ items: [X, broken], to: ['a'] }, { items: [broken], to: ['b'] })).toEqual(['a']);
  });

  it('warns of a variable that does not exist and takes it for empty', () => {
    const [warning, move] = choose([{ items: [is('env.none', '', 'empty')], to: ['a'] }]);
    expect(warning).toMatchObject({ type: 'notice', name: 'warning' });
    expect(move).toMatchObject({ type: 'settled', next: ['a'] });
  });

  it('warns of an output that is not there and takes it for empty text', () => {
    const [warning, move] = choose([{ items: [is('begin@gone', '')], to: ['a'] }]);
    expect(warning).toMatchObject({ type: 'notice', name: 'warning' });
    expect(move).toMatchObject({ type: 'settled', next: ['a'] });
  });

  it('fails for a node that does not exist', () => {
    expect(() => chosen({ items: [is('ghost@x', '')], to: ['a'] })).toThrowError(
      expect.objectContaining({ code: 'REFERENCE_UNRESOLVED' }),
    );
  });

  it('names all its targets', () => {
    const params = switchComponent.params.parse({
      conditions: [
        { items: [], to: ['a', 'b'] },
        { items: [], to: ['c'] },
      ],
      end_cpn_ids: ['d'],
    });
    expect(switchComponent.targets?.(params)).toEqual(['a', 'b', 'c', 'd']);
  });

  it.each<readonly [string, JsonObject]>([
    ['without conditions', { end_cpn_ids: ['c'] }],
    ['with an empty list of conditions', { conditions: [], end_cpn_ids: ['c'] }],
    ['without an else branch', { conditions: [{ items: [], to: ['a'] }] }],
    ['with an empty else branch', { conditions: [{ items: [], to: ['a'] }], end_cpn_ids: [] }],
    ['with a condition that leads nowhere', { conditions: [{ items: [], to: [] }], end_cpn_ids: ['c'] }],
  ])('is refused %s', (_name, params) => {
    expect(switchComponent.params.safeParse(params).success).toBe(false);
  });
});
