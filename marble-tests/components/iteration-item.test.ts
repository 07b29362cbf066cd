import { describe, it } from 'vitest';
import { iterationItem } from '../../src/components/iteration-item.js';
import { settled } from '../../src/graph/node-events.js';
import { run } from '../../src/graph/run.js';
import { createNode, fakeActivation, perform } from '../support/activation.js';
import { marbles } from '../support/scheduler.js';
import { flow, words } from './flow-run.js';

const ITEM = { item: 'x', index: 0, result: 'x' };
const INPUT = { inputs: { list: [3, 4] } };

/** An Iteration whose body takes as many milliseconds as its item says; with `fails` it fails then. */
const each = (fails?: string) =>
  flow({
    begin: ['Begin', {}, ['each']],
    each: ['Iteration', { items_ref: 'begin@list' }],
    one: ['IterationItem', {}, ['a'], 'each'],
    a: ['Work', { ms: '{one@item}', ...(fails === undefined ? {} : { fails }) }, [], 'each'],
  });

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
      const values = { o: 'one', a: 'a', e: 'each', r: 'run' };
      expectObservable(words(run(each(), { input: INPUT }), 'one', 'a', 'each', 'run')).toBe('o--(ao)(aoer|)', values);
    }));

  it('is not visited again when its round fails', () =>
    marbles(({ expectObservable }) => {
      const values = { o: 'one', a: 'a!', r: 'run!' };
      const events$ = words(run(each('broken'), { input: INPUT }), 'one', 'a', 'each', 'run');
      expectObservable(events$).toBe('o--(ar|)', values);
    }));

  it('is not visited again when the run is left', () =>
    marbles(({ expectObservable }) => {
      const events$ = words(run(each(), { input: INPUT }), 'one', 'a', 'each', 'run');
      expectObservable(events$, '^-!').toBe('o', { o: 'one' });
    }));
});
