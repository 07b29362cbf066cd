import { describe, it } from 'vitest';
import { fillup } from '../../src/components/fillup.js';
import { interrupt, settled } from '../../src/graph/node-events.js';
import { run } from '../../src/graph/run.js';
import type { JsonObject } from '../../src/json.js';
import { createNode, fakeActivation, perform } from '../support/activation.js';
import { marbles } from '../support/scheduler.js';
import { flow, words } from './flow-run.js';

const WORD = { type: 'line', name: 'Word' };

describe('Fillup', () => {
  it('waits without tips', () =>
    marbles(({ expectObservable }) => {
      const node = createNode(fillup, { tips: 'not shown', inputs: { word: WORD } });
      const payload = { kind: 'form', inputs: { word: { ...WORD, value: null } }, tips: '' };

      expectObservable(perform(node, fakeActivation())).toBe('(w|)', { w: interrupt(payload, {}) });
    }));

  it('gives its fields when it is answered', () =>
    marbles(({ expectObservable }) => {
      const node = createNode(fillup, { inputs: { word: WORD } });

      expectObservable(perform(node, fakeActivation({ answer: { inputs: { word: 'x' } } }))).toBe('(s|)', {
        s: settled({ word: 'x' }),
      });
    }));

  it('goes on at once without fields', () =>
    marbles(({ expectObservable }) => {
      const plan = flow({ begin: ['Begin', {}, ['f']], f: ['Fillup', {}, ['a']], a: ['Work', { ms: 2 }] });

      expectObservable(words(run(plan, { input: {} }), 'f', 'a', 'run')).toBe('f-(ar|)', { f: 'f', a: 'a', r: 'run' });
    }));

  it('is not reached when a node before it fails, and asks nothing when the run is left', () =>
    marbles(({ expectObservable }) => {
      const behind = (params: JsonObject) =>
        run(
          flow({
            begin: ['Begin', {}, ['a']],
            a: ['Work', { ms: 2, ...params }, ['f']],
            f: ['Fillup', { inputs: { word: WORD } }],
          }),
          { input: {} },
        );

      expectObservable(words(behind({}), 'a', 'f', 'run')).toBe('--(afr|)', { a: 'a', f: 'f?', r: 'run?' });
      const values = { a: 'a!', r: 'run!' };
      expectObservable(words(behind({ fails: 'broken' }), 'a', 'f', 'run')).toBe('--(ar|)', values);
      expectObservable(words(behind({}), 'a', 'f', 'run'), '^-!').toBe('--');
    }));
});
