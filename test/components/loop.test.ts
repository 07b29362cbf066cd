import { describe, expect, it } from 'vitest';
import { createNode, type FakeOptions, fakeActivation, performNow } from '../../marble-tests/support/activation.js';
import { loop } from '../../src/components/loop.js';
import type { Json, JsonObject } from '../../src/json.js';

const N = { variable: 'n', input_mode: 'constant', value: 0, type: 'number' };
const until = (variable: string, operator: string, value: Json, more: JsonObject = {}): JsonObject => ({
  variable,
  operator,
  value,
  ...more,
});

/** Runs a Loop whose body adds 1 to its `n`; gives its outputs, and how many rounds it made beside the closing one. */
const repeat = (params: JsonObject, options: FakeOptions = {}): { outputs: unknown; rounds: number } => {
  const activation = fakeActivation({
    body: ({ closing }, fake) => {
      const n = fake.lookup('node@n');
      const own = fake.lookup('node@s');
      if (closing !== true && n.status === 'found') {
        fake.write('node', { n: Number(n.value) + 1, ...(own.status === 'found' ? { s: own.value } : {}) });
      }
      return 'done';
    },
    ...options,
  });
  const events = performNow(createNode(loop, { maximum_loop_count: 5_000, ...params }, { body: ['item'] }), activation);
  const last = events.at(-1);
  const rounds = activation.rounds.filter(({ closing }) => closing !== true).length;
  return { outputs: last?.type === 'settled' ? last.outputs : last, rounds };
};

describe('Loop', () => {
  it.each<readonly [string, JsonObject, number]>([
    ['until a condition holds', { loop_termination_condition: [until('node@n', '≥', 3)] }, 3],
    ['not at all when it holds at first', { loop_termination_condition: [until('node@n', '=', 0)] }, 0],
    ['with the bare name of a variable', { loop_termination_condition: [until('n', '≥', 3)] }, 3],
    ['with a reference in braces', { loop_termination_condition: [until('{node@n}', '≥', 3)] }, 3],
    ['until all conditions hold', { loop_termination_condition: [until('n', '≥', 2), until('n', '≥', 4)] }, 4],
    [
      'until one of them holds',
      { logical_operator: 'or', loop_termination_condition: [until('n', '≥', 2), until('n', '≥', 4)] },
      2,
    ],
    ['until a number given as text', { loop_termination_condition: [until('n', '≥', '3')] }, 3],
    [
      'until another variable',
      { loop_termination_condition: [until('n', '≥', 'env.stop', { input_mode: 'variable' })] },
      5,
    ],
    ['as often as it may', { maximum_loop_count: 4, loop_termination_condition: [until('n', '>', 100)] }, 4],
    ['as often as it may, without conditions', { maximum_loop_count: 3 }, 3],
    ['as often as it may, as text', { maximum_loop_count: '2' }, 2],
    ['more than 1024 times when it may', { maximum_loop_count: 1500 }, 1500],
    ['not at all with a maximum of 0', { maximum_loop_count: 0, loop_termination_condition: [until('n', '≥', 3)] }, 0],
    ['not at all with a negative maximum', { maximum_loop_count: -1 }, 0],
    ['not at all with a maximum that is null', { maximum_loop_count: null }, 0],
    ['not at all with a maximum of 0 as text', { maximum_loop_count: '0' }, 0],
    ['up to a fraction', { maximum_loop_count: 2.5 }, 3],
    ['once with true as maximum', { maximum_loop_count: true }, 1],
    [
      'without a look at its conditions when it may not',
      { maximum_loop_count: 0, loop_termination_condition: [until('', '=', 1)] },
      0,
    ],
    [
      'with a condition on what has no value yet',
      { maximum_loop_count: 2, loop_termination_condition: [until('other@x', 'is', '1')] },
      2,
    ],
  ])('repeats %s', (_name, params, rounds) => {
    const options = { variables: { 'env.stop': 5 }, outputs: { other: null } };
    expect(repeat({ loop_variables: [N], ...params }, options)).toEqual({ outputs: { n: rounds }, rounds });
  });

  it.each<readonly [string, JsonObject[], JsonObject]>([
    ['a constant', [{ variable: 's', input_mode: 'constant', value: [1], type: 'array' }], { s: [1] }],
    [
      'a constant that looks like a reference',
      [{ variable: 's', input_mode: 'constant', value: 'env.start', type: 'string' }],
      { s: 'env.start' },
    ],
    ['false', [{ variable: 's', input_mode: 'constant', value: false, type: 'boolean' }], { s: false }],
    ['empty text', [{ variable: 's', input_mode: 'constant', value: '', type: 'string' }], { s: '' }],
    ['another variable', [{ variable: 's', input_mode: 'variable', value: 'env.start', type: 'number' }], { s: 7 }],
    [
      'a variable without a value',
      [{ variable: 's', input_mode: 'variable', value: 'env.none', type: 'number' }],
      { s: null },
    ],
    ['an empty number', [{ variable: 's', input_mode: 'none', type: 'number' }], { s: 0 }],
    ['an empty list', [{ variable: 's', input_mode: 'none', type: 'array<string>' }], { s: [] }],
    [
      'nothing for a row that was left empty',
      [{ variable: '', input_mode: 'constant', value: '', type: 'string' }],
      {},
    ],
    [
      'a name that objects have',
      [{ variable: 'constructor', input_mode: 'constant', value: 1, type: 'number' }],
      { constructor: 1 },
    ],
  ])('starts a variable with %s', (_name, variables, outputs) => {
    const params = { loop_variables: variables, loop_termination_condition: [until('env.start', '=', 7)] };
    expect(repeat(params, { variables: { 'env.start': 7 } }).outputs).toEqual(outputs);
  });

  it('keeps whatever its body wrote to it', () => {
    const params = { maximum_loop_count: 1, loop_termination_condition: [until('node@s', 'is', 'x')] };
    const body: NonNullable<FakeOptions['body']> = (_round, fake) => {
      fake.write('node', { s: 'x', other: 'kept' });
      return 'done';
    };
    expect(repeat(params, { body }).outputs).toEqual({ s: 'x', other: 'kept' });
  });

  it('does not check its conditions after the last round', () => {
    const params = {
      loop_variables: [N],
      maximum_loop_count: 2,
      loop_termination_condition: [until('n', '≥', 100)],
    };
    let round = 0;
    const body: NonNullable<FakeOptions['body']> = (_round, fake) => {
      round += 1;
      // An object has no operator ≥.
      fake.write('node', { n: round < 2 ? round : {} });
      return 'done';
    };
    expect(repeat(params, { body })).toEqual({ outputs: { n: {} }, rounds: 2 });
  });

  it('runs no round without a maximum', () => {
    const activation = fakeActivation();
    performNow(createNode(loop, {}, { body: ['item'] }), activation);
    expect(activation.rounds).toEqual([{ key: 'closing', closing: true }]);
  });

  it('starts its variables, and visits the item node once, when it runs no round', () => {
    const activation = fakeActivation();
    const events = performNow(
      createNode(loop, { loop_variables: [N], maximum_loop_count: 0 }, { body: ['item'] }),
      activation,
    );
    expect(activation.rounds).toEqual([{ key: 'closing', closing: true }]);
    expect(events.at(-1)).toMatchObject({ type: 'settled', outputs: { n: 0 } });
  });

  it('opens rounds that see what earlier ones left', () => {
    const activation = fakeActivation();
    performNow(createNode(loop, { maximum_loop_count: 2 }, { body: ['item'] }), activation);
    expect(activation.rounds).toEqual([{ key: '0' }, { key: '1' }, { key: 'closing', closing: true }]);
  });

  it('closes after a resume when it was about to', () => {
    const activation = fakeActivation({ nodeState: { round: 1, isClosing: true } });
    performNow(createNode(loop, { maximum_loop_count: 5 }, { body: ['item'] }), activation);
    expect(activation.rounds).toEqual([{ key: 'closing', closing: true }]);
  });

  it.each<readonly [string, JsonObject, string]>([
    ['with a variable without a value', { loop_variables: [{ variable: 'n', input_mode: 'constant' }] }, 'NODE_FAILED'],
    [
      'with a variable that names nothing',
      { loop_variables: [{ variable: 'n', input_mode: 'variable', value: 'x' }] },
      'NODE_FAILED',
    ],
    ['with a variable without a name', { loop_variables: [{ variable: '', value: 'x' }] }, 'NODE_FAILED'],
    ['with a condition without a variable', { loop_termination_condition: [until('', '=', 1)] }, 'NODE_FAILED'],
    ['with a condition without an operator', { loop_termination_condition: [until('n', ' ', 1)] }, 'NODE_FAILED'],
    [
      'with a condition of another mode',
      { loop_termination_condition: [until('n', '=', 1, { input_mode: 'guess' })] },
      'NODE_FAILED',
    ],
    [
      'with a condition that is compared with nothing',
      { loop_termination_condition: [until('n', '=', 1, { input_mode: 'variable' })] },
      'NODE_FAILED',
    ],
    [
      'with an operator that a number does not have',
      { loop_termination_condition: [until('n', 'contains', '1')] },
      'NODE_FAILED',
    ],
    [
      'with a condition on a node that does not exist',
      { loop_termination_condition: [until('ghost@x', 'is', 1)] },
      'REFERENCE_UNRESOLVED',
    ],
    [
      'with a condition on a variable that does not exist',
      { loop_termination_condition: [until('env.ghost', 'is', 1)] },
      'REFERENCE_UNRESOLVED',
    ],
  ])('fails %s', (_name, params, code) => {
    expect(() => repeat({ loop_variables: [N], ...params })).toThrowError(expect.objectContaining({ code }));
  });

  it.each<readonly [string, JsonObject]>([
    ['another logical operator', { logical_operator: 'xor' }],
    ['a maximum that is no number', { maximum_loop_count: 'many' }],
  ])('is refused with %s', (_name, params) => {
    expect(loop.params.safeParse(params).success).toBe(false);
  });

  it('walks 100,000 synchronous rounds on a flat stack', () => {
    expect(repeat({ loop_variables: [N], maximum_loop_count: 100_000 })).toEqual({
      outputs: { n: 100_000 },
      rounds: 100_000,
    });
  });
});
