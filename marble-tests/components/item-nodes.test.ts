import { describe, it } from 'vitest';
import { iterationItem } from '../../src/components/iteration-item.js';
import { loopItem } from '../../src/components/loop-item.js';
import { settled } from '../../src/graph/node-events.js';
import { run } from '../../src/graph/run.js';
import { createNode, fakeActivation, perform } from '../support/activation.js';
import { marbles } from '../support/scheduler.js';
import { flow, words } from './flow-run.js';

const ITEM = { item: 'x', index: 0, result: 'x' };

describe('IterationItem', () => {
  it('gives the current item', () =>
    marbles(({ expectObservable }) => {
      const activation = fakeActivation({ aliases: ITEM });
      expectObservable(perform(createNode(iterationItem, {}), activation)).toBe('(s|)', { s: settled(ITEM) });
    }));

  it('starts nothing when it only closes', () =>
    marbles(({ expectObservable }) => {
      const activation = fakeActivation({ aliases: ITEM, closing: true });
      const values = { s: settled(ITEM, { next: [] }) };
      expectObservable(perform(createNode(iterationItem, {}), activation)).toBe('(s|)', values);
    }));

  it('is visited once for each item and once more to close', () =>
    marbles(({ expectObservable }) => {
      const plan = flow({
        begin: ['Begin', {}, ['each']],
        each: ['Iteration', { items_ref: 'begin@list' }],
        one: ['IterationItem', {}, ['a'], 'each'],
        a: ['Work', { ms: '{one@item}' }, [], 'each'],
      });
      const values = { o: 'one', a: 'a', e: 'each', r: 'run' };

      const events$ = run(plan, { input: { inputs: { list: [3, 4] } } });
      expectObservable(words(events$, 'one', 'a', 'each', 'run')).toBe('o--(ao)(aoer|)', values);
    }));
});

describe('LoopItem', () => {
  it('gives nothing', () =>
    marbles(({ expectObservable }) => {
      expectObservable(perform(createNode(loopItem, {}), fakeActivation())).toBe('(s|)', { s: settled({}) });
    }));

  it('starts nothing when it only closes', () =>
    marbles(({ expectObservable }) => {
      const values = { s: settled({}, { next: [] }) };
      expectObservable(perform(createNode(loopItem, {}), fakeActivation({ closing: true }))).toBe('(s|)', values);
    }));

  it('is visited once for each round and once more to close', () =>
    marbles(({ expectObservable }) => {
      const plan = flow({
        begin: ['Begin', {}, ['loop']],
        loop: ['Loop', { maximum_loop_count: 2 }],
        one: ['LoopItem', {}, ['a'], 'loop'],
        a: ['Work', { ms: 4 }, [], 'loop'],
      });
      const values = { o: 'one', a: 'a', l: 'loop', r: 'run' };

      const events$ = words(run(plan, { input: {} }), 'one', 'a', 'loop', 'run');
      expectObservable(events$).toBe('o---(ao)(aolr|)', values);
    }));
});
