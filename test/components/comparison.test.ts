import { describe, expect, it } from 'vitest';
import { compareForLoop, compareForSwitch, numberOf } from '../../src/components/values/comparison.js';
import type { Json } from '../../src/json.js';

type Row = readonly [left: Json, operator: string, right: Json, result: boolean];

describe('compareForSwitch', () => {
  it.each<Row>([
    // texts, whatever their case
    ['a needle', 'contains', 'NEED', true],
    [null, 'contains', '', true],
    [null, 'contains', 'x', false],
    [1234, 'contains', '23', true],
    [['Ann', 'Bob'], 'contains', 'bob', true],
    [['say "hi"'], 'contains', 'say "hi"', true],
    [{ k: 1 }, 'contains', '"k": 1', true],
    ['so BAD', 'not contains', 'bad', false],
    ['RE: mail', 'start with', 're:', true],
    ['mail re:', 'start with', 're:', false],
    ['a.pdf', 'end with', '.PDF', true],
    // emptiness
    [null, 'empty', '', true],
    [0, 'empty', '', true],
    [false, 'empty', '', true],
    [[], 'empty', '', true],
    [{}, 'empty', '', true],
    ['0', 'empty', '', false],
    [[0], 'not empty', '', true],
    ['', 'not empty', '', false],
    // equality: typed, with case
    ['Yes', '=', 'Yes', true],
    ['yes', '=', 'Yes', false],
    ['5', '=', 5, false],
    [5, '=', '5', true],
    [5, '=', ' 5.0 ', true],
    [5, '=', '', false],
    [5, '≠', '', true],
    [5, '=', 'five', false],
    [0, '=', '', false],
    [true, '=', '1', true],
    [false, '=', '1', false],
    [true, '=', 'true', true],
    [true, '=', 'False', false],
    [true, '=', true, true],
    [null, '=', '', false],
    [null, '=', null, true],
    [['a'], '=', '["a"]', false],
    [{ a: 1, b: [2] }, '=', { b: [2], a: 1 }, true],
    ['a', '==', 'a', true],
    ['a', '!=', 'a', false],
    ['a', '<>', 'b', true],
    // order: numbers where both are some, else texts by code point
    ['10', '>', '9', true],
    ['9', '>', '9', false],
    ['100', '≥', '100', true],
    ['-1', '<', '0', true],
    [5.01, '≤', '5', false],
    [5, '<=', '5', true],
    ['1e3', '>=', '999', true],
    ['banana', '>', 'apple', true],
    ['Zebra', '>', 'apple', false],
    ['\u{1F600}', '>', '\uFFFD', true],
    [true, '>', '0', true],
    [5, '>', 'x', false],
    [5, '<', 'x', false],
    ['12', '>', 5, true],
    // membership
    ['b', 'in', 'a, b ,c', true],
    ['d', 'in', 'a,b', false],
    [2, 'in', '1,2', true],
    [2, 'in', [1, 2], true],
    ['a', 'not in', ['b'], true],
  ])('%j %s %j is %s', (left, operator, right, result) => {
    expect(compareForSwitch(left, operator, right)).toBe(result);
  });

  it.each<readonly [Json, string, Json]>([
    [null, '<', '5'],
    [[9], '>', '5'],
    [{ n: 9 }, '≥', '5'],
    ['nine', '≤', 5],
    ['9', '>', null],
  ])('cannot tell whether %j %s %j', (left, operator, right) => {
    expect(() => compareForSwitch(left, operator, right)).toThrowError(
      expect.objectContaining({ code: 'NODE_FAILED' }),
    );
  });

  it.each(['like', '', 'is', 'is not', 'constructor'])('refuses the operator %j', (operator) => {
    expect(() => compareForSwitch('a', operator, 'a')).toThrowError(
      expect.objectContaining({
        code: 'NODE_FAILED',
        message: expect.stringContaining(`Not supported operator: ${operator}`),
      }),
    );
  });
});

describe('compareForLoop', () => {
  it.each<Row>([
    // texts, with case
    ['abc', 'contains', 'b', true],
    ['abc', 'contains', 'B', false],
    ['a1', 'contains', 1, true],
    ['abc', 'not contains', 'z', true],
    ['abc', 'start with', 'ab', true],
    ['abc', 'end with', 'bc', true],
    ['a', 'is', 'a', true],
    ['1', 'is', 1, false],
    ['a', 'is not', 'b', true],
    ['', 'empty', null, true],
    [' ', 'not empty', null, true],
    // booleans, also as the editor writes them
    [true, 'is', true, true],
    [true, 'is', 'true', true],
    [false, 'is', 0, false],
    [false, 'is not', true, true],
    [false, 'empty', null, false],
    [false, 'not empty', null, true],
    // numbers, also as texts
    [3, '=', 3, true],
    [3, '=', '3', true],
    [3, '=', 'x', false],
    [3, '≠', 'x', true],
    [3, '>', '2', true],
    [3, '<', 2, false],
    [3, '≥', 3, true],
    [3, '≤', null, false],
    [0, 'empty', null, false],
    [0, 'not empty', null, true],
    // objects
    [{}, 'empty', null, true],
    [{ a: 1 }, 'not empty', null, true],
    // lists
    [['a', 'b'], 'contains', 'b', true],
    [[{ a: 1 }], 'contains', { a: 1 }, true],
    [['1'], 'contains', 1, false],
    [['a'], 'not contains', 'b', true],
    [['a'], 'is', ['a'], true],
    [['a', 'b'], 'is not', ['b', 'a'], true],
    [[], 'empty', null, true],
    [[null], 'not empty', null, true],
    // nothing
    [null, 'empty', null, true],
    [null, 'not empty', null, false],
    [null, 'is', null, false],
    [null, 'whatever', null, false],
  ])('%j %s %j is %s', (left, operator, right, result) => {
    expect(compareForLoop(left, operator, right)).toBe(result);
  });

  it.each<readonly [Json, string, string]>([
    ['a', '=', 'text'],
    ['a', '>', 'text'],
    [1, 'contains', 'number'],
    [1, 'is', 'number'],
    [true, '=', 'boolean'],
    [{}, 'contains', 'object'],
    [[], '>', 'list'],
    ['a', 'like', 'text'],
  ])('refuses %j %s', (left, operator, kind) => {
    expect(() => compareForLoop(left, operator, 1)).toThrowError(
      expect.objectContaining({
        code: 'NODE_FAILED',
        message: `Invalid operator: ${operator}; a value of kind ${kind} does not have it.`,
      }),
    );
  });
});

describe('numberOf', () => {
  it.each<readonly [Json, number | undefined]>([
    ['', undefined],
    ['  ', undefined],
    ['0x10', undefined],
    ['1_000', undefined],
    ['Infinity', undefined],
    ['1,5', undefined],
    ['+.5', 0.5],
    ['5.', 5],
    [' -2e-2 ', -0.02],
    [null, undefined],
    [[1], undefined],
  ])('reads %j as %s', (value, number) => {
    expect(numberOf(value)).toBe(number);
  });

  it('reads a long text of digits in linear time', () => {
    expect(numberOf(`${'1'.repeat(200_000)}x`)).toBe(undefined);
  });
});

describe('spellings of operators', () => {
  it('ignores case and blanks around, knows synonyms, and nothing that objects have', () => {
    expect(compareForSwitch('ab', ' Contains ', 'a')).toBe(true);
    expect(compareForSwitch(2, '>=', 2)).toBe(true);
    expect(() => compareForSwitch('', 'toString', '')).toThrow(/Not supported operator: toString/);
    expect(() => compareForLoop('', 'toString', '')).toThrow(/Invalid operator: toString/);
  });
});
