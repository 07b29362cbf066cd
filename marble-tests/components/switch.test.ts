import { describe, it } from 'vitest';
import { run } from '../../src/graph/run.js';
import { marbles } from '../support/scheduler.js';
import { flow, words } from './flow-run.js';

/** `first` takes 2 ms, then the Switch sends the run to `a` (1 ms) and `b` (3 ms), or to `c` (2 ms). */
const branching = (value: string, operator = '=') =>
  flow({
    begin: ['Begin', {}, ['first']],
    first: ['Work', { ms: 2, value }, ['s']],
    s: [
      'Switch',
      {
        conditions: [
          { logical_operator: 'and', items: [{ cpn_id: 'first@value', operator, value: 'yes' }], to: ['a', 'b'] },
        ],
        end_cpn_ids: ['c'],
      },
      ['a', 'b', 'c'],
    ],
    a: ['Work', { ms: 1 }],
    b: ['Work', { ms: 3 }],
    c: ['Work', { ms: 2 }],
  });

const NAMES = ['first', 'a', 'b', 'c', 's', 'run'];
const VALUES = { f: 'first', a: 'a', b: 'b', c: 'c', s: 's', x: 's!', e: 'run!', r: 'run' };

describe('Switch', () => {
  it('runs all nodes of the condition that holds, and no others', () =>
    marbles(({ expectObservable }) => {
      expectObservable(words(run(branching('yes'), { input: {} }), 'a', 'b', 'c', 'run')).toBe('---a-(br|)', VALUES);
    }));

  it('runs the else branch when no condition holds', () =>
    marbles(({ expectObservable }) => {
      expectObservable(words(run(branching('no'), { input: {} }), 'a', 'b', 'c', 'run')).toBe('----(cr|)', VALUES);
    }));

  it('chooses at once', () =>
    marbles(({ expectObservable }) => {
      expectObservable(words(run(branching('no'), { input: {} }), 'first', 's'), '---!').toBe('--(fs)', VALUES);
    }));

  it('fails the run with an operator that does not exist', () =>
    marbles(({ expectObservable }) => {
      expectObservable(words(run(branching('yes', 'like'), { input: {} }), ...NAMES)).toBe('--(fxe|)', VALUES);
    }));

  it('starts nothing when the run is stopped before it chose', () =>
    marbles(({ expectObservable }) => {
      expectObservable(words(run(branching('yes'), { input: {} }), ...NAMES), '-!').toBe('--', VALUES);
    }));
});
