import { describe, expect, it } from 'vitest';
import { type FlowNode, flow } from '../../marble-tests/components/flow-run.js';
import { createNode, fakeActivation, performNow } from '../../marble-tests/support/activation.js';
import { iterationItem } from '../../src/components/iteration-item.js';
import { settled } from '../../src/graph/node-events.js';
import { execute } from '../../src/graph/run.js';
import type { Json, JsonObject } from '../../src/json.js';

describe('IterationItem', () => {
  it.each<[string, JsonObject]>([
    ['a text', { item: 'x', index: 0, result: 'x' }],
    ['null', { item: null, index: 4, result: null }],
    ['an object', { item: { a: [1] }, index: 1, result: { a: [1] } }],
    ['nothing outside of a body', {}],
  ])('gives %s', (_, aliases) => {
    expect(performNow(createNode(iterationItem, {}), fakeActivation({ aliases }))).toEqual([settled(aliases)]);
  });

  it('leads nowhere in the visit that closes the body', () => {
    const events = performNow(createNode(iterationItem, {}), fakeActivation({ closing: true }));
    expect(events).toEqual([settled({}, { next: [] })]);
  });

  it.each<[string, string, Json, Json]>([
    ['item', '{one@item}', ['a', 'b'], ['a', 'b']],
    ['index', '{one@index}', ['a', 'b'], [0, 1]],
    ['result', '{one@result}', ['a', 'b'], ['a', 'b']],
    ['a field of the item', '{one@item.k}', [{ k: 1 }, { j: 2 }], [1, null]],
    ['a text around it', '{one@index}: {one@item}', ['a'], ['0: a']],
    ['nothing of an empty list', '{one@item}', [], []],
  ])('is read by its body: %s', async (_, value, list, values) => {
    for (const container of ['Iteration', 'Parallel']) {
      const body: Readonly<Record<string, FlowNode>> = {
        one: ['IterationItem', {}, ['work'], 'each'],
        work: ['Work', { value }, [], 'each'],
      };
      const plan = flow({
        begin: ['Begin', {}, ['each']],
        each: [container, { items_ref: 'begin@list', outputs: { all: { ref: 'work@value' } } }, ['end']],
        end: ['Work', { value: '{each@all}' }],
        ...body,
      });
      const { outputs } = await execute(plan, { input: { inputs: { list } } });
      expect(outputs).toEqual({ value: values });
    }
  });
});
