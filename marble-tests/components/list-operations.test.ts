import { describe, it } from 'vitest';
import { listOperations } from '../../src/components/list-operations.js';
import { planOf } from '../../src/graph/build.js';
import { type NodeEvent, settled } from '../../src/graph/node-events.js';
import { marbles } from '../support/scheduler.js';
import { nodeOf, said } from './data-run.js';

const SORT = nodeOf(listOperations, { query: 'given@list', operations: 'sort' });
const NODES = ['x', 'after'];
const SORTED = { x: { result: [1, 2, 3], first: 1, last: 3 } };

describe('ListOperations', () => {
  it('gives its result in the frame in which the list comes', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const given$ = cold(' --(s|)', { s: settled({ list: [3, 1, 2] }) });
      const givenSubs = '   ^-!   ';
      const expected = '    --(a|)';

      const plan = planOf({ given: () => given$, x: SORT }, [['given', 'x']]);

      expectObservable(said(plan, NODES)).toBe(expected, { a: SORTED });
      expectSubscriptions(given$.subscriptions).toBe(givenSubs);
    }));

  it('fails in the same frame when there is no list, and nothing follows', () =>
    marbles(({ cold, expectObservable }) => {
      const given$ = cold(' --(s|)', { s: settled({ list: 'text' }) });
      const expected = '    --(a|)';

      const plan = planOf({ given: () => given$, x: SORT, after: () => ({}) }, [
        ['given', 'x'],
        ['x', 'after'],
      ]);

      expectObservable(said(plan, NODES)).toBe(expected, { a: { x: 'NODE_FAILED' } });
    }));

  it('does not run when what gives the list fails', () =>
    marbles(({ cold, expectObservable }) => {
      const given$ = cold<NodeEvent>(' --#');
      const expected = '    --|';

      const plan = planOf({ given: () => given$, x: SORT }, [['given', 'x']]);

      expectObservable(said(plan, NODES)).toBe(expected);
    }));

  it('does not run when the run is left before', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const given$ = cold('  ---(s|)', { s: settled({ list: [1] }) });
      const givenSubs = '    ^-!     ';
      const unsubscription = '--!     ';
      const expected = '     ---     ';

      const plan = planOf({ given: () => given$, x: SORT }, [['given', 'x']]);

      expectObservable(said(plan, NODES), unsubscription).toBe(expected);
      expectSubscriptions(given$.subscriptions).toBe(givenSubs);
    }));

  it('works within one frame on a list that is there at once', () =>
    marbles(({ expectObservable }) => {
      const plan = planOf({ given: () => ({ list: [3, 1, 2] }), x: SORT, after: () => ({}) }, [
        ['given', 'x'],
        ['x', 'after'],
      ]);

      expectObservable(said(plan, NODES)).toBe('(ab|)', { a: SORTED, b: { after: {} } });
    }));
});
