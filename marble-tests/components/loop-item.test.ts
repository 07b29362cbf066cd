import { describe, it } from 'vitest';
import { loopItem } from '../../src/components/loop-item.js';
import { settled } from '../../src/graph/node-events.js';
import { run } from '../../src/graph/run.js';
import { createNode, fakeActivation, perform } from '../support/activation.js';
import { marbles } from '../support/scheduler.js';
import { flow, words } from './flow-run.js';

/** Two rounds of 4 ms; with `fails` each fails at its end. */
const twice = (fails?: string) =>
  flow({
    begin: ['Begin', {}, ['loop']],
    loop: ['Loop', { maximum_loop_count: 2 }],
    one: ['LoopItem', {}, ['a'], 'loop'],
    a: ['Work', { ms: 4, ...(fails === undefined ? {} : { fails }) }, [], 'loop'],
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
      const values = { o: 'one', a: 'a', l: 'loop', r: 'run' };
      expectObservable(words(run(twice(), { input: {} }), 'one', 'a', 'loop', 'run')).toBe('o---(ao)(aolr|)', values);
    }));

  it('is not visited again when its round fails', () =>
    marbles(({ expectObservable }) => {
      const values = { o: 'one', a: 'a!', r: 'run!' };
      const events$ = words(run(twice('broken'), { input: {} }), 'one', 'a', 'loop', 'run');
      expectObservable(events$).toBe('o---(ar|)', values);
    }));

  it('is not visited again when the run is left', () =>
    marbles(({ expectObservable }) => {
      const events$ = words(run(twice(), { input: {} }), 'one', 'a', 'loop', 'run');
      expectObservable(events$, '^--!').toBe('o', { o: 'one' });
    }));
});
