import { describe, expect, it } from 'vitest';
import { flow } from '../../marble-tests/components/flow-run.js';
import { createNode, type FakeOptions, fakeActivation, performNow } from '../../marble-tests/support/activation.js';
import { loopItem } from '../../src/components/loop-item.js';
import { type NodeEvent, settled } from '../../src/graph/node-events.js';
import { execute } from '../../src/graph/run.js';

describe('LoopItem', () => {
  it.each<[string, FakeOptions, NodeEvent]>([
    ['in a round', {}, settled({})],
    ['in a round that has an item', { aliases: { item: 'x', index: 1 } }, settled({})],
    ['in the visit that closes the body, where it leads nowhere', { closing: true }, settled({}, { next: [] })],
  ])('gives nothing %s', (_, around, event) => {
    expect(performNow(createNode(loopItem, {}), fakeActivation(around))).toEqual([event]);
  });

  it.each([1, 2, 5])('starts its body once a round: %i', async (rounds) => {
    const plan = flow({
      begin: ['Begin', {}, ['loop']],
      loop: [
        'Loop',
        {
          loop_variables: [{ variable: 'log', input_mode: 'constant', type: 'string', value: '' }],
          maximum_loop_count: rounds,
        },
        ['after'],
      ],
      one: ['LoopItem', {}, ['mark'], 'loop'],
      mark: ['Work', { value: '{loop@log}|', write: 'loop@log' }, [], 'loop'],
      after: ['Work', { value: '{loop@log}' }],
    });
    expect((await execute(plan, { input: {} })).outputs).toEqual({ value: '|'.repeat(rounds) });
  });
});
