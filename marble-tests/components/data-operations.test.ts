import { describe, it } from 'vitest';
import { dataOperations } from '../../src/components/data-operations.js';
import { planOf } from '../../src/graph/build.js';
import { settled } from '../../src/graph/node-events.js';
import { marbles } from '../support/scheduler.js';
import { nodeOf, said } from './data-run.js';

const COMBINE = nodeOf(dataOperations, { query: ['one@data', 'two@data'], operations: 'combine' });

describe('DataOperations', () => {
  it('waits for everything it is joined to, then gives its result in the same frame', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const one$ = cold('  -----(s|)', { s: settled({ data: { k: 1 } }) });
      const two$ = cold('  --(s|)   ', { s: settled({ data: { k: 2, l: 3 } }) });
      const oneSubs = '    ^----!   ';
      const twoSubs = '    ^-!      ';
      const expected = '   -----(a|)';

      const plan = planOf({ start: () => ({}), one: () => one$, two: () => two$, x: COMBINE }, [
        ['start', 'one'],
        ['start', 'two'],
        ['one', 'x'],
        ['two', 'x'],
      ]);

      expectObservable(said(plan, ['x'])).toBe(expected, { a: { x: { result: { k: [1, 2], l: 3 } } } });
      expectSubscriptions(one$.subscriptions).toBe(oneSubs);
      expectSubscriptions(two$.subscriptions).toBe(twoSubs);
    }));

  it('leaves what it read as it was', () =>
    marbles(({ expectObservable }) => {
      const plan = planOf(
        {
          one: () => ({ data: { k: [1] } }),
          two: () => ({ data: { k: 2 } }),
          x: COMBINE,
          after: nodeOf(dataOperations, { query: ['one@data'], operations: 'combine' }),
        },
        [
          ['one', 'two'],
          ['two', 'x'],
          ['x', 'after'],
        ],
      );

      expectObservable(said(plan, ['x', 'after'])).toBe('(ab|)', {
        a: { x: { result: { k: [1, 2] } } },
        b: { after: { result: { k: [1] } } },
      });
    }));

  it('warns before it settles, in the same frame', () =>
    marbles(({ cold, expectObservable }) => {
      const one$ = cold('  --(s|) ', { s: settled({ other: 1 }) });
      const expected = '   --(wa|)';
      const select = nodeOf(dataOperations, { query: ['one@data'], operations: 'select_keys', select_keys: ['k'] });

      const plan = planOf({ one: () => one$, x: select }, [['one', 'x']]);

      expectObservable(said(plan, ['x'])).toBe(expected, { w: { x: 'warning' }, a: { x: { result: [] } } });
    }));

  it('fails when it reads a node that does not exist', () =>
    marbles(({ cold, expectObservable }) => {
      const one$ = cold('  --(s|)', { s: settled({ data: {} }) });
      const expected = '   --(a|)';

      const plan = planOf({ one: () => one$, x: COMBINE }, [['one', 'x']]);

      expectObservable(said(plan, ['x'])).toBe(expected, { a: { x: 'REFERENCE_UNRESOLVED' } });
    }));

  it('does not run when the run is left before', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const one$ = cold('    ---(s|)', { s: settled({ data: {} }) });
      const oneSubs = '      ^-!     ';
      const unsubscription = '--!     ';
      const expected = '     ---     ';

      const plan = planOf({ one: () => one$, x: COMBINE }, [['one', 'x']]);

      expectObservable(said(plan, ['x']), unsubscription).toBe(expected);
      expectSubscriptions(one$.subscriptions).toBe(oneSubs);
    }));
});
