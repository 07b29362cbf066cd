import { describe, it } from 'vitest';
import { variableAssigner } from '../../src/components/variable-assigner.js';
import { planOf } from '../../src/graph/build.js';
import type { NodeFunction } from '../../src/graph/node.js';
import { settled } from '../../src/graph/node-events.js';
import type { Json } from '../../src/json.js';
import { marbles } from '../support/scheduler.js';
import { nodeOf, said } from './data-run.js';

const COUNT = nodeOf(variableAssigner, {
  variables: [
    { variable: 'env.n', operator: '+=', parameter: 1 },
    { variable: 'given@list', operator: 'append', parameter: 'env.n' },
  ],
});

/** Reports the values of references, as a node behind the assigner sees them. */
const see =
  (...references: string[]): NodeFunction =>
  (at) => ({
    seen: references.map((reference): Json => {
      const lookup = at.lookup(reference);
      return lookup.status === 'found' ? lookup.value : lookup.status;
    }),
  });

describe('VariableAssigner', () => {
  it('writes in the frame in which it is reached, for everything behind it', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const given$ = cold(' --(s|) ', { s: settled({ list: [0] }) });
      const givenSubs = '   ^-!    ';
      const expected = '    --(ab|)';

      const plan = planOf({ given: () => given$, x: COUNT, after: see('env.n', 'given@list') }, [
        ['given', 'x'],
        ['x', 'after'],
      ]);

      expectObservable(said(plan, ['x', 'after'], { 'env.n': 6 })).toBe(expected, {
        a: { x: {} },
        b: { after: { seen: [7, [0, 7]] } },
      });
      expectSubscriptions(given$.subscriptions).toBe(givenSubs);
    }));

  it('starts anew in every run', () =>
    marbles(({ cold, expectObservable }) => {
      const given$ = cold('   -(s|)    ', { s: settled({ list: [] }) });
      const later = '         ---^     ';
      const expectedFirst = ' -(a|)    ';
      const expectedLater = ' ----(a|) ';

      const plan = planOf({ given: () => given$, x: COUNT, after: see('env.n', 'given@list') }, [
        ['given', 'x'],
        ['x', 'after'],
      ]);
      const run$ = said(plan, ['after'], { 'env.n': 6 });

      expectObservable(run$).toBe(expectedFirst, { a: { after: { seen: [7, [7]] } } });
      expectObservable(run$, later).toBe(expectedLater, { a: { after: { seen: [7, [7]] } } });
    }));

  it('counts through a circle of synchronous nodes within one frame', () =>
    marbles(({ cold, expectObservable }) => {
      const given$ = cold(' --(s|)', { s: settled({ list: [] }) });
      const expected = '    --(a|)';
      const again: NodeFunction = (at) => {
        const count = at.source.variable('env.n');
        const isDone = count.status === 'found' && count.value === 500;
        return settled({}, { next: [isDone ? 'after' : 'x'] });
      };

      const plan = planOf({ given: () => given$, x: COUNT, again, after: see('env.n', 'given@list.-1') }, [
        ['given', 'x'],
        ['x', 'again'],
        ['again', 'x'],
        ['again', 'after'],
      ]);

      expectObservable(said(plan, ['after'], { 'env.n': 0 })).toBe(expected, { a: { after: { seen: [500, 500] } } });
    }));

  it('warns before it settles, and writes the error text', () =>
    marbles(({ cold, expectObservable }) => {
      const given$ = cold(' --(s|)  ', { s: settled({ list: [] }) });
      const expected = '    --(wab|)';

      const plan = planOf({ given: () => given$, x: COUNT, after: see('env.n') }, [
        ['given', 'x'],
        ['x', 'after'],
      ]);

      expectObservable(said(plan, ['x', 'after'], { 'env.n': 'text' })).toBe(expected, {
        w: { x: 'warning' },
        a: { x: {} },
        b: { after: { seen: ['ERROR:VARIABLE_NOT_NUMBER or PARAMETER_NOT_NUMBER'] } },
      });
    }));

  it('fails in the same frame for a variable that does not exist, and nothing follows', () =>
    marbles(({ cold, expectObservable }) => {
      const given$ = cold(' --(s|)', { s: settled({ list: [] }) });
      const expected = '    --(a|)';

      const plan = planOf({ given: () => given$, x: COUNT, after: see('env.n') }, [
        ['given', 'x'],
        ['x', 'after'],
      ]);

      expectObservable(said(plan, ['x', 'after'])).toBe(expected, { a: { x: 'REFERENCE_UNRESOLVED' } });
    }));

  it('does not run when the run is left before', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const given$ = cold('  ---(s|)', { s: settled({ list: [] }) });
      const givenSubs = '    ^-!     ';
      const unsubscription = '--!     ';
      const expected = '     ---     ';

      const plan = planOf({ given: () => given$, x: COUNT }, [['given', 'x']]);

      expectObservable(said(plan, ['x'], { 'env.n': 0 }), unsubscription).toBe(expected);
      expectSubscriptions(given$.subscriptions).toBe(givenSubs);
    }));
});
