import { describe, expect, it } from 'vitest';
import { createNode, type FakeOptions, fakeActivation, performNow } from '../../marble-tests/support/activation.js';
import { parallel } from '../../src/components/parallel.js';
import { interrupt, settled } from '../../src/graph/node-events.js';
import type { Plan } from '../../src/graph/plan.js';
import { execute } from '../../src/graph/run.js';
import type { Json, JsonObject } from '../../src/json.js';
import { planOfSpecs, readValue } from '../graph/support/specs.js';
import { written } from '../graph/support/watch.js';

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

/** A run over `list`, whose body waits at the item `wait` until it is answered; also counts how often each item was worked on. */
const parallelPlan = (list: Json, params: JsonObject = {}): { readonly plan: Plan; readonly worked: Json[] } => {
  const worked: Json[] = [];
  const given = { items_ref: 'begin@list', outputs: { v: { ref: 'x@v' } }, max_concurrency: 2, ...params };
  const plan = planOfSpecs({
    begin: { downstream: ['each'], activate: () => ({ list }) },
    each: { isContainer: true, activate: createNode(parallel, given, { body: ['x'] }) },
    x: {
      parent: 'each',
      activate: (at) => {
        const item = readValue(at, 'item');
        if (item === 'wait' && at.answer === undefined) return interrupt({ tips: 'go on?' });
        if (item === 'leave') return settled({}, { exit: true });
        worked.push(item);
        return { v: `${item}!` };
      },
    },
  });
  return { plan, worked };
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

  it('goes on from a stored checkpoint with the rounds that are left, and leaves no trace of how', async () => {
    const { plan, worked } = parallelPlan(['a', 'wait', 'b', 'c']);

    const paused = written(plan, (await execute(plan, { input: null })).state);
    expect(paused.state.cells).toMatchObject({
      each: { _ended: [0, 2, 3].map((index) => ({ index, values: { v: `${'a_bc'[index]}!` } })) },
    });
    const ended = written(plan, (await execute(plan, { checkpoint: paused, answers: {} })).state);

    expect(ended.state.cells).toMatchObject({
      each: {
        v: ['a!', 'wait!', 'b!', 'c!'],
        _result: ['a', 'wait', 'b', 'c'].map((item, index) => ({ x: { v: `${item}!` }, item, index })),
      },
    });
    expect(worked).toEqual(['a', 'b', 'c', 'wait']);
    expect(JSON.stringify(ended)).not.toContain('_ended');
  });

  it.each<readonly [string, Json, JsonObject]>([
    ['all rounds', ['a', 'b'], {}],
    ['no rounds', [], {}],
    ['a round that left early', ['a', 'leave', 'b'], {}],
    ['one round after the other', ['a', 'b'], { max_concurrency: 1 }],
  ])('settles without a trace of how after %s', async (_name, list, params) => {
    const { plan } = parallelPlan(list, params);
    const outcome = await execute(plan, { input: null });
    expect(outcome.status).toBe('succeeded');
    expect(JSON.stringify(written(plan, outcome.state))).not.toContain('_ended');
  });

  it('keeps the list once and each round once, not all of them at every round', () => {
    const list = Array.from({ length: 50 }, (_, at) => at);
    const node = createNode(parallel, { items_ref: 'begin@list', outputs: OUTPUTS }, { body: ['a'] });
    const events = performNow(node, fakeActivation({ outputs: { begin: { list }, a: {} } }));
    expect(events[0]).toEqual({ type: 'progress', nodeState: { items: list }, outputs: { _ended: [] } });
    const appended = events.flatMap((event) => (event.type === 'progress' ? (event.append ?? []) : []));
    expect(appended).toEqual(list.map((index) => ({ _ended: { index, values: { v: null, deep: null, at: index } } })));
    expect(events.filter((event) => event.type === 'progress' && event.nodeState !== undefined)).toHaveLength(1);
  });
});
