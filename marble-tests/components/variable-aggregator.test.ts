import { describe, it } from 'vitest';
import { variableAggregator } from '../../src/components/variable-aggregator.js';
import { planOf } from '../../src/graph/build.js';
import type { NodeFunction } from '../../src/graph/node.js';
import { type NodeEvent, settled } from '../../src/graph/node-events.js';
import type { Plan } from '../../src/graph/plan.js';
import { marbles } from '../support/scheduler.js';
import { nodeOf, said } from './data-run.js';

const PICK = nodeOf(variableAggregator, { groups: [{ group_name: 'out', variables: ['left@text', 'right@text'] }] });

/** `start` opens two ways that meet again at the aggregator. */
function fork(start: NodeFunction, left: NodeFunction, right: NodeFunction): Plan {
  return planOf({ start, left, right, x: PICK }, [
    ['start', 'left'],
    ['start', 'right'],
    ['left', 'x'],
    ['right', 'x'],
  ]);
}

describe('VariableAggregator', () => {
  it('runs once when both ways are done, and order of preference counts, not of arrival', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const left$ = cold('  -----(s|)', { s: settled({ text: 'L' }) });
      const right$ = cold(' --(s|)   ', { s: settled({ text: 'R' }) });
      const leftSubs = '    ^----!   ';
      const rightSubs = '   ^-!      ';
      const expected = '    -----(a|)';

      const plan = fork(
        () => ({}),
        () => left$,
        () => right$,
      );

      expectObservable(said(plan, ['x'])).toBe(expected, { a: { x: { out: 'L' } } });
      expectSubscriptions(left$.subscriptions).toBe(leftSubs);
      expectSubscriptions(right$.subscriptions).toBe(rightSubs);
    }));

  it('takes the way that was chosen and does not wait for the other', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const left$ = cold('  -----(s|)', { s: settled({ text: 'L' }) });
      const right$ = cold(' --(s|)   ', { s: settled({ text: 'R' }) });
      const rightSubs = '   ^-!      ';
      const expected = '    --(a|)   ';

      const plan = fork(
        () => settled({}, { next: ['right'] }),
        () => left$,
        () => right$,
      );

      expectObservable(said(plan, ['x'])).toBe(expected, { a: { x: { out: 'R' } } });
      expectSubscriptions(left$.subscriptions).toBe([]);
      expectSubscriptions(right$.subscriptions).toBe(rightSubs);
    }));

  it('gives null without a warning when no way gives a value', () =>
    marbles(({ cold, expectObservable }) => {
      const left$ = cold('  -(s|) ', { s: settled({ text: '' }) });
      const right$ = cold(' --(s|)', { s: settled({}) });
      const expected = '    --(a|)';

      const plan = fork(
        () => ({}),
        () => left$,
        () => right$,
      );

      expectObservable(said(plan, ['x'])).toBe(expected, { a: { x: { out: null } } });
    }));

  it('does not run when one way fails', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const left$ = cold<NodeEvent>('  --#   ');
      const right$ = cold(' ----(s|)', { s: settled({ text: 'R' }) });
      const rightSubs = '   ^-!   ';
      const expected = '    --|   ';

      const plan = fork(
        () => ({}),
        () => left$,
        () => right$,
      );

      expectObservable(said(plan, ['x'])).toBe(expected);
      expectSubscriptions(right$.subscriptions).toBe(rightSubs);
    }));

  it('does not run when the run is left before', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const left$ = cold('   -(s|)   ', { s: settled({ text: 'L' }) });
      const right$ = cold('  ----(s|)', { s: settled({ text: 'R' }) });
      const rightSubs = '    ^-!      ';
      const unsubscription = '--!      ';
      const expected = '     ---      ';

      const plan = fork(
        () => ({}),
        () => left$,
        () => right$,
      );

      expectObservable(said(plan, ['x']), unsubscription).toBe(expected);
      expectSubscriptions(right$.subscriptions).toBe(rightSubs);
    }));

  it('works within one frame on values that are there at once', () =>
    marbles(({ expectObservable }) => {
      const plan = fork(
        () => ({}),
        () => ({ text: 'L' }),
        () => ({ text: 'R' }),
      );

      expectObservable(said(plan, ['x'])).toBe('(a|)', { a: { x: { out: 'L' } } });
    }));
});
