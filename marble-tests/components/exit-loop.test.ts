import { describe, it } from 'vitest';
import { run } from '../../src/graph/run.js';
import { marbles } from '../support/scheduler.js';
import { type FlowNode, flow, words } from './flow-run.js';

const ENDLESS: FlowNode = [
  'Loop',
  { loop_variables: [{ variable: 'n', input_mode: 'constant', type: 'number', value: 0 }], maximum_loop_count: 5 },
  ['after'],
];

describe('ExitLoop', () => {
  it('ends the Loop at once and stops what else its body does', () =>
    marbles(({ expectObservable }) => {
      const plan = flow({
        begin: ['Begin', {}, ['loop']],
        loop: ENDLESS,
        item: ['LoopItem', {}, ['a', 'slow'], 'loop'],
        a: ['Work', { ms: 3 }, ['exit'], 'loop'],
        slow: ['Work', { ms: 9 }, [], 'loop'],
        exit: ['ExitLoop', {}, [], 'loop'],
        after: ['Work', { ms: 6 }],
      });
      const values = { a: 'a', x: 'exit', l: 'loop', f: 'after', r: 'run' };

      const events$ = words(run(plan, { input: {} }), 'a', 'exit', 'loop', 'slow', 'after', 'run');
      expectObservable(events$).toBe('---(axl)-(fr|)', values);
    }));

  it('leaves an Iteration on the way to the Loop around it', () =>
    marbles(({ expectObservable }) => {
      const plan = flow({
        begin: ['Begin', {}, ['loop']],
        loop: ENDLESS,
        item: ['LoopItem', {}, ['each'], 'loop'],
        each: ['Iteration', { items_ref: 'begin@list' }, ['never'], 'loop'],
        one: ['IterationItem', {}, ['a'], 'each'],
        a: ['Work', { ms: 2 }, ['exit'], 'each'],
        exit: ['ExitLoop', {}, [], 'each'],
        never: ['Work', {}, [], 'loop'],
        after: ['Work', {}],
      });
      const values = { x: 'exit', i: 'each', l: 'loop' };

      const events$ = words(run(plan, { input: { inputs: { list: [1, 2] } } }), 'exit', 'each', 'never', 'loop');
      expectObservable(events$).toBe('--(xil|)', values);
    }));

  it('does nothing outside of a body', () =>
    marbles(({ expectObservable }) => {
      const plan = flow({ begin: ['Begin', {}, ['exit']], exit: ['ExitLoop', {}, ['a']], a: ['Work', { ms: 1 }] });

      expectObservable(words(run(plan, { input: {} }), 'exit', 'a', 'run')).toBe('x(ar|)', {
        x: 'exit',
        a: 'a',
        r: 'run',
      });
    }));

  it('comes too late when a node beside it has failed', () =>
    marbles(({ expectObservable }) => {
      const plan = flow({
        begin: ['Begin', {}, ['loop']],
        loop: ENDLESS,
        item: ['LoopItem', {}, ['a', 'bad'], 'loop'],
        a: ['Work', { ms: 3 }, ['exit'], 'loop'],
        bad: ['Work', { ms: 2, fails: 'broken' }, [], 'loop'],
        exit: ['ExitLoop', {}, [], 'loop'],
        after: ['Work', {}],
      });
      const values = { b: 'bad!', r: 'run!' };

      const events$ = words(run(plan, { input: {} }), 'bad', 'exit', 'loop', 'after', 'run');
      expectObservable(events$).toBe('--(br|)', values);
    }));

  it('does not happen when the run is left before', () =>
    marbles(({ expectObservable }) => {
      const plan = flow({
        begin: ['Begin', {}, ['loop']],
        loop: ENDLESS,
        item: ['LoopItem', {}, ['a'], 'loop'],
        a: ['Work', { ms: 3 }, ['exit'], 'loop'],
        exit: ['ExitLoop', {}, [], 'loop'],
        after: ['Work', {}],
      });

      expectObservable(words(run(plan, { input: {} }), 'a', 'exit', 'loop', 'run'), '^-!').toBe('--');
    }));
});
