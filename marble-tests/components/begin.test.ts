import { describe, it } from 'vitest';
import { begin } from '../../src/components/begin.js';
import { EngineError } from '../../src/errors.js';
import { settled } from '../../src/graph/node-events.js';
import { run } from '../../src/graph/run.js';
import { createNode, fakeActivation, perform } from '../support/activation.js';
import { marbles } from '../support/scheduler.js';
import { flow, words } from './flow-run.js';

const plan = flow({
  begin: ['Begin', { inputs: { ms: { type: 'integer', name: 'ms' } } }, ['a']],
  a: ['Work', { ms: '{begin@ms}' }],
});

describe('Begin', () => {
  it('settles at once, so that what follows starts with its inputs', () =>
    marbles(({ expectObservable }) => {
      const events$ = run(plan, { input: { inputs: { ms: { type: 'integer', value: 4 } } } });

      expectObservable(words(events$, 'begin', 'a', 'run')).toBe('b---(ar|)', { b: 'begin', a: 'a', r: 'run' });
    }));

  it('runs once for every subscription', () =>
    marbles(({ expectObservable }) => {
      const events$ = run(plan, { input: { query: '3' } });

      expectObservable(words(events$, 'a')).toBe('---(a|)', { a: 'a' });
      expectObservable(words(events$, 'a'), '--^').toBe('-----(a|)', { a: 'a' });
    }));

  it('starts nothing behind it when the run is unsubscribed', () =>
    marbles(({ expectObservable }) => {
      const events$ = run(plan, { input: { query: '3' } });

      expectObservable(words(events$, 'a', 'run'), '-!').toBe('--');
    }));

  it('fails for a file field without a value', () =>
    marbles(({ expectObservable }) => {
      const node = createNode(begin, { inputs: { doc: { type: 'file' } } });
      const failure = new EngineError(
        'NODE_FAILED',
        'The file field "doc" was given without a value; pass {"value": {"id": …}}.',
      );

      expectObservable(perform(node, fakeActivation({ input: { inputs: { doc: { type: 'file' } } } }))).toBe(
        '#',
        {},
        failure,
      );
      expectObservable(perform(node, fakeActivation({ input: {} }))).toBe('(s|)', { s: settled({}) });
    }));
});
